"""Every table behind a ranking."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdsup.errors import list_names
from holdsup.rendering import Cell, Estimate, Percent, PValue, Table
from holdsup.rendering.numbers import format_number
from holdsup.verdict.phrases import join_names, say_level, say_p, show_interval
from holdsup.verdict.ranking.records import DIFFERENCES, NOT_TESTED, WITH_RUNS, Companion, RankContrast, RankingNumbers
from holdsup.verdict.ranking.words import name_places, name_term

SAME = 1e-6  # of its standard error: differences so near are one
MOST_INTERACTIONS = 6
METHODS = {
    DIFFERENCES: "t-test of the differences between datasets, pair by pair.",
    WITH_RUNS: "two-way Welch t-test (datasets and runs, conservative df): each run was scored on all datasets.",
    "pooled": "Satterthwaite's t-test of the mixed model.",
    NOT_TESTED: "not tested: fewer than two shared datasets, or the same difference on all of them.",
}
ADJUSTED = (
    "CI and p: adjusted for all pairs by Bonferroni's method; p is small exactly where the CI excludes zero. p alone: "
    "not adjusted."
)
SIGNED_RANK = (
    "Signed-rank p: a companion, adjusted like p. Wilcoxon's test of whether the median difference is zero has more "
    "power where the noise of {items} is uneven; the answer goes by p."
)
Columns = Mapping[str, str | Callable[[Any], Cell]]  # of records: a field, or what is made of the record


def tabulate(found: RankingNumbers) -> Iterator[Table]:
    """Yield the ranking first, then what it is made of, then how far to trust it."""
    yield _systems(found)
    yield _contrasts(found)
    yield _waterfall(found)
    yield _make("fixed", "Effects of nuisance factors", found.fixed, {
        "effect": "name", "against": lambda e: e.reference or "", **_effect("coefficient", found.level),
    }, "Satterthwaite's t-test; systems are random in this fit.")  # fmt: skip
    if found.contributions:
        yield _make("contributions", "What each ingredient adds", found.contributions, {
            "ingredient": "name", "systems": lambda c: ", ".join(c.systems), **_effect("adds", found.level),
        }, "The ingredients tell all systems apart, so they take the place of the system effects."
           if found.contributions[0].saturated
           else "Systems stay random effects; the number of systems caps the df.")  # fmt: skip
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


def _make(name: str, title: str, rows: Iterable[Any], columns: Columns, *notes: str) -> Table:
    """Return a table of records, a cell for each column."""
    cells = tuple(
        tuple(getattr(row, show) if isinstance(show, str) else show(row) for show in columns.values()) for row in rows
    )
    return Table(name=name, title=title, columns=tuple(columns), rows=cells, notes=notes)


def _effect(estimate: str, level: float) -> Columns:
    """Return the columns of an effect and its test."""
    return {
        estimate: lambda e: Estimate(e.estimate, e.se),
        "se": lambda e: Estimate(e.se, e.se),
        "df": "df",
        "t": "t",
        "p": lambda e: PValue(e.p),
        f"{say_level(level)} CI": lambda e: show_interval(e.low, e.high, e.estimate, drawn=False),
    }


def _systems(found: RankingNumbers) -> Table:
    digits = min((s.se for s in found.systems if s.se > 0), default=0.0) / 10
    level, items = say_level(found.level), found.items
    without = [s.name for s in found.systems if not (math.isfinite(s.low) and math.isfinite(s.high))]
    none = [f"No {level} CI for {join_names(without)}: too few {items} to measure the spread."] if without else []
    like = f"new {items} like these" if found.scope == "new datasets" else f"these {items}"
    return _make(
        "systems",
        f"Systems by adjusted mean, {level} CI for {like}",
        found.systems,
        {
            "rank": "rank",
            "system": "name",
            "mean": lambda s: Estimate(s.mean, digits),
            f"{level} CI": lambda s: show_interval(s.low, s.high, s.mean, drawn=False),
            "places": name_places,
            "best in": lambda s: Percent(100 * s.p_best),
            "raw mean": lambda s: Estimate(s.raw_mean, digits),
            "shrunken": lambda s: Estimate(s.shrunken, digits),
        },
        *none,
        f"Mean: all {items}, and all levels of a fixed factor, count equally. Places: those the adjusted tests leave "
        f"open. CIs of means may overlap where pairs differ, because systems share {items}.",
        "Best in: the share of draws in which it comes first, not adjusted for the number of pairs. Shrunken: the mean "
        "of Sanchez Carmona et al. (2025), drawn towards that of all systems.",
    )


def _contrasts(found: RankingNumbers) -> Table:
    level, several = say_level(found.level), len(found.contrasts) > 1
    alone: Columns = {"p alone": lambda c: PValue(c.p)}
    ranked: Columns = {"signed-rank p": lambda c: PValue(c.p_signed_rank_adjusted)}
    signed = any(c.p_signed_rank is not None for c in found.contrasts)
    return _make(
        "contrasts",
        f"Differences of all pairs, {level} CI for all pairs" if several else f"The difference, {level} CI",
        found.contrasts,
        {
            "pair": _pair,
            "difference": lambda c: Estimate(c.difference, c.se),
            "se": lambda c: Estimate(c.se, c.se),
            "df": "df",
            f"{level} CI": lambda c: show_interval(c.low_simultaneous, c.high_simultaneous, c.difference, drawn=False),
            "p": lambda c: PValue(c.p_adjusted),
            **(alone if several else {}),
            **(ranked if signed else {}),
            "pooled p": lambda c: PValue(c.pooled_p),
        },
        *_say_methods(found.contrasts),
        *_say_subsets(found),
        *((ADJUSTED,) if several else ()),
        *((SIGNED_RANK.format(items=found.items),) if signed else ()),
        f"Pooled p: the mixed model's, which assumes that all systems vary equally between {found.items}.",
    )


def _pair(c: RankContrast) -> str:
    return f"{c.left} - {c.right}"


def _say_methods(contrasts: Sequence[RankContrast]) -> Iterator[str]:
    """Yield where p come from; where pairs differ in it, the fewer pairs are named."""
    by = {method: [_pair(c) for c in contrasts if c.method == method] for method in METHODS}
    used = sorted((method for method in METHODS if by[method]), key=lambda method: -len(by[method]))
    for place, method in enumerate(used):
        yield f"{f'p of {list_names(by[method], most=6)}' if place else 'p'}: {METHODS[method]}"


def _say_subsets(found: RankingNumbers) -> Iterator[str]:
    """Yield which differences are not those of the means above, and why."""
    own = [c for c in found.contrasts if c.method in (DIFFERENCES, WITH_RUNS)]
    fewer = [c for c in own if c.datasets < found.datasets and abs(c.difference - c.pooled_difference) > SAME * c.se]
    if fewer:
        named = join_names([f"{_pair(c)} ({c.datasets})" for c in fewer], most=3)
        yield f"Only over the {found.items} both have (how many), so not the difference of the means above: {named}."

    def show(c: RankContrast, difference: float) -> str:
        return format_number(difference, uncertainty=c.se)

    whole = [c for c in own if c.datasets == found.datasets]
    if weighed := [_pair(c) for c in whole if show(c, c.difference) != show(c, c.pooled_difference)]:
        yield (
            f"{join_names(weighed, most=3)}: each of the {found.items} counts the same here; the means above weigh "
            "them by their numbers of rows."
        )


def _waterfall(found: RankingNumbers) -> Table:
    """Return the steps from the raw gap to the adjusted one, but for those that change nothing."""
    first, scale = found.waterfall[0], max(abs(step.gap) for step in found.waterfall) / 100
    still = [step.step for step in found.waterfall[1:] if step.change == 0]
    return _make(
        "waterfall",
        f"From the raw gap of {first.left} - {first.right} to the adjusted one",
        [step for step in found.waterfall if step.step not in still],
        {"step": "step", "change": lambda s: Estimate(s.change, scale), "gap": lambda s: Estimate(s.gap, scale)},
        *([f"No change: {join_names(still)}."] if still else []),
        "Shrinkage isn't a cause: it comes from treating systems as random draws.",
    )


def _terms(found: RankingNumbers) -> Table:
    methods = " or ".join(dict.fromkeys(r.method for r in found.random if r.method))
    return _make(
        "random",
        "Where the variance comes from",
        found.random,
        {
            "term": name_term,
            "levels": "levels",
            "variance": "variance",
            "sd": "sd",
            "share": lambda r: Percent(r.percent),
            "exact": lambda r: Percent(r.percent_exact),
            "p": lambda r: PValue(r.p, at_most=r.p_at_most),
            "ranova p": lambda r: PValue(r.p_ranova),
        },
        "Share: as in Sanchez Carmona et al. (2025). Exact: slopes weighted by their regressors.",
        f"p: REML likelihood-ratio test without the term ({methods}). Ranova p: by chi-square with 1 df.",
    )


def _interactions(found: RankingNumbers) -> Table:
    there = [e for e in found.interactions if e.scores]
    ordered = sorted(there, key=lambda e: -abs(e.effect))[:MOST_INTERACTIONS]
    drawn = any(e.low < e.high for e in ordered)
    sure = sum(e.low > 0 or e.high < 0 for e in there)
    return _make(
        "interactions",
        f"Systems that do better or worse on single {found.items} than their means say",
        ordered,
        {
            "system": "system",
            "dataset": "dataset",
            "effect": lambda e: Estimate(e.effect, e.sd),
            f"{say_level(found.level)} CI": lambda e: show_interval(e.low, e.high, e.effect, drawn=drawn),
            "rows": "scores",
        },
        f"The {len(ordered)} strongest of {len(there)}; the CIs of {sure} exclude zero. Averaged over settings; each "
        "CI is for one effect, with the variances taken as known.",
    )


def _prediction(found: RankingNumbers) -> Table:
    total = sum(part.value for part in found.prediction)
    scale = max(abs(total) / 1000, 1e-300)
    unknown = [part.term for part in found.prediction if not part.known]
    rows = [*((part.term, part.kind, part.value) for part in found.prediction), ("predicted score", "", total)]
    return _make(
        "prediction",
        "Predicted score of the configuration, term by term",
        rows,
        {"term": lambda row: row[0], "kind": lambda row: row[1], "adds": lambda row: Estimate(row[2], scale)},
        *([f"Not in the data, so the average counts: {'; '.join(unknown)}."] if unknown else []),
    )


def _quality(found: RankingNumbers) -> Table:
    """Return the errors on what was held out, or the explained variance alone."""
    shares = {"marginal": 100 * found.r2.marginal, "conditional": 100 * found.r2.conditional}
    explained = "R2: marginal by fixed effects, conditional by fixed and random ones; systems are random in this fit."
    if not found.forms:
        columns: Columns = {"R2": lambda row: row[0], "share": lambda row: Percent(row[1])}
        return _make("r2", "Quality of the fit: explained variance", shares.items(), columns, explained)
    both = " and ".join(f"{name} R2 {Percent(share)}" for name, share in shares.items())
    return _make(
        "forms",
        "Quality of the fit: errors on what was held out",
        found.forms,
        {"form": "form", "held out": "held_out", "folds": "folds", "MAE": "mae", "RMSE": "rmse"},
        f"The fit has {both}. {explained}",
    )


def _companion(found: RankingNumbers, companion: Companion) -> Table:
    place = {s.name: s.rank for s in found.systems}
    f = "infinite" if math.isinf(companion.f) else format_number(companion.f, uncertainty=0.1)
    lacking = f" {companion.left_out} {found.items} lack a system and are left out." if companion.left_out else ""
    return _make(
        "companion",
        f"Average ranks over {companion.datasets} {found.items}",
        companion.ranks,
        {
            "system": "system",
            "average rank": "average_rank",
            "wins": "wins",
            "rank by adjusted mean": lambda r: place[r.system],
        },
        f"Friedman: chi2({companion.df}) = {format_number(companion.chi2, uncertainty=0.1)}, {say_p(companion.p)}; "
        f"Iman and Davenport: F({companion.df1}, {companion.df2}) = {f}, {say_p(companion.p_f)}.{lacking}",
        f"Nemenyi: at the {say_level(1 - found.level)} level, systems differ if their average ranks are "
        f"{format_number(companion.critical_difference, uncertainty=0.01)} or more apart.",
        companion.parting,
    )


def _influence(found: RankingNumbers) -> Table:
    """Return what leaving one out does: every case that changes the order, else the strongest."""
    changed = [row for row in found.influence if row.changed]
    shown = changed or sorted(found.influence, key=lambda row: -row.largest_shift)[:3]
    order = [s.name for s in found.systems]
    leaders = [row.left_out for row in changed if row.leader != next(n for n in order if n != row.left_out)]
    change = "change" if len(changed) > 1 else "changes"
    note = f"Left out one at a time, {len(changed) or 'none'} of {len(found.influence)} {change} the order"
    if changed:
        note += f"; without {join_names(leaders)} another system leads." if leaders else "; the leader stays."
    else:
        note += "; the strongest are shown."
    return _make(
        "influence",
        "The ranking with one dataset or one system left out",
        shown,
        {
            "left out": "left_out",
            "kind": "kind",
            "leader": "leader",
            "its lead": lambda row: abs(row.gap),
            "p": lambda row: PValue(row.p),
            "order changes": "changed",
            "largest shift": "largest_shift",
        },
        f"{note} Its lead: over the second, by adjusted means. p: of this lead, not adjusted.",
    )


def _treatments(found: RankingNumbers) -> Table:
    """Return what is made of each nuisance column, and the formulas."""
    formulas = {"means and pairs": found.means_formula, "shares of variance": found.formula}
    if not found.treatments:
        columns: Columns = {"for": lambda row: row[0], "formula (REML)": lambda row: row[1]}
        return _make("treatments", "The model, without a nuisance column", formulas.items(), columns)
    return _make(
        "treatments",
        "The model: how nuisance columns are treated",
        found.treatments,
        {
            "column": "name",
            "levels": "levels",
            "treated as": "treated",
            "reference": lambda t: t.reference or "",
            "why": "why",
        },
        *(f"For {what}: {formula} (REML)." for what, formula in formulas.items()),
    )
