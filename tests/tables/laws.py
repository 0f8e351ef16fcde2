"""What must hold for any table: no crash, p and interval agree, and what is the same table has the same numbers."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import holdsup
from holdsup.errors import HoldsupError

from .drawing import DrawnTable
from .numbers import compare_numbers, list_numbers

__all__ = ["QUESTIONS", "find_broken"]

QUESTIONS: dict[str, Callable[[Any], Any]] = {
    "compare": holdsup.compare_systems,
    "variance": holdsup.decompose_variance,
    "rank": lambda table: holdsup.rank_systems(table, folds=2),
}
LABELS = ("system", "seed", "dataset", "item", "document")
FACTOR = 100.0


def find_broken(drawn: DrawnTable, *, report: bool = True) -> tuple[list[str], list[str]]:
    """Return the laws that a table breaks, and what it was refused for."""
    broken: list[str] = []
    refused: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        results = [holdsup.audit_scores(holdsup.read_scores(drawn.table))]
        for place, (kind, ask) in enumerate(QUESTIONS.items()):
            found = _ask(kind, ask, drawn.table, broken, refused)
            if found is not None:
                results.append(found)
                broken.extend(_check(kind, ask, found, *_tell_again(drawn)[(drawn.seed + place) % 3]))
        broken.extend(_show(results, report=report))
    return broken, refused


def _ask(
    kind: str, ask: Callable[[Any], Any], table: pa.Table, broken: list[str], refused: list[str]
) -> holdsup.results.Result | None:
    try:
        return ask(table)
    except HoldsupError as error:
        refused.append(f"{kind}: {error}")
    except Exception as error:
        broken.append(f"{kind} crashes: {type(error).__name__}: {error}")
    return None


def _check(
    kind: str, ask: Callable[[Any], Any], found: Any,
    way: str, table: pa.Table, name: Callable[[str], str], factor: float,
) -> Iterator[str]:  # fmt: skip
    """Yield the laws that an answer breaks by itself, and next to the same table told in another way."""
    answer = found.to_dict()
    for contrast in answer.get("contrasts", []):
        for ends, field in (("", "p"), ("_simultaneous", "p_adjusted")):
            low, high, p = contrast[f"low{ends}"], contrast[f"high{ends}"], contrast[field]
            if None not in (low, high, p) and abs(p - 0.05) > 1e-9 and (p < 0.05) != (low > 0 or high < 0):
                yield f"{kind}: {field} is {p} and the interval [{low}, {high}]"
    try:
        again = ask(table).to_dict()
    except Exception as error:
        yield f"{kind}, {way}: {type(error).__name__}: {error}"
        return
    for line in compare_numbers(kind, list_numbers(answer), list_numbers(again, name), factor):
        yield f"{way}: {line}"


def _tell_again(drawn: DrawnTable) -> list[tuple[str, pa.Table, Callable[[str], str], float]]:
    """Return the same table with its rows in another order, under other labels, in another unit."""
    table, rng = drawn.table, np.random.default_rng(drawn.seed)
    columns, back = dict(zip(table.column_names, table.columns, strict=True)), {}
    for label in set(LABELS) & columns.keys():
        values = columns[label].to_pylist()
        names = {value: f"{label[0]} {i}" for i, value in enumerate(sorted(set(values), reverse=True))}
        columns[label] = pa.array([names[value] for value in values])
        if label == "system":
            back = {new: old for old, new in names.items()}
    scores = pa.array(table["score"].to_numpy() * FACTOR)
    factor = FACTOR if np.nansum(np.abs(scores.to_numpy(zero_copy_only=False))) else 1.0  # zeros are zeros in any unit
    return [
        ("shuffled", table.take(rng.permutation(table.num_rows)), str, 1.0),
        ("renamed", pa.table(columns), lambda name: back[name], 1.0),
        ("times 100", table.set_column(table.column_names.index("score"), "score", scores), str, factor),
    ]


def _show(results: list[Any], *, report: bool) -> Iterator[str]:
    """Yield what does not survive JSON, and what no page can be made of."""
    with tempfile.TemporaryDirectory() as folder:
        for result in results:
            file = Path(folder) / f"{result.kind}.json"
            try:
                file.write_text(result.to_json(), encoding="utf-8")
                if holdsup.read_result(file).to_dict() != result.to_dict():
                    yield f"{result.kind}: the JSON reads back as something else"
                str(result)
            except Exception as error:
                yield f"{result.kind}, shown: {type(error).__name__}: {error}"
        if report:
            try:
                holdsup.write_report(results, Path(folder) / "page.html")
            except Exception as error:
                yield f"report: {type(error).__name__}: {error}"
