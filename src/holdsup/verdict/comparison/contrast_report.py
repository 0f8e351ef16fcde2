"""The differences of a comparison as tables: the numbers, their sizes, and the tests against a margin."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

from holdsup.rendering import Estimate, Percent, PValue, Table
from holdsup.rendering.numbers import format_count, format_number
from holdsup.rendering.table import Cell
from holdsup.verdict.comparison.contrasts import choose_shown, note_disagreement
from holdsup.verdict.comparison.records import PAPER, SystemContrast
from holdsup.verdict.phrases import NO_LIMITS, say_level, show_limits

if TYPE_CHECKING:
    from holdsup.verdict.comparison.report import Comparison

__all__ = ["tabulate_contrasts"]

MOST_SHOWN = 500  # pairs; of more, those of the leader and of neighbours are shown
UNCERTAIN = 0.01  # percent: the nearest to nothing, and to certainty, that an estimated chance is said to come
Columns: TypeAlias = dict[str, Callable[[SystemContrast], Cell]]


def tabulate_contrasts(found: Comparison) -> Iterator[Table]:
    """Yield the differences; of several, sizes are a table of their own, which keeps both narrow enough to read."""
    several = len(found.contrasts) > 1
    columns, sizes = _differences(found), _sizes(found)
    title, notes = f"Differences, {say_level(found.level)} limits", tuple(_difference_notes(found))
    if several:
        yield _table(found, title, columns, notes)
        if sizes:
            yield _table(found, "Sizes of the differences", sizes, tuple(_size_notes(found)))
    else:
        yield _table(found, title, columns | sizes, (*notes, *_size_notes(found)))
    if found.contrasts[0].equivalence is not None:
        yield _margins(found)


def _table(found: Comparison, title: str, columns: Columns, notes: tuple[str, ...]) -> Table:
    if len(found.tests) > 1:
        columns = {"metric": lambda c: c.metric, **columns}
    shown = _shown(found)
    if len(shown) < len(found.contrasts):
        counts = f"{format_count(len(shown))} of {format_count(len(found.contrasts))} pairs"
        notes = (f"Shown are {counts}, those of the best mean and of neighbours; JSON has all of them.", *notes)
    return Table(
        title=title,
        columns=("", *columns),
        rows=tuple((f"{c.left} - {c.right}", *(cell(c) for cell in columns.values())) for c in shown),
        notes=notes,
    )


def _shown(found: Comparison) -> Sequence[SystemContrast]:
    """Return the pairs that are shown: those with a baseline all, others as long as somebody may read them."""
    if found.baseline is not None or len(found.contrasts) <= MOST_SHOWN:
        return found.contrasts
    metrics = dict.fromkeys(c.metric for c in found.contrasts)
    return [
        c
        for metric in metrics
        for c in choose_shown([c for c in found.contrasts if c.metric == metric], most=MOST_SHOWN)
    ]


def _differences(found: Comparison) -> Columns:
    several = len(found.contrasts) > 1
    shown: Columns = {}
    if len({c.claim for c in found.contrasts}) > 1:
        shown["claim"] = lambda c: c.claim
    if len({s.items for s in found.systems} | {c.items for c in found.contrasts}) > 1:
        shown[f"{found.unit} of both"] = lambda c: c.items
    shown["difference"] = lambda c: Estimate(c.difference, c.se)
    shown["unadjusted" if several else "limits"] = lambda c: show_limits(
        c.low, c.high, c.difference, scale=c.metric or ""
    )
    if several:
        shown["simultaneous"] = lambda c: show_limits(c.low_simultaneous, c.high_simultaneous, drawn=False)
    shown["p"] = lambda c: PValue(c.p_adjusted, c.log10_p_adjusted)
    return shown


def _difference_notes(found: Comparison) -> Iterator[str]:
    several = len(found.contrasts) > 1
    methods = "; ".join(
        f"{method}, {_degrees([c.df for c in found.contrasts if c.p_method == method])}"
        for method in dict.fromkeys(c.p_method for c in found.contrasts)
    )
    yield f"p by {methods}{_holm(several)}."
    if several:
        yield "Unadjusted limits are for each row alone, simultaneous ones for all rows at once (Bonferroni)."
        yield from note_disagreement(found.contrasts, level=found.level)
    if any(not math.isfinite(c.high_simultaneous) for c in found.contrasts):
        yield NO_LIMITS


def _sizes(found: Comparison) -> Columns:
    """Return the columns of sizes that have something to say."""
    shown: Columns = {}
    if any(c.effect_size is not None for c in found.contrasts):
        shown["d"] = lambda c: c.effect_size
    if any(c.p_superior is not None for c in found.contrasts):
        shown["P(new run better)"] = lambda c: _chance(c.p_superior)
    return shown


def _chance(p: float | None) -> Percent | None:
    """Return a chance that is never shown as certain: it is an estimate."""
    return None if p is None else Percent(min(max(100 * p, UNCERTAIN), 100 - UNCERTAIN))


def _size_notes(found: Comparison) -> Iterator[str]:
    shown = _sizes(found)
    if "d" in shown:
        yield f"d: difference over the residual sd of the model of {PAPER}, eq. 4."
    if "P(new run better)" in shown:
        settings = ", settings drawn anew" if any(c.claim == "new-settings" for c in found.contrasts) else ""
        yield (
            "P(new run better): chance that a new run of the first has a better mean than one of the "
            f"second{settings}. A plug-in estimate, without limits."
        )


def _margins(found: Comparison) -> Table:
    """Return the tests against the margin."""
    tested = [c.equivalence for c in found.contrasts if c.equivalence is not None]
    columns: Columns = {
        "equivalent p": lambda c: PValue(c.equivalence.p_equivalent_adjusted) if c.equivalence else None,
        "first not worse p": lambda c: PValue(c.equivalence.p_not_worse_adjusted) if c.equivalence else None,
        "beyond p": lambda c: PValue(c.equivalence.p_beyond_adjusted) if c.equivalence else None,
    }
    notes = (
        "p of a difference of the margin or more; of one to the worse of the first; of one of the margin or less"
        f"{_holm(len(tested) > 1)}.",
    )
    return _table(found, f"Tests against a margin of {format_number(tested[0].margin)}", columns, notes)


def _holm(several: bool) -> str:
    return ", adjusted by Holm's method" if several else ""


def _degrees(df: Sequence[float]) -> str:
    """Return degrees of freedom in words, of several the range."""
    known = sorted(each for each in df if math.isfinite(each))
    if not known:
        return "no spread"
    low, high = (f"{each:,.1f}".removesuffix(".0") for each in (known[0], known[-1]))
    return f"{low} df" if low == high else f"{low} to {high} df"
