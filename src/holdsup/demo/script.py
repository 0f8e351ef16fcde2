"""What the demo shows, step by step, on scores whose truth is known and on published measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from holdsup.data import belz2022, simulate_scores
from holdsup.rendering import Estimate, Table
from holdsup.rendering.text import render_text
from holdsup.scores import audit_scores
from holdsup.verdict import assess_reproduction

__all__ = ["Step", "steps"]

TRUTH = {"baseline": 0.700, "new": 0.700}


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a heading and what stands below it."""

    title: str
    text: str


def steps(*, seed: int) -> Iterator[Step]:
    """Yield the steps of the demo; the same seed shows the same numbers."""
    scores = simulate_scores(TRUTH, items=200, runs=5, seed=seed)
    yield _gaps(scores)
    yield Step("2. Is the table fit for use?", str(audit_scores(scores)))
    yield Step("3. The same table after a careless merge", str(audit_scores(_damaged(scores), score_range=(0, 1.5))))
    yield _reproduction()
    yield Step("Next", "Try your own: holdsup check YOUR_SCORES.csv\n")


def _gaps(scores: pa.Table) -> Step:
    """Show what one pair of seeds says about two systems that are equally good."""
    means = scores.group_by(["system", "seed"]).aggregate([("score", "mean")]).sort_by("seed")
    of = {(str(row["system"]), row["seed"]): row["score_mean"] for row in means.to_pylist()}
    seeds = sorted({seed for _, seed in of})
    gaps = [of["new", s] - of["baseline", s] for s in seeds]
    rows = tuple(
        (s, Estimate(of["baseline", s], 0.01), Estimate(of["new", s], 0.01), Estimate(gap, 0.01))
        for s, gap in zip(seeds, gaps, strict=True)
    )
    table = Table(title="Mean score of each run", columns=("seed", "baseline", "new", "new - baseline"), rows=rows)
    best, worst = max(gaps), min(gaps)
    return Step(
        "1. Two systems that are equally good",
        "Both systems were given a true mean of 0.700; 200 items, 5 seeds. Whoever trains each system once\n"
        f"sees one line of this table: anything from {worst:+.3f} to {best:+.3f} in favour of the new system.\n"
        f"The truth is 0.\n\n{render_text(table)}\n",
    )


def _reproduction() -> Step:
    """Show how far apart eight measurements of one published result lie."""
    measured = [measurement for measurement in belz2022() if measurement.object == "mult-base"]
    page = assess_reproduction(measured).page()
    shown = replace(page, tables=page.tables[:3])  # precision, exact limits, conditions; `holdsup qra` shows the rest
    return Step("4. One result, measured eight times (Belz et al. 2022, Table 6)", shown.text())


def _damaged(scores: pa.Table) -> pa.Table:
    """Return the table with what goes wrong when files are put together by hand."""
    system = scores["system"].cast(pa.string())
    percent = pc.if_else(pc.and_(pc.equal(system, "new"), pc.equal(scores["seed"], 5)), 100.0, 1.0)
    damaged = scores.set_column(3, "score", pc.multiply(scores["score"], percent)).set_column(0, "system", system)
    return pa.concat_tables([damaged.slice(0, 1990), damaged.slice(0, 40)])
