"""`rank_runs`: which system is best by one number over the runs of many tasks, as in reinforcement learning?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from holdsup.arguments import check_level, check_progress
from holdsup.columns.crossing import cross
from holdsup.errors import ScoresError, list_names
from holdsup.numerics.aggregates import ESTIMATES, QUARTER, Aggregate, aggregate, share_above
from holdsup.numerics.distributions import t_quantiles
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.placing import Pairs, judge_pairs
from holdsup.progress import Progress, no_progress
from holdsup.rendering import Cell, Estimate, Interval, Table
from holdsup.rendering.numbers import format_count, format_interval
from holdsup.results import Asked, Caution, Method, find_scored, order_cautions
from holdsup.scores import Scores
from holdsup.scores.audit import list_roles
from holdsup.scores.directions import sign_direction
from holdsup.scores.mixtures import refuse_mixtures
from holdsup.verdict.intake import leave_out, list_where, take_in
from holdsup.verdict.phrases import join_names, name_items, say_count, say_level, say_size
from holdsup.verdict.places.places import PlacedPair, PlacedSystem, Places, draw_interval, name_places, place_pairs

NEW, THESE = "new-datasets", "these-datasets"
NAMES = {"iqm": "IQM", "mean": "mean", "optimality-gap": "optimality gap"}
POINTS = 101  # of a performance profile
CERTAIN = 1e6  # degrees of freedom where nothing varies
FEW_TASKS, UNLIKE = 5, 30.0  # tasks below which their spread is a guess; ratio of their spreads that tells of no norm


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSystem(PlacedSystem):
    """A system with its number, for both claims."""

    runs: int  # runs over all tasks
    low_new: float  # interval for new datasets
    high_new: float  # its upper end
    low_these: float  # interval for new runs on these datasets; null where a dataset has a single run
    high_these: float  # its upper end


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """The performance profile of a system: how many of its runs score above each threshold."""

    system: str  # the system
    thresholds: tuple[float, ...]  # scores
    shares: tuple[float, ...]  # share of runs above each, every dataset weighing the same
    low: tuple[float, ...]  # interval of each share by itself, for the claim of the ranking
    high: tuple[float, ...]  # its upper end


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRanking(Places):
    """Systems ranked by one number over the runs of many tasks."""

    kind: ClassVar[str] = "rank_runs"
    main_table: ClassVar[str] = "systems"

    systems: tuple[RunSystem, ...]  # the systems from best to worst
    estimate: str  # the number: iqm, mean or optimality-gap
    claim: str  # what intervals, places and pairs are for: new-datasets, or these-datasets (new runs on them)
    score: str  # the column of the scores
    datasets: int  # number of datasets that all systems have
    runs_low: int  # the fewest runs of a system on a dataset
    runs_high: int  # the most
    rivals_elsewhere: tuple[str, ...]  # systems that the first can't be told from by the other claim
    profiles: tuple[Profile, ...]  # performance profiles

    @property
    def items(self) -> str:
        """The user's own word for datasets."""
        column = self.asked.roles.get("dataset")
        return name_items(column if isinstance(column, str) else None, "datasets")

    def ask(self) -> str:
        """Return the question."""
        count, kind = len(self.systems), "new" if self.claim == NEW else f"these {format_count(self.datasets)}"
        where = f"on {kind} {self.items}"
        if count == 2:
            return f"Is {self.systems[0].name} better than {self.systems[1].name} {where}?"
        return f"Is one of the {say_count(count)} systems the best {where}?"

    def say_lead(self, lead: PlacedPair, *, best: bool) -> str:
        """Return how far the leader is ahead of the second, and how sure that is."""
        size = say_size(lead.difference, lead.low_simultaneous, lead.high_simultaneous, se=lead.se)
        known = math.isfinite(lead.low_simultaneous + lead.high_simultaneous)
        interval = format_interval(lead.low_simultaneous, lead.high_simultaneous) if known else None
        evidence, name = self.say_evidence(interval, lead), NAMES[self.estimate]
        if best:
            return f"{lead.left} is best by {name}, {size} ahead of {lead.right} {evidence}"
        return f"{lead.left} leads {lead.right} by {size} {name} {evidence}"

    def explain(self) -> tuple[tuple[str, str], ...]:
        """Return what the answer holds for, and what the other claim would say."""
        runs = f"{self.runs_low}" if self.runs_low == self.runs_high else f"{self.runs_low} to {self.runs_high}"
        counted = f"{format_count(self.datasets)} ({runs} runs each)"
        new = self.claim == NEW
        here = f"new runs on these {format_count(self.datasets)} {self.items} ({runs} each); not new {self.items}"
        holds = f"new {self.items} like these {counted}" if new else here
        leader, rivals = self.systems[0].name, self.rivals_elsewhere
        other = f"new runs on these {self.items}" if new else f"new {self.items}"
        if new and any(math.isnan(s.low_these) for s in self.systems):
            said = f"{other}: single runs can't say"
        else:
            tied = f"{leader} can't be told apart from {join_names(rivals, most=2)}"
            said = f"for {other} {tied if rivals else f'{leader} is best'}"
        return (("holds for", f"{holds}; not other settings" if new else holds), ("otherwise", said))

    def tabulate_places(self, shown: Sequence[RunSystem], notes: tuple[str, ...] = ()) -> Table:
        """Return places and the number of each system, drawn."""
        left, right = ("better", "worse") if self.lower_is_better else ("worse", "better")
        kind = "new" if self.claim == NEW else "these"
        scale = min((c.se for c in self.contrasts if c.se > 0), default=None)
        name, ci = NAMES[self.estimate], say_level(self.level)
        rows = tuple((name_places(s), s.name, Estimate(s.estimate, scale), draw_interval(s)) for s in shown)
        heads = ("place", "system", name, f"{left} | {ci} CI, {kind} {self.items} | {right}")
        return Table(name="systems", title=f"Systems by {name}, {ci} CI", columns=heads, rows=rows, notes=notes)

    def tables(self) -> tuple[Table, ...]:
        """Return the systems by both claims, and all pairs."""
        ci, name = say_level(self.level), NAMES[self.estimate]
        systems = Table(
            name="systems", title=f"Systems by {name}, {ci} CI",
            columns=("place", "system", name, f"new {self.items}", f"new runs, these {self.items}", "runs", "group"),
            rows=tuple(
                (name_places(s), s.name, Estimate(s.estimate, (s.high - s.low) / 2), _write(s.low_new, s.high_new),
                 _write(s.low_these, s.high_these), s.runs, " ".join(s.letters)) for s in self.systems
            ),
            notes=(f"Places and groups are for {'new' if self.claim == NEW else 'these'} {self.items}.",),
        )  # fmt: skip

        def pair(c: PlacedPair) -> tuple[Cell, ...]:
            return Estimate(c.difference, c.se), _write(c.low_simultaneous, c.high_simultaneous)

        return systems, self.list_contrasts(("ahead by", f"{ci} CI"), pair)

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        name, scored = NAMES[self.estimate], find_scored(self).name()
        spread = (
            f"between {self.items}" if self.claim == NEW else f"between runs, stratified by {self.items.rstrip('s')}"
        )
        return Method(
            question=f"Which system is best over many {self.items} and runs?",
            sentences=(
                f"{len(self.systems)} systems were ranked by the {name} of {scored} over {self.datasets:,} "
                f"{self.items} of equal weight.",
                f"Intervals and tests rest on the spread of influence values {spread} (t), all pairs at once.",
            ),
            citations=("agarwal2021", "mogstad2024"),
        )


