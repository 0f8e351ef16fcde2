"""What limits trust in a ranking, found in the table and in the fits."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError, list_names
from holdsup.rendering.numbers import format_counted
from holdsup.verdict.phrases import join_names
from holdsup.verdict.ranking.answers import name_term
from holdsup.verdict.ranking.contrasts import LEAST_DATASETS
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.system_records import RankContrast
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.term_records import TermVariance

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


def find_limits(fits: RankFits, contrasts: Sequence[RankContrast], random: Sequence[TermVariance]) -> tuple[str, ...]:
    """Return a line for everything that a reader of the ranking must know."""
    return tuple(
        dict.fromkeys(
            (
                *_few(fits.runs),
                *_converged(fits),
                *_singular(random),
                *_left_out(fits),
                *_confounded(fits),
                *_unbalanced(fits.runs),
                *_apart(fits, contrasts),
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


def _confounded(fits: RankFits) -> Iterator[str]:
    """Yield where a nuisance factor and the systems cannot be told apart, in part."""
    runs = fits.runs
    for treatment in fits.form.treatments:
        if treatment.treated not in ("fixed", "numeric"):
            continue
        name, labels = treatment.name, runs.factors[treatment.name]
        numbers = runs.numbers(name) if treatment.treated == "numeric" else None
        if numbers is not None:
            yield from _disjoint(runs, name, numbers)
            continue
        yield from _absent(runs, name, labels)
        together = cross(runs.system, labels)
        users = np.bincount(labels.codes[together.first], minlength=labels.count)
        alone = [level for level, count in zip(labels.names, users, strict=True) if count == 1]
        if alone:
            yield (
                f"{name} is confounded with systems: {format_counted(len(alone), 'level')} of {labels.count} "
                f"({join_names(alone)}) {'is' if len(alone) == 1 else 'are'} used by one system only, so that "
                "its effect there is partly that system's."
            )


def _absent(runs: RunTable, name: str, labels: Labels) -> Iterator[str]:
    """Yield which systems have no row at some level of a fixed factor, where only the others can tell its effect."""
    seen = np.zeros((runs.system.count, labels.count), bool)
    seen[runs.system.codes, labels.codes] = True
    lacking = [
        f"{system} ({join_names([level for level, there in zip(labels.names, row, strict=True) if not there])})"
        for system, row in zip(runs.system.names, seen, strict=True)
        if not row.all()
    ]
    if lacking:
        yield (
            f"Some systems have no row at some levels of {name}: {join_names(lacking)}; there their means rest on what "
            "these levels do in other systems."
        )


def _disjoint(runs: RunTable, name: str, numbers: NDArray[np.float64]) -> Iterator[str]:
    spans = [
        (float(numbers[mine].min()), float(numbers[mine].max()), system)
        for code, system in enumerate(runs.system.names)
        if (mine := runs.system.codes == code).any()
    ]
    spans.sort()
    for (_, high, below), (low, _, above) in itertools.pairwise(spans):
        if low > high:
            yield (
                f"{name} is confounded with systems: {below} has at most {high:g} of it and {above} at least {low:g}, "
                "so that its slope is partly a difference of systems."
            )
            return


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
    lent = [c for c in contrasts if fits.form.averages and c.method == "pooled"]
    apart, pooled = (
        [f"{c.left} - {c.right}" for c in lent if (c.datasets < LEAST_DATASETS) == few] for few in (True, False)
    )
    if pooled:
        yield (
            f"{list_names(pooled, most=3)} differ by the same on every dataset (is one a copy of the other?): the "
            "spread of their differences is borrowed from all systems."
        )
    if apart:
        yield (
            f"{list_names(apart, most=3)} share fewer than {LEAST_DATASETS} datasets: the spread of their differences "
            "is borrowed from all systems."
        )


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
