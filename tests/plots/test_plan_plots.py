"""The picture of a plan: a curve for each number of runs, what is wanted, and the cheapest design."""

from __future__ import annotations

import pytest

import holdsup
from holdsup.plots.figures import find_panels

KNOWN = {"sd_run": 0.004, "accuracy": 0.82, "disagreement": 0.15, "new_share": 0.5}


def test_each_number_of_runs_is_a_curve_and_the_cheapest_design_is_on_one() -> None:
    plan = holdsup.plan_evaluation(detect=0.03, **KNOWN)
    assert [panel.name for panel in find_panels(plan)] == ["power"]
    (ax,) = holdsup.plot(plan).axes
    curves = {str(line.get_label()): line for line in ax.lines if str(line.get_label()).endswith("each")}
    assert {f"{runs} run{'s' * (runs > 1)} each" for runs in {p.runs for p in plan.curves}} == set(curves)
    best = plan.designs[0]
    ring = next(line for line in ax.lines if line.get_markersize() == 8)
    assert (list(ring.get_xdata()), list(ring.get_ydata())) == ([best.items], [best.power])
    for name, line in curves.items():
        own = [p for p in plan.curves if p.runs == int(name.split()[0])]
        assert list(line.get_ydata()) == [p.power for p in own]
        assert list(line.get_xdata()) == [p.units for p in own]


@pytest.mark.parametrize(
    "asked",
    [{"reliability": 0.9, "accuracy": 0.8}, {"detect": 0.02, "datasets": (5, 60)}, {"detect": 1e-4, **KNOWN}],
)
def test_plans_of_other_goals_and_out_of_reach_have_a_picture(asked: dict[str, float]) -> None:
    plan = holdsup.plan_evaluation(**asked)
    (ax,) = holdsup.plot(plan).axes
    assert len(ax.lines) > 1
    assert any(line.get_markersize() == 8 for line in ax.lines) == plan.reachable
