"""The classic companion: average ranks over datasets, Friedman's test and Nemenyi's critical difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.ranks import critical_difference, find_cliques, friedman_test, rank_each, share_wins
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.verdict.ranking.quality_records import AverageRank, Companion
from holdsup.verdict.ranking.table import RunTable

__all__ = ["NONE", "make_companion"]

Floats = NDArray[np.float64]
LEAST_DATASETS = 2
NONE = "Average ranks are left out: they need two datasets or more on which every system has a score."


def make_companion(
    runs: RunTable, *, order: Sequence[str], lower_is_better: bool = False, level: float = 0.95
) -> Companion | None:
    """Return average ranks and their tests on the mean scores by dataset; None where they cannot be had (`NONE`).

    A dataset that lacks a system cannot rank it, and is left out and counted.

    Parameters
    ----------
    order : the systems from best to worst by their adjusted means, with which the ranks are compared
    """
    means = runs.cell_means(runs.score).T * (-1.0 if lower_is_better else 1.0)
    scores = means[np.isfinite(means).all(axis=1)]
    if len(scores) < LEAST_DATASETS:
        return None
    ranks = rank_each(scores)
    average, wins = ranks.mean(axis=0), share_wins(ranks)
    test = friedman_test(ranks)
    difference = critical_difference(len(ranks), ranks.shape[1], level=level)
    names = runs.system.names
    by_rank = np.argsort(average, kind="stable")
    return Companion(
        datasets=len(ranks),
        left_out=len(means) - len(ranks),
        ranks=tuple(AverageRank(system=names[i], average_rank=float(average[i]), wins=float(wins[i])) for i in by_rank),
        chi2=test.chi2,
        df=test.df,
        p=test.chi2_tail.p,
        log10_p=test.chi2_tail.log10_p,
        f=test.f,
        df1=test.df1,
        df2=test.df2,
        p_f=test.f_tail.p,
        log10_p_f=test.f_tail.log10_p,
        critical_difference=difference,
        cliques=tuple(tuple(names[i] for i in clique) for clique in find_cliques(average, difference)),
        parting=_say_parting(scores, ranks, [names.index(name) for name in order], names, len(means) - len(ranks)),
    )


def _say_parting(scores: Floats, ranks: Floats, order: Sequence[int], names: Sequence[str], left_out: int) -> str:
    """Return on which pairs ranks and adjusted means disagree, and what the first of them is owed to.

    `scores` are means by dataset, shape (datasets, systems), higher better; `left_out` datasets lack a system.
    """
    average = ranks.mean(axis=0)
    pairs = [(better, worse) for i, better in enumerate(order) for worse in order[i + 1 :]]
    parted = [(better, worse) for better, worse in pairs if average[better] > average[worse]]
    if not parted:
        return "Average ranks and adjusted means put no two systems in a different order."
    better, worse = parted[0]
    said = (
        f"Average ranks and adjusted means part on {format_counted(len(parted), 'pair')} of {len(pairs)}: by rank "
        f"{names[worse]} stands before {names[better]}, by mean after it."
    )
    gaps = scores[:, better] - scores[:, worse]
    if gaps.mean() <= 0:
        more = f", and uses {format_counted(left_out, 'dataset')} that lack a system" if left_out else ""
        return (
            f"{said} The plain means of these datasets agree with the ranks: what puts the two the other way round is "
            f"the fit, which isolates nuisance factors and weighs runs{more}."
        )
    if (gaps < 0).sum() > (gaps > 0).sum():
        return (
            f"{said} {_say_sizes(gaps, gaps, names[better], names[worse])}: ranks count how often, means by how much."
        )
    places = ranks[:, worse] - ranks[:, better]
    sizes = _say_sizes(gaps, places, names[better], names[worse], unit=" places")
    return f"{said} {sizes}: ranks count the systems in between, means by how much they differ."


def _say_sizes(gaps: Floats, sizes: Floats, better: str, worse: str, *, unit: str = "") -> str:
    """Return on how many datasets each of two systems is ahead, and by how much on average."""
    ahead, behind = sizes[gaps > 0], -sizes[gaps < 0]
    return (
        f"{worse} is ahead on {len(behind)} of {len(gaps)} datasets, by {format_number(float(behind.mean()))}{unit} on "
        f"average, {better} on {len(ahead)}, by {format_number(float(ahead.mean()))}"
    )