def _write(low: float, high: float) -> Interval:
    known = math.isfinite(low) and math.isfinite(high)
    return Interval(low, high, drawn=False) if known else Interval(None, None)


def rank_runs(
    data: Any,
    *,
    estimate: str = "iqm",
    claim: str = NEW,
    where: Mapping[str, Iterable[str] | str] | None = None,
    last: str | None = None,
    lower_is_better: bool | None = None,
    level: float = 0.95,
    progress: Progress = no_progress,
    **roles: Any,
) -> RunRanking:
    """Return systems ranked by one number over the runs of many tasks, with their performance profiles.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes: a row for each system, dataset (task) and run
    estimate : "iqm", the mean of the middle half of all runs; "mean"; or "optimality-gap", by how much runs miss a
        score of 1 on average. Scores should be normalised, so that tasks are alike
    claim : "new-datasets", or "these-datasets" for new runs on these
    where : columns and the values that rows must have
    last : a column that counts, such as "step": of each run only its last row is used
    lower_is_better : whether low scores are good; by default as the name of the score says
    level : coverage of the intervals
    roles : passed on to `read_scores`

    Examples
    --------
    >>> import itertools
    >>> cells = list(itertools.product(["old", "new"], "pqrstuvw", range(3)))
    >>> scores = [ord(task) % 5 / 9 + seed / 50 + (system == "new") / 3 for system, task, seed in cells]
    >>> systems, tasks, seeds = zip(*cells)
    >>> found = rank_runs({"system": systems, "task": tasks, "seed": seeds, "score": scores})
    >>> found.systems[0].name, round(found.contrasts[0].difference, 3), found.state
    ('new', 0.333, 'yes')
    """
    check_level(level)
    check_progress(progress)
    for name, value, known in (("estimate", estimate, ESTIMATES), ("claim", claim, (NEW, THESE))):
        if value not in known:
            raise ScoresError(f"{name} is {value!r}: it can be {' or '.join(known)}")
    taken = take_in(data, roles, where=where, last=last, lower_is_better=lower_is_better, progress=progress)
    refuse_mixtures(taken.faults)
    lower = taken.directions.of_all("rank")
    if estimate == "optimality-gap" and lower:
        raise ScoresError("the optimality gap is for scores of which higher is better, normalised so that 1 is good")
    lower = lower or estimate == "optimality-gap"
    names, cells, dropped = _lay_out(taken.scores.only(taken.scores.usable))
    found = [aggregate(values, tasks, estimate) for values, tasks in cells]
    order = np.argsort([each.value if lower else -each.value for each in found], kind="stable")
    names, cells, found = [names[i] for i in order], [cells[i] for i in order], [found[i] for i in order]
    halves = {which: _limit(found, which, estimate, level) for which in (NEW, THESE)}
    single = bool(np.isnan(halves[THESE]).any())
    if claim == THESE and single:
        raise ScoresError("these-datasets needs two runs or more of each system on each dataset: ask for new-datasets")
    contrasts, placed = place_pairs(names, _test(found, claim, estimate, level, lower=lower), level)
    other: tuple[PlacedPair, ...] = ()
    if claim == THESE or not single:
        elsewhere = _test(found, THESE if claim == NEW else NEW, estimate, level, lower=lower)
        other = place_pairs(names, elsewhere, level)[0]
    counts = [np.bincount(tasks) for _, tasks in cells]
    score = taken.scores.roles.score
    return RunRanking(
        asked=Asked.about(
            "rank_runs", data=taken.scores.digest, roles=list_roles(taken.scores), where=list_where(where), last=last,
            estimate=estimate, claim=None if claim == NEW else claim, level=level,
            lower_is_better=sign_direction(lower_is_better),
        ),
        seed=None, rows=leave_out(taken.rows(), dropped, "a dataset that not all systems have"),
        cautions=order_cautions([*taken.cautions, *_caution(cells, dropped)]), level=level, lower_is_better=lower,
        contrasts=contrasts, estimate=estimate, claim=claim, score=score if isinstance(score, str) else "score",
        datasets=len(counts[0]), runs_low=min(int(c.min()) for c in counts),
        runs_high=max(int(c.max()) for c in counts),
        rivals_elsewhere=tuple(c.right for c in other if c.left == names[0] and not c.p_adjusted <= 1 - level),
        systems=tuple(
            RunSystem(
                **place, estimate=(v := found[i].value), runs=int(counts[i].sum()),
                low=float(v - halves[claim][i]), high=float(v + halves[claim][i]),
                low_new=float(v - halves[NEW][i]), high_new=float(v + halves[NEW][i]),
                low_these=float(v - halves[THESE][i]), high_these=float(v + halves[THESE][i]),
            )
            for i, place in enumerate(placed)
        ),
        profiles=tuple(_profile(name, cells, i, claim, level) for i, name in enumerate(names)),
    )  # fmt: skip


