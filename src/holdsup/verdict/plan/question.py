"""`plan_evaluation`: how many runs and items does an evaluation need, before the money is spent?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from holdsup.arguments import check_count, check_finite, check_level, check_margin, check_progress, is_number
from holdsup.errors import ScoresError
from holdsup.progress import Progress, no_progress
from holdsup.results import Asked, Caution, Rows, order_cautions
from holdsup.scores import Scores
from holdsup.scores.audit import list_roles
from holdsup.scores.mixtures import refuse_mixtures
from holdsup.verdict.evaluation import lay_out
from holdsup.verdict.intake import Intake, Where, list_where, take_in
from holdsup.verdict.plan.basis import Basis, Variances, find_basis, read_pilot
from holdsup.verdict.plan.records import Assumption, PlannedDesign, PowerPoint
from holdsup.verdict.plan.result import EvaluationPlan
from holdsup.verdict.plan.search import Range, Search, check_size, find_bounds
from holdsup.verdict.planning import find_fewest
from holdsup.verdict.repeats import check_repeats, leave_out_copies
from holdsup.verdict.variance import decompose_variance

CLAIMS = ("new-runs", "these-runs")
MOST_SYSTEMS = 45  # of a table whose pairs are adjusted together
MOST_LOOKS = 10
SUREST = 0.999  # power, or a reliability
POINTS = 100  # numbers of runs at which a reliability is told: all small ones, of larger ones some
OPEN = 3.0  # times what a pilot found: if the SD of runs may be larger still, the pilot was too small
SURE_LEVEL = 0.6  # of an interval whose lower end is below the truth in four pilots of five


def plan_evaluation(
    data: Any = None,
    *,
    detect: float | None = None,
    margin: float | None = None,
    reliability: float | None = None,
    power: float = 0.8,
    systems: int | None = None,
    claim: str = "new-runs",
    runs: Range = None,
    items: Range = None,
    datasets: Range = None,
    cost_run: float | None = None,
    cost_item: float | None = None,
    budget: float | None = None,
    looks: int = 1,
    sd_run: float | None = None,
    accuracy: float | None = None,
    disagreement: float | None = None,
    sd_item: float | None = None,
    sd_dataset: float | None = None,
    new_share: float | None = None,
    where: Where = None,
    last: str | None = None,
    nested_runs: bool = False,
    level: float = 0.95,
    progress: Progress = no_progress,
    **roles: Any,
) -> EvaluationPlan:
    """Return the cheapest designs, runs x items, with which `compare` will answer.

    Give one goal: `detect`, `margin` or `reliability`.

    Parameters
    ----------
    data : a pilot, `Scores` or anything that `read_scores` takes; None to plan from what you know
    detect : the difference that is to be found
    margin : the margin within which two systems that don't differ are to be shown equivalent
    reliability : the phi that an item's average over runs is to have
    power : how often that is to succeed
    systems : how many are compared, all pairs; by default those of the pilot, else two
    claim : what is to be claimed: "new-runs", or "these-runs" for the trained instances alone
    runs, items : how many there may be, as a number or a range such as (500, 5000)
    datasets : the same for datasets, to plan a ranking on new datasets: each with runs of its own, unless the pilot
        has runs that were scored on all
    cost_run, cost_item : what a run of one system costs, and what scoring one item in one run costs
    budget : the most that all may cost
    looks : how often you will look while runs come in, the last time included; `compare_systems(looks=...)` then holds
        at each look
    sd_run : standard deviation between the true means of runs of a system
    accuracy : share of items that systems get right, where scores are right or wrong
    disagreement : share of items on which one system is right and another wrong, one run each
    sd_item : standard deviation of item differences of two systems with one run each, where scores are numbers
    sd_dataset : standard deviation of the difference of two systems between datasets
    new_share : share of the variance of item differences that is new in each run
    where, last, nested_runs : which rows of a pilot are used, and what a run is, as in `compare_systems`
    level : coverage of intervals; tests are at 1 - level
    roles : passed on to `read_scores`

    Examples
    --------
    >>> plan = plan_evaluation(detect=0.02, sd_run=0.004, accuracy=0.82, items=(500, 20_000))
    >>> best = plan.designs[0]
    >>> plan.state, best.runs, best.items
    ('yes', 4, 2455)
    """
    check_level(level)
    _check_sure(power, "power")
    check_progress(progress)
    goal, target = _find_goal(detect, margin, reliability)
    if claim not in CLAIMS:
        raise ScoresError(f"the claim {claim!r:.60} can't be planned for: use {' or '.join(CLAIMS)}")
    new_runs = claim == "new-runs"
    _check_looks(looks, goal=goal, new_runs=new_runs, datasets=datasets is not None, systems=systems)
    known = {"sd_run": sd_run, "accuracy": accuracy, "disagreement": disagreement, "sd_item": sd_item,
             "sd_dataset": sd_dataset, "new_share": new_share}  # fmt: skip
    given = _check_known({name: value for name, value in known.items() if value is not None}, pilot=data is not None)
    _check_together(given, datasets=datasets is not None, items=items is not None, goal=goal)
    taken: Intake | None = None
    if data is None:
        for name, value in {**roles, "where": where, "last": last, "nested_runs": nested_runs}.items():
            if value:
                raise ScoresError(f"--{name.replace('_', '-')} is about a pilot, and there is none: leave it out")
        difference = target if goal == "difference" else 0.0
        basis = find_basis(
            given, difference=difference, datasets=datasets is not None, new_runs=new_runs,
            reliability=goal == "reliability",
        )  # fmt: skip
    else:
        taken = take_in(data, roles, where=where, last=last, lower_is_better=False, progress=progress)
        options: dict[str, Any] = {"goal": goal, "claim": claim, "sd_run": sd_run, "nested_runs": nested_runs}
        basis = _read(taken, datasets=datasets is not None, **options)
        systems = systems or (2 if looks > 1 else taken.scores.only(taken.scores.usable).system.count)
    if not 2 <= (count := check_count(2 if systems is None else systems, "systems")) <= MOST_SYSTEMS:
        raise ScoresError(f"systems is {systems}: two to {MOST_SYSTEMS} can be planned for")
    bounds = find_bounds(basis, runs, datasets or items, (cost_run, cost_item, budget), goal)
    if basis.two_valued and target >= basis.width:
        raise ScoresError(f"scores are {basis.width:g} apart at most: {target:g} can't be planned for, give less")
    search = Search(basis, goal, target, power, count, 1 - level, bounds, looks)
    found = _plan_reliability(search) if goal == "reliability" else _find_designs(search)
    pilot = None if taken is None else taken.scores
    asked = Asked.about(
        "plan", data=None if pilot is None else pilot.digest, roles={} if pilot is None else list_roles(pilot),
        detect=detect, margin=margin, reliability=reliability, power=power, systems=count,
        claim=None if new_runs else claim, runs=_sign(runs), items=_sign(items), datasets=_sign(datasets),
        cost_run=cost_run, cost_item=cost_item, budget=budget, looks=None if looks == 1 else looks, **given,
        where=list_where(where), last=last,
        nested_runs=nested_runs or None, level=level,
    )  # fmt: skip
    return EvaluationPlan(
        asked=asked, seed=None, rows=Rows(0, 0) if taken is None else taken.rows(),
        cautions=order_cautions([*(taken.cautions if taken else ()), *_caution(basis, found.designs)]),
        goal=goal, target=target, power=power, level=level,
        claim="new-datasets" if basis.unit == "datasets" else claim, systems=count, unit=basis.unit, budget=budget,
        reachable=any(d.reaches for d in found.designs), reachable_as_found=found.as_found,
        fewest_runs=found.fewest_runs, designs=found.designs, curves=found.curves, beyond=found.beyond,
        most_runs=bounds.runs[1],
        least_units=bounds.units[0] if bounds.units else None, most_units=bounds.units[1] if bounds.units else None,
        assumptions=basis.assumptions,
    )  # fmt: skip


class Found(NamedTuple):
    """What a search found."""

    designs: tuple[PlannedDesign, ...]
    as_found: bool  # whether some design does on the variances as they were found
    fewest_runs: int | None
    curves: tuple[PowerPoint, ...]
    beyond: PlannedDesign | None = None


def _find_designs(search: Search) -> Found:
    """Return the designs, whether some do on the variances as found, the fewest runs, and the curves."""
    fewest = search.fewest_runs()
    designs = [search.describe(*each) for each in search.frontier()]
    reached = any(d.reaches for d in designs)
    if not reached:  # what the bounds allow at most, and what more money would buy
        designs.extend(sorted(search.best_within(), key=lambda d: -(d.power or 0.0)))
    else:
        designs = sorted((d for d in designs if d.reaches), key=lambda d: search.cost(d.runs, d.items or d.datasets))
    curves = tuple(search.curves(designs))
    as_found = reached or any(
        search.bounds.budget is None or search.cost(*each) <= search.bounds.budget
        for each in search.frontier(sure=False)
    )
    return Found(tuple(designs), as_found, fewest, curves, None if reached else search.beyond(fewest))


def _reach(runs: int, phi: float) -> float:
    """Return the reliability of an average over runs, from that of one (Spearman and Brown)."""
    return runs * phi / (1 + (runs - 1) * phi)


def _plan_reliability(search: Search) -> Found:
    """Return how many runs an item's average needs, from phi of one score."""
    assert search.basis.reliability is not None
    phi, _ = search.basis.reliability
    units = search.bounds.units[0] if search.bounds.units else None
    designs, curve = [], []
    low, high = search.bounds.runs
    enough = find_fewest(lambda runs: _reach(runs, phi) >= search.target, low, high)
    counts = {*np.geomspace(low, high, POINTS).round().astype(int).tolist(), enough or high}
    for runs in sorted(counts):
        sure, likely = (_reach(runs, one) for one in search.basis.reliability)
        cost = search.cost(runs, units)
        paid = search.bounds.budget is None or cost <= search.bounds.budget
        curve.append((PowerPoint(runs=runs, units=None, power=sure), likely >= search.target and paid))
        designs.append(
            PlannedDesign(
                runs=runs, items=units, reliability=sure, cost=cost if search.bounds.priced else None,
                reaches=sure >= search.target and paid,
            )
        )  # fmt: skip
    first = next((place for place, design in enumerate(designs) if design.reaches), None)
    shown = designs[first:] if first is not None else designs[::-1]
    return Found(tuple(shown), any(likely for _, likely in curve), enough, tuple(point for point, _ in curve))


