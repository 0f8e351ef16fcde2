"""`Comparison`: the answer of `compare_systems`, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from holdsup.rendering import Estimate, PValue, Table
from holdsup.rendering.table import Cell
from holdsup.results import Result
from holdsup.verdict.comparison.contrast_report import tabulate_contrasts
from holdsup.verdict.comparison.records import PAPER, PaperTest, PickedRun, SystemContrast, SystemMean, SystemTest
from holdsup.verdict.conditional.records import Conditional
from holdsup.verdict.conditional.report import tabulate_conditions
from holdsup.verdict.phrases import join_names, say_level, show_limits

__all__ = ["Comparison"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Result):
    """Systems compared with each other.

    Attributes
    ----------
    claim : what is claimed of all pairs, or else of most: these-runs, new-runs or new-settings
    level : coverage of the limits
    lower_is_better : whether a lower score is a better one, by the first metric; each difference has its own
    baseline : the system that all others are compared with, null if all pairs are
    unit : what systems are scored on, items or datasets; null where runs have one score each
    average : what weighs the same where there are several datasets of items: macro, datasets; micro, items
    best : the run of each system that was picked; empty where all runs count
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
    main_table: ClassVar[str] = "contrasts"

    claim: str
    level: float
    lower_is_better: bool
    baseline: str | None
    unit: str | None
    average: str = "macro"
    best: tuple[PickedRun, ...] = ()
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
        return (self._systems(), *tabulate_contrasts(self), self._tests(), *conditional)

    def ordered(self) -> list[SystemMean]:
        """Return the means of the systems, metric by metric, the best first."""
        lower = {c.metric for c in self.contrasts if c.lower_is_better}
        return sorted(self.systems, key=lambda s: (str(s.metric), s.mean if s.metric in lower else -s.mean))

    def _systems(self) -> Table:
        several = len(self.tests) > 1
        ordered = self.ordered()
        shown: dict[str, Callable[[SystemMean], Cell]] = {"system": lambda s: s.name}
        if several:
            shown["metric"] = lambda s: s.metric
        claims = dict.fromkeys(s.claim for s in ordered)
        if len(claims) > 1:
            shown["claim"] = lambda s: s.claim
        shown["mean"] = lambda s: Estimate(s.mean, s.se)
        shown["limits"] = lambda s: show_limits(s.low, s.high, s.mean, scale=s.metric or "")
        shown["runs"] = lambda s: s.runs
        if self.unit:
            shown[self.unit] = lambda s: s.items
        covered = f"({next(iter(claims))})" if len(claims) == 1 else "for the claim that its own runs can carry"
        return Table(
            title=f"Systems, the best first; {say_level(self.level)} limits of each mean {covered}",
            columns=tuple(shown),
            rows=tuple(tuple(cell(s) for cell in shown.values()) for s in ordered),
            notes=tuple(self._without_limits()),
        )

    def _without_limits(self) -> Iterator[str]:
        """Yield whose means have no limits, and why."""
        for why in dict.fromkeys(s.note for s in self.systems if s.note):
            names = [f"{s.name} ({s.metric})" if s.metric else s.name for s in self.systems if s.note == why]
            yield f"No {say_level(self.level)} CI of the mean of {join_names(names)}: {why}."

    def _tests(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for test in self.tests:
            by = f" ({test.metric})" if test.metric else ""
            claims = dict.fromkeys(c.claim for c in self.contrasts if c.metric == test.metric)
            ours = f"holdsup, {' and '.join(claims)}{by}"
            rows.append((ours, None, None, PValue(test.p, test.log10_p), test.p_method))
            rows.extend(_likelihood_ratios(test))
        for paper in self.papers:
            by = f" ({paper.metric})" if paper.metric else ""
            rows.append(
                (f"{PAPER}, eqs. 3-4{by}", paper.statistic, paper.df, PValue(paper.p, paper.log10_p), "chi-square")
            )
        notes = dict.fromkeys(
            f"holdsup: {test.model}" if test.model else f"No likelihood ratio by holdsup: {test.note}."
            for test in self.tests
        )
        papers = [f"{PAPER}: {paper.alternative}. {paper.note}".strip() for paper in self.papers[:1]]
        columns = ("test", "statistic", "df", "p", "by")
        told = [i for i in range(len(columns)) if any(row[i] is not None for row in rows)]
        return Table(
            title="All systems at once",
            columns=tuple(columns[i] for i in told),
            rows=tuple(tuple(row[i] for i in told) for row in rows),
            notes=(*notes, *papers),
            advice=tuple(f"Next: {advice}" for advice in self.next),
        )


def _likelihood_ratios(test: SystemTest) -> Iterator[tuple[Cell, ...]]:
    """Yield the likelihood ratio of our model with each reference it has."""
    if test.model is None:
        return
    name, chi2 = "  its likelihood ratio", PValue(test.p_chi2, test.log10_p_chi2)
    yield name, test.statistic, test.df, chi2, "chi-square"
    if test.p_bootstrap is not None:
        floor = test.p_bootstrap <= 1 / (test.bootstrap_draws + 1)
        failed = f", {test.bootstrap_failed} failed" if test.bootstrap_failed else ""
        what = f"{test.bootstrap_draws:,} simulated nulls{failed}"
        yield name, test.statistic, test.df, PValue(test.p_bootstrap, at_most=floor), what
