"""The verdict and the five answers in words, by rule from the numbers."""

from __future__ import annotations

from collections.abc import Sequence

from holdsup.rendering.numbers import format_interval, format_number, format_percent
from holdsup.verdict.phrases import join_names, say_p
from holdsup.verdict.ranking.records import (
    Answer,
    Contribution,
    InteractionEffect,
    NuisanceEffect,
    RankContrast,
    RankedSystem,
    TermVariance,
    WaterfallStep,
)

__all__ = ["NO_CELLS", "answer_questions", "name_term", "write_ranking_verdict"]

NUISANCE = "Do nuisance factors play a role?"
CONTRIBUTIONS = "How effective are the ingredients?"
SHARES = "Where does the variance come from?"
INTERACTIONS = "Do systems and datasets interact?"
BEST = "Which system is best?"
NO_CELLS = "There is no term of system and dataset, so that interactions cannot be told from the residual."


def name_term(row: TermVariance) -> str:
    """Return a random term in words: a slope with what it varies between, an intercept by that alone."""
    if row.term in ("(Intercept)", ""):
        return row.group
    slope = row.term.removeprefix("center(").removesuffix(")") if row.term.startswith("center(") else row.term
    return f"{slope} by {row.group}"


def write_ranking_verdict(
    systems: Sequence[RankedSystem],
    contrasts: Sequence[RankContrast],
    waterfall: Sequence[WaterfallStep],
    *,
    datasets: int,
    level: float,
    lower_is_better: bool,
    interacts: bool,
    left_out: Sequence[str],
) -> str:
    """Return the sentence that stands above the tables: claim, evidence, how sure, what is not covered.

    `interacts` says whether systems may differ from dataset to dataset in the form, `left_out` which nuisance columns
    are not isolated.
    """
    mixed = f" {join_names(left_out)} could not be told apart from the rest and is not isolated." if left_out else ""
    scope = (
        f"This is for new datasets like these {datasets}"
        if interacts
        else f"This is for these {datasets} datasets alone, and too sure even of them: the formula has no term of "
        "systems on datasets, so that all rows of one count as evidence of their own"
    )
    return (
        f"{_best(systems, contrasts, datasets, level, lower_is_better)} {_isolated(waterfall)}{mixed} "
        f"{scope}, over the settings that the table has, equally weighted; nothing is said about other settings or "
        "systems."
    )


def _best(
    systems: Sequence[RankedSystem],
    contrasts: Sequence[RankContrast],
    datasets: int,
    level: float,
    lower_is_better: bool,
) -> str:
    leader, second = systems[:2]
    lead = next(c for c in contrasts if {c.left, c.right} == {leader.name, second.name})
    told = [c.right for c in contrasts if c.left == leader.name and c.p_adjusted <= 1 - level]
    unsure = [s.name for s in systems[1:] if s.name not in told]
    end = "lowest" if lower_is_better else "highest"
    gap = format_number(abs(lead.difference), uncertainty=lead.se)
    own = lead.method != "pooled" and lead.datasets < datasets
    shared = f" on the {lead.datasets} datasets that both have" if own else ""
    side = "below" if lead.difference < 0 else "above"
    limits = format_interval(lead.low_simultaneous, lead.high_simultaneous)
    head = (
        f"{leader.name} has the {end} adjusted mean, {format_number(leader.mean, uncertainty=lead.se)}: {gap} {side} "
        f"{second.name}{shared}, {level:.0%} limits for all pairs {limits}, "
        f"{say_p(lead.p_adjusted, lead.log10_p_adjusted)} after Holm"
    )
    share = f"it is the best in {format_percent(100 * leader.p_best)} of draws"
    if not unsure:
        return f"{head}; it is better than every other system, and {share}."
    if not told:
        return f"{head}; it cannot be told from {join_names(unsure)}, and {share}."
    return f"{head}; it cannot be told from {join_names(unsure)}, is better than {join_names(told)}, and {share}."


def _isolated(waterfall: Sequence[WaterfallStep]) -> str:
    raw = waterfall[0]
    isolated = next(step for step in waterfall if step.step == "random effects")
    scale = max(abs(raw.gap), abs(isolated.gap)) / 10 or None
    return (
        f"The raw gap of {raw.left} - {raw.right} in this table is {format_number(raw.gap, uncertainty=scale)}; with "
        f"datasets and nuisance factors isolated it is {format_number(isolated.gap, uncertainty=scale)}."
    )


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
    found.append(Answer(question=BEST, answer=_best(systems, contrasts, datasets, level, lower_is_better)))
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
    sure = [e for e in interactions if e.low > 0 or e.high < 0]
    if not sure:
        return f"{first} No single effect can be told from zero."
    strong = max(sure, key=lambda e: abs(e.effect))
    return (
        f"{first} Limits of {len(sure)} of {len(interactions)} effects exclude zero; the largest is {strong.system} on "
        f"{strong.dataset}, {format_number(strong.effect, uncertainty=strong.sd)}."
    )


def _say(p: float | None) -> str:
    return "not tested" if p is None else say_p(p)