def _find_goal(detect: object, margin: object, reliability: object) -> tuple[str, float]:
    """Return what is to be reached: exactly one thing."""
    named = {"difference": detect, "equivalence": margin, "reliability": reliability}
    asked = {name: value for name, value in named.items() if value is not None}
    if len(asked) != 1:
        found = "none" if not asked else f"{len(asked)}: leave out all but one"
        raise ScoresError(f"a plan needs one goal, --detect, --margin or --reliability, and has {found}")
    ((goal, value),) = asked.items()
    if goal == "reliability":
        _check_sure(value, "reliability")
    elif goal == "equivalence":
        check_size(check_margin(value), "--margin")
    elif not is_number(value) or not (math.isfinite(value) and value > 0):  # type: ignore[operator,arg-type]
        raise ScoresError(f"--detect is {value!r:.60}: give a positive difference in the unit of the scores")
    else:
        check_size(value, "--detect")
    return goal, float(value)  # type: ignore[arg-type]


def _check_sure(share: object, name: str) -> None:
    """Refuse what is no share, and one that no design is known to reach."""
    if share != 1:
        check_level(share, argument=name)
    if share > SUREST:  # type: ignore[operator]  # it is a number
        raise ScoresError(f"{name} is {share!r:.60}: no design is as sure as that, give {SUREST} or less")


