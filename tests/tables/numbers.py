"""The numbers of a result by names that do not depend on the order of rows or the labels' spelling."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

__all__ = ["Number", "compare_numbers", "list_numbers"]


class Number(NamedTuple):
    """A number and what it becomes when scores are multiplied by c: itself times c to this power."""

    value: float
    power: int = 0
    loose: bool = False  # an optimum that is found by search: right to what matters, not to the last digit


def list_numbers(result: dict[str, Any], name: Callable[[str], str] = str) -> dict[tuple[str, ...], Number]:
    """Return the numbers of a result's JSON; `name` gives labels the names by which they are compared."""
    parts = {"compare": _comparison, "variance": _decomposition, "rank": _ranking}[result["kind"]]
    return {key: number for key, number in parts(result, name) if number.value is not None}


def compare_numbers(
    kind: str, found: dict[tuple[str, ...], Number], again: dict[tuple[str, ...], Number], factor: float = 1.0
) -> Iterator[str]:
    """Yield which numbers of the same table, told in another way, are not the same."""
    if found.keys() != again.keys():
        yield f"{kind}: {sorted(found.keys() ^ again.keys())[:3]} are in one answer only"
    for key in found.keys() & again.keys():
        expected, got, power = found[key].value, again[key].value, found[key].power
        scale = max(abs(found[other].value) for other in found if other[-1] == key[-1] and other[0] == key[0])
        if factor != 1 and key[0] == "system" and key[-1] in ("low", "high") and _leaves_scale(found, key):
            continue  # its scale has ends, which scores times 100 do not show
        rel, share = (1e-3, 1e-4) if found[key].loose else (1e-6, 1e-9)
        if not math.isclose(got, expected * factor**power, rel_tol=rel, abs_tol=share * scale * factor**power + 1e-9):
            yield f"{kind}: {key} is {got!r}, and {expected * factor**power!r} was expected"


def _leaves_scale(found: dict[tuple[str, ...], Number], key: tuple[str, ...]) -> bool:
    """Return whether the interval of a mean between 0 and 1, or 1 and 7, is not that of t: it reaches an end."""
    mean, low, high = (found[(*key[:-1], field)].value for field in ("mean", "low", "high"))
    lopsided = abs(mean - (low + high) / 2) > 1e-9 * max(abs(low), abs(high), 1e-12)
    return lopsided or low == high or min(abs(end) for end in (low, low - 1, high - 1, high - 5, high - 7)) < 1e-9


def _contrasts(result: dict[str, Any], name: Callable[[str], str]) -> Iterator[tuple[tuple[str, ...], Number]]:
    for each in result["contrasts"]:
        pair = (name(each["left"]), name(each["right"]))
        sign = 1 if pair[0] < pair[1] else -1
        key = ("contrast", *sorted(pair), str(each.get("metric")))
        yield (*key, "difference"), Number(sign * each["difference"], 1)
        low, high = each["low"], each["high"]
        if low is not None and high is not None:
            yield (*key, "low"), Number(sign * (low if sign > 0 else high), 1)
        for field, power in (("se", 1), ("df", 0), ("p", 0), ("p_adjusted", 0)):
            yield (*key, field), Number(each[field], power)


def _comparison(result: dict[str, Any], name: Callable[[str], str]) -> Iterator[tuple[tuple[str, ...], Number]]:
    for each in result["systems"]:
        for field, power in (("mean", 1), ("se", 1), ("low", 1), ("high", 1), ("runs", 0), ("items", 0)):
            yield ("system", name(each["name"]), str(each["metric"]), field), Number(each[field], power)
    yield from _contrasts(result, name)
    for each in result["tests"]:
        yield ("test", str(each["metric"]), "p"), Number(each["p"], loose=True)
        yield ("test", str(each["metric"]), "statistic"), Number(each["statistic"], loose=True)


def _decomposition(result: dict[str, Any], name: Callable[[str], str]) -> Iterator[tuple[tuple[str, ...], Number]]:
    for each in result["components"]:
        key = ("component", name(each["system"]), each["name"])
        yield (*key, "variance"), Number(each["variance"], 2, loose=True)
        if "bootstrap" not in (each["method"] or ""):
            yield (*key, "low"), Number(each["low"], 2, loose=True)
    for each in result["reliabilities"]:
        yield ("reliability", name(each["system"]), "phi"), Number(each["phi"], loose=True)


def _ranking(result: dict[str, Any], name: Callable[[str], str]) -> Iterator[tuple[tuple[str, ...], Number]]:
    for each in result["systems"]:
        for field, power in (("mean", 1), ("se", 1), ("low", 1), ("high", 1), ("rank_low", 0), ("rank_high", 0)):
            yield ("system", name(each["name"]), field), Number(each[field], power, loose=True)
    for key, number in _contrasts(result, name):
        yield key, number._replace(loose=True)
    for each in result["random"]:
        yield ("random", each["group"], each["term"], "variance"), Number(each["variance"], 2, loose=True)