def _lay_out(scores: Scores) -> tuple[Sequence[str], list[tuple[Floats, Ints]], int]:
    """Return the systems, the scores of each one's runs with their datasets, and how many rows are of other datasets.

    Datasets are those that all systems have; scores of items are averaged to one a run.
    """
    if scores.dataset is None:
        raise ScoresError("--estimate is over tasks, and no column says which: name it with --dataset")
    if scores.metric is not None and scores.metric.count > 1:
        raise ScoresError(f"there are several metrics, {list_names(scores.metric.names)}: choose one with --where")
    system_of, dataset_of = scores.system.codes, scores.dataset.codes
    runs = cross(scores.system, scores.dataset, scores.run)
    if scores.item is None and runs.count < len(scores):
        raise ScoresError("a run has several scores on one dataset: keep its last with --last COL, or name what tells "
                          "runs apart with --run or --facets")  # fmt: skip
    means = np.bincount(runs.codes, scores.score) / runs.sizes()
    system, dataset = system_of[runs.first], dataset_of[runs.first]
    there = np.zeros((scores.system.count, scores.dataset.count), bool)
    there[system, dataset] = True
    shared = np.asarray(there.all(axis=0))
    if scores.system.count < 2:
        raise ScoresError(
            f"there is only one system, {scores.system.names[0]!r}, and a ranking needs two: is --system right?"
        )
    if shared.sum() < 2:
        raise ScoresError(
            f"only {int(shared.sum())} of {shared.size} datasets have scores of every system: a ranking needs two"
        )
    number = np.cumsum(shared) - 1
    kept = [np.flatnonzero((system == s) & shared[dataset]) for s in range(scores.system.count)]
    cells = [(means[own], number[dataset[own]]) for own in kept]
    return scores.system.names, cells, int((~shared[dataset_of]).sum())