def _check_known(given: Mapping[str, object], *, pilot: bool) -> dict[str, float]:
    """Return what is known of the variances."""
    for name, value in given.items():
        option = f"--{name.replace('_', '-')}"
        if pilot and name != "sd_run":
            raise ScoresError(f"{option} describes scores that aren't there yet: leave it out, the pilot shows it")
        share = is_number(value) and 0 <= value <= 1 and (name == "new_share" or value not in (0, 1))  # type: ignore[operator]
        if not name.startswith("sd_") and not share:
            raise ScoresError(f"{option} is {value!r:.60}: give a share between 0 and 1, such as 0.8")
        check_finite(value, option, least=0)
        check_size(value, option)
        if value == 0 and name in ("sd_item", "sd_dataset"):
            raise ScoresError(f"{option} is 0: where nothing varies there is nothing to plan")
    return {name: float(value) for name, value in given.items()}  # type: ignore[arg-type]


def _check_together(given: Mapping[str, float], *, datasets: bool, items: bool, goal: str) -> None:
    """Refuse what doesn't go together."""
    if "sd_item" in given and given.keys() & {"accuracy", "disagreement"}:
        raise ScoresError("--sd-item is for scores that are numbers, --accuracy for right or wrong: give one of them")
    if datasets and items:
        raise ScoresError("items and datasets can't both be planned: leave out --items or --datasets")
    if datasets and goal == "reliability":
        raise ScoresError("a reliability is planned by runs: leave out --datasets")
    if "sd_dataset" in given and not datasets:
        raise ScoresError("--sd-dataset is for planning datasets: say how many there may be, as in --datasets 5..50")
    if datasets and (wrong := given.keys() - {"sd_dataset", "sd_run"}):
        name = sorted(wrong)[0].replace("_", "-")
        raise ScoresError(f"--{name} is about items, and datasets are planned: leave it out")


