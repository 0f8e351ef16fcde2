"""`compare_systems`: is one system better than another, and for what claim?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from holdsup.arguments import (
    check_count,
    check_level,
    check_margin,
    check_processes,
    check_progress,
    check_text,
    list_names_given,
)
from holdsup.errors import ScoresError, list_names, quote_names
from holdsup.progress import Progress, no_progress
from holdsup.results import sign
from holdsup.results.extras import find_extra
from holdsup.scores import Scores, read_scores
from holdsup.scores.audit import sign_roles
from holdsup.scores.directions import LowerIsBetter, choose_directions, sign_direction
from holdsup.scores.lookalikes import caution_lookalikes
from holdsup.scores.misleading import caution_faults
from holdsup.scores.telling import point_to_roles
from holdsup.verdict.claims import Pair
from holdsup.verdict.comparison.advice import advise
from holdsup.verdict.comparison.answers import Answer, Question, answer, test_systems
from holdsup.verdict.comparison.best import join_picks, pick_best
from holdsup.verdict.comparison.cautions import caution, caution_clusters
from holdsup.verdict.comparison.contrasts import list_contrasts
from holdsup.verdict.comparison.losses import caution_losses, lost_systems
from holdsup.verdict.comparison.records import SystemContrast
from holdsup.verdict.comparison.report import Comparison
from holdsup.verdict.comparison.row_counts import count_rows
from holdsup.verdict.comparison.sentences import Coverage, write_verdict
from holdsup.verdict.conditional.conditioning import adjust_conditions, check_properties, name_properties
from holdsup.verdict.conditional.report import describe_conditions
from holdsup.verdict.evaluation import is_repetition, lay_out
from holdsup.verdict.facets import check_item_facets
from holdsup.verdict.repeats import caution_progress, check_repeats, count_repeats
from holdsup.verdict.rows import Where, choose_rows, sign_where
from holdsup.verdict.trainings import can_repeat

__all__ = ["compare_systems"]

AVERAGES = ("macro", "micro")
MANY_REPEATS = 0.05  # of the scores: fewer are told among the warnings alone
WITHOUT_PICK = (
    "Leave --best out to compare systems over all their runs: one that was picked says nothing about new ones."
)


def compare_systems(
    data: Any,
    *,
    claim: str | None = None,
    baseline: str | None = None,
    margin: float | None = None,
    best: str | None = None,
    by: str | Sequence[str] | None = (),
    where: Where = None,
    average: str = "macro",
    last: str | None = None,
    nested_runs: bool = False,
    bootstrap: int = 0,
    lower_is_better: LowerIsBetter = None,
    level: float = 0.95,
    seed: int = 0,
    processes: int | None = None,
    progress: Progress = no_progress,
    **roles: Any,
) -> Comparison:
    """Return whether systems differ, pair by pair, and for what claim.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes
    claim : "these-runs", "new-runs" or "new-settings"; by default new-runs where two systems have two runs or more
    baseline : the system that all others are compared with; by default all pairs are
    margin : differences below it do not matter: adds tests of equivalence, of non-inferiority and of more than it
    best : a column, such as the score on development data, by which each system's best run is picked (the lowest, if
        lower is better by its name, or else by the scores); the claim is then these-runs, and the pick is named as
        what it is; with `nested_runs` there is one on each dataset
    by : properties of items, numbers or classes: do differences depend on them, and where do they hold?
    where : columns and the values that rows must have, such as ``{"dataset": "news"}``
    average : over several datasets, "macro": datasets weigh the same, or "micro": items do
    last : a column that counts, such as "step": of each run on each dataset only the rows at its largest value are used
    nested_runs : whether each dataset has training runs of its own, though their names recur: seed 1 of two datasets is
        then two trainings; by default a run whose name recurs is one training that was evaluated on all
    bootstrap : simulated responses by which the likelihood ratio is checked; 0 for no check
    lower_is_better : who is called better; differences stay as they are. True for all metrics, False for none, or the
        names of those of which a lower one is better, such as ["ter"]; others by their names: ter, loss, rmse, latency
    level : coverage of limits; a difference is told where its p is 1 - level or less
    roles : passed on to `read_scores`

    Examples
    --------
    >>> from holdsup import simulate_scores
    >>> found = compare_systems(simulate_scores({"A": 0.70, "B": 0.72}, items=300, runs=5, seed=1))
    >>> found.claim, len(found.contrasts), found.contrasts[0].left
    ('new-runs', 1, 'B')
    """
    check_level(level)
    if average not in AVERAGES:
        raise ScoresError(f"average is {average!r}: it can be {' or '.join(AVERAGES)}")
    for name, text in (("claim", claim), ("baseline", baseline), ("best", best)):
        check_text(text, name)
    for name, count in (("bootstrap", bootstrap), ("seed", seed)):
        check_count(count, name)
    check_processes(processes)
    check_progress(progress)
    by = list_names_given(by, "by")
    everything, said = _read(data, by, roles, progress)
    scores, passed_over = choose_rows(everything, where, last)
    said.extend((*scores.notes, *caution_losses(scores), *caution_progress(scores)))
    _check_settings(scores.only(scores.usable))
    directions = choose_directions(scores, lower_is_better)
    faults = (*caution_faults(scores), *caution_lookalikes(scores))
    said.extend((*directions.cautions(), *faults))
    picked = None
    if best is not None:
        picked = pick_best(scores, best, lower_is_better=directions.of_column(best), nested_runs=nested_runs)
    if picked is not None:
        scores = picked.scores
        said.extend(picked.warnings)
        if claim not in (None, "these-runs"):
            said.append(f"The claim {claim} is asked for, but a run that was picked says nothing about new ones.")
    question = Question(
        claim=claim if picked is None else "these-runs", baseline=baseline, margin=check_margin(margin), by=by,
        bootstrap=bootstrap,
        directions=directions, level=level, seed=seed, processes=processes,
    )  # fmt: skip
    said.extend(_caution_one_dataset(scores, average, nested_runs))
    laid_out = lay_out(join_picks(scores) if picked and nested_runs else scores, nested_runs=nested_runs)
    evaluations = [replace(each, by_items=average == "micro") for each in laid_out]
    _check_systems(scores, question)
    for evaluation in evaluations:
        check_repeats(evaluation, averaged=True)
    asked = [answer(evaluation, question, said, progress) for evaluation in evaluations]
    found = [each for each in asked if each.pairs]
    if not found:
        raise _refuse(scores, asked[0].refused[0], faults)
    contrasts = list_contrasts(found, margin=question.margin, level=level)
    systems = tuple(mean for each in found for mean in each.means)
    conditional = adjust_conditions([c for each in found for c in each.conditions.ours], level=level)
    tests = tuple(test_systems(each, contrasts, question, said, progress) for each in found)
    covered = _cover(asked)
    advice = find_extra("the advice on what to do next", lambda: _next(found, contrasts, level), said, ())
    verdict = write_verdict(contrasts, systems, covered, baseline=baseline, level=level)
    return Comparison(
        signature=_signature(scores, claim, best, where, last, nested_runs, average, lower_is_better, question),
        seed=seed if bootstrap else None,
        warnings=tuple(dict.fromkeys((*said, *(line for each in asked for line in caution(each, level=level))))),
        rows=count_rows(scores, asked, passed_over | (picked.reasons if picked else {})),
        verdict=directions.doubt() + verdict + describe_conditions(conditional, contrasts, level=level),
        claim=found[0].claims[0],
        level=level,
        lower_is_better=contrasts[0].lower_is_better,
        baseline=baseline,
        unit=evaluations[0].unit,
        average=average,
        best=() if picked is None else picked.runs,
        systems=systems,
        test=tests[0],
        tests=tests,
        contrasts=contrasts,
        conditional=conditional,
        paper=found[0].paper,
        papers=tuple(each.paper for each in found if each.paper is not None),
        next=(WITHOUT_PICK,) if picked and picked.passed_over else advice,
    )


def _cover(asked: Sequence[Answer]) -> Coverage:
    """Return what claims cover, and what went into the numbers."""
    first = asked[0].evaluation
    repeats = sum(count_repeats(each.evaluation) for each in asked)
    scores = sum(len(each.evaluation.scores) for each in asked)
    return Coverage(
        unit=first.unit,
        datasets=len(first.dataset_names),
        clusters=None if first.clusters is None else first.scores.roles.cluster,
        by_items=first.by_items,
        left_out=sum(len(each.refused) for each in asked if each.pairs),
        repeats=repeats if repeats > MANY_REPEATS * scores else 0,
    )


def _read(data: Any, by: tuple[str, ...], roles: dict[str, Any], progress: Progress) -> tuple[Scores, list[str]]:
    """Return the scores, and what a reader of the answer must know of how they were read."""
    if isinstance(data, Scores):
        return data, list(data.notes)
    check_properties(by, roles)
    scores = read_scores(data, progress=progress, **name_properties(by, roles))
    return scores, [*scores.notes, *caution_clusters(scores, by, roles.get("cluster"))]


def _check_settings(scores: Scores) -> None:
    check_item_facets(scores, [name for name in scores.facets if not is_repetition(scores, name)])


def _check_systems(scores: Scores, question: Question) -> None:
    names, lost = scores.only(scores.usable).system.names, lost_systems(scores)
    if len(names) < 2 and lost:
        without = "; ".join(f"{name!r} has no score that counts ({why})" for name, why in lost.items())
        raise ScoresError(f"there are scores of {names[0]!r} only, and a comparison needs two systems: {without}")
    if len(names) < 2:
        why = point_to_roles(scores) if scores.roles.system is None else "is --system right?"
        raise ScoresError(f"there is one system only, {names[0]!r}, and a comparison needs two: {why}")
    if question.baseline in lost:
        why = lost[question.baseline]
        raise ScoresError(f"the baseline {question.baseline!r} has no score that counts ({why}): give another")
    if question.baseline is not None and question.baseline not in names:
        raise ScoresError(f"the baseline {question.baseline!r} is none of the systems: {list_names(names)}")


def _refuse(scores: Scores, first: Exception, faults: Sequence[str]) -> ScoresError:
    """Return why no pair is compared: what is wrong with the first, and the faults of the table, a likely cause."""
    labelled = int(scores.labelled.sum())
    why = str(first).rstrip(".")
    if 2 * labelled < len(scores):  # what is wrong with the few others is of no interest
        why = f"only {labelled:,} of {len(scores):,} rows say what they belong to, too few to compare systems"
    return ScoresError(" ".join([f"{why}.", *faults]).rstrip("."))


def _next(found: Sequence[Answer], contrasts: Sequence[SystemContrast], level: float) -> tuple[str, ...]:
    """Return the advice for the pair that is nearest to a verdict, or has none for lack of runs."""
    unsure = [place for place, c in enumerate(contrasts) if c.p_adjusted > 1 - level]
    if unsure:
        each, pair = _pair_at(found, min(unsure, key=lambda place: contrasts[place].log10_p_adjusted))
        alpha = (1 - level) / len(contrasts)  # each is held to its share of the error
        return advise(each.distinct, pair, firm=False, alpha=alpha)
    single = {(each.metric, s.name) for each in found for s in each.evaluation.systems
              if not can_repeat(each.evaluation, s)}  # fmt: skip
    for place, c in enumerate(contrasts) if single else ():
        if {(c.metric, c.left), (c.metric, c.right)} & single:
            each, pair = _pair_at(found, place)
            return advise(each.distinct, pair, firm=True, alpha=1 - level)
    return ()


def _pair_at(found: Sequence[Answer], place: int) -> tuple[Answer, Pair]:
    """Return the pair of a row of the contrasts, and the metric it belongs to."""
    for each in found:
        if place < len(each.pairs):
            return each, each.pairs[place]
        place -= len(each.pairs)
    raise IndexError(place)


def _caution_one_dataset(scores: Scores, average: str, nested_runs: bool) -> Iterator[str]:
    """Yield that options which are about several datasets change nothing where there are none."""
    if scores.dataset is None or len(set(scores.dataset.codes.tolist())) < 2:
        for option in ["--average micro"] * (average == "micro") + ["--nested-runs"] * nested_runs:
            yield f"{option} changes nothing: it is about several datasets, and there is one."


def _signature(
    scores: Scores,
    claim: str | None,
    best: str | None,
    where: Where,
    last: str | None,
    nested_runs: bool,
    average: str,
    lower_is_better: LowerIsBetter,
    question: Question,
) -> str:
    """Return what a stranger needs to ask the same: the claim as it was asked for, not as it was made."""
    return sign(
        "compare", data=scores.digest, **sign_roles(scores), claim=claim or "auto",
        where=sign_where(where), last=last, nested_runs=nested_runs or None,
        baseline=question.baseline, best=best, by=quote_names(question.by) or None,
        level=question.level, average=None if average == "macro" else average,
        margin=question.margin, lower_is_better=sign_direction(lower_is_better), bootstrap=question.bootstrap or None,
        seed=question.seed if question.bootstrap else None,
    )  # fmt: skip
