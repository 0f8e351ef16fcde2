"""The data of the comparison with lme4, made by rules: the tests and `scripts/reference/make_lme4.py` make the same.

Only `numpy.random.RandomState` is used, whose stream NumPy has frozen (NEP 19), and every number is rounded
to a few decimals, so that a CSV file holds exactly what the test holds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["CASES", "Case"]

Columns = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Case:
    """A model and the rule of its data.

    Attributes
    ----------
    name : what is special about it
    formula : ours, and lme4's unless `r_formula` says otherwise
    make : the rule
    weights : column of case weights
    r_formula : the same model in lme4's words
    aliases : lme4's name of a random term -> ours, where they differ
    unused : levels that a column declares and no row has
    """

    name: str
    formula: str
    make: Callable[[], Columns]
    weights: str | None = None
    r_formula: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    unused: Mapping[str, Sequence[str]] = field(default_factory=dict)


def labels(prefix: str, codes: Any) -> list[str]:
    width = len(str(int(np.max(codes)) + 1))
    return [f"{prefix}{code + 1:0{width}d}" for code in codes]


class Draw:
    """Seeded draws, rounded."""

    def __init__(self, seed: int) -> None:
        self.state = np.random.RandomState(seed)

    def normal(self, n: int, sd: float = 1.0, decimals: int = 4) -> np.ndarray:
        return np.round(sd * self.state.standard_normal(n), decimals)

    def uniform(self, n: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        return np.round(low + (high - low) * self.state.random_sample(n), 4)

    def codes(self, n: int, levels: int) -> np.ndarray:
        """Levels at random, each at least once."""
        return np.concatenate([np.arange(levels), self.state.randint(0, levels, n - levels)])


def oneway(seed: int, sizes: Sequence[int], *, sd: float = 1.0, noise: float = 1.0, mean: float = 5.0) -> Columns:
    draw = Draw(seed)
    g = np.repeat(np.arange(len(sizes)), sizes)
    n = len(g)
    x, f = draw.uniform(n, -2, 2), draw.state.randint(0, 3, n)
    y = mean + 0.5 * x + 0.3 * f + draw.normal(len(sizes), sd, 6)[g] + draw.normal(n, noise, 6)
    return {"y": np.round(y, 6), "x": x, "f": labels("f", f), "g": labels("g", g)}


def crossed(seed: int, *counts: int, repeats: int = 1, keep: float = 1.0, sd: Sequence[float] = ()) -> Columns:
    draw = Draw(seed)
    grid = np.indices((*counts, repeats)).reshape(len(counts) + 1, -1)[:-1]
    if keep < 1:
        grid = grid[:, draw.state.random_sample(grid.shape[1]) < keep]
    n = grid.shape[1]
    x, f = draw.uniform(n, -2, 2), draw.state.randint(0, 3, n)
    y = 2 + 0.4 * x + 0.5 * (f == 2) + draw.normal(n, 1, 6)
    for codes, count, scale in zip(grid, counts, sd or (1.0,) * len(counts), strict=True):
        y = y + draw.normal(count, scale, 6)[codes]
    named = {name: labels(name, codes) for name, codes in zip("abc", grid, strict=False)}
    return {"y": np.round(y, 4), "x": x, "f": labels("f", f), **named}


def nested(seed: int, counts: Sequence[int], repeats: int, *, unique: bool = False) -> Columns:
    draw = Draw(seed)
    grid = np.indices((*counts, repeats)).reshape(len(counts) + 1, -1)[:-1]
    n = grid.shape[1]
    y, code, columns = 10 + draw.normal(n), np.zeros(n, int), {}
    for i, (codes, count) in enumerate(zip(grid, counts, strict=True)):
        code = code * count + codes
        y = y + draw.normal(int(code.max()) + 1, (2.0, 1.0, 0.7)[i])[code]
        columns["abc"[i]] = labels("abc"[i], code if unique else codes)
    return {"y": np.round(y, 4), **columns}


def slopes(
    seed: int, groups: int, rows: int, *, sd: Sequence[float] = (1.0, 0.5), corr: float = 0.3, noise: float = 1.0
) -> Columns:
    draw = Draw(seed)
    g = np.repeat(np.arange(groups), rows)
    n = len(g)
    x, z = draw.uniform(n, 0, 3), draw.uniform(n, -1, 1)
    u, v, w = (draw.normal(groups) for _ in range(3))
    b0, b1, b2 = sd[0] * u, sd[1] * (corr * u + np.sqrt(1 - corr**2) * v), 0.6 * w
    y = 1 + b0[g] + (0.5 + b1[g]) * x + (b2[g] - 0.2) * z + draw.normal(n, noise)
    return {"y": np.round(y, 4), "x": x, "z": z, "g": labels("g", g)}


def slopes_crossed(seed: int, a: int, b: int, keep: float = 1.0) -> Columns:
    draw = Draw(seed)
    i, j = np.indices((a, b)).reshape(2, -1)
    chosen = draw.state.random_sample(len(i)) < keep
    i, j = i[chosen], j[chosen]
    n = len(i)
    x = draw.uniform(n, -1, 1)
    y = 3 + draw.normal(a)[i] + draw.normal(b, 0.8)[j] + (0.7 + draw.normal(a, 0.6)[i] + draw.normal(b, 0.5)[j]) * x
    return {"y": np.round(y + draw.normal(n), 4), "x": x, "a": labels("a", i), "b": labels("b", j)}


def factor_slopes(seed: int, groups: int, rows: int) -> Columns:
    draw = Draw(seed)
    g, f = np.repeat(np.arange(groups), rows), np.tile(np.arange(rows) % 3, groups)
    effects = draw.normal(groups)[:, None] + np.stack([draw.normal(groups, s) for s in (0.4, 1.0, 1.6)], axis=1)
    y = 4 + np.array([0, 0.5, 1.0])[f] + effects[g, f] + draw.normal(len(g), 0.7)
    columns: Columns = {"y": np.round(y, 4), "f": labels("f", f), "g": labels("g", g)}
    for level in range(3):
        columns[f"d{level + 1}"] = (f == level).astype(float)
    return columns


def evaluation(
    seed: int, systems: int, items: int, runs: int, *, keep: float = 1.0, run_sd: float = 0.05, datasets: int = 1
) -> Columns:
    """Scores in [0, 1] of systems on items in runs; run labels are those of the seeds, so they repeat."""
    draw = Draw(seed)
    s, k, i = np.indices((systems, runs, items)).reshape(3, -1)
    chosen = draw.state.random_sample(len(s)) < keep
    s, k, i = s[chosen], k[chosen], i[chosen]
    d = i % datasets
    length = np.round(draw.uniform(items, 5, 40), 1)
    y = 0.5 + 0.02 * s + draw.normal(items, 0.15)[i] + draw.normal(systems * items, 0.05)[s * items + i]
    y = y + draw.normal(systems * runs, run_sd)[s * runs + k] + draw.normal(runs, 0.02)[k]
    y = y + draw.normal(datasets, 0.1)[d] + draw.normal(systems * datasets, 0.03)[s * datasets + d]
    y = y - 0.002 * (length[i] - 20) * (1 + 0.3 * s) + draw.normal(len(s), 0.08)
    return {
        "y": np.round(y, 4),
        "system": labels("S", s),
        "item": labels("i", i),
        "run": labels("r", k),
        "dataset": labels("D", d),
        "length": length[i],
    }


def weighted(columns: Columns, seed: int, *, decades: float = 0.0) -> Columns:
    draw = Draw(seed)
    n = len(columns["y"])
    w = 10 ** draw.uniform(n, -decades, decades) if decades else draw.uniform(n, 0.5, 4)
    return {**columns, "w": np.array([float(f"{v:.6g}") for v in w])}


def changed(columns: Columns, **new: Any) -> Columns:
    return {**columns, **new}


def no_signal(seed: int, sizes: Sequence[int]) -> Columns:
    """Group means closer together than chance would have them: the variance estimate is zero."""
    draw = Draw(seed)
    g = np.repeat(np.arange(len(sizes)), sizes)
    y = draw.normal(len(g))
    for level in range(len(sizes)):
        y[g == level] -= 0.9 * y[g == level].mean()
    return {"y": np.round(3 + y, 4), "x": draw.uniform(len(g)), "g": labels("g", g)}


def with_gaps(seed: int) -> Columns:
    columns = crossed(seed, 12, 8)
    y, x, b = columns["y"].copy(), columns["x"].copy(), list(columns["b"])
    y[[3, 50]], x[[7, 50, 60]] = np.nan, np.nan
    for i in (11, 80):
        b[i] = None
    return {**columns, "y": y, "x": x, "b": b}


def rank_deficient(seed: int) -> Columns:
    columns = crossed(seed, 10, 6)
    return {**columns, "x2": np.round(3 * columns["x"] - 1, 4), "h": ["u" if f == "f1" else "v" for f in columns["f"]]}


def two_by_three(seed: int) -> Columns:
    draw = Draw(seed)
    columns = crossed(seed, 12, 10)
    h = draw.state.randint(0, 2, 120)
    y = columns["y"] + 0.7 * h * np.array([f == "f2" for f in columns["f"]])
    return {**columns, "h": labels("h", h), "y": np.round(y, 4)}


def empty_cell(seed: int) -> Columns:
    columns = two_by_three(seed)
    h = ["h1" if f == "f3" else h for f, h in zip(columns["f"], columns["h"], strict=True)]
    return {**columns, "h": h}


def years(seed: int, groups: int, rows: int) -> Columns:
    draw = Draw(seed)
    g, year = np.repeat(np.arange(groups), rows), np.tile(np.arange(rows) + 1998.0, groups)
    y = 20 + 0.05 * (year - 2000) + draw.normal(groups)[g] + draw.normal(groups, 0.3)[g] * (year - 2003)
    return {"y": np.round(y + draw.normal(len(g)), 4), "year": year, "g": labels("g", g)}


def binary(seed: int, systems: int, items: int) -> Columns:
    draw = Draw(seed)
    s, i = np.indices((systems, items)).reshape(2, -1)
    p = np.clip(0.5 + draw.normal(items, 0.3)[i] + 0.05 * s, 0.02, 0.98)
    return {
        "y": (draw.state.random_sample(len(s)) < p).astype(float),
        "system": labels("S", s),
        "item": labels("i", i),
    }


def heavy(seed: int) -> Columns:
    draw = Draw(seed)
    columns = crossed(seed, 15, 8)
    n = len(columns["y"])
    tail = draw.normal(n) / np.sqrt((draw.normal(n) ** 2 + draw.normal(n) ** 2 + 1e-4) / 2)
    return {**columns, "y": np.round(columns["y"] + tail, 4)}


def many_singletons(seed: int) -> Columns:
    return oneway(seed, [1] * 150 + [2] * 20 + [6] * 5)


def many_levels(seed: int) -> Columns:
    return oneway(seed, [1 + i % 4 for i in range(2000)], sd=0.8)


def two_large_factors(seed: int) -> Columns:
    draw = Draw(seed)
    n = 6000
    a, b = draw.codes(n, 2000), draw.codes(n, 400)
    x = draw.uniform(n, -1, 1)
    y = 3 + 0.3 * x + draw.normal(2000, 0.8)[a] + draw.normal(400, 0.5)[b] + draw.normal(n)
    return {"y": np.round(y, 4), "x": x, "a": labels("a", a), "b": labels("b", b)}


def extreme_ratio(seed: int, large: float, small: float) -> Columns:
    draw = Draw(seed)
    a, b = np.indices((25, 20)).reshape(2, -1)
    y = draw.normal(25, large, 8)[a] + draw.normal(20, small, 8)[b] + draw.normal(500, 1, 8)
    return {"y": np.round(100 + y, 8), "a": labels("a", a), "b": labels("b", b)}


def many_columns(seed: int) -> Columns:
    draw = Draw(seed)
    columns = crossed(seed, 20, 12)
    more = {f"x{i}": draw.uniform(240, -1, 1) for i in range(1, 10)}
    return {**columns, **more, "y": np.round(columns["y"] + 0.3 * more["x1"] - 0.2 * more["x5"], 4)}


EVALUATION = "y ~ system + (1 | item) + (1 | system:item) + (1 | system:run)"

CASES: tuple[Case, ...] = (
    Case("one-way balanced", "y ~ 1 + (1 | g)", lambda: oneway(1, [5] * 6)),
    Case("one-way unbalanced", "y ~ 1 + (1 | g)", lambda: oneway(2, [2, 3, 5, 8, 13, 4, 7])),
    Case("one-way with a number", "y ~ x + (1 | g)", lambda: oneway(3, [3, 4, 5, 6, 7, 8, 9, 10])),
    Case("one-way with a factor", "y ~ f + (1 | g)", lambda: oneway(4, [6] * 10)),
    Case("one-way without fixed effects", "y ~ 0 + (1 | g)", lambda: oneway(5, [5] * 12, mean=0.3)),
    Case("crossed two", "y ~ 1 + (1 | a) + (1 | b)", lambda: crossed(6, 10, 8)),
    Case("crossed two with gaps", "y ~ f + x + (1 | a) + (1 | b)", lambda: crossed(7, 15, 12, keep=0.6)),
    Case("crossed three", "y ~ x + (1 | a) + (1 | b) + (1 | c)", lambda: crossed(8, 10, 7, 5, sd=(1, 0.5, 0.8))),
    Case("crossed three with gaps", "y ~ x + (1 | a) + (1 | b) + (1 | c)", lambda: crossed(9, 12, 8, 6, keep=0.3)),
    Case("nested, labels reused", "y ~ 1 + (1 | a/b)", lambda: nested(10, (8, 4), 3)),
    Case("nested, labels unique", "y ~ 1 + (1 | a) + (1 | b)", lambda: nested(10, (8, 4), 3, unique=True)),
    Case("nested three deep", "y ~ 1 + (1 | a/b/c)", lambda: nested(11, (7, 3, 3), 2)),
    Case("nested three deep, unique", "y ~ 1 + (1 | a/b/c)", lambda: nested(11, (7, 3, 3), 2, unique=True)),
    Case("intercept and slope", "y ~ x + (1 + x | g)", lambda: slopes(12, 15, 8)),
    Case("uncorrelated slope", "y ~ x + (x || g)", lambda: slopes(13, 15, 8)),
    Case("slope only", "y ~ x + (0 + x | g)", lambda: slopes(14, 12, 7)),
    Case("two terms on one group", "y ~ x + (1 | g) + (0 + x | g)", lambda: slopes(15, 14, 6)),
    Case("three by three", "y ~ x + z + (1 + x + z | g)", lambda: slopes(16, 30, 12)),
    Case("two uncorrelated slopes", "y ~ x + z + (x + z || g)", lambda: slopes(17, 20, 10)),
    Case("slope and another intercept", "y ~ x + (1 + x | a) + (1 | b)", lambda: slopes_crossed(18, 15, 12)),
    Case("slopes in both factors", "y ~ x + (1 + x | a) + (1 + x | b)", lambda: slopes_crossed(19, 20, 14)),
    Case("slopes with gaps", "y ~ x + (x || a) + (1 + x | b)", lambda: slopes_crossed(20, 20, 15, keep=0.6)),
    Case("slope of a factor", "y ~ f + (1 + f | g)", lambda: factor_slopes(21, 25, 9)),
    Case("factor without intercept", "y ~ f + (0 + f | g)", lambda: factor_slopes(21, 25, 9)),
    Case(
        "a variance per level",
        "y ~ f + (0 + f || g)",
        lambda: factor_slopes(22, 20, 9),
        r_formula="y ~ f + (0 + d1 | g) + (0 + d2 | g) + (0 + d3 | g)",
        aliases={"d1": "ff1", "d2": "ff2", "d3": "ff3"},
    ),
    Case("interaction alone", "y ~ 1 + (1 | a:b)", lambda: crossed(23, 8, 6, repeats=3)),
    Case("interaction and both", "y ~ 1 + (1 | a) + (1 | b) + (1 | a:b)", lambda: crossed(24, 9, 7, repeats=3)),
    Case("interaction and one", "y ~ x + (1 | a) + (1 | a:b)", lambda: crossed(25, 9, 4, repeats=3)),
    Case("interaction, gaps", "y ~ x + (1 | a) + (1 | b) + (1 | a:b)", lambda: crossed(26, 14, 5, repeats=3, keep=0.6)),
    Case(
        "interaction of three",
        "y ~ 1 + (1 | a) + (1 | a:b) + (1 | a:b:c)",
        lambda: crossed(27, 8, 4, 3, repeats=2, sd=(1.0, 0.6, 0.4)),
    ),
    Case("evaluation, one run", "y ~ system + (1 | item)", lambda: evaluation(28, 3, 40, 1)),
    Case("evaluation, runs", EVALUATION, lambda: evaluation(29, 3, 40, 4)),
    Case("evaluation, rows missing", EVALUATION, lambda: evaluation(30, 2, 50, 5, keep=0.85)),
    Case("evaluation, fourteen systems", EVALUATION, lambda: evaluation(31, 14, 25, 2)),
    Case(
        "evaluation, seeds shared",
        "y ~ system + (1 | item) + (1 | system:item) + (1 | run) + (1 | system:run)",
        lambda: evaluation(32, 3, 30, 6, run_sd=0.03),
    ),
    Case(
        "evaluation, datasets",
        "y ~ system + (1 | dataset) + (1 | system:dataset) + (1 | dataset:item) + (1 | system:dataset:item)",
        lambda: evaluation(33, 3, 48, 3, datasets=6),
    ),
    Case(
        "evaluation, a property",
        "y ~ system * length + (1 | item) + (1 | system:item) + (1 | system:run)",
        lambda: evaluation(34, 2, 40, 4),
    ),
    Case(
        "evaluation, a property by run",
        "y ~ system * length + (1 | item) + (1 | system:item) + (1 + length | system:run)",
        lambda: evaluation(76, 3, 40, 5),
    ),
    Case(
        "evaluation, run variances per system",
        "y ~ system + (1 | item) + (0 + system || run)",
        lambda: _with_indicators(evaluation(35, 2, 40, 6)),
        r_formula="y ~ system + (1 | item) + (0 + dA | run) + (0 + dB | run)",
        aliases={"dA": "systemS1", "dB": "systemS2"},
    ),
    Case("weights", "y ~ x + (1 | g)", lambda: weighted(oneway(36, [6] * 9), 136), "w"),
    Case("weights, crossed", "y ~ f + (1 | a) + (1 | b)", lambda: weighted(crossed(37, 12, 9, keep=0.8), 137), "w"),
    Case("weights, slope", "y ~ x + (1 + x | g)", lambda: weighted(slopes(38, 14, 8), 138), "w"),
    Case(
        "weights, interaction",
        "y ~ x + (1 | a) + (1 | a:b)",
        lambda: weighted(crossed(39, 10, 4, repeats=3), 139),
        "w",
    ),
    Case("weights over six decades", "y ~ x + (1 | g)", lambda: weighted(oneway(40, [8] * 9), 140, decades=3), "w"),
    Case("singular, one-way", "y ~ x + (1 | g)", lambda: no_signal(40, [6] * 7)),
    Case("singular, one of two", "y ~ x + (1 | a) + (1 | b)", lambda: crossed(40, 10, 8, sd=(1.0, 0.0))),
    Case("singular, correlation 1", "y ~ x + (1 + x | g)", lambda: slopes(41, 12, 8, corr=1.0, noise=1.5)),
    Case("singular, correlation -1", "y ~ x + (1 + x | g)", lambda: slopes(42, 12, 8, corr=-1.0, noise=1.5)),
    Case("singular, three by three", "y ~ x + z + (1 + x + z | g)", lambda: slopes(40, 8, 6, sd=(1.0, 0.0))),
    Case("singular, no slope variance", "y ~ x + (x || g)", lambda: slopes(40, 10, 6, sd=(1.0, 0.0), corr=0.0)),
    Case("six rows", "y ~ 1 + (1 | g)", lambda: oneway(48, [2, 2, 2], sd=3.0)),
    Case("eight rows, crossed", "y ~ 1 + (1 | a) + (1 | b)", lambda: crossed(49, 4, 2, sd=(3.0, 2.0))),
    Case("twelve rows, slope", "y ~ x + (1 + x | g)", lambda: slopes(50, 4, 3, sd=(2.0, 2.0), noise=0.3)),
    Case("twenty rows, slope", "y ~ x + (x || g)", lambda: slopes(51, 5, 4, sd=(2.0, 1.0), noise=0.5)),
    Case("dependent columns", "y ~ x + x2 + f + h + (1 | a) + (1 | b)", lambda: rank_deficient(52)),
    Case("an empty cell", "y ~ f * h + (1 | a)", lambda: empty_cell(53)),
    Case("no intercept, factor", "y ~ 0 + f + (1 | a) + (1 | b)", lambda: crossed(54, 12, 8)),
    Case("no intercept, number", "y ~ 0 + x + (1 | a)", lambda: crossed(55, 12, 8)),
    Case("interaction of factors", "y ~ f * h + (1 | a) + (1 | b)", lambda: two_by_three(56)),
    Case("interaction with a number", "y ~ f * x + (1 | a)", lambda: crossed(57, 12, 8)),
    Case("nested fixed effects", "y ~ f / x + (1 | a)", lambda: crossed(58, 12, 8)),
    Case("polynomial", "y ~ poly(x, 2) + (1 | a)", lambda: crossed(59, 12, 8)),
    Case("many fixed columns", "y ~ x1+x2+x3+x4+x5+x6+x7+x8+x9+f + (1|a) + (1|b)", lambda: many_columns(60)),
    Case("large mean", "y ~ x + (1 | a) + (1 | b)", lambda: _moved(crossed(61, 12, 8), 1e7)),
    Case("large mean, no intercept", "y ~ 0 + f + (1 | a) + (1 | b)", lambda: _moved(crossed(61, 12, 8), 1e7)),
    Case("small scale", "y ~ x + (1 | a) + (1 | b)", lambda: _scaled(crossed(62, 12, 8), -7)),
    Case("years", "y ~ year + (1 | g)", lambda: years(63, 12, 9)),
    Case("years, slope", "y ~ year + (1 + year | g)", lambda: years(64, 15, 9)),
    Case("missing values", "y ~ x + (1 | a) + (1 | b)", lambda: with_gaps(65)),
    Case(
        "unused levels",
        "y ~ f + (1 | a) + (1 | b)",
        lambda: crossed(66, 12, 8),
        unused={"a": ("a00", "a99"), "b": ("b9",)},
    ),
    Case("0/1 response", "y ~ system + (1 | item)", lambda: binary(67, 3, 60)),
    Case("heavy tails", "y ~ x + (1 | a) + (1 | b)", lambda: heavy(68)),
    Case("groups of 1 to 500", "y ~ x + (1 | g)", lambda: oneway(69, [1, 1, 2, 3, 5, 10, 20, 50, 100, 200, 500])),
    Case("many single rows", "y ~ x + (1 | g)", lambda: many_singletons(70)),
    Case("two thousand levels", "y ~ x + (1 | g)", lambda: many_levels(71)),
    Case("two large factors", "y ~ x + (1 | a) + (1 | b)", lambda: two_large_factors(72)),
    Case("ratios 1e4 and 1e-4", "y ~ 1 + (1 | a) + (1 | b)", lambda: extreme_ratio(73, 100.0, 0.01)),
    Case("ratio 1e4", "y ~ 1 + (1 | g)", lambda: oneway(74, [6] * 12, sd=100.0)),
    Case("ratio 1e-4", "y ~ 1 + (1 | g)", lambda: oneway(75, [400] * 30, sd=0.01, noise=1.0)),
)


def _with_indicators(columns: Columns) -> Columns:
    return {
        **columns,
        **{f"d{c}": np.array([float(s == f"S{i}") for s in columns["system"]]) for i, c in ((1, "A"), (2, "B"))},
    }


def _moved(columns: Columns, shift: float) -> Columns:
    return {**columns, "y": np.round(columns["y"] + shift, 4)}


def _scaled(columns: Columns, power: int) -> Columns:
    return {**columns, "y": np.array([float(f"{y:.4f}e{power}") for y in columns["y"]])}
