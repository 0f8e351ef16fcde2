"""What a system returned, as predictions that can be stored: one for each item, of the targets' kind, none NaN."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from holdsup.errors import TaskError

__all__ = ["check_predictions", "note_unknown"]


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


def note_unknown(predictions: Sequence[Any], targets: Sequence[Any]) -> str | None:
    """Return a note on predictions that no target is, where targets are labels; None where there are none.

    Targets are labels if there are at most half as many different ones as items: answers in words differ more.

    >>> note_unknown(["a", "b "], ["a", "b", "a", "b"])
    "1 of 2 predictions is no label of the data, such as 'b '"
    """
    if not all(isinstance(target, str | int) for target in targets) or len(labels := set(targets)) > len(targets) / 2:
        return None
    unknown = [value for value in predictions if isinstance(value, list) or value not in labels]
    if not unknown:
        return None
    verb = "is" if len(unknown) == 1 else "are"
    return (
        f"{len(unknown):,} of {len(predictions):,} predictions {verb} no label of the data, such as {unknown[0]!r:.40}"
    )


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
