"""What one partition of a corpus is, for each way to split it, and how to make more of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdsup.errors import SplitError
from holdsup.splits import BlockedCV, HoldOut, JKFold, KFold, RepeatedHoldOut, Splitter, make_splitter

__all__ = ["Place", "Strategy", "choose_strategy"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a split stands: its partition (from 0), and repetition and fold in it (from 1)."""

    partition: int
    repetition: int
    fold: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """How a corpus is split, and re-partitioned as often as one likes.

    Attributes
    ----------
    name : blocked, holdout, repeated or kfold, as `judge_contest` has it
    splitter : name and options of the splitter, without how many deals it makes
    many : its option that says how many
    splits : splits in one partition
    folds : splits in one repetition
    deals : deals of the corpus in one partition: several for repeated hold-outs
    """

    name: str
    splitter: dict[str, Any]
    many: str
    splits: int
    folds: int
    deals: int

    def options(self, partitions: int) -> dict[str, Any]:
        """Return name and options of the splitter that makes so many partitions; the first ones never change."""
        return {**self.splitter, self.many: self.deals * partitions}

    def make(self, partitions: int) -> Splitter:
        """Return the splitter that makes so many partitions."""
        return make_splitter(**self.options(partitions))

    def place(self, index: int) -> Place:
        """Return where a split (counted from 0 over all partitions) stands."""
        partition, within = divmod(index, self.splits)
        return Place(partition, within // self.folds + 1, within % self.folds + 1)


def choose_strategy(splitter: Splitter) -> tuple[Strategy, int]:
    """Return the strategy of a splitter, and how many partitions it asks for itself.

    >>> strategy, partitions = choose_strategy(BlockedCV(m=3, repeats=10))
    >>> strategy.name, strategy.splits, partitions
    ('blocked', 6, 10)
    """
    if not isinstance(splitter, BlockedCV | HoldOut | KFold):
        raise SplitError(f"{splitter!r} is no splitter of holdsup: give BlockedCV, HoldOut, RepeatedHoldOut or KFold")
    options = splitter.describe()
    if splitter.match is not None and options["match"] != splitter.match:
        raise SplitError('a contest can match splits on targets only (match="targets"), not on an array')
    if isinstance(splitter, BlockedCV):
        many, own, name, splits, folds, deals = "repeats", splitter.repeats, "blocked", 2 * splitter.m, 2, 1
    elif isinstance(splitter, KFold):
        many, own, name, splits, folds, deals = "j", getattr(splitter, "j", 1), "kfold", splitter.k, splitter.k, 1
        options["name"] = JKFold.name
    else:
        deals = splits = getattr(splitter, "repeats", 1)
        many, own, name, folds = "repeats", 1, "repeated" if isinstance(splitter, RepeatedHoldOut) else "holdout", 1
        options["name"] = RepeatedHoldOut.name
    options.pop(many, None)
    return Strategy(name=name, splitter=options, many=many, splits=splits, folds=folds, deals=deals), own
