"""What was done, in words filled from the result: the question, two sentences on the method, and whom to cite.

A kind of result that has no words of its own here gets those of `_others`, which say no more than every result says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdsup.rendering.numbers import format_counted
from holdsup.results import Result, find_scored
from holdsup.verdict.comparison.sentences import COVERS
from holdsup.verdict.phrases import join_names

if TYPE_CHECKING:
    from holdsup.fit import LmmFit
    from holdsup.verdict import Comparison, Decomposition, Reproduction
    from holdsup.verdict.comparison.records import SystemContrast
    from holdsup.verdict.contest import Contest
    from holdsup.verdict.ranking import Ranking
    from holdsup.verdict.tuning import Tuning

__all__ = ["Method", "describe_method"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What was done.

    Attributes
    ----------
    question : what was asked
    sentences : what was done
    citations : keys of the references, the most important first
    """

    question: str
    sentences: tuple[str, ...]
    citations: tuple[str, ...]


def describe_method(result: Result) -> Method:
    """Return what was done to get a result; the last sentence names the program, its version and the seed."""
    method = METHODS.get(result.kind, _others)(result)
    seed = "" if result.seed is None else f", seed {result.seed}"
    score = find_scored(result).sentence()
    made = f"Computed with holdsup {result.version}{seed}."
    return Method(
        question=method.question,
        sentences=(*method.sentences, *([score] if score else []), made),
        citations=(*dict.fromkeys([*method.citations, "holdsup"]),),
    )


def _compare(result: Comparison) -> Method:
    tests = _listed(c.p_method for c in result.contrasts)
    pairs = format_counted(len(result.contrasts), "comparison")
    against = " pair by pair" if len(result.contrasts) > 1 else ""
    against = f" with {result.baseline}" if result.baseline is not None else against
    adjusted = f", adjusted by Holm's method over {pairs}" if len(result.contrasts) > 1 else ""
    claims = _listed(f"{c.claim} ({_covered(result, c)})" for c in result.contrasts)
    names = format_counted(len({s.name for s in result.systems}), "system")
    sentences = [f"{names} were compared{against}, for the claim {claims}; p is by {tests}{adjusted}."]
    models = _listed(test.model for test in result.tests if test.model)
    draws = max(test.bootstrap_draws for test in result.tests)
    simulated = f", with a parametric bootstrap of {draws:,} draws" if draws else ""
    if models:
        sentences.append(
            f"Beside it stand the likelihood ratio of the systems in {models}{simulated}, and the test as published."
        )
    elif result.papers:
        sentences.append("Beside it stands the test as published.")
    if result.conditional:
        properties = _listed(each.property for each in result.conditional)
        sentences.append(f"Whether differences depend on {properties} was tested, for all values at once.")
    citations = ["hagmann2023"]
    citations += ["welch1947"] if "Welch" in tests else []
    citations += ["holm1979"] if adjusted else []
    citations += ["bates2015"] if models else []
    question = "Is one system better than another, beyond these runs?"
    return Method(question=question, sentences=tuple(sentences), citations=tuple(citations))


def _covered(result: Comparison, contrast: SystemContrast) -> str:
    """Return what a claim covers, in the words of the verdict."""
    if result.unit is None:
        return "over new training runs, on the same test data"
    if result.unit == "items" and "datasets and runs" in contrast.p_method:
        return "over new datasets like these, new items and new training runs"
    return COVERS[contrast.claim].format(unit=result.unit)


def _variance(result: Decomposition) -> Method:
    models = _listed(s.model for s in result.systems)
    limits = _listed(c.method for c in result.components)
    sentences = [f"The variance of single scores was decomposed by REML fits of {models}; limits are by {limits}."]
    if result.reliabilities:
        sentences.append(
            "Reliability phi is the share of the variance between items; its words are Koo and Li's, for every value "
            "within the limits."
        )
    citations = ("hagmann2023", *(["koo2016"] if result.reliabilities else []), "bates2015")
    question = "Where does the variance come from, and how reliable is this evaluation?"
    return Method(question=question, sentences=tuple(sentences), citations=citations)


def _qra(result: Reproduction) -> Method:
    measured = format_counted(sum(a.n for a in result.assessments), "measurement")
    several = f" of {len(result.assessments)} objects and measurands" if len(result.assessments) > 1 else ""
    return Method(
        question="Did other people reproduce this result, and how closely?",
        sentences=(
            f"{measured}{several} were assessed by QRA: CV* is the coefficient of variation of values shifted to a "
            "scale that starts at zero, corrected for small samples, in percent.",
            "Limits as published are by Student's t; beside them stand exact ones for normal values, by chi-square and "
            "noncentral t.",
        ),
        citations=("belz2022",),
    )


