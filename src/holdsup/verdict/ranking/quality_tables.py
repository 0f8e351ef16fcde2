"""Quality of the fit, the classic companion and influence as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdsup.fit.quality import RSquared
from holdsup.rendering import Percent, PValue, Table
from holdsup.rendering.numbers import format_number, format_percent
from holdsup.verdict.phrases import join_names, say_level, say_p
from holdsup.verdict.ranking.quality_records import Companion, CrossValidation, Influence
from holdsup.verdict.ranking.system_records import RankedSystem

__all__ = ["tabulate_companion", "tabulate_influence", "tabulate_quality"]


def tabulate_quality(r2: RSquared, forms: Sequence[CrossValidation]) -> Table:
    """Return the errors on what was held out, and how much of the variance the fit with random systems explains."""
    explained = (
        f"Explained variance (R2): {format_percent(100 * r2.marginal)} by fixed effects, "
        f"{format_percent(100 * r2.conditional)} by fixed and random ones; slopes are weighed by their regressors."
    )
    if not forms:
        return Table(
            title="Quality of the fit: explained variance",
            columns=("R2", "explained by", "share"),
            rows=(
                ("marginal", "fixed effects", Percent(100 * r2.marginal)),
                ("conditional", "fixed and random effects", Percent(100 * r2.conditional)),
            ),
            notes=("Of the fit in which systems are random; slopes are weighed by their regressors.",),
        )
    return Table(
        title="Quality of the fit: errors on what was held out",
        columns=("form", "held out", "folds", "MAE", "RMSE"),
        rows=tuple((f.form, f.held_out, f.folds, f.mae, f.rmse) for f in forms),
        notes=(explained,),
    )


def tabulate_companion(companion: Companion, systems: Sequence[RankedSystem], *, level: float) -> Table:
    """Return average ranks beside the ranking by adjusted means."""
    place = {s.name: s.rank for s in systems}
    lacking = f" {companion.left_out} without a score of every system are left out." if companion.left_out else ""
    f = f"= {format_number(companion.f, uncertainty=0.1)}"
    if math.isinf(companion.f):
        f = "is infinite (all datasets rank the systems alike)"
    return Table(
        title=f"A classic companion: average ranks over {companion.datasets} datasets",
        columns=("system", "average rank", "wins", "rank by adjusted mean"),
        rows=tuple((r.system, r.average_rank, r.wins, place[r.system]) for r in companion.ranks),
        notes=(
            f"Friedman: chi2({companion.df}) = {format_number(companion.chi2, uncertainty=0.1)}, "
            f"{say_p(companion.p, companion.log10_p)}; Iman and Davenport: F({companion.df1}, {companion.df2}) {f}, "
            f"{say_p(companion.p_f, companion.log10_p_f)}.{lacking}",
            f"Nemenyi: average ranks that differ by {format_number(companion.critical_difference, uncertainty=0.01)} "
            f"or more differ at {say_level(1 - level)}.",
            companion.parting,
        ),
    )


def tabulate_influence(influence: Sequence[Influence], order: Sequence[str]) -> Table:
    """Return what leaving one out does to the ranking: every case that changes its order, else the strongest."""
    changed = [row for row in influence if row.changed]
    shown = changed or sorted(influence, key=lambda row: -row.largest_shift)[:3]
    if changed:
        leaders = [row.left_out for row in changed if row.leader != next(n for n in order if n != row.left_out)]
        note = f"{len(changed)} of {len(influence)} change the order of those that stay" + (
            f"; without {join_names(leaders)} another system leads." if leaders else "; the leader stays."
        )
    else:
        note = f"None of {len(influence)} changes the order of those that stay; shown are the strongest."
    return Table(
        title="Influence: the ranking with one dataset or one system left out",
        columns=("left out", "kind", "leader", "its lead", "p", "order changes", "largest shift"),
        rows=tuple(
            (row.left_out, row.kind, row.leader, abs(row.gap), PValue(row.p), row.changed, row.largest_shift)
            for row in shown
        ),
        notes=(note, "Its lead: by adjusted means, as the ranking. p: of the two, as in the contrasts, unadjusted."),
    )
