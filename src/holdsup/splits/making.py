"""`make_splitter`: a splitter from its name and options, as a spec's ``[splits]`` has them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from holdsup.errors import SplitError, list_names
from holdsup.splits.blocked import BlockedCV
from holdsup.splits.folds import JKFold, KFold
from holdsup.splits.holdouts import HoldOut, RepeatedHoldOut
from holdsup.splits.splitter import Splitter

__all__ = ["list_options", "make_splitter"]

SPLITTERS: dict[str, type[Splitter]] = {
    splitter.name: splitter for splitter in (HoldOut, RepeatedHoldOut, KFold, JKFold, BlockedCV)
}


def list_options(name: str) -> list[str]:
    """Return the options of the splitter of that name, without its seed."""
    return [field.name for field in fields(SPLITTERS[name]) if field.name != "seed"]


def make_splitter(name: str, *, seed: int = 0, **options: Any) -> Splitter:
    """Return the splitter of that name: holdout, repeated_holdout, kfold, jkfold or blocked.

    Parameters
    ----------
    seed : of its random numbers
    options : its own options (test, repeats, k, j, m), and stratify, match, uneven

    Raises
    ------
    SplitError : an unknown name or option, or a value that makes no sense

    Examples
    --------
    >>> make_splitter("blocked", seed=1, m=3, repeats=10)
    BlockedCV(m=3, repeats=10, seed=1)
    """
    if name not in SPLITTERS:
        raise SplitError(f"no splitter is called {name!r}; there are {list_names(SPLITTERS)}")
    known = list_options(name)
    if unknown := [option for option in options if option not in known]:
        raise SplitError(f"{name} has no option {list_names(unknown)}; it has {list_names(known)}")
    return SPLITTERS[name](seed=seed, **options)
