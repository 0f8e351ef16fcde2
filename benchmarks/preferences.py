"""Do limits of ratings, of win rates at equal length and of interquartile means cover? Is nobody called best in vain?

    python benchmarks/preferences.py votes|length|runs|places [--tables 1000] [--seed 1] [--cells 2:5]

votes: annotators and prompts have tastes of their own (normal effects for each system, on log-odds), 20% are ties; the
truth is the rating of 200,000 votes of as many annotators and prompts. Beside ours, votes as independent.
length: a judge prefers longer answers; the truth is known. runs: scores of runs on tasks, normal or exponential around
means that are lognormal; beside ours, the percentile bootstrap within tasks, as published.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from calibration import wilson
from holdsup.numerics.aggregates import aggregate
from holdsup.numerics.bradley_terry import Ratings, rate
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.shares import control
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from holdsup.verdict.places.aggregates import NEW, THESE, _test

ALPHA, BOOTSTRAP = 0.05, 300
Floats = npt.NDArray[np.float64]
# Systems, annotators, votes of each, prompts, sd of the tastes of annotators and of prompts, whether annotators vote
# unequally often, range of the true ratings.
VOTES = [
    (3, 6, 40, 60, 0.5, 0.3, False),
    (4, 10, 40, 60, 0.5, 0.3, False),
    (4, 10, 40, 60, 0.5, 0.3, True),
    (4, 20, 20, 50, 0.5, 0.5, True),
    (6, 10, 100, 1_000, 0.5, 0.0, True),
    (6, 40, 25, 1_000, 0.0, 0.0, False),
    (8, 30, 40, 400, 0.5, 0.3, True),
    (4, 500, 3, 30, 0.3, 0.5, True),
    (10, 100, 20, 200, 0.3, 0.3, True),
]
LENGTHS = [(100, 0.0), (100, 0.5), (400, 0.5), (800, 1.0), (800, -1.5)]  # items, mean difference of lengths in sds
RUNS = [(tasks, runs, kind) for kind in ("normal", "skewed") for tasks in (5, 10, 26, 57) for runs in (3, 5, 10)]


def draw_votes(rng: np.random.Generator, cell: tuple[int, ...], theta: Floats, *, huge: int = 0) -> tuple[Floats, ...]:
    """Return who was first, who second, the outcome, who voted and on what."""
    k, annotators, each, prompts, by_annotator, by_prompt, unequal = cell
    n = huge or annotators * each
    annotators, prompts = (huge, huge) if huge else (annotators, prompts)
    share = rng.dirichlet(np.full(annotators, 0.7)) if unequal and not huge else None
    who = np.arange(huge) if huge else rng.choice(annotators, n, p=share)
    what = np.arange(huge) if huge else rng.integers(prompts, size=n)
    first = rng.integers(k, size=n)
    second = (first + rng.integers(1, k, size=n)) % k
    u, v = by_annotator * rng.standard_normal((annotators, k)), by_prompt * rng.standard_normal((prompts, k))
    worth = theta + u[who] + v[what]
    rows = np.arange(n)
    won = rng.random(n) < special.expit(worth[rows, first] - worth[rows, second])
    return first, second, np.where(rng.random(n) < 0.2, 0.5, won), who, what


def rate_votes(drawn: tuple[Floats, ...], k: int, *, clustered: bool) -> Ratings:
    first, second, y, who, what = drawn
    return rate(first, second, y, k, np.zeros((len(y), 0)), [who, what] if clustered else [], ALPHA)


def try_votes(rng: np.random.Generator, tables: int, cells: slice) -> Iterator[tuple[object, ...]]:
    for cell in VOTES[cells]:
        k = cell[0]
        spread = np.linspace(0.8, -0.8, k)
        big = rate_votes(draw_votes(rng, cell, spread, huge=200_000), k, clustered=False)
        truth = big.ratings[np.argsort(big.order)]
        counts = {True: np.zeros(3), False: np.zeros(3)}
        for _ in range(tables):
            null, real = draw_votes(rng, cell, np.zeros(k)), draw_votes(rng, cell, spread)
            for clustered, count in counts.items():
                found = rate_votes(null, k, clustered=clustered)
                told = found.pairs.p_adjusted <= ALPHA
                best = told[found.pairs.left == 0].all()
                found = rate_votes(real, k, clustered=clustered)
                own = truth[found.order]
                count += told.any(), best, ((found.low <= own) & (own <= found.high)).mean()
        shown = [f"{100 * value / tables:.1f}" for count in (counts[True], counts[False]) for value in count]
        name = f"{k} systems, {cell[1]} x {cell[2]} votes, {cell[3]} prompts, sd {cell[4]}, {cell[5]}"
        print(name, *shown, flush=True, file=sys.stderr)
        yield f"{name}{', unequal' if cell[6] else ''}", *shown, say_range(counts[True][0], tables)


def try_lengths(rng: np.random.Generator, tables: int, cells: slice) -> Iterator[tuple[object, ...]]:
    for items, shift in LENGTHS[cells]:
        covered = np.zeros(2)
        for _ in range(tables):
            x = shift + rng.standard_normal(items)
            spread = x.std()
            at_zero = special.expit(-0.5)  # at equal length; raw win rates are others
            y = np.clip(rng.beta(2 * (p := special.expit(-0.5 + 1.5 * np.tanh(x))), 2 * (1 - p)), 1e-9, 1 - 1e-9)
            scores = control(y, np.tanh(x / spread)[:, None], np.full(items, 1 / items))
            for place, own in enumerate((scores, y)):
                half = t_quantile(1 - ALPHA / 2, items - 1) * own.std(ddof=1) / np.sqrt(items)
                covered[place] += abs(own.mean() - at_zero) <= half
        yield f"{items} items, {shift:+.1f} sd longer", *(f"{100 * c / tables:.1f}" for c in covered)


def draw_runs(rng: np.random.Generator, means: Floats, sds: Floats, runs: int, kind: str) -> Floats:
    shape = (len(means), runs)
    noise = rng.standard_normal(shape) if kind == "normal" else rng.exponential(size=shape) - 1
    return np.asarray(means[:, None] + sds[:, None] * noise)


def draw_tasks(rng: np.random.Generator, tasks: int) -> tuple[Floats, Floats]:
    means = np.exp(rng.normal(-0.3, 1.0, tasks))
    return means, means * rng.uniform(0.05, 0.5, tasks)


def iqm(scores: Floats) -> float:
    return float(stats.trim_mean(scores, 0.25, axis=None))


def try_runs(rng: np.random.Generator, tables: int, cells: slice) -> Iterator[tuple[object, ...]]:
    everywhere = {kind: iqm(draw_runs(rng, *draw_tasks(rng, 400_000), 1, kind)) for kind in ("normal", "skewed")}
    for tasks, runs, kind in RUNS[cells]:
        covered, width, place = np.zeros(3), np.zeros(2), np.repeat(np.arange(tasks), runs)
        for table in range(tables):
            if table % 20 == 0:  # these tasks, and their truth
                means, sds = draw_tasks(rng, tasks)
                truth = iqm(draw_runs(rng, means, sds, 4_000, kind))
            scores = draw_runs(rng, means, sds, runs, kind)
            found = aggregate(scores.ravel(), place, "iqm")
            half = t_quantile(1 - ALPHA / 2, found.runs_df) * np.sqrt(found.runs_variance)
            places = rng.integers(runs, size=(BOOTSTRAP, tasks, runs))
            drawn = np.take_along_axis(np.broadcast_to(scores, places.shape), places, 2)
            sample = np.sort(drawn.reshape(BOOTSTRAP, -1), axis=1)
            cut = int(0.25 * sample.shape[1])
            low, high = np.percentile(sample[:, cut : sample.shape[1] - cut].mean(1), [2.5, 97.5])
            new = aggregate(draw_runs(rng, *draw_tasks(rng, tasks), runs, kind).ravel(), place, "iqm")
            df = tasks - 2 * int(0.25 * tasks) - 1
            reach = t_quantile(1 - ALPHA / 2, df) * new.by_task.std(ddof=1) / np.sqrt(tasks)
            covered += (
                abs(found.value - truth) <= half,
                low <= truth <= high,
                abs(new.value - everywhere[kind]) <= reach,
            )
            width += 2 * half, high - low
        shown = [f"{100 * c / tables:.1f}" for c in covered]
        yield f"{tasks} tasks x {runs} runs, {kind}", *shown, f"{width[0] / width[1]:.2f}"


def try_places(rng: np.random.Generator, tables: int, cells: slice) -> Iterator[tuple[object, ...]]:
    """Four agents that are equal on average, each with tastes of its own (sd .1) on the tasks."""
    for tasks, runs in [(5, 3), (10, 3), (26, 3), (26, 10), (57, 3)][cells]:
        told = np.zeros((2, 2))  # by claim: any pair, one best
        place = np.repeat(np.arange(tasks), runs)
        for _ in range(tables):
            means, sds = draw_tasks(rng, tasks)
            for at, claim in enumerate((NEW, THESE)):
                tastes = 0.1 * rng.standard_normal((4, tasks)) * (claim == NEW)  # on these tasks they are equal
                agents = [draw_runs(rng, means + taste, sds, runs, "normal").ravel() for taste in tastes]
                found = [aggregate(scores, place, "iqm") for scores in agents]
                found.sort(key=lambda each: -each.value)
                p = _test(found, claim, "iqm", 1 - ALPHA, lower=False).p_adjusted
                told[at] += (p <= ALPHA).any(), (p[:3] <= ALPHA).all()  # pairs of the first stand first
        yield f"4 agents, {tasks} tasks x {runs} runs", *(f"{100 * count / tables:.1f}" for count in told.ravel())


def say_range(hits: float, tables: int) -> str:
    low, high = wilson(round(hits), tables)
    return f"{100 * low:.1f} to {100 * high:.1f}"


PARTS = {
    "votes": (try_votes, ("votes", "any pair told", "one best", "CI covers", "independent: any pair", "one best ",
                          "CI covers ", "95% CI of any pair")),
    "length": (try_lengths, ("answers", "CI at equal length covers", "raw CI covers")),
    "places": (try_places, ("equal agents", "new tasks: any pair told", "one best", "these tasks: any pair told",
                            "one best ")),
    "runs": (try_runs, ("design", "new runs: covers", "bootstrap of runs covers", "new tasks: covers", "wider by")),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--tables", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cells", default="0:99", help="the rows from one to before another: 2:5")
    options = parser.parse_args()
    run, columns = PARTS[options.part]
    cells = slice(*map(int, options.cells.split(":")))
    rows = tuple(run(np.random.default_rng(options.seed), options.tables, cells))
    print(render_text(Table(name="", title="Percent of tables", columns=columns, rows=rows), width=160))


if __name__ == "__main__":
    main()
