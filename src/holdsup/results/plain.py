"""Frozen records to and from plain values: what JSON can hold, at full precision.

NaN and infinities become null: JSON has no word for them. Reading goes by the type hints of the
record, so a result restored from its JSON equals the one that was written.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
import types
import typing
import unicodedata
from collections.abc import Mapping
from typing import Any

from holdsup.errors import ResultError
from holdsup.rendering.table import HIDDEN

WORDS = {str: "text", float: "a number", int: "a whole number", bool: "true or false", type(None): "null"}
LONGEST = 60  # characters of a value in a message
# Fields of any record whose values lie between 0 and 1: the ends are excluded of what is asked for.
ASKED_SHARES = frozenset(("level", "threshold", "target"))
SHARES = re.compile(r"(?!\w*log10)(p|p_\w+|\w+_p|\w*share|probability|reproducibility|similarity|phi)")


def to_plain(value: Any) -> Any:
    """Return `value` as dicts, lists, strings, numbers, booleans and None."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if dataclasses.is_dataclass(value):
        return {name: to_plain(getattr(value, name)) for name in saved_fields(type(value))}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    raise TypeError(f"a result holds {type(value).__name__}, which has no place in JSON")


def escape_hidden(text: str) -> str:
    r"""Return JSON text with the characters in its strings that a terminal would obey as escapes, which mean the same.

    >>> escape_hidden('["a\x9b31m", "\u202eb"]')
    '["a\\u009b31m", "\\u202eb"]'
    """
    found = (char for char in set(text) if char >= "\x7f" and unicodedata.category(char) in HIDDEN)
    return text.translate({ord(char): json.dumps(char)[1:-1] for char in found})


def saved_fields(record: Any) -> list[str]:
    """Return the names of the fields that are saved: all but those marked ``metadata={"saved": False}``."""
    return [field.name for field in dataclasses.fields(record) if field.metadata.get("saved", True)]


def from_plain(hint: Any, plain: Any, *, path: str = "result") -> Any:
    """Return the value of type `hint` that `plain` was made from; `path` names the place in errors."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _record(hint, plain, path)
    if origin in (typing.Union, types.UnionType):
        return _one_of(arguments, plain, path)
    if origin is tuple and isinstance(plain, list):
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(from_plain(arguments[0], item, path=f"{path}[{i}]") for i, item in enumerate(plain))
        if len(arguments) == len(plain):
            pairs = enumerate(zip(arguments, plain, strict=True))
            return tuple(from_plain(a, item, path=f"{path}[{i}]") for i, (a, item) in pairs)
    if origin in (dict, Mapping) and isinstance(plain, dict):
        return {key: from_plain(arguments[1], item, path=f"{path}.{key}") for key, item in plain.items()}
    if origin is typing.Literal and plain in arguments:
        return plain
    if hint is float and (plain is None or (isinstance(plain, int | float) and not isinstance(plain, bool))):
        return math.nan if plain is None else float(plain)
    if hint in (str, bool, int, type(None)) and type(plain) is (hint or type(None)):
        return plain
    raise ResultError(f"{path} is {_shown(plain)}, not {_in_words(hint)}")


def _record(hint: type, plain: Any, path: str) -> Any:
    if not isinstance(plain, dict):
        raise ResultError(f"{path} is {_shown(plain)}, not {_in_words(hint)}")
    hints = typing.get_type_hints(hint)
    values = {}
    for field in dataclasses.fields(hint):
        if not field.metadata.get("saved", True):
            continue
        if field.name in plain:
            place = f"{path}.{field.name}"
            values[field.name] = from_plain(hints[field.name], plain[field.name], path=place)
            _check_range(field.name, values[field.name], place)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise ResultError(f"{path} lacks the field {field.name!r}")
    for name, low in values.items():
        high = values.get(name.replace("low", "high")) if "low" in name else None
        if isinstance(low, int | float) and isinstance(high, int | float) and low > high:
            raise ResultError(f"{path}.{name} is {low:g}, above {high:g}, the other end of the interval")
    return hint(**values)


def _check_range(name: str, value: Any, path: str) -> None:
    """Refuse a number that a field of this name can't have: a level of 7, a p of -1, a negative count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return
    if name in ASKED_SHARES and not 0 < value < 1:
        raise ResultError(f"{path} is {value:g}, not between 0 and 1")
    if SHARES.fullmatch(name) and not math.isnan(value) and not 0 <= value <= 1:
        raise ResultError(f"{path} is {value:g}, not from 0 to 1")
    if isinstance(value, int) and value < 0:
        raise ResultError(f"{path} is {value}, below 0")


def _one_of(hints: tuple[Any, ...], plain: Any, path: str) -> Any:
    if plain is None and type(None) in hints:
        return None
    if isinstance(plain, dict) and len(records := [hint for hint in hints if dataclasses.is_dataclass(hint)]) == 1:
        return from_plain(records[0], plain, path=path)  # which says what is wrong within it
    for hint in hints:
        try:
            return from_plain(hint, plain, path=path)
        except ResultError:
            continue
    words = " or ".join(dict.fromkeys(map(_in_words, hints)))
    raise ResultError(f"{path} is {_shown(plain)}, not {words}")


def _shown(plain: Any) -> str:
    """Return a value as the file has it, cut where it is long."""
    text = json.dumps(plain, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def _in_words(hint: Any) -> str:
    """Return what a value must be, in the words of JSON."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is tuple:
        several = arguments[1:] == (Ellipsis,)
        return "a list" if several else f"a list of {len(arguments)} values"
    if origin is typing.Literal:
        return " or ".join(map(_shown, arguments))
    return WORDS.get(hint, "an object")
