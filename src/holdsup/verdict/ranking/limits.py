"""What limits trust in a ranking, found in the table and in the fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from holdsup.errors import ScoresError, list_names
from holdsup.rendering.numbers import format_counted
from holdsup.verdict.phrases import join_names
from holdsup.verdict.ranking.answers import name_term
from holdsup.verdict.ranking.bends import find_bends
from holdsup.verdict.ranking.confounding import find_confounded
from holdsup.verdict.ranking.contrasts import LEAST_SHARED, NOT_TESTED
from holdsup.verdict.ranking.fits import LEAST_DATASETS, ROUNDING, RankFits
from holdsup.verdict.ranking.system_records import RankContrast
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.term_records import TermVariance
from holdsup.verdict.trainings import Limited, say_reading

__all__ = ["check_runs", "find_limits"]

NIL = 1e-6  # of its standard error: a difference so small stands no way round
FEW = 5  # systems or datasets, below which their variance is barely known


def check_runs(runs: RunTable) -> None:
    """Refuse a table in which no two systems can be compared on the same dataset."""
    for what, labels, name in (("system", runs.system, runs.system_name), ("dataset", runs.dataset, runs.dataset_name)):
        if labels.count < 2:
            raise ScoresError(
                f"there is one {what} only, {labels.names[0]!r}: a ranking needs two systems on two datasets or more "
                f"(is --{what} {name} right?)"
            )
    if not ((runs.cells() > 0).sum(axis=0) > 1).any():
        raise ScoresError(
            f"every dataset has scores of one system only ({runs.system.count} systems, {runs.dataset.count} "
            "datasets), so that nothing is crossed: run systems on the same datasets"
        )
    if np.ptp(runs.score) == 0:
        raise ScoresError(f"all scores equal {runs.score[0]:g}: there is nothing to rank (see holdsup check)")
    cells = np.column_stack([runs.system.codes, runs.dataset.codes, runs.settings])
    _, cell, sizes = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    cell = cell.reshape(-1)
    apart = np.abs(runs.score - (np.bincount(cell, runs.score) / sizes)[cell]).max()
    if sizes.max() > 1 and apart <= ROUNDING * np.abs(runs.score).max():
        raise ScoresError(
            "all runs of a system on a dataset have the same score, so that they tell no more than one of them: keep "
            "one, such as --where seed=1"
        )


def find_limits(fits: RankFits, contrasts: Sequence[RankContrast], random: Sequence[TermVariance]) -> tuple[str, ...]:
    """Return a line for everything that a reader of the ranking must know."""
    return tuple(
        dict.fromkeys(
            (
                *_few(fits.runs),
                *_converged(fits),
                *_singular(random),
                *_left_out(fits),
                *find_confounded(fits),
                *find_bends(fits),
                *_unbalanced(fits.runs),
                *_apart(fits, contrasts),
                *_reading(fits, contrasts),
                *_turned(contrasts),
                *fits.form.notes,
            )
        )
    )


def _few(runs: RunTable) -> Iterator[str]:
    if runs.system.count < FEW:
        yield (
            f"{runs.system.count} systems say next to nothing about the variance of systems: its share and the "
            "shrunken means are rough; contrasts do not rest on it."
        )
    if runs.dataset.count < FEW:
        yield (
            f"{runs.dataset.count} datasets say little about new ones: limits are wide, and the variance of "
            "interactions is rough."
        )


def _converged(fits: RankFits) -> Iterator[str]:
    for fit in (fits.means, fits.variances):
        if not fit.converged:
            yield f"{fit.formula} did not converge ({fit.optimizer.reason}): do not rely on its numbers."
        if fit.dropped:
            yield f"Dropped, because they are combinations of other columns: {join_names(list(fit.dropped))}."


def _singular(random: Sequence[TermVariance]) -> Iterator[str]:
    nil = [name_term(row) for row in random if row.variance == 0]
    if nil:
        yield f"The rows show no variance of {join_names(nil)}: the fit is singular there, and puts it at zero."


def _left_out(fits: RankFits) -> Iterator[str]:
    for treatment in fits.form.treatments:
        if treatment.treated == "left out":
            yield f"{treatment.name} is left out: {treatment.why}."


def _unbalanced(runs: RunTable) -> Iterator[str]:
    cells = runs.cells()
    empty = int((cells == 0).sum())
    if empty:
        yield (
            f"{format_counted(empty, 'cell')} of {cells.size} (system x dataset) {'has' if empty == 1 else 'have'} no "
            "score: contrasts are over the datasets that both systems have, means over all by the fit."
        )


def _apart(fits: RankFits, contrasts: Sequence[RankContrast]) -> Iterator[str]:
    """Yield the pairs that have no spread of their own."""
    if fits.form.averages and not fits.averages:
        yield (
            f"Levels of {join_names(sorted(fits.form.drawn))}, which are random, are spread unevenly over systems and "
            "datasets: contrasts are the fit's own, with one variance of interactions for all systems."
        )
    none = [c for c in contrasts if c.method == NOT_TESTED]
    few, same = (
        [f"{c.left} - {c.right}" for c in none if (c.datasets < LEAST_SHARED) == lacks] for lacks in (True, False)
    )
    if few:
        yield (
            f"{list_names(few, most=3)}: fewer than two datasets are shared. Without a spread there is no test (p = 1, "
            "no CI)."
        )
    if same:
        yield (
            f"{list_names(same, most=3)}: the difference is the same on every dataset (is one a copy of the other?). "
            "Without a spread there is no test (p = 1, no CI)."
        )
    names = [name for name, placed in zip(fits.runs.system.names, fits.placed, strict=True) if not placed]
    if names:
        yield (
            f"{join_names(names)} {'has' if len(names) == 1 else 'have'} scores on fewer than {LEAST_DATASETS} "
            "datasets: too few to lead; they stand below the others, whatever their means."
        )


def _reading(fits: RankFits, contrasts: Sequence[RankContrast]) -> Iterator[str]:
    """Yield how runs on several datasets were read, where it matters, and what the other reading gives."""
    c = next((c for c in contrasts if c.p_other_reading is not None), None)
    if c is None or c.low_other_reading is None or c.high_other_reading is None or c.p_other_reading is None:
        return
    other = Limited(c.low_other_reading, c.high_other_reading, c.p_other_reading)
    taken = Limited(c.low, c.high, c.p, c.log10_p)
    pair = f"{c.left} - {c.right}"
    yield say_reading(
        pair, fits.runs.nested_runs, taken, other, declared=fits.runs.declared, level=fits.means.level,
        pairs=len(contrasts),
    )  # fmt: skip


def _turned(contrasts: Sequence[RankContrast]) -> Iterator[str]:
    """Yield the pairs that stand one way by their adjusted means and the other way on the datasets of both."""
    turned = [
        f"{c.left} - {c.right}"
        for c in contrasts
        if c.difference * c.pooled_difference < 0 and min(abs(c.difference), abs(c.pooled_difference)) > NIL * c.se
    ]
    if turned:
        yield (
            f"{list_names(turned, most=3)}: the ranking is by adjusted means, which use all datasets. On those that "
            "both systems have, dataset by dataset, the pair stands the other way round."
        )
