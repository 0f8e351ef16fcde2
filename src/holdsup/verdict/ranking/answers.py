"""The paper's five questions, answered in words by rule from the numbers."""

from __future__ import annotations

from collections.abc import Sequence

from holdsup.rendering.numbers import format_number, format_percent
from holdsup.verdict.phrases import join_names, say_p
from holdsup.verdict.ranking.sentences import say_best
from holdsup.verdict.ranking.system_records import Answer, RankContrast, RankedSystem
from holdsup.verdict.ranking.term_records import Contribution, InteractionEffect, NuisanceEffect, TermVariance

__all__ = ["CONTRIBUTIONS", "INTERACTIONS", "NO_CELLS", "NUISANCE", "SHARES", "answer_questions", "name_term"]

NUISANCE = "Do nuisance factors play a role?"
CONTRIBUTIONS = "How effective are the ingredients?"
SHARES = "Where does the variance come from?"
INTERACTIONS = "Do systems and datasets interact?"
BEST = "Which system is best?"
NO_CELLS = "There is no term of system and dataset, so that interactions cannot be told from the residual."


def answer_questions(
    fixed: Sequence[NuisanceEffect],
    contributions: Sequence[Contribution],
    random: Sequence[TermVariance],
    interactions: Sequence[InteractionEffect],
    systems: Sequence[RankedSystem],
    contrasts: Sequence[RankContrast],
    *,
    names: tuple[str, str],
    datasets: int,
    level: float,
    lower_is_better: bool,
) -> tuple[Answer, ...]:
    """Return the answers to the paper's five questions; that about ingredients only where they are named."""
    system, dataset = names
    cells = {f"{system}:{dataset}", f"{dataset}:{system}"}
    found = [Answer(question=NUISANCE, answer=_nuisance(fixed, random, {system, dataset, *cells}, level))]
    if contributions:
        found.append(Answer(question=CONTRIBUTIONS, answer=_ingredients(contributions, level)))
    found.append(Answer(question=SHARES, answer=_shares(random)))
    found.append(Answer(question=INTERACTIONS, answer=_interaction(random, interactions, cells, level)))
    found.append(Answer(question=BEST, answer=say_best(systems, contrasts, datasets, level, lower_is_better)))
    return tuple(found)


def _nuisance(fixed: Sequence[NuisanceEffect], random: Sequence[TermVariance], owners: set[str], level: float) -> str:
    effects = [e for e in fixed if e.factor is not None]
    sure = [f"{e.name} ({format_number(e.estimate, uncertainty=e.se)})" for e in effects if e.p <= 1 - level]
    varying = [
        name_term(r) for r in random
        if r.p is not None and r.p <= 1 - level and not (r.group in owners and r.term == "(Intercept)")
    ]  # fmt: skip
    if not effects:
        same = "The form has no fixed effect of a nuisance factor."
    elif sure:
        same = f"In all systems and datasets alike: {join_names(sure)}."
    else:
        same = f"None of {len(effects)} fixed effects can be told from zero."
    if varying:
        return f"{same} Differently by system and dataset: {join_names(varying)}."
    return f"{same} No effect is seen to vary with system and dataset."


def _ingredients(contributions: Sequence[Contribution], level: float) -> str:
    said = [
        f"{c.name} adds {format_number(c.estimate, uncertainty=c.se)} ({say_p(c.p, c.log10_p)})" for c in contributions
    ]
    unsure = [c.name for c in contributions if c.p > 1 - level]
    tail = f" What {join_names(unsure)} adds cannot be told from zero." if unsure else ""
    return f"{join_names(said)}.{tail}"


def _shares(random: Sequence[TermVariance]) -> str:
    ordered = sorted((r for r in random if r.group != "Residual"), key=lambda r: -r.percent_exact)
    said = [f"{name_term(r)} {format_percent(r.percent_exact)}" for r in ordered[:4]]
    residual = next(r for r in random if r.group == "Residual")
    return (
        f"Of the variance that no fixed effect explains: {join_names(said)}; the residual "
        f"{format_percent(residual.percent_exact)}."
    )


def _interaction(
    random: Sequence[TermVariance], interactions: Sequence[InteractionEffect], cells: set[str], level: float
) -> str:
    term = next((r for r in random if r.group in cells and r.term == "(Intercept)"), None)
    if term is None or not interactions:
        return NO_CELLS
    seen = term.p is not None and term.p <= 1 - level
    how = f"{format_percent(term.percent_exact)} of the variance, {_say(term.p)}"
    first = f"Yes ({how})." if seen else f"None is seen beyond what settings do by system and dataset ({how})."
    there = [e for e in interactions if e.scores]
    sure = [e for e in there if e.low > 0 or e.high < 0]
    if not sure:
        return f"{first} No single effect can be told from zero."
    strong = max(sure, key=lambda e: abs(e.effect))
    return (
        f"{first} Limits of {len(sure)} of {len(there)} effects exclude zero; the largest is {strong.system} on "
        f"{strong.dataset}, {format_number(strong.effect, uncertainty=strong.sd)}."
    )


def _say(p: float | None) -> str:
    return "not tested" if p is None else say_p(p)


def name_term(row: TermVariance) -> str:
    """Return a random term in words: a slope with what it varies between, an intercept by that alone."""
    if row.term in ("(Intercept)", ""):
        return row.group
    slope = row.term.removeprefix("center(").removesuffix(")") if row.term.startswith("center(") else row.term
    return f"{slope} by {row.group}"
