"""`EvaluationPlan`: the answer of `plan_evaluation`, its words and its tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from holdsup.rendering import Answer, Cell, Page, State, Table
from holdsup.rendering.numbers import format_count, format_counted, format_number
from holdsup.results import Method, write_caveats
from holdsup.verdict.phrases import join_names, say_level, say_threshold
from holdsup.verdict.plan.basis import say_assumption
from holdsup.verdict.plan.records import PlannedDesign, PlanNumbers

SHOWN = 6  # designs of the short answer
SHARP = 99  # percent from which on there is a digit more


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationPlan(PlanNumbers):
    """The designs that would answer, the cheapest first."""

    def answer(self) -> Answer:
        """Return whether there is a design that answers, and the cheapest."""
        return Answer(
            question=_ask(self),
            state=_find_state(self),
            headline=_headline(self),
            parts=(_tabulate(self, SHOWN),),
            foot=(
                *_say_looks(self),
                *_hopeless(self),
                *((("settle it", f"{_say_design(self, self.beyond)} would do"),) if self.beyond else ()),
                ("assumes", ", ".join(say_assumption(name, one) for name, one in self.assumptions.items())),
                ("holds for", _covers(self)),
                *write_caveats(self.cautions),
            ),
            more=("--full (all designs)", "--plot figure.svg"),
            signature=self.signature,
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the designs, and what they rest on."""
        rests = Table(
            name="assumptions",
            title="What the plan rests on",
            columns=("", "planned with", "found", "source"),
            rows=tuple((name.replace("_", "-"), a.value, a.found, a.source) for name, a in self.assumptions.items()),
            notes=_explain(self),
        )
        return (_tabulate(self, len(self.designs)), rests)

    def page(self) -> Page:
        """Return the whole plan; without a pilot no rows were used."""
        page = PlanNumbers.page(self)
        return page if self.asked.data else replace(page, rows="Planned without a pilot.")

    def describe_method(self) -> Method:
        """Return what was done, in words."""
        done = {
            "reliability": "The number of runs was planned by the Spearman-Brown formula.",
            "equivalence": "Power is that of two one-sided tests for systems that do not differ.",
        }.get(self.goal, "Power is that of the two-sided test, its variances drawn as they would be estimated.")
        return Method(question=_ask(self), sentences=(done, *_explain(self)), citations=("hagmann2023",))


def _find_state(found: PlanNumbers) -> State:
    return "yes" if found.reachable else "unclear" if found.reachable_as_found else "no"


def _say_goal(found: PlanNumbers) -> str:
    """Return what is to be done, as it follows "can" and "detects"."""
    target = format_number(found.target)
    return {"difference": f"a difference of {target}", "equivalence": f"equivalence within {target}"}.get(
        found.goal, f"a reliability of {_say_reliability(found.target)}"
    )


def _ask(found: PlanNumbers) -> str:
    verb = {"difference": "detect", "equivalence": "show"}.get(found.goal, "reach")
    limits = [] if found.budget is None else [f"for {format_cost(found.budget)}"]
    if found.goal != "reliability":
        limits.insert(0, f"with {100 * found.power:.4g}% power")
    return " ".join([f"Can an evaluation {verb} {_say_goal(found)}", *limits]).strip() + "?"


def _say_design(found: PlanNumbers, design: PlannedDesign) -> str:
    runs = f"{format_counted(design.runs, 'run')} of each system"
    if design.datasets is not None:
        return f"{runs} on {format_count(design.datasets)} datasets"
    return (
        runs if design.items is None or found.goal == "reliability" else f"{runs} on {format_count(design.items)} items"
    )


def _headline(found: PlanNumbers) -> str:
    """Return the cheapest design, or the best of those that won't do."""
    first = found.designs[0] if found.designs else None
    if found.goal == "reliability":
        if found.reachable and first is not None:
            return f"The average over {_say_design(found, first)} has phi {say_phi(first)}."
        most, wanted = f"{format_counted(found.most_runs, 'run')} of each system", _say_reliability(found.target)
        if found.reachable_as_found:
            return f"Averages over {most} or fewer may reach {wanted}, but the pilot can't be sure."
        return f"Averages over {most} or fewer don't reach {wanted} within what is asked for."
    goal = _say_goal(found).removeprefix("a difference of ")
    verb = "show" if found.goal == "equivalence" else "detect"
    if found.reachable and first is not None:
        price = "" if first.cost is None else f", for {format_cost(first.cost)}"
        many = first.runs > 1
        return (
            f"{_say_design(found, first)} {verb if many else f'{verb}s'} {goal} with {_say_power(first)} power{price}."
        )
    within = [d for d in found.designs if found.budget is None or (d.cost or 0.0) <= found.budget]
    best = max(within, key=lambda d: d.power or 0.0, default=None)
    if best is None:
        return f"The budget of {format_cost(found.budget or 0.0)} doesn't pay for the smallest design."
    if found.reachable_as_found:
        power = f"{_say_design(found, best)} then have {_say_power(best)} power"
        return f"Only if the pilot's variances are right. They may be larger: {power}."
    if found.fewest_runs is None or found.fewest_runs > found.most_runs:
        units = f", on any number of {found.unit}" if found.unit else ""
        return (
            f"Out of reach with {found.most_runs} runs or fewer{units}: runs vary too much. "
            f"The best design has {_say_power(best)} power."
        )
    return f"Out of reach: the best design within the limits, {_say_design(found, best)}, has {_say_power(best)} power."


