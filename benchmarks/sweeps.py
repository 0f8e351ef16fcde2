"""The tables of `growth.py`: one property of an evaluation varied at a time, all else held."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

__all__ = ["SWEEPS", "Evaluation", "Point", "Sweep", "write_csv", "write_parquet"]

CHUNK = 2**20  # rows that are drawn at a time: the largest table is never held as a whole
FACET_LEVELS = 5


@dataclass(frozen=True)
class Evaluation:
    """A simulated evaluation; row r is item r modulo items, so that a table of any length is drawn piece by piece.

    Attributes
    ----------
    items : number of items
    seeds : runs of each of the two systems; a seed is shared by both
    repeats : how often each run scores each item
    raters : levels of a second factor, drawn for every row; 0 leaves it out
    facets : settings of a run, each of five levels, drawn for every run
    interaction : whether a system is better on some items than on others
    missing : share of rows that are left out, at random
    """

    items: int
    seeds: int
    repeats: int = 1
    raters: int = 0
    facets: int = 0
    interaction: bool = False
    missing: float = 0.0

    @property
    def cells(self) -> int:
        """Rows before any is left out."""
        return self.items * 2 * self.seeds * self.repeats

    @property
    def factors(self) -> list[str]:
        """Names of the columns of labels."""
        facets = [f"f{i:02d}" for i in range(self.facets)]
        return ["item", "system", "seed", *(["rater"] if self.raters else []), *facets]

    def chunks(self) -> Iterator[pa.Table]:
        """Yield the table in pieces of about a million rows."""
        for start in range(0, self.cells, CHUNK):
            yield self._draw(np.arange(start, min(start + CHUNK, self.cells)))

    def _draw(self, row: np.ndarray) -> pa.Table:
        effects, rng = self._effects, np.random.default_rng([3, int(row[0])])
        if self.missing:
            row = row[rng.random(len(row)) >= self.missing]
        item, run = row % self.items, row // self.items % (2 * self.seeds)
        system, seed = run // self.seeds, run % self.seeds
        codes = {"item": item, "system": system, "seed": seed}
        score = 0.4 + 0.01 * system + effects["item"][item] + effects["seed"][seed] + rng.normal(0, 0.07, len(row))
        if self.interaction:
            score += effects["system:item"][system, item]
        if self.raters:
            codes["rater"] = rng.integers(self.raters, size=len(row))
            score += effects["rater"][codes["rater"]]
        for i in range(self.facets):
            codes[f"f{i:02d}"] = effects["setting"][i, run]
            score += effects["facet"][i, effects["setting"][i, run]]
        labels = {
            name: pa.DictionaryArray.from_arrays(codes[name].astype(np.int32), self._names[name]) for name in codes
        }
        return pa.table({**labels, "y": np.round(score, 6)})

    @cached_property
    def _effects(self) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(7)
        return {
            "item": rng.normal(0, 0.1, self.items),
            "seed": rng.normal(0, 0.02, self.seeds),
            "system:item": rng.normal(0, 0.04, (2, self.items)),
            "rater": rng.normal(0, 0.05, self.raters),
            "setting": rng.integers(FACET_LEVELS, size=(self.facets, 2 * self.seeds)),
            "facet": rng.normal(0, 0.02, (self.facets, FACET_LEVELS)),
        }

    @cached_property
    def _names(self) -> dict[str, pa.Array]:
        counts = {"item": self.items, "system": 2, "seed": self.seeds, "rater": self.raters}
        return {
            name: pa.array([f"{name[0]}{i:07d}" for i in range(counts.get(name, FACET_LEVELS))])
            for name in self.factors
        }


@dataclass(frozen=True)
class Point:
    """One table of a sweep, and the model that is fitted to it.

    Attributes
    ----------
    size : the property that is varied
    evaluation : the table
    formula : the model
    """

    size: float
    evaluation: Evaluation
    formula: str


@dataclass(frozen=True)
class Sweep:
    """Tables in which one property grows.

    Attributes
    ----------
    name : what is varied, one word
    axis : the same with its unit
    held : what is not varied, in words
    points : the tables, from small to large
    power : whether cost is taken for a power of size; if not, for a multiple of the first point's
    """

    name: str
    axis: str
    held: str
    points: tuple[Point, ...]
    power: bool = True


CROSSED = "y ~ system + (1|item) + (1|seed)"


def _rows() -> Sweep:
    base = Evaluation(items=1_000, seeds=5)
    repeats = (1, 3, 10, 30, 100, 300, 1_000, 5_000)
    points = tuple(Point(r * base.cells, replace(base, repeats=r), CROSSED) for r in repeats)
    held = "1,000 items x 2 systems x 5 seeds, each scored once, 3 times, ..., 5,000 times"
    return Sweep("rows", "rows", held, points)


def _items() -> Sweep:
    counts = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000)
    points = tuple(Point(n, Evaluation(items=n, seeds=5), CROSSED) for n in counts)
    return Sweep("items", "items", "2 systems x 5 seeds: ten rows an item", points)


def _second() -> Sweep:
    base = Evaluation(items=20_000, seeds=5)
    formula = "y ~ system + (1|item) + (1|rater)"
    counts = (100, 200, 500, 1_000, 2_000, 5_000, 10_000)
    points = tuple(Point(n, replace(base, raters=n), formula) for n in counts)
    held = "20,000 items x 10 rows, each judged by a rater drawn at random: 200,000 rows"
    return Sweep("second", "levels of the second factor", held, points)


def _components() -> Sweep:
    base = Evaluation(items=250, seeds=100)
    points = []
    for count in (1, 2, 3, 5, 7, 10, 14, 20):
        evaluation = replace(base, facets=count - 1)
        terms = "".join(f" + (1|{name})" for name in evaluation.factors[3:])
        points.append(Point(count, evaluation, f"y ~ system + (1|item){terms}"))
    held = "250 items x 200 runs = 50,000 rows; a run has a value of each of 0 to 19 settings of 5 levels"
    return Sweep("components", "variance components", held, tuple(points))


def _missing() -> Sweep:
    base = Evaluation(items=10_000, seeds=25, interaction=True)
    formula = "y ~ system + (1|item) + (1|system:item) + (1|seed)"
    shares = (0, 1, 2, 5, 10, 20, 30, 50)
    points = tuple(Point(share, replace(base, missing=share / 100), formula) for share in shares)
    held = "10,000 items x 2 systems x 25 seeds = 500,000 cells, less those that are missing at random"
    return Sweep("missing", "missing cells, %", held, points, power=False)


SWEEPS = {sweep.name: sweep for sweep in (_rows(), _items(), _second(), _components(), _missing())}


def write_parquet(evaluation: Evaluation, path: Path) -> int:
    """Write the table to a file piece by piece; return how many rows it has."""
    writer, rows = None, 0
    for chunk in evaluation.chunks():
        writer = writer or pyarrow.parquet.ParquetWriter(path, chunk.schema)
        writer.write_table(chunk)
        rows += chunk.num_rows
    if writer is not None:
        writer.close()
    return rows


def write_csv(parquet: Path, path: Path) -> None:
    """Write a Parquet file as CSV, which R reads; labels become text."""
    with pyarrow.parquet.ParquetFile(parquet) as file:
        schema = pa.schema([(name, pa.float64() if name == "y" else pa.string()) for name in file.schema_arrow.names])
        with pyarrow.csv.CSVWriter(path, schema) as writer:
            for batch in file.iter_batches(CHUNK):
                writer.write_table(pa.Table.from_batches([batch]).cast(schema))
