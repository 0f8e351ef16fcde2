"""The paper's five questions, answered in words by rule from the numbers."""

from __future__ import annotations

from collections.abc import Sequence

from holdsup.rendering.numbers import format_number, format_percent
from holdsup.verdict.phrases import join_names, say_p
from holdsup.verdict.ranking.sentences import say_best
from holdsup.verdict.ranking.system_records import Answer, RankContrast, RankedSystem
from holdsup.verdict.ranking.term_records import Contribution, InteractionEffect, NuisanceEffect, TermVariance

__all__ = [
    "CONTRIBUTIONS",
    "INTERACTIONS",
    "NO_CELLS",
    "NUISANCE",
    "SHARES",
    "answer_questions",
    "find_slopes",
    "name_term",
]

NUISANCE = "Do nuisance factors play a role?"
CONTRIBUTIONS = "How effective are the ingredients?"
SHARES = "Where does the variance come from?"
INTERACTIONS = "Do systems and datasets interact?"
BEST = "Which system is best?"
OWNERS = ("system", "dataset")
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
    found = [Answer(question=NUISANCE, answer=_nuisance(fixed, random, names, level))]
    if contributions:
        found.append(Answer(question=CONTRIBUTIONS, answer=_ingredients(contributions, level)))
    found.append(Answer(question=SHARES, answer=_shares(random)))
    found.append(Answer(question=INTERACTIONS, answer=_interaction(random, interactions, names, level)))
    found.append(Answer(question=BEST, answer=say_best(systems, contrasts, datasets, level, lower_is_better)))
    return tuple(found)


def _nuisance(
    fixed: Sequence[NuisanceEffect], random: Sequence[TermVariance], names: tuple[str, str], level: float
) -> str:
    effects = [e for e in fixed if e.factor is not None]
    sure = [f"{e.name} ({format_number(e.estimate, uncertainty=e.se)})" for e in effects if e.p <= 1 - level]
    terms: dict[str, list[TermVariance]] = {}
    for r in random:
        if r.p is not None and not _is_owners(r, names):
            terms.setdefault(_varies_with(r, names), []).append(r)
    if not effects and not terms:
        return "The form has no term of a nuisance factor."
    seen = {how: [name_term(r) for r in found if r.p is not None and r.p <= 1 - level] for how, found in terms.items()}
    sure += [f"{name} (random levels)" for name in seen.pop("", [])]
    if sure:
        said = [f"In all systems and datasets alike: {join_names(sure)}."]
    elif effects:
        said = [f"None of {len(effects)} fixed effects can be told from zero."]
    else:
        said = [
            f"The form has no fixed effect of a nuisance factor{', and none is seen of random levels' * ('' in terms)}."
        ]
    for how, found in seen.items():
        said.append(
            f"Differently by {how}: {join_names(found)}." if found else f"No effect is seen to vary with {how}."
        )
    return " ".join(said)


def _varies_with(row: TermVariance, names: tuple[str, str]) -> str:
    """Return whether the effect of a nuisance factor differs by system, by dataset, by both, or by neither."""
    return join_names([what for what, name in zip(OWNERS, names, strict=True) if f":{name}:" in f":{row.group}:"])


def _is_owners(row: TermVariance, names: tuple[str, str]) -> bool:
    """Return whether a term is of systems and datasets alone."""
    system, dataset = names
    alone = row.group in (system, dataset, f"{system}:{dataset}", f"{dataset}:{system}")
    return alone and (row.term == "(Intercept)" or row in find_slopes([row], names))


def find_slopes(random: Sequence[TermVariance], names: tuple[str, str]) -> list[TermVariance]:
    """Return the slopes of systems by dataset, as which a formula may have their interaction."""
    system, dataset = names
    return [r for r in random if r.group == dataset and r.term.startswith(system)]


def _ingredients(contributions: Sequence[Contribution], level: float) -> str:
    said = [
        f"{c.name} adds {format_number(c.estimate, uncertainty=c.se)} ({say_p(c.p, c.log10_p)})" for c in contributions
    ]
    unsure = [c.name for c in contributions if c.p > 1 - level]
    tail = (
        f" What {join_names(unsure)} {'adds' if len(unsure) == 1 else 'add'} cannot be told from zero."
        if unsure
        else ""
    )
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
    random: Sequence[TermVariance], interactions: Sequence[InteractionEffect], names: tuple[str, str], level: float
) -> str:
    cells = {":".join(names), ":".join(reversed(names))}
    if slopes := find_slopes(random, names):
        return (
            f"The formula has them as slopes of {names[0]} by {names[1]}, with "
            f"{format_percent(sum(r.percent_exact for r in slopes))} of the variance; single effects are not given."
        )
    term = next((r for r in random if r.group in cells and r.term == "(Intercept)"), None)
    if term is None or not interactions:
        return NO_CELLS
    seen = term.p is not None and term.p <= 1 - level
    how = f"{format_percent(term.percent_exact)} of the variance, {_say(term)}"
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


def _say(term: TermVariance) -> str:
    return "not tested" if term.p is None else say_p(term.p, at_most=term.p_at_most)


def name_term(row: TermVariance) -> str:
    """Return a random term in words: a slope with what it varies between, an intercept by that alone."""
    if row.term in ("(Intercept)", ""):
        return row.group
    slope = row.term.removeprefix("center(").removesuffix(")") if row.term.startswith("center(") else row.term
    return f"{slope} by {row.group}"