def _say_power(design: PlannedDesign) -> str:
    """Return power in percent, cut: never more than there is."""
    power = 100 * (design.power or 0.0)
    return f"{int(power + 1e-9)}%" if power < SHARP or power >= 100 else f"{int(10 * power + 1e-9) / 10:g}%"


def say_phi(design: PlannedDesign) -> str:
    """Return phi to two decimals, cut."""
    phi = design.reliability or 0.0
    return _say_reliability(int(100 * phi + 1e-9) / 100 if 100 * phi < SHARP else int(1000 * phi + 1e-9) / 1000)


def _say_reliability(phi: float) -> str:
    return f"{phi:.4g}".removeprefix("0") if 100 * phi > SHARP else say_threshold(phi)


def format_cost(cost: float) -> str:
    """Return an amount, in whole units where it is large.

    >>> format_cost(1234.5), format_cost(0.25)
    ('1,234', '0.25')
    """
    return f"{cost:,.0f}" if cost >= 100 else format_number(cost)


def _tabulate(found: PlanNumbers, most: int) -> Table:
    """Return the designs, the cheapest first; where none does, those with the most power."""
    reliability, priced = found.goal == "reliability", any(d.cost is not None for d in found.designs)
    unit = any(d.items is not None or d.datasets is not None for d in found.designs)
    columns = ["runs of each", *([found.unit or "items"] if unit else []), "phi" if reliability else "power"]
    columns += ([] if reliability else [f"half-width of {say_level(found.level)} CI"]) + (["cost"] if priced else [])
    rows = [list(_row(d, unit=unit, reliability=reliability, priced=priced)) for d in found.designs[:most]]
    more = len(found.designs) - most
    order = "The cheapest first." if priced else "The fewest scores first."
    order = "" if reliability else order if found.reachable else "The most power first."
    return Table(
        name="designs",
        title="Designs that do" if found.reachable else "The best that the limits allow, and what would do",
        columns=tuple(columns),
        rows=tuple(map(tuple, rows)),
        notes=(f"{order} {more} more: --full".strip(),) if more > 0 else (order,) if order else (),
    )


def _row(design: PlannedDesign, *, unit: bool, reliability: bool, priced: bool) -> Iterator[Cell]:
    yield design.runs
    if unit:
        yield design.items if design.datasets is None else design.datasets
    if reliability:
        yield say_phi(design)
    else:
        yield _say_power(design)
        yield format_number(design.half_width, uncertainty=design.half_width)
    if priced:
        yield format_cost(design.cost or 0.0)


def _say_looks(found: PlanNumbers) -> Iterator[tuple[str, str]]:
    """Yield at which numbers of runs to look, and how."""
    if found.reachable and (looks := found.designs[0].looks):
        at = ",".join(map(str, looks))
        yield "look", f"at {join_names([str(n) for n in looks])} runs, and stop when it is clear: compare --looks {at}"


def _hopeless(found: PlanNumbers) -> Iterator[tuple[str, str]]:
    """Yield what no number of items can do, because runs vary."""
    if found.claim != "new-runs" or found.goal == "reliability" or found.unit is None:
        return
    if found.fewest_runs is None:
        yield "won't do", f"any number of runs: not even 200 on any number of {found.unit}"
    elif found.fewest_runs > 2:
        fewer = found.fewest_runs - 1
        yield "won't do", f"{fewer} runs or fewer, on any number of {found.unit}, because runs vary"


def _covers(found: PlanNumbers) -> str:
    pair = "two systems" if found.systems == 2 else f"each pair of {found.systems} systems, adjusted for all pairs"
    if found.goal == "reliability":
        return "new runs and items like these; phi doesn't depend on the number of items"
    claim = {"these-runs": "these runs, new items", "new-datasets": "new datasets and new runs"}.get(
        found.claim, f"new runs{', new items' if found.unit else ''}"
    )
    measured = found.systems == 2 and any(one.found is not None for one in found.assumptions.values())
    alike = "" if found.claim == "these-runs" else " like those of the pilot" if measured else " whose runs vary alike"
    return f"{claim}; {pair}{alike}"


def _explain(found: PlanNumbers) -> tuple[str, ...]:
    """Return what the assumptions mean."""
    names: Sequence[str] = tuple(found.assumptions)
    said = {
        "sd_run": "sd-run: between the true means of a system's runs.",
        "sd_item": "sd-item: between items, of the difference of two systems with one run each.",
        "sd_dataset": "sd-dataset: between datasets, of the difference of two systems.",
        "disagreement": "disagreement: share of items on which one system is right and the other wrong.",
        "new_share": "new-share: share of the variance of item differences that is new in each run.",
        "phi": "phi: reliability of one score.",
    }
    pilot = any(one.found is not None for one in found.assumptions.values())
    limits = ("Planned with: a limit that the truth is below (of phi, above) in four of five pilots, or more.",)
    return (*(said[name] for name in names if name in said), *(limits if pilot else ()))
