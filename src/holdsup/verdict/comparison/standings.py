"""Who is ahead of whom: which pairs are told apart, places, and letters that systems share which are not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdsup.rendering import State
from holdsup.verdict.comparison.records import Compared, SystemContrast, SystemMean

UNLIKE_SCALES = "different-scales"  # a caution with which nobody can be called better
MOST_LACKING = 0.2  # share of the items that a mean may lack next to the means of others
MOST_LETTERED = 400  # systems; a reader of letters looks at far fewer, and their cost grows with the cube


class Tested(Protocol):
    """A pair with its test, whatever was tested."""

    @property
    def left(self) -> str:
        """One of the two."""

    @property
    def right(self) -> str:
        """The other."""

    @property
    def p_adjusted(self) -> float:
        """The p of no difference, adjusted for all pairs."""


def better_of(contrast: SystemContrast) -> tuple[str, str]:
    """Return the better and the worse of two systems, by their difference."""
    left_wins = (contrast.difference < 0) == contrast.lower_is_better
    return (contrast.left, contrast.right) if left_wins else (contrast.right, contrast.left)


def is_told(contrast: SystemContrast, level: float) -> bool:
    """Return whether a difference is clear: by its adjusted p, and by a valid interval, which agree."""
    if not contrast.p_adjusted <= 1 - level:
        return False
    low, high = contrast.low_simultaneous, contrast.high_simultaneous
    return math.isfinite(low + high) and contrast.difference != 0 and not low < 0 < high


def place_systems(
    systems: Sequence[SystemMean], contrasts: Sequence[SystemContrast], *, all_pairs: bool, level: float
) -> tuple[SystemMean, ...]:
    """Return the means with their places and, where all pairs were tested, with letters; metric by metric."""
    placed: dict[int, SystemMean] = {}
    for metric in dict.fromkeys(s.metric for s in systems):
        own = [c for c in contrasts if c.metric == metric]
        lower = any(c.lower_is_better for c in own)
        order = _order([i for i, s in enumerate(systems) if s.metric == metric], systems, own, level, lower=lower)
        letters: list[tuple[str, ...]] = [()] * len(order)
        if all_pairs and len(order) <= MOST_LETTERED:
            letters = list(letter_systems([systems[i].name for i in order], own, level))
        for place, (i, shared) in enumerate(zip(order, letters, strict=True), start=1):
            placed[i] = replace(systems[i], rank=place, letters=shared)
    return tuple(placed[i] for i in range(len(systems)))


def _order(
    places: Sequence[int], systems: Sequence[SystemMean], own: Sequence[SystemContrast], level: float, *, lower: bool
) -> list[int]:
    """Return systems by their means; by the differences on shared items where means are of too different items."""
    worth = np.array([-systems[i].mean if lower else systems[i].mean for i in places])
    if compares_shared(own, [systems[i] for i in places], level):
        number = {systems[i].name: at for at, i in enumerate(places)}
        left, right = ([number[name] for name in names] for names in ([c.left for c in own], [c.right for c in own]))
        gaps = np.array([-c.difference if lower else c.difference for c in own])
        normal, sums = np.zeros((len(places), len(places))), np.zeros(len(places))  # of least squares over all pairs
        for these, those, sign in ((left, right, 1.0), (right, left, -1.0)):
            np.add.at(normal, (these, these), 1.0)
            np.add.at(normal, (these, those), -1.0)
            np.add.at(sums, these, sign * gaps)
        worth = np.linalg.lstsq(normal, sums, rcond=None)[0]
    return [places[at] for at in np.argsort(-worth, kind="stable")]


def compares_shared(own: Sequence[SystemContrast], systems: Sequence[SystemMean], level: float) -> bool:
    """Return whether places go by what systems share, and not by means over items that others lack.

    They do where a pair is told apart against its means, and of several systems where one lacks many items.
    """
    means = {(s.metric, s.name): s.mean for s in systems}
    if len(systems) > 2 and any(s.lacking > MOST_LACKING * (s.items + s.lacking) for s in systems):
        return True
    return any(
        is_told(c, level) and (means[c.metric, c.left] - means[c.metric, c.right]) * c.difference < 0 for c in own
    )


def letter_systems(names: Sequence[str], contrasts: Iterable[Tested], level: float) -> Iterator[tuple[str, ...]]:
    """Yield the letters of each system, given the best first."""
    places = {name: place for place, name in enumerate(names)}
    alike = np.ones((len(names), len(names)), bool)
    for c in contrasts:
        if c.p_adjusted <= 1 - level:
            i, j = places[c.left], places[c.right]
            alike[i, j] = alike[j, i] = False
    groups = sorted(_cover(alike), key=lambda group: group.tolist())
    for place in range(len(names)):
        yield tuple(_name_letter(number) for number, group in enumerate(groups) if place in group)


def _cover(alike: NDArray[np.bool_]) -> Iterator[NDArray[np.intp]]:
    """Yield groups of systems that are all alike, until every two that are alike are together in one of them.

    Each begins with the first two that are not yet together, as far apart as they can be, and takes in all that are
    like everyone in it.
    """
    open_pairs = alike.copy()
    for first in range(len(alike)):
        while len(waiting := np.flatnonzero(open_pairs[first, first:])):
            members = [first]
            common = alike[first].copy()
            for other in (first + int(waiting[-1]), *range(len(alike))):
                if common[other] and other not in members:
                    members.append(other)
                    common &= alike[other]
            group = np.array(sorted(members))
            open_pairs[np.ix_(group, group)] = False
            yield group


def _name_letter(number: int) -> str:
    """Return A to Z, then AA to AZ, BA and so on.

    >>> [_name_letter(number) for number in (0, 25, 26, 52)]
    ['A', 'Z', 'AA', 'BA']
    """
    high, low = divmod(number, 26)
    return (_name_letter(high - 1) if high else "") + chr(ord("A") + low)


def list_metrics(found: Compared) -> list[str | None]:
    """Return the metrics, None where there is only one."""
    return list(dict.fromkeys(c.metric for c in found.contrasts))


def find_contrasts(found: Compared, metric: str | None) -> list[SystemContrast]:
    """Return the differences by one metric."""
    return [c for c in found.contrasts if c.metric == metric]


def say_adjusted(found: Compared) -> str:
    """Return how p-values were adjusted, for the end of a sentence; nothing for a single one."""
    methods = " and ".join(dict.fromkeys(c.adjusted_by for c in found.contrasts if c.adjusted_by))
    return f", adjusted for all {len(found.contrasts):,} comparisons ({methods})" if methods else ""


def find_leader(found: Compared, metric: str | None) -> str:
    """Return the system that is asked about: the one that is ahead, or else the one beside the baseline."""
    own = find_contrasts(found, metric)
    if len(own) == 1:
        return own[0].left if found.baseline is not None else better_of(own[0])[0]
    if found.baseline is not None:
        return max(own, key=lambda c: -c.difference if c.lower_is_better else c.difference).left
    losers = {better_of(c)[1] for c in own if is_told(c, found.level)}  # the best mean on its own items may lose
    ordered = [s.name for s in found.ordered(metric)]  # on those that both have
    return next((name for name in ordered if name not in losers), ordered[0])


def decide(found: Compared) -> State:
    """Return the answer in one word; of several metrics all must say the same of the same system."""
    metrics = list_metrics(found)
    if any(each.code == UNLIKE_SCALES for each in found.cautions):
        return "unclear"
    states = [decide_metric(found, metric) for metric in metrics]
    if len(set(states)) > 1 or (states[0] == "yes" and not _agreed(found, metrics)):
        return "unclear"
    return states[0]


def _agreed(found: Compared, metrics: Sequence[str | None]) -> set[str]:
    """Return the systems that are the better ones by every metric."""
    better = ({better_of(c)[0] for c in find_contrasts(found, m) if is_told(c, found.level)} for m in metrics)
    named = set.intersection(*better) - {found.baseline}
    return named if found.baseline is not None else named & {find_leader(found, metric) for metric in metrics}


def decide_metric(found: Compared, metric: str | None) -> State:
    """Return the answer by one metric."""
    own, level = find_contrasts(found, metric), found.level
    systems = found.ordered(metric)
    if found.baseline is None and len(systems) > 2:
        leader = find_leader(found, metric)
        beaten = {better_of(c)[1] for c in own if is_told(c, level) and better_of(c)[0] == leader}
        return "yes" if len(beaten) == len(systems) - 1 else "unclear"
    told = [c for c in own if is_told(c, level)]
    if any(better_of(c)[0] != found.baseline for c in told):
        return "yes"
    everyone = len(own) == len(systems) - 1  # not one of the others was left out
    return "no" if everyone and all(c in told or is_equivalent(c, level) for c in own) else "unclear"


def is_equivalent(c: SystemContrast, level: float) -> bool:
    """Return whether a difference is shown to be smaller than the margin."""
    return c.equivalence is not None and c.equivalence.p_equivalent_adjusted <= 1 - level


def find_open(found: Compared) -> SystemContrast | None:
    """Return the pair that decides the question; of one that is decided, the pair that is nearest to a verdict.

    Whether one is best is decided by the leader and its closest rival, whether any is better than a baseline by the
    one that is nearest to being so.
    """
    unsure = [c for c in found.contrasts if c.p_adjusted > 1 - found.level]
    unclear = [metric for metric in list_metrics(found) if decide_metric(found, metric) == "unclear"]
    if not unclear:
        return min(unsure, key=lambda c: c.log10_p_adjusted, default=None)
    own = [c for c in unsure if c.metric == unclear[0]]
    if found.baseline is None:
        leader = find_leader(found, unclear[0])
        return min((c for c in own if leader in (c.left, c.right)), key=lambda c: abs(c.difference), default=None)
    ahead = [c for c in own if better_of(c)[0] != found.baseline]
    if ahead:
        return min(ahead, key=lambda c: c.log10_p_adjusted)
    return min(own, key=lambda c: abs(c.difference), default=None)
