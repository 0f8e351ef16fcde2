"""Fixed effects, random terms, interactions and a prediction as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdsup.rendering import Estimate, Interval, Percent, PValue, Table
from holdsup.rendering.numbers import format_p
from holdsup.verdict.phrases import say_level, show_limits
from holdsup.verdict.ranking.answers import CONTRIBUTIONS, INTERACTIONS, NUISANCE, SHARES, name_term
from holdsup.verdict.ranking.term_records import (
    Contribution,
    InteractionEffect,
    NuisanceEffect,
    PredictionPart,
    TermVariance,
    Treatment,
)

__all__ = [
    "tabulate_contributions",
    "tabulate_effects",
    "tabulate_interactions",
    "tabulate_prediction",
    "tabulate_terms",
    "tabulate_treatments",
]

MOST_INTERACTIONS = 6


def tabulate_effects(fixed: Sequence[NuisanceEffect], said: Mapping[str, str], *, level: float) -> Table:
    """Return the fixed effects of nuisance factors."""
    return Table(
        title=f"Fixed effects of nuisance factors, {say_level(level)} limits",
        columns=("effect", "against", "coefficient", "se", "df", "t", "p", "limits"),
        rows=tuple(
            (
                e.name,
                e.reference or "",
                Estimate(e.estimate, e.se),
                Estimate(e.se, e.se),
                e.df,
                e.t,
                PValue(e.p, e.log10_p),
                Interval(e.low, e.high, e.estimate, drawn=False),
            )
            for e in fixed
        ),
        notes=(said[NUISANCE], "Satterthwaite's t; systems are random in this fit."),
    )


def tabulate_contributions(contributions: Sequence[Contribution], said: Mapping[str, str], *, level: float) -> Table:
    """Return what ingredients add."""
    saturated = contributions[0].saturated
    return Table(
        title=f"Contributions of ingredients, {say_level(level)} limits",
        columns=("ingredient", "systems", "adds", "se", "df", "t", "p", "limits"),
        rows=tuple(
            (
                c.name,
                ", ".join(c.systems),
                Estimate(c.estimate, c.se),
                Estimate(c.se, c.se),
                c.df,
                c.t,
                PValue(c.p, c.log10_p),
                show_limits(c.low, c.high, c.estimate, drawn=False),
            )
            for c in contributions
        ),
        notes=(
            said[CONTRIBUTIONS],
            "The ingredients tell all systems apart and stand in their place: nothing else of a system is left."
            if saturated
            else "Fixed effects beside the systems' random one; df are at most those that the systems leave.",
        ),
    )


def tabulate_terms(random: Sequence[TermVariance], said: Mapping[str, str]) -> Table:
    """Return the random terms with their shares and tests."""
    methods = dict.fromkeys(r.method for r in random if r.method)
    return Table(
        title="Random terms: shares of the variance, and whether there is any",
        columns=("term", "levels", "variance", "sd", "share", "exact", "p", "ranova p"),
        rows=tuple(
            (
                name_term(r),
                r.levels,
                r.variance,
                r.sd,
                Percent(r.percent),
                Percent(r.percent_exact),
                PValue(r.p, at_most=r.p_at_most),
                PValue(r.p_ranova, r.log10_p_ranova),
            )
            for r in random
        ),
        notes=(
            said[SHARES],
            "Share: variance over the sum of variances, as in Sanchez Carmona et al. (2025). Exact: slopes weighed by "
            "their regressors.",
            f"p: rise of the REML criterion without the term, by {' or '.join(methods)}{_say_floor(random)}. Ranova "
            "p: by chi-square with 1 df, without regard to that a variance cannot be negative.",
        ),
    )


def _say_floor(random: Sequence[TermVariance]) -> str:
    floor = next((r.p for r in random if r.p_at_most and r.p is not None), None)
    return f" (so many draws tell no less than {format_p(floor)})" if floor is not None else ""


def tabulate_interactions(interactions: Sequence[InteractionEffect], said: Mapping[str, str], *, level: float) -> Table:
    """Return the strongest interactions."""
    there = [e for e in interactions if e.scores]
    ordered = sorted(there, key=lambda e: -abs(e.effect))[:MOST_INTERACTIONS]
    drawn = any(e.low < e.high for e in ordered)
    notes = [
        said[INTERACTIONS],
        "Averaged over settings. Limits of one effect given the rows, its variances taken as known.",
    ]
    if len(ordered) < len(there):
        notes.append(f"Shown are the {len(ordered)} strongest of {len(there)}.")
    return Table(
        title=f"Systems on datasets: effects beyond both their means, {say_level(level)} limits",
        columns=("system", "dataset", "effect", "limits", "rows"),
        rows=tuple(
            (e.system, e.dataset, Estimate(e.effect, e.sd), Interval(e.low, e.high, e.effect, drawn), e.scores)
            for e in ordered
        ),
        notes=tuple(notes),
    )


def tabulate_prediction(parts: Sequence[PredictionPart]) -> Table:
    """Return the predicted score of a configuration, term by term."""
    total = sum(part.value for part in parts)
    scale = max(abs(total) / 1000, 1e-300)
    unknown = [part.term for part in parts if not part.known]
    rows = tuple((part.term, part.kind, Estimate(part.value, scale)) for part in parts)
    notes = (f"Not seen by the fit, so that an average is taken: {'; '.join(unknown)}.",) if unknown else ()
    return Table(
        title="Predicted score of the configuration, term by term",
        columns=("term", "kind", "adds"),
        rows=(*rows, ("predicted score", "", Estimate(total, scale))),
        notes=notes,
    )


def tabulate_treatments(treatments: Sequence[Treatment], *, means: str, variances: str) -> Table:
    """Return what is made of each nuisance column, and the formulas."""
    if not treatments:
        return Table(
            title="The form, without a nuisance column",
            columns=("for", "formula (REML)"),
            rows=(("means and contrasts", means), ("shares of variance", variances)),
        )
    return Table(
        title="The form: what is made of nuisance columns",
        columns=("column", "levels", "treated as", "reference", "why"),
        rows=tuple((t.name, t.levels, t.treated, t.reference or "", t.why) for t in treatments),
        notes=(f"Means and contrasts: {means} (REML)", f"Shares of variance: {variances} (REML)"),
    )
