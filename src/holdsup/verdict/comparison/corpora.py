"""Scores of a corpus in `compare`: read them, and a paired bootstrap of items beside the answer, for these runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from holdsup.errors import ScoresError
from holdsup.numerics.layout import Floats
from holdsup.progress import Progress
from holdsup.rendering.numbers import format_counted
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.scores.directions import LowerIsBetter
from holdsup.verdict.comparison.records import CorpusEstimate, ItemBootstrap, SystemContrast
from holdsup.verdict.evaluation import Evaluation, SystemRuns

if TYPE_CHECKING:
    from holdsup.metrics.corpus import Corpus

FEW = 5  # (sum u^2)^2 / sum u^4 of the influences u of items: below it few of them decide
# False positives in simulated corpora (benchmarks/corpus.py) by runs of a system, with at least so many items.
MEASURED = {1: "3.8 to 6.0%", 2: "0 to 0.6%", 3: "0.5 to 4.0%", 5: "3.2 to 4.7%"}
FEWEST_MEASURED = 100
DRAWS = 1000  # samples of the bootstrap where nobody says how many: as many as sacrebleu takes


def take_estimate(
    data: Any, estimate: str | None, sources: Mapping[str, tuple[str, ...]], *, by: Sequence[str], peek: bool,
    average: str | None, progress: Progress, roles: Mapping[str, Any],
) -> Any:  # fmt: skip
    """Return the data with the counts of the estimate; as they are where none is asked for.

    Parameters
    ----------
    sources : what counts are made from, by the options that say so: counts, references, predictions
    """
    given = [name for name, listed in sources.items() if listed]
    if estimate is None and given:
        raise ScoresError(f"--{given[0]} is for the score of a corpus: say which with --estimate, such as bleu")
    if estimate is None and not (isinstance(data, Scores) and data.corpus):
        return data
    if by:
        raise ScoresError("--by is about scores of items, which a corpus score has not: score parts of it with --where")
    if peek:
        raise ScoresError("--peek looks at items one by one, and a corpus score has no scores of items: leave it out")
    if estimate is None:
        return data
    if isinstance(data, Scores):
        raise ScoresError("an estimate is made of counts, and these are scores already: give the table of counts")
    if roles.get("score") not in (None, "-"):
        raise ScoresError(f"--estimate {estimate} takes counts and no score: leave --score out")
    from holdsup.scores.corpus import read_corpus  # only here: other data need no metrics

    named: dict[str, Any] = {**{name: value for name, value in roles.items() if name != "score"}, **sources}
    return read_corpus(data, estimate, pooled=average == "micro", progress=progress, **named)


def choose_lower(data: Any, asked: LowerIsBetter) -> LowerIsBetter:
    """Return which scores are better when lower: where nobody says so, a metric of ours knows it of itself."""
    if asked is None and isinstance(data, Scores) and data.corpus is not None:
        return not data.corpus.metric.higher_is_better
    return asked


def describe_estimate(
    evaluation: Evaluation, contrasts: Sequence[SystemContrast], *, draws: int, seed: int, level: float
) -> CorpusEstimate | None:
    """Return what the estimate is, and what a paired bootstrap of items says of each pair; None without an estimate."""
    if (corpus := evaluation.scores.corpus) is None:
        return None
    drawn = _draw(evaluation, corpus, draws or DRAWS, seed)
    place = {system.name: i for i, system in enumerate(evaluation.systems)}
    found = [_judge(c, drawn[:, place[c.left]] - drawn[:, place[c.right]], level) for c in contrasts]
    return CorpusEstimate(
        name=corpus.title,
        signature=corpus.signature,
        lower_is_better=contrasts[0].lower_is_better,
        draws=len(drawn),
        bootstrap=tuple(found),
    )


def caution_estimate(evaluation: Evaluation) -> Iterator[Caution]:
    """Yield how the rule did on simulated corpora like this one, and that a few items decide, where it did badly."""
    if evaluation.scores.corpus is None:
        return
    for system in evaluation.systems:
        own = np.nanmean(system.scores[system.has], axis=1)
        squares = np.sort((own - own.mean()) ** 2)[::-1]
        if len(own) < 2 or squares.sum() ** 2 >= FEW * (squares**2).sum():
            continue
        half = int(np.searchsorted(np.cumsum(squares), squares.sum() / 2)) + 1
        some = (
            f"{half} of {format_counted(len(own), evaluation.noun.removesuffix('s'))} decide{'s' if half == 1 else ''}"
        )
        yield Caution(
            code="few-items-decide", about=f"system:{system.name}", count=half,
            message=f"{some} half of how uncertain the score of {system.name} is.",
            effect="In simulated corpora like this up to 7% of true nulls were rejected at 5%; CIs covered 92%.",
            advice="Score more items: p and CI are right where no item is that much longer than others.",
        )  # fmt: skip
        return
    runs, count = {len(system.runs) for system in evaluation.systems}, len(evaluation.systems)
    if len(runs) == 1 and (rates := MEASURED.get(runs.pop())) and count == 2 and evaluation.items >= FEWEST_MEASURED:
        message = f"In simulated corpora with as many runs, {rates} of true nulls were rejected at 5%."
        yield Caution(code="calibration-corpus", severity="note", message=message)


def _judge(c: SystemContrast, drawn: Floats, level: float) -> ItemBootstrap:
    """Return a percentile interval, and how many differences are as far from their mean as the observed one from 0."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    observed, sizes = abs(c.difference), np.abs(drawn)
    extreme = [np.abs(drawn - drawn.mean()) >= observed, sizes - sizes.mean() > observed]
    p, as_sacrebleu = ((1 + int(each.sum())) / (1 + len(drawn)) for each in extreme)
    return ItemBootstrap(left=c.left, right=c.right, low=float(low), high=float(high), p=p, p_sacrebleu=as_sacrebleu)


def _draw(evaluation: Evaluation, corpus: Corpus, draws: int, seed: int) -> Floats:
    """Return the scores of systems in samples of the items of each dataset; runs stay as they are."""
    scores, datasets = evaluation.scores, None if corpus.pooled else evaluation.datasets
    items = np.zeros(evaluation.items, dtype=np.intp) if datasets is None else datasets
    runs = [(n, system, run) for n, system in enumerate(evaluation.systems) for run in range(len(system.runs))]
    weights = np.zeros((len(evaluation.systems), len(runs)))
    for column, (n, system, run) in enumerate(runs):
        weights[n, column] = _weigh(system)[run]
    codes = {name: code for code, name in enumerate(scores.run.names)}
    total = np.zeros((draws, len(evaluation.systems)))
    parts = np.unique(items)
    for part in parts:
        inside = items[evaluation.item] == part
        rows = [np.flatnonzero(inside & (scores.run.codes == codes[system.runs[run]])) for _, system, run in runs]
        rows = [each[np.argsort(evaluation.item[each], kind="stable")] for each in rows]
        if len({len(each) for each in rows}) > 1:
            raise ScoresError("systems were scored on different datasets")
        clusters = None
        if evaluation.clusters is not None:
            clusters = np.unique(evaluation.clusters[evaluation.item[rows[0]]], return_inverse=True)[1]
        total += corpus.bootstrap(rows, weights, draws=draws, seed=seed, clusters=clusters)
    return np.asarray(total / len(parts))


def _weigh(system: SystemRuns) -> Floats:
    """Return what each run adds to the score of its system: settings weigh the same, and runs within them."""
    _, which, number = np.unique(system.settings, return_inverse=True, return_counts=True)
    return np.asarray(1 / (number[which] * len(number)))
