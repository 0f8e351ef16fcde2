"""What a system returned, as predictions that can be stored: one for each item, of the targets' kind, none NaN."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from holdsup.errors import TaskError

__all__ = ["check_predictions"]


def check_predictions(returned: Any, targets: Sequence[Any], *, source: str) -> list[Any]:
    """Return predictions as plain values that JSON can hold.

    A prediction of another kind than the targets (the text "1" where targets are numbers) would count as wrong
    without a word, so it is refused.
    """
    values = returned.tolist() if hasattr(returned, "tolist") else returned
    if not isinstance(values, list | tuple):
        raise TaskError(f"{source} predicts with a {type(returned).__name__}: return a list with a prediction an item")
    if len(values) != len(targets):
        raise TaskError(f"{source} gave {len(values):,} predictions for {len(targets):,} items: return one for each")
    plain = [_plain(value, place, source) for place, value in enumerate(values, start=1)]
    wanted = {_kind(target) for target in targets}
    for place, value in enumerate(plain, start=1):
        if _kind(value) not in wanted:
            raise TaskError(
                f"{source} predicts {_kind(value)} ({value!r:.40}, prediction {place}) where the targets are "
                f"{' or '.join(sorted(wanted))} ({targets[0]!r:.40}): return what the targets are"
            )
    return plain


def _plain(value: Any, place: int, source: str) -> Any:
    if isinstance(value, str | bool | int):
        return value
    if hasattr(value, "tolist"):  # of NumPy: a number, a string, an array
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part, place, source) for part in value]
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        raise TaskError(
            f"prediction {place} of {source} is {value}, which is no prediction: the training may have diverged"
        )
    if isinstance(value, str | bool | int | float):
        return value
    raise TaskError(
        f"prediction {place} of {source} is a {type(value).__name__}: return text, numbers, truth values, or lists "
        "of these"
    )


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "lists" if isinstance(value, list) else "numbers"
