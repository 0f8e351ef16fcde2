"""Every table behind a ranking."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holdsup.errors import list_names
from holdsup.rendering import Cell, Estimate, Percent, PValue, Table
from holdsup.rendering.numbers import format_number
from holdsup.verdict.phrases import join_names, say_level, say_p, show_interval
from holdsup.verdict.ranking.numbers import Companion, RankingNumbers
from holdsup.verdict.ranking.records import (
    DIFFERENCES,
    NOT_TESTED,
    WITH_RUNS,
    Contribution,
    NuisanceEffect,
    RankContrast,
)
from holdsup.verdict.ranking.words import name_term

__all__ = ["tabulate"]

SAME = 1e-6  # of its standard error: differences so near are one
MOST_INTERACTIONS = 6
BY_HOLM = (
    "CI and p: Bonferroni's, so that p is small where the CI leaves out zero. p Holm: sharper, and what the answer goes "
    "by. p alone: as if this pair were the only one."
)
METHODS = {
    DIFFERENCES: "t-test of the differences between datasets, pair by pair.",
    WITH_RUNS: "two-way Welch t-test (datasets and runs, conservative df): each run was scored on all datasets.",
    "pooled": "Satterthwaite's t-test of the mixed model.",
    NOT_TESTED: "not tested: fewer than two shared datasets, or the same difference on all of them.",
}


def tabulate(found: RankingNumbers) -> Iterator[Table]:
    """Yield the ranking first, then what it is made of, then how far to trust it."""
    yield _systems(found)
    yield _contrasts(found)
    yield _waterfall(found)
    yield _effects(found)
    if found.contributions:
        yield _contributions(found)
    yield _terms(found)
    if found.interactions:
        yield _interactions(found)
    if found.prediction:
        yield _prediction(found)
    yield _quality(found)
    if found.companion is not None:
        yield _companion(found, found.companion)
    if found.influence:
        yield _influence(found)
    yield _treatments(found)


def _systems(found: RankingNumbers) -> Table:
    spread = min((s.se for s in found.systems if s.se > 0), default=0.0)
    level = say_level(found.level)
    without = [s.name for s in found.systems if not (math.isfinite(s.low) and math.isfinite(s.high))]
    none = (
        (f"No {level} CI for {join_names(without)}: too few {found.items} to measure the spread.",) if without else ()
    )
    like = f"new {found.items} like these" if found.scope == "new datasets" else f"these {found.items}"
    return Table(
        name="systems",
        title=f"Systems by adjusted mean, {level} CI for {like}",
        columns=("rank", "system", "mean", f"{level} CI", "places", "best in", "raw mean", "shrunken"),
        rows=tuple(
            (
                s.rank,
                s.name,
                Estimate(s.mean, spread / 10),
                show_interval(s.low, s.high, s.mean, drawn=False),
                f"{s.rank_low}" if s.rank_low == s.rank_high else f"{s.rank_low}-{s.rank_high}",
                Percent(100 * s.p_best),
                Estimate(s.raw_mean, spread / 10),
                Estimate(s.shrunken, spread / 10),
            )
            for s in found.systems
        ),
        notes=(
            *none,
            f"Mean: all {found.items}, and all levels of a fixed factor, count equally. Places: those the adjusted "
            f"tests leave open. CIs of means may overlap where pairs differ, because systems share {found.items}.",
            "Best in: share of draws in which it comes first, not adjusted for the number of pairs. Shrunken: "
            "the mean of Sanchez Carmona et al. (2025), drawn towards that of all systems.",
        ),
    )


def _contrasts(found: RankingNumbers) -> Table:
    level, several = say_level(found.level), len(found.contrasts) > 1
    adjusted = ("p Holm", "p alone") if several else ()
    return Table(
        name="contrasts",
        title=f"Differences of all pairs, {level} CI for all pairs" if several else f"The difference, {level} CI",
        columns=("pair", "difference", "se", "df", f"{level} CI", "p", *adjusted, "pooled p"),
        rows=tuple(
            (
                f"{c.left} - {c.right}",
                Estimate(c.difference, c.se),
                Estimate(c.se, c.se),
                c.df,
                show_interval(c.low_simultaneous, c.high_simultaneous, c.difference, drawn=False),
                PValue(found.p_of_interval(c)),
                *((PValue(c.p_adjusted), PValue(c.p)) if several else ()),
                PValue(c.pooled_p),
            )
            for c in found.contrasts
        ),
        notes=(
            *_say_methods(found.contrasts),
            *_say_subsets(found),
            *((BY_HOLM,) if several else ()),
            "Pooled p: the mixed model's, which takes all systems to vary equally from dataset to dataset.",
        ),
    )


def _say_methods(contrasts: Sequence[RankContrast]) -> Iterator[str]:
    """Yield where p come from; where pairs differ in it, the fewer pairs are named."""
    by = {method: [f"{c.left} - {c.right}" for c in contrasts if c.method == method] for method in METHODS}
    used = sorted((method for method in METHODS if by[method]), key=lambda method: -len(by[method]))
    for place, method in enumerate(used):
        yield f"{f'p of {list_names(by[method], most=6)}' if place else 'p'}: {METHODS[method]}"


def _say_subsets(found: RankingNumbers) -> Iterator[str]:
    """Yield which differences are not those of the means above, and why."""
    own = [c for c in found.contrasts if c.method in (DIFFERENCES, WITH_RUNS)]
    fewer = [c for c in own if c.datasets < found.datasets and abs(c.difference - c.pooled_difference) > SAME * c.se]
    if fewer:
        named = join_names([f"{c.left} - {c.right} ({c.datasets})" for c in fewer], most=3)
        yield f"Over the {found.items} both have (their number), so not the difference of the means above: {named}."
    weighed = [
        f"{c.left} - {c.right}"
        for c in own
        if c.datasets == found.datasets
        and format_number(c.difference, uncertainty=c.se) != format_number(c.pooled_difference, uncertainty=c.se)
    ]
    if weighed:
        yield (
            f"{join_names(weighed, most=3)}: each of the {found.items} counts the same here; the means above weigh "
            "them by their numbers of rows."
        )


def _waterfall(found: RankingNumbers) -> Table:
    """Return the steps from the raw gap to the adjusted one, but for those that change nothing."""
    first, scale = found.waterfall[0], max(abs(step.gap) for step in found.waterfall) / 100
    still = [step.step for step in found.waterfall[1:] if step.change == 0]
    return Table(
        name="waterfall",
        title=f"From the raw gap of {first.left} - {first.right} to the adjusted one",
        columns=("step", "change", "gap"),
        rows=tuple(
            (step.step, Estimate(step.change, scale), Estimate(step.gap, scale))
            for step in found.waterfall
            if step.step not in still
        ),
        notes=(
            *([f"No change: {join_names(still)}."] if still else []),
            "Shrinkage is no cause: it is what treating systems as random draws adds.",
        ),
    )


def _effect_cells(e: NuisanceEffect | Contribution) -> tuple[Cell, ...]:
    interval = show_interval(e.low, e.high, e.estimate, drawn=False)
    return Estimate(e.estimate, e.se), Estimate(e.se, e.se), e.df, e.t, PValue(e.p), interval


def _effects(found: RankingNumbers) -> Table:
    level = say_level(found.level)
    return Table(
        name="fixed",
        title="Effects of nuisance factors",
        columns=("effect", "against", "coefficient", "se", "df", "t", "p", f"{level} CI"),
        rows=tuple((e.name, e.reference or "", *_effect_cells(e)) for e in found.fixed),
        notes=("Satterthwaite's t-test; systems are random in this fit.",),
    )


def _contributions(found: RankingNumbers) -> Table:
    level = say_level(found.level)
    return Table(
        name="contributions",
        title="What each ingredient adds",
        columns=("ingredient", "systems", "adds", "se", "df", "t", "p", f"{level} CI"),
        rows=tuple((c.name, ", ".join(c.systems), *_effect_cells(c)) for c in found.contributions),
        notes=(
            "The ingredients tell all systems apart and take their place: nothing else of a system is left."
            if found.contributions[0].saturated
            else "Systems stay random effects; df are at most those that the systems leave.",
        ),
    )


def _terms(found: RankingNumbers) -> Table:
    methods = " or ".join(dict.fromkeys(r.method for r in found.random if r.method))
    return Table(
        name="random",
        title="Where the variance comes from",
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
                PValue(r.p_ranova),
            )
            for r in found.random
        ),
        notes=(
            "Share: as in Sanchez Carmona et al. (2025). Exact: slopes weighted by their regressors.",
            f"p: REML likelihood-ratio test without the term ({methods}). Ranova p: by chi-square with 1 df.",
        ),
    )


def _interactions(found: RankingNumbers) -> Table:
    there = [e for e in found.interactions if e.scores]
    ordered = sorted(there, key=lambda e: -abs(e.effect))[:MOST_INTERACTIONS]
    drawn = any(e.low < e.high for e in ordered)
    sure = sum(e.low > 0 or e.high < 0 for e in there)
    level = say_level(found.level)
    return Table(
        name="interactions",
        title=f"Systems that do better or worse on single {found.items} than their means say",
        columns=("system", "dataset", "effect", f"{level} CI", "rows"),
        rows=tuple(
            (
                e.system,
                e.dataset,
                Estimate(e.effect, e.sd),
                show_interval(e.low, e.high, e.effect, drawn=drawn),
                e.scores,
            )
            for e in ordered
        ),
        notes=(
            f"The {len(ordered)} strongest of {len(there)}; the CIs of {sure} leave out zero. Averaged over settings; "
            "each CI is for one effect, its variances taken as known.",
        ),
    )


def _prediction(found: RankingNumbers) -> Table:
    total = sum(part.value for part in found.prediction)
    scale = max(abs(total) / 1000, 1e-300)
    unknown = [part.term for part in found.prediction if not part.known]
    return Table(
        name="prediction",
        title="Predicted score of the configuration, term by term",
        columns=("term", "kind", "adds"),
        rows=(
            *((part.term, part.kind, Estimate(part.value, scale)) for part in found.prediction),
            ("predicted score", "", Estimate(total, scale)),
        ),
        notes=(f"Not in the data, so the average counts: {'; '.join(unknown)}.",) if unknown else (),
    )


def _quality(found: RankingNumbers) -> Table:
    """Return the errors on what was held out, or the explained variance alone."""
    shares = {"marginal": 100 * found.r2.marginal, "conditional": 100 * found.r2.conditional}
    explained = "R2: marginal by fixed effects, conditional by fixed and random ones; systems are random in this fit."
    if not found.forms:
        return Table(
            name="r2",
            title="Quality of the fit: explained variance",
            columns=("R2", "share"),
            rows=tuple((name, Percent(share)) for name, share in shares.items()),
            notes=(explained,),
        )
    both = " and ".join(f"{name} R2 {Percent(share)}" for name, share in shares.items())
    return Table(
        name="forms",
        title="Quality of the fit: errors on what was held out",
        columns=("form", "held out", "folds", "MAE", "RMSE"),
        rows=tuple((f.form, f.held_out, f.folds, f.mae, f.rmse) for f in found.forms),
        notes=(f"The fit has {both}. {explained}",),
    )


def _companion(found: RankingNumbers, companion: Companion) -> Table:
    place = {s.name: s.rank for s in found.systems}
    f = "infinite" if math.isinf(companion.f) else format_number(companion.f, uncertainty=0.1)
    lacking = f" {companion.left_out} {found.items} lack a system and are left out." if companion.left_out else ""
    return Table(
        name="companion",
        title=f"Average ranks over {companion.datasets} {found.items}",
        columns=("system", "average rank", "wins", "rank by adjusted mean"),
        rows=tuple((r.system, r.average_rank, r.wins, place[r.system]) for r in companion.ranks),
        notes=(
            f"Friedman: chi2({companion.df}) = {format_number(companion.chi2, uncertainty=0.1)}, {say_p(companion.p)}; "
            f"Iman and Davenport: F({companion.df1}, {companion.df2}) = {f}, {say_p(companion.p_f)}.{lacking}",
            f"Nemenyi: ranks that differ by {format_number(companion.critical_difference, uncertainty=0.01)} or more "
            f"differ at {say_level(1 - found.level)}.",
            companion.parting,
        ),
    )


def _influence(found: RankingNumbers) -> Table:
    """Return what leaving one out does: every case that changes the order, else the strongest."""
    changed = [row for row in found.influence if row.changed]
    shown = changed or sorted(found.influence, key=lambda row: -row.largest_shift)[:3]
    order = [s.name for s in found.systems]
    leaders = [row.left_out for row in changed if row.leader != next(n for n in order if n != row.left_out)]
    note = f"{len(changed) or 'None'} of {len(found.influence)} {'change' if len(changed) > 1 else 'changes'} the order"
    if changed:
        note += f"; without {join_names(leaders)} another system leads." if leaders else "; the leader stays."
    else:
        note += "; the strongest are shown."
    return Table(
        name="influence",
        title="The ranking with one dataset or one system left out",
        columns=("left out", "kind", "leader", "its lead", "p", "order changes", "largest shift"),
        rows=tuple(
            (row.left_out, row.kind, row.leader, abs(row.gap), PValue(row.p), row.changed, row.largest_shift)
            for row in shown
        ),
        notes=(f"{note} Lead: of adjusted means. p: of the two, not adjusted.",),
    )


def _treatments(found: RankingNumbers) -> Table:
    """Return what is made of each nuisance column, and the formulas."""
    formulas = {"means and pairs": found.means_formula, "shares of variance": found.formula}
    if not found.treatments:
        return Table(
            name="treatments",
            title="The model, without a nuisance column",
            columns=("for", "formula (REML)"),
            rows=tuple(formulas.items()),
        )
    return Table(
        name="treatments",
        title="The model: how nuisance columns are treated",
        columns=("column", "levels", "treated as", "reference", "why"),
        rows=tuple((t.name, t.levels, t.treated, t.reference or "", t.why) for t in found.treatments),
        notes=tuple(f"For {what}: {formula} (REML)." for what, formula in formulas.items()),
    )