def _measure(found: Sequence[Aggregate], claim: str, estimate: str) -> tuple[Floats, Floats]:
    """Return the covariance of the numbers of systems for a claim, shape (k, k), and degrees of freedom, shape (k,).

    Datasets are new draws for all systems together, runs for each by itself. Of the IQM only the datasets that are not
    trimmed away count, as in Yuen's (1974) test. Runs that do not vary are known.
    """
    if claim == THESE:
        variances = np.array([each.runs_variance for each in found])
        return np.diag(variances), np.array([each.runs_df if each.runs_variance else CERTAIN for each in found])
    by_task = np.stack([each.by_task for each in found])
    count = by_task.shape[1]
    trimmed = 2 * math.floor(QUARTER * count) if estimate == "iqm" else 0
    return np.atleast_2d(np.cov(by_task)) / count, np.full(len(found), max(1.0, count - trimmed - 1.0))


def _limit(found: Sequence[Aggregate], claim: str, estimate: str, level: float) -> Floats:
    """Return half the interval of each number."""
    covariance, df = _measure(found, claim, estimate)
    return np.asarray(t_quantiles((1 + level) / 2, np.nan_to_num(df, nan=1.0)) * np.sqrt(np.diagonal(covariance)))


def _test(found: Sequence[Aggregate], claim: str, estimate: str, level: float, *, lower: bool) -> Pairs:
    """Return the tests of all pairs; where runs vary unequally the degrees of freedom are Satterthwaite's."""
    covariance, df = _measure(found, claim, estimate)
    left, right = np.triu_indices(len(found), 1)
    if claim == THESE:
        parts = np.diagonal(covariance)
        with np.errstate(invalid="ignore"):
            pooled = (parts[left] + parts[right]) ** 2 / (parts[left] ** 2 / df[left] + parts[right] ** 2 / df[right])
        pair_df = np.where(np.isfinite(pooled), pooled, CERTAIN)
    else:
        pair_df = df[left]
    values = np.array([-each.value if lower else each.value for each in found])
    return judge_pairs(values, [covariance], pair_df, 1 - level)


def _profile(name: str, cells: Sequence[tuple[Floats, Ints]], system: int, claim: str, level: float) -> Profile:
    """Return the performance profile of a system at quantiles of all scores."""
    everything = np.concatenate([values for values, _ in cells])
    thresholds = np.unique(np.quantile(everything, np.linspace(0, 1, POINTS), method="lower"))
    points = [share_above(*cells[system], threshold) for threshold in thresholds]
    half = [float(_limit([point], claim, "mean", level)[0]) for point in points]
    shares = [point.value for point in points]
    return Profile(
        system=name, thresholds=tuple(map(float, thresholds)), shares=tuple(shares),
        low=tuple(max(0.0, s - h) for s, h in zip(shares, half, strict=True)),
        high=tuple(min(1.0, s + h) for s, h in zip(shares, half, strict=True)),
    )  # fmt: skip


def _caution(cells: Sequence[tuple[Floats, Ints]], dropped: int) -> Iterator[Caution]:
    """Yield what limits a number over all tasks: few tasks, single runs, tasks on scales of their own."""
    count = int(cells[0][1].max()) + 1
    if dropped:
        message = f"{format_count(dropped)} rows are of datasets that not all systems have, and are left out."
        yield Caution(code="datasets-left-out", about="data", message=message)
    if count < FEW_TASKS:
        advice = "--claim these-datasets asks about new runs on these alone."
        yield Caution(code="few-tasks", message=f"{count} datasets say little about new ones.", advice=advice)
    if any((np.bincount(tasks) < 2).any() for _, tasks in cells):
        message = "Some systems have a single run on a dataset: nothing is known about new runs there."
        yield Caution(code="single-runs", message=message)
    values, tasks = (np.concatenate(part) for part in zip(*cells, strict=True))
    largest = np.zeros(count)
    np.maximum.at(largest, tasks, np.abs(values))
    if np.median(largest) > 0 and largest.max() > UNLIKE * np.median(largest):
        yield Caution(
            code="not-normalised", message="Scores are far larger on some datasets than on others, and these decide.",
            advice="Normalise scores dataset by dataset, by a human's or a random agent's.",
        )  # fmt: skip
