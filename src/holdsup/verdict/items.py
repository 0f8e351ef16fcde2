"""What items of right and wrong tell: how hard they are, whether better systems get them right, which tell nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from holdsup.errors import FitError, ScoresError
from holdsup.numerics.layout import Floats
from holdsup.rendering import Estimate, Percent, Table
from holdsup.verdict.evaluation import Evaluation, lay_out
from holdsup.verdict.intake import Where, take_in

FEWEST = 4  # runs of all systems from which an item's outcomes are correlated with those of the others
MOST_SHOWN = 5  # items of a kind in a table
MOST_NAMED = 3  # items in a note


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadItems:
    """Items that tell no systems apart, of scores that are right or wrong."""

    metric: str | None  # the metric, null if there is only one
    items: int  # how many items there are
    always_right: int  # of them, right in every run of every system
    always_wrong: int  # wrong in every run of every system
    right_items: tuple[str, ...] = ()  # the names of those that are always right
    wrong_items: tuple[str, ...] = ()  # the names of those that are always wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRating:
    """How hard an item is, and how well it tells systems apart."""

    item: str  # its name, after that of its dataset where there are several
    metric: str | None  # the metric, null if there is only one
    outcomes: int  # how many outcomes it has, of all systems and runs
    right: float  # the share that is right, 0-1
    # log-odds of failure beyond those of an average item, by a logistic mixed model; null where it has no fit
    difficulty: float | None
    se: float | None  # its standard deviation given the outcomes
    # correlation of its outcomes, over the runs of all systems, with their means on the other items; null for an item
    # that is always right or always wrong, and for few runs
    discrimination: float | None


def rate_items(data: Any, *, where: Where = None, last: str | None = None, **roles: Any) -> tuple[ItemRating, ...]:
    """Return how hard each item is, and how well it tells systems apart, of scores that are right or wrong.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes
    where : columns and the values that rows must have
    last : a column that counts, such as "step": of each run only the rows at its largest value are used
    roles : passed on to `read_scores`

    Examples
    --------
    >>> table = {"system": list("AABB") * 3, "seed": [1, 2] * 6, "item": [f"q{i // 4}" for i in range(12)]}
    >>> rated = rate_items({**table, "score": [1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1]})
    >>> [(each.item, each.right) for each in rated]
    [('q0', 1.0), ('q1', 0.75), ('q2', 0.25)]
    """
    taken = take_in(data, roles, where=where, last=last, lower_is_better=False)
    rated = [each for evaluation in lay_out(taken.scores) for each in _rate(evaluation)]
    if not rated:
        raise ScoresError(
            "items are rated where several systems are right or wrong (1 or 0) on each: there is none here"
        )
    return tuple(rated)


def _outcomes(evaluation: Evaluation) -> Floats | None:
    """Return right and wrong as items x runs of all systems; None of other scores, and of one system."""
    if evaluation.per_run or evaluation.scores.item is None or len(evaluation.systems) < 2:
        return None
    if not np.isin(evaluation.scores.score, (0.0, 1.0)).all():
        return None
    return np.concatenate([system.scores for system in evaluation.systems], axis=1)


def _names(evaluation: Evaluation) -> list[str]:
    """Return the name of each item."""
    scores = evaluation.scores
    assert scores.item is not None
    shown = np.zeros(evaluation.items, np.int64)
    shown[evaluation.item[::-1]] = np.arange(len(evaluation.item))[::-1]
    names = [scores.item.names[code] for code in scores.item.codes[shown]]
    if evaluation.datasets is None:
        return names
    own = [evaluation.dataset_names[code] for code in evaluation.datasets]
    return [f"{dataset}, {name}" for dataset, name in zip(own, names, strict=True)]


def find_dead_items(evaluations: Sequence[Evaluation]) -> Iterator[DeadItems]:
    """Yield for each metric of right and wrong which items all systems always have right, or always wrong."""
    for evaluation in evaluations:
        y = _outcomes(evaluation)
        if y is None:
            continue
        names, share = _names(evaluation), np.nanmean(y, axis=1)
        right, wrong = (tuple(names[i] for i in np.flatnonzero(share == end)) for end in (1.0, 0.0))
        yield DeadItems(
            metric=evaluation.metric, items=len(names), always_right=len(right), always_wrong=len(wrong),
            right_items=right, wrong_items=wrong,
        )  # fmt: skip


def find_notable(evaluations: Sequence[Evaluation]) -> Iterator[ItemRating]:
    """Yield the hardest items that tell systems apart, and those that worse systems get right more often."""
    for evaluation in evaluations:
        alive = [each for each in _rate(evaluation) if each.discrimination is not None]
        yield from sorted(alive, key=lambda each: each.right)[:MOST_SHOWN]
        yield from sorted(alive, key=lambda each: each.discrimination or 0.0)[:MOST_SHOWN]


def _rate(evaluation: Evaluation) -> Iterator[ItemRating]:
    y = _outcomes(evaluation)
    if y is None:
        return
    apart, (difficulty, se) = _discriminate(y), _find_difficulty(evaluation)
    for i, name in enumerate(_names(evaluation)):
        yield ItemRating(
            item=name, metric=evaluation.metric, outcomes=int(np.isfinite(y[i]).sum()), right=float(np.nanmean(y[i])),
            difficulty=_known(difficulty[i]), se=_known(se[i]), discrimination=_known(apart[i]),
        )  # fmt: skip


def _known(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None


def _discriminate(y: Floats) -> Floats:
    """Return the correlation of each row with the columns' means over the other rows, NaN where either is constant."""
    there = np.isfinite(y)
    x, counts = np.where(there, y, 0.0), there.sum(axis=0)
    rest = np.where(there, (x.sum(axis=0) - x) / np.maximum(counts - there, 1), 0.0)
    size = there.sum(axis=1, keepdims=True)
    x, rest = (np.where(there, z - z.sum(axis=1, keepdims=True) / size, 0.0) for z in (x, rest))
    spread = np.sqrt((x**2).sum(axis=1) * (rest**2).sum(axis=1))
    told = (spread > 1e-12) & (size[:, 0] >= FEWEST)
    return np.asarray(np.divide((x * rest).sum(axis=1), spread, out=np.full(len(y), np.nan), where=told))