def _check_looks(looks: object, *, goal: str, new_runs: bool, datasets: bool, systems: int | None) -> None:
    """Refuse looks where `compare` has none."""
    if not 1 <= check_count(looks, "looks") <= MOST_LOOKS:
        raise ScoresError(f"looks is {looks}: plan one to {MOST_LOOKS}, the last one included")
    if looks != 1 and not (goal == "difference" and new_runs and not datasets and systems in (None, 2)):
        raise ScoresError(
            "--looks are planned for the difference of two systems over new runs: give --detect, and leave out "
            "--datasets, --systems and --claim"
        )


def _sign(given: Range) -> str | None:
    if given is None:
        return None
    return f"{given[0]}..{given[1]}" if isinstance(given, tuple | list) else str(given)


def _read(taken: Intake, *, nested_runs: bool, goal: str, datasets: bool, claim: str, sd_run: float | None) -> Basis:
    """Return what a pilot shows."""
    scores: Scores = taken.scores
    refuse_mixtures(taken.faults)
    evaluations = lay_out(scores, nested_runs=nested_runs)
    if len(evaluations) > 1:
        raise ScoresError(
            f"the pilot has {len(evaluations)} metrics: plan for one of them, --where metric={evaluations[0].metric}"
        )
    check_repeats(evaluations[0], averaged=True)
    evaluation = leave_out_copies(evaluations[0]).evaluation
    several = evaluation.datasets is not None or evaluation.unit == "datasets"
    of_these = claim == "these-runs" and evaluation.unit == "items"
    if several and not datasets and goal != "reliability" and not of_these:
        first = evaluation.dataset_names[0] if evaluation.dataset_names else "NAME"
        raise ScoresError(
            "the pilot has several datasets, and compare speaks of new ones: plan their number (--datasets 5..50), "
            f"items on one (--where {scores.roles.dataset}={first}), or items for these runs (--claim these-runs)"
        )
    if datasets and not several:
        raise ScoresError("--datasets needs a pilot that has several datasets, or no pilot: plan --items with this one")
    if goal == "reliability":
        found = decompose_variance(scores, level=SURE_LEVEL).reliabilities
        if not found:
            raise ScoresError("a reliability needs items, and the pilot has one score a run")
        worst = min(found, key=lambda one: one.low)
        phi = Assumption(value=worst.low, found=worst.phi, source="pilot")
        count = int(evaluation.scored(evaluation.systems[0]).sum())
        return Basis(
            Variances(0.0, 1.0, 0.0), "items", True, {"phi": phi}, reliability=(worst.low, worst.phi), items=count
        )
    return read_pilot(evaluation, datasets=datasets, claim=claim, sd_run=sd_run)


def _caution(basis: Basis, designs: tuple[PlannedDesign, ...]) -> Iterator[Caution]:
    """Yield what the plan rests on that nobody measured, and what it takes for granted."""
    typical = [name.replace("_", "-") for name, one in basis.assumptions.items() if one.source == "typical"]
    if typical:
        yield Caution(
            code="typical-values",
            message=f"not yours but typical: {', '.join(typical)}. Tables differ tenfold.",
            advice="Run a pilot, such as two systems with three runs each, or give the values you know.",
        )
    if any(one.found is not None for one in basis.assumptions.values()):
        yield Caution(
            code="upper-bounds",
            severity="note",
            message="Planned on upper bounds of the pilot's variances (80%).",
            effect="Four plans of five then have the power that they promise. Compare's advice takes the variances as "
            "they are found, and so asks for less.",
        )
    if basis.samples > 1:
        yield Caution(
            code="planned-samples",
            message=f"The pilot averages {basis.samples} samples of each item, and so does the plan.",
            advice=f"Draw {basis.samples} samples of each item, or plan from a pilot with as many as you will draw.",
        )
    runs = basis.assumptions.get("sd_run")
    if runs is not None and runs.found is not None and runs.value > OPEN * runs.found:
        more = f"{runs.value / runs.found:.1f} times" if runs.found else "larger than"
        yield Caution(
            code="small-pilot",
            message=f"The pilot hardly shows how much runs vary: the SD may be {more} what it found.",
            effect="A plan that can be relied on then asks for many runs.",
            advice="Add runs of each system to the pilot.",
        )
    if basis.together > 1:
        yield Caution(
            code="datasets-together",
            severity="note",
            message=f"Items are those of the pilot's {basis.together} datasets together, in the pilot's proportions.",
        )
    if designs and designs[0].runs == 2 and basis.new_runs:
        yield Caution(
            code="two-runs-planned",
            message="Two runs each leave the run variance on one degree of freedom.",
            advice="Three or more are safer.",
        )
