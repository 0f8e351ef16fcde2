"""Preferences as scores: a judge's 1 to 2 as a win rate, both orders of an item as one, length held equal, a constant.

A score of .5 on every item is what a system gets that is as good as the reference: as a baseline it turns "is it better
than its reference?" into a comparison like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from holdsup.columns import Labels, Numbers
from holdsup.columns.crossing import cross
from holdsup.columns.values import parse_number
from holdsup.errors import ColumnError, FitError, ScoresError, list_names
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.layout import Floats
from holdsup.rendering.numbers import format_count, format_interval, format_number
from holdsup.results import Caution, Rows
from holdsup.scores import Scores
from holdsup.scores.roles import bare_name
from holdsup.scores.suggestions import code_column
from holdsup.verdict.phrases import join_names

PREFERENCE = "preference"
SIDE = 0.1  # share of answers on either side of the reference's below which equality is far off
ORDERS = ("order", "presentation_order", "position", "presentation", "swap", "swapped", "flipped", "is_swapped")
REFERENCES = ("reference_{}", "{}_reference", "baseline_{}", "{}_baseline", "ref_{}", "{}_ref")


@dataclass(frozen=True, slots=True, eq=False)
class WinRates:
    """Scores made ready to be compared as win rates, where they are."""

    scores: Scores
    cautions: tuple[Caution, ...]  # what was done, and what the order of answers does
    constant: str | None = None  # the baseline that is a number
    added: int = 0  # its rows

    @classmethod
    def of(cls, scores: Scores, adjust: Sequence[str], baseline: str | None, *, by_items: bool) -> WinRates:
        """Return scores as win rates, orders joined, properties held equal, and a constant baseline among them."""
        rates, cautions = as_win_rates(scores)
        joined, said = join_orders(rates)
        cautions += said
        equal, said = hold_equal(joined, adjust, by_items=by_items)
        cautions += said
        complete = add_constant(equal, baseline)
        added = len(complete) - len(equal)
        return cls(complete, cautions, baseline if added else None, added)

    def count_rows(self, rows: Rows) -> Rows:
        """Return the rows of the table alone."""
        return replace(rows, planned=rows.planned - self.added, used=rows.used - self.added)


def as_win_rates(scores: Scores) -> tuple[Scores, tuple[Caution, ...]]:
    """Return preferences from 1 (the reference) to 2 (the system) as win rates; other scores as they are."""
    used = scores.score[scores.usable]
    named = isinstance(scores.roles.score, str) and bare_name(scores.roles.score) == PREFERENCE
    if not (named and len(used) and used.min() >= 1 and 1 < used.max() <= 2):
        return scores, ()
    said = "Preferences run from 1, the reference, to 2, the system: the win rate is the preference less 1."
    return replace(scores, score=scores.score - 1), (Caution(code="win-rates", severity="note", message=said),)


def join_orders(scores: Scores) -> tuple[Scores, tuple[Caution, ...]]:
    """Return scores in which the two orders of an item are one, their mean, and what the order does; see `ORDERS`."""
    name = next((name for name in scores.others if bare_name(name) in ORDERS), None)
    if name is None:
        return scores, ()
    usable = scores.only(scores.usable)
    order = code_column(usable.others[name])
    levels = np.unique(order)
    cells = cross(usable.run, usable.dataset, usable.metric, usable.item, usable.sample)
    if len(levels) != 2 or cells.count == len(usable):
        return scores, ()
    place = (order == levels[1]).astype(np.intp)
    totals, counts = np.zeros((2, cells.count)), np.zeros((2, cells.count))
    np.add.at(totals, (place, cells.codes), usable.score)
    np.add.at(counts, (place, cells.codes), 1.0)
    means = totals / np.where(counts, counts, np.nan)
    both = np.isfinite(means).all(0)
    cautions = (*_say_order(usable, name, means[:, both]), *_say_single(name, int((~both).sum())))
    others = {other: column for other, column in usable.others.items() if other != name}
    joined = replace(usable, others=others).take(cells.first)
    left_out = {**scores.rows().reasons, "the other order of an item, averaged": len(usable) - cells.count}
    return replace(joined, score=np.nanmean(means, axis=0), left_out=left_out), cautions


def _say_order(usable: Scores, name: str, means: Floats) -> tuple[Caution, ...]:
    """Return the order effect in one line: how much higher scores are in one of the orders."""
    column = usable.others[name]
    values = column.names if isinstance(column, Labels) else [f"{v:g}" for v in np.unique(column.values)]
    gap = means[1] - means[0]
    if len(gap) < 2:
        return ()
    size, se = float(gap.mean()), float(gap.std(ddof=1) / np.sqrt(len(gap)))
    half = t_quantile(0.975, len(gap) - 1) * se
    sign = 1 if size >= 0 else -1
    high, low = (values[1], values[0]) if size >= 0 else (values[0], values[1])
    said = (
        f"Scores with {name} {high} are {format_number(abs(size), uncertainty=half or None)} higher than with {low} "
        f"(95% CI {format_interval(sign * size - half, sign * size + half)}); the two orders are averaged."
    )
    return (
        Caution(code="order-effect", about="data", message=said, severity="warning" if abs(size) > half else "note"),
    )


def _say_single(name: str, count: int) -> tuple[Caution, ...]:
    if not count:
        return ()
    said = f"{format_count(count)} scores are of items shown in one order alone: the order effect is part of them."
    return (Caution(code="single-order", about="data", message=said, advice=f"Evaluate both values of {name}."),)


def hold_equal(scores: Scores, names: Sequence[str], *, by_items: bool) -> tuple[Scores, tuple[Caution, ...]]:
    """Return win rates as they would be if answers were alike in some properties, item by item (`control`).

    For "length" there are the columns length and reference_length; the regressor is tanh of their difference over its
    standard deviation in the system, as in AlpacaEval 2.
    """
    if not names:
        return scores, ()
    from holdsup.numerics.shares import control  # only here: other comparisons need no sparse matrices

    usable = scores.only(scores.usable)
    if usable.score.min() < 0 or usable.score.max() > 1:
        raise ScoresError("--adjust is for win rates: scores must be between 0 and 1, or preferences between 1 and 2")
    score, codes = usable.score.copy(), usable.system.codes
    differences = np.column_stack([_difference(usable, name) for name in names])
    groups = cross(usable.system, usable.metric)
    parts = cross(groups.codes, None if by_items else usable.dataset)
    weight = 1.0 / parts.sizes()[parts.codes]
    one_sided: set[tuple[str, str]] = set()
    for group in range(groups.count):
        rows = np.flatnonzero(groups.codes == group)
        own, system = differences[rows], usable.system.names[codes[rows[0]]]
        spread = own.std(axis=0)
        if not np.isfinite(own).all():
            raise ScoresError(f"--adjust: some answers of {system} have no {' or '.join(names)}: fill them in")
        if not (spread > 0).all():
            raise ScoresError(f"--adjust: all answers of {system} differ from the reference's by the same")
        more = (own > 0).mean(axis=0)
        one_sided |= {(system, name) for name, share in zip(names, more, strict=True) if not SIDE < share < 1 - SIDE}
        try:
            score[rows] = control(score[rows], np.tanh(own / spread), weight[rows] / weight[rows].sum())
        except FitError:
            near = f"never comes near the reference's {' or '.join(names)}, or wins by it alone"
            raise ScoresError(f"--adjust: {system} {near}: leave it out") from None
    said = f"Win rates are as if answers were of equal {' and '.join(names)}, by a logistic model of each system."
    far = [f"{name} of {system}" for system, name in sorted(one_sided)]
    doubts = (Caution(
        code="extrapolated", message=f"Nine in ten answers differ from the reference's to one side: {join_names(far)}.",
        effect="Their win rates at equality are extrapolated.", advice="Trust the CI, not the estimate.",
    ),) if far else ()  # fmt: skip
    equal = replace(usable, score=score, left_out=scores.rows().reasons)
    return equal, (Caution(code="held-equal", message=said), *doubts)


def _difference(scores: Scores, name: str) -> Floats:
    """Return how much more of a property an answer has than the reference's."""
    columns = {bare_name(each): column for each, column in {**scores.others, **scores.properties}.items()}
    own = columns.get(bare_name(name))
    against = next((columns[form] for each in REFERENCES if (form := each.format(bare_name(name))) in columns), None)
    if not (isinstance(own, Numbers) and isinstance(against, Numbers)):
        raise ColumnError(
            f"--adjust {name} needs columns of numbers {name} and reference_{name}; {scores.source} has "
            f"{list_names({**scores.others, **scores.properties})}"
        )
    return own.values - against.values


def is_score(baseline: str | None, scores: Scores) -> bool:
    """Return whether a baseline is a score such as 0.5, and no system."""
    return baseline is not None and baseline not in scores.system.names and parse_number(baseline) is not None


def add_constant(scores: Scores, baseline: str | None) -> Scores:
    """Return scores with a system of its own for a baseline that is a number, such as 0.5: that score on every item."""
    value = parse_number(baseline) if baseline is not None and is_score(baseline, scores) else None
    if baseline is None or value is None:
        return scores
    rows = cross(scores.dataset, scores.metric, scores.item, rows=len(scores)).first
    count, both = len(scores), scores.take(np.concatenate([np.arange(len(scores)), rows]))
    there = np.arange(len(both)) < count

    def renamed(column: Labels, name: str) -> Labels:
        return Labels.of(np.where(there, column.codes, column.count), [*column.names, name])

    return replace(
        both, score=np.where(there, both.score, value), system=renamed(both.system, baseline),
        run=renamed(both.run, f"{baseline}/constant"),
        status=Labels.of(np.where(there, both.status.codes, both.status.names.index("ok")), both.status.names),
        facets={name: Labels.of(np.where(there, each.codes, -1), each.names) for name, each in both.facets.items()},
    )  # fmt: skip