def _find_difficulty(evaluation: Evaluation) -> tuple[Floats, Floats]:
    """Return how hard items are by a logistic mixed model, and the standard deviations of that."""
    from holdsup.fit import fit_glmm, random_effects  # slow to load, and few ask

    scores, repeated = evaluation.scores, any(len(system.runs) > 1 for system in evaluation.systems)
    table = {
        "score": scores.score,
        "system": [scores.system.names[code] for code in scores.system.codes],
        "item": evaluation.item.astype(str),
    }
    try:
        fit = fit_glmm(f"score ~ system + (1 | item){' + (1 | system:item)' if repeated else ''}", table)
    except FitError:
        return np.full(evaluation.items, np.nan), np.full(evaluation.items, np.nan)
    effects = next(each for each in random_effects(fit) if each.group == "item")
    place = np.array([int(level[0]) for level in effects.levels])
    difficulty, se = np.empty(evaluation.items), np.empty(evaluation.items)
    difficulty[place], se[place] = -effects.values[:, 0], effects.sd[:, 0]
    return difficulty, se


def tabulate_dead(dead: Sequence[DeadItems]) -> Iterator[Table]:
    """Yield how many items tell no systems apart."""
    if not dead:
        return
    said = [(end, names) for each in dead for end, names in (("right", each.right_items), ("wrong", each.wrong_items))]
    yield Table(
        name="dead",
        title="Items that tell no systems apart",
        columns=("metric", "items", "always right", "always wrong"),
        rows=tuple((e.metric or "score", e.items, e.always_right, e.always_wrong) for e in dead),
        notes=(
            "Right, or wrong, in every run of every system.",
            *(
                f"Always {end}: {', '.join(names[:MOST_NAMED])}{', ...' if len(names) > MOST_NAMED else ''}."
                for end, names in said
                if names
            ),
        ),
    )


def tabulate_notable(items: Sequence[ItemRating]) -> Iterator[Table]:
    """Yield the hardest items and those that tell systems apart least."""
    if not items:
        return
    yield Table(
        name="items",
        title="The hardest items, and those that tell systems apart least",
        columns=("item", "right", "difficulty", "discrimination"),
        rows=tuple(
            (
                each.item if each.metric is None else f"{each.item} ({each.metric})", Percent(100 * each.right),
                None if each.difficulty is None else Estimate(each.difficulty, each.se or 0.0), each.discrimination,
            )
            for each in dict.fromkeys(items)
        ),
        notes=(
            "difficulty: log-odds of failure beyond those of an average item, by a logistic mixed model.",
            "discrimination: correlation with the mean on other items, over runs of all systems; below zero, worse "
            "systems are right more often (a wrong key?).",
        ),
    )  # fmt: skip
