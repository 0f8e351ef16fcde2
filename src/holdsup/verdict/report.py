"""`Comparison`: the answer of `compare_systems`, and its tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Estimate, Interval, PValue, Table
from holdsup.rendering.table import Cell
from holdsup.results import Result
from holdsup.verdict.conditional_records import Conditional
from holdsup.verdict.conditional_report import tabulate_conditions
from holdsup.verdict.records import PaperTest, SystemContrast, SystemMean, SystemTest

__all__ = ["Comparison"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Result):
    """Systems compared with each other.

    Attributes
    ----------
    claim : what is claimed: these-runs, new-runs or new-settings
    level : coverage of the limits
    lower_is_better : whether a lower score is a better one
    baseline : the system that all others are compared with, null if all pairs are
    systems : their means
    test : the test of all systems by the first metric
    tests : the same for each metric
    contrasts : the differences
    conditional : differences along each property asked for
    paper : the test as published, by the first metric; null without items
    papers : the same for each metric
    next : the cheapest way to a firmer answer
    """

    kind: ClassVar[str] = "compare"

    claim: str
    level: float
    lower_is_better: bool
    baseline: str | None
    systems: tuple[SystemMean, ...]
    test: SystemTest
    tests: tuple[SystemTest, ...]
    contrasts: tuple[SystemContrast, ...]
    conditional: tuple[Conditional, ...] = ()
    paper: PaperTest | None
    papers: tuple[PaperTest, ...]
    next: tuple[str, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the systems, their differences, the tests of all at once, and what was asked of properties."""
        papers = [(paper.metric, each) for paper in self.papers for each in paper.conditional]
        conditional = tabulate_conditions(self.conditional, papers, level=self.level)
        return (self._systems(), self._contrasts(), self._tests(), *conditional)

    def _systems(self) -> Table:
        several = len(self.tests) > 1
        sign = 1 if self.lower_is_better else -1
        ordered = sorted(self.systems, key=lambda s: (str(s.metric), sign * s.mean))
        return Table(
            title=f"Systems, the best first; {self.level:.0%} limits of each mean ({self.claim})",
            columns=("system", *(["metric"] if several else []), "mean", "limits", "runs", "items"),
            rows=tuple(
                (s.name, *([s.metric] if several else []), Estimate(s.mean, s.se), Interval(s.low, s.high, s.mean),
                 s.runs, s.items)
                for s in ordered
            ),
        )  # fmt: skip

    def _contrasts(self) -> Table:
        margin = self.contrasts[0].equivalence is not None
        adjusted = len(self.contrasts) > 1
        methods = "; ".join(dict.fromkeys(c.p_method for c in self.contrasts))
        notes = [f"p by {methods}" + (", adjusted by Holm's method; limits for each pair alone." if adjusted else ".")]
        if margin:
            notes.append("equivalent p, not worse p: for each pair alone.")
        if any(c.effect_size is not None for c in self.contrasts):
            notes.append("d: difference over the residual sd of the paper's model, eq. 4.")
        if any(c.p_superior is not None for c in self.contrasts):
            notes.append(
                "P(new run ahead): chance that a new run of the first has a higher mean than one of the second."
            )
        columns = self._columns()
        return Table(
            title=f"Differences, {self.level:.0%} limits",
            columns=("", *columns),
            rows=tuple((f"{c.left} - {c.right}", *(cell(c) for cell in columns.values())) for c in self.contrasts),
            notes=tuple(notes),
        )

    def _columns(self) -> dict[str, Callable[[SystemContrast], Cell]]:
        """Return the columns that have something to say, and what stands in them."""
        counts = {s.items for s in self.systems} | {c.items for c in self.contrasts}
        shown: dict[str, Callable[[SystemContrast], Cell]] = {}
        if len(self.tests) > 1:
            shown["metric"] = lambda c: c.metric
        if len(counts) > 1:
            shown["items of both"] = lambda c: c.items
        shown["difference"] = lambda c: Estimate(c.difference, c.se)
        shown["limits"] = lambda c: Interval(c.low, c.high, c.difference)
        shown["p"] = lambda c: PValue(c.p_adjusted, c.log10_p_adjusted)
        if any(c.effect_size is not None for c in self.contrasts):
            shown["d"] = lambda c: c.effect_size
        if any(c.p_superior is not None for c in self.contrasts):
            shown["P(new run ahead)"] = lambda c: c.p_superior
        if self.contrasts[0].equivalence is not None:
            shown["equivalent p"] = lambda c: PValue(c.equivalence.p_equivalent) if c.equivalence else None
            shown["not worse p"] = lambda c: PValue(c.equivalence.p_not_worse) if c.equivalence else None
        return shown

    def _tests(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for test in self.tests:
            by = f" ({test.metric})" if test.metric else ""
            rows.append(
                (f"ours, {self.claim}{by}", test.statistic, test.df, PValue(test.p, test.log10_p), test.p_method)
            )
            rows.append(
                (
                    "  its likelihood ratio",
                    test.statistic,
                    test.df,
                    PValue(test.p_chi2, test.log10_p_chi2),
                    "chi-square",
                )
            )
            if test.p_bootstrap is not None:
                failed = f", {test.bootstrap_failed} failed" if test.bootstrap_failed else ""
                what = f"{test.bootstrap_draws:,} simulated nulls{failed}"
                rows.append(("  its likelihood ratio", test.statistic, test.df, PValue(test.p_bootstrap), what))
        for paper in self.papers:
            by = f" ({paper.metric})" if paper.metric else ""
            rows.append(
                (f"paper, eqs. 3-4{by}", paper.statistic, paper.df, PValue(paper.p, paper.log10_p), "chi-square")
            )
        notes = [f"ours: {test.model}" for test in self.tests[:1] if test.model]
        notes += [f"paper: {paper.alternative}. {paper.note}".strip() for paper in self.papers[:1]]
        notes += [f"Next: {advice}" for advice in self.next]
        return Table(
            title="All systems at once", columns=("test", "statistic", "df", "p", "by"), rows=tuple(rows),
            notes=tuple(notes),
        )  # fmt: skip
