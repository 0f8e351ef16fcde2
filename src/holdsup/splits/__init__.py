"""Who trains, who tests: seeded splits of a corpus that scikit-learn takes as ``cv=``."""

from __future__ import annotations

from holdsup.splits.blocked import BlockedCV
from holdsup.splits.folds import JKFold, KFold
from holdsup.splits.holdouts import HoldOut, RepeatedHoldOut
from holdsup.splits.making import make_splitter
from holdsup.splits.splitter import Promises, Split, Splitter

__all__ = [
    "BlockedCV",
    "HoldOut",
    "JKFold",
    "KFold",
    "Promises",
    "RepeatedHoldOut",
    "Split",
    "Splitter",
    "make_splitter",
]