def _contest(result: Contest) -> Method:
    first = result.conclusions[0]
    corpus = f"a corpus of {format_counted(result.items, 'item')}" if result.items else "a corpus"
    partitions = format_counted(first.partitions, "partition")
    splits = _listed(row.strategy for row in result.estimators)
    tests = _listed(test.name for test in result.tests)
    tested = f" The difference over new corpora is tested by {tests}." if tests else ""
    sources = {"blocked": "wang2014", "corrected resampled t": "nadeau2003"}
    citations = ["xue2023", *(key for name, key in sources.items() if name in tests)]
    return Method(
        question="Would the conclusion survive another split of the corpus?",
        sentences=(
            f"All systems were trained on the same splits ({splits}) in {partitions} of {corpus} and scored by "
            f"{result.metric}; the {first.estimator} estimator decides.",
            "Reproducibility is the share of partitions in which the same system is better, with exact binomial "
            f"limits.{tested}",
        ),
        citations=tuple(citations),
    )


def _tune(result: Tuning) -> Method:
    adaptive = ", candidates that could no longer win dropped on the way" if result.adaptive else ""
    return Method(
        question="Are the tuned hyper-parameters an accident of the partition?",
        sentences=(
            f"{format_counted(len(result.different), 'candidate')} were scored by {result.metric} in J-K-fold "
            f"cross-validation: the mean over J={result.partitions} partitions into K={result.k} folds, the same ones "
            f"for every candidate ({format_counted(result.fits, 'fit')}{adaptive}).",
            "The probability of being the best is over all partitions of this corpus, from the spread between these.",
        ),
        citations=("moss2018",),
    )


def _fit(fit: LmmFit) -> Method:
    how = "REML" if fit.method == "reml" else "maximum likelihood"
    return Method(
        question="What does this linear mixed model say?",
        sentences=(
            f"The linear mixed model {fit.formula} was fitted to {format_counted(fit.n, 'row')} by {how}.",
            "Tests and limits of fixed effects are by t with Satterthwaite's degrees of freedom.",
        ),
        citations=("bates2015", "satterthwaite1946"),
    )


def _others(result: Result) -> Method:
    """Return what can be said of any result: for some kinds a question, and whom to cite."""
    question, sentences, citations = OTHERS.get(result.kind, (f"What does {result.kind} say?", (), ()))
    return Method(question=question, sentences=sentences, citations=citations)


def _listed(names: Iterable[str]) -> str:
    return join_names(list(dict.fromkeys(names)))


def _rank(result: Ranking) -> Method:
    names, datasets = format_counted(len(result.systems), "system"), format_counted(result.datasets, "dataset")
    own = any(contrast.method == "dataset differences" for contrast in result.contrasts)
    test = "t on the differences between datasets, pair by pair" if own else "Satterthwaite's t of that model"
    return Method(
        question="Which system is best over many datasets, once nuisance factors are isolated?",
        sentences=(
            f"{names} were ranked over {datasets} by adjusted means of the linear mixed model {result.means_formula}, "
            f"fitted by REML; contrasts are tested by {test}, adjusted by Holm's method.",
            f"Shares of the variance are those of {result.formula}.",
        ),
        citations=("sanchez2025", "bates2015", "holm1979"),
    )


METHODS: dict[str, Callable[..., Method]] = {
    "compare": _compare,
    "contest": _contest,
    "fit": _fit,
    "qra": _qra,
    "rank": _rank,
    "tune": _tune,
    "variance": _variance,
}
OTHERS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "check": (
        "Is this table of scores fit to answer anything?",
        (
            "The table was searched for duplicate, missing and unusable rows, labels that look alike, copied runs, "
            "columns that change only together, and designs that no model can separate. Nothing was fitted.",
        ),
        (),
    ),
    "estimate-study": ("How much does an estimate move with the partition?", (), ("moss2018",)),
    "qra_check": ("Are these measurements fit to be assessed?", (), ("belz2022",)),
    "qra_findings": ("Do the findings of the studies agree?", (), ("belz2022",)),
    "qra_labels": ("Do those who labelled agree?", (), ("belz2022",)),
    "qra_scores": ("Do sets of scores of the same items agree?", (), ("belz2022",)),
    "run": ("What was trained and tested?", (), ()),
    "stopping-study": ("Is the stopping point an accident of the partition?", (), ("moss2018",)),
    "tune-advice": ("How many partitions and folds should a tuning have?", (), ("moss2018",)),
    "tune-study": ("How much does a tuning move with the partition?", (), ("moss2018",)),
}
