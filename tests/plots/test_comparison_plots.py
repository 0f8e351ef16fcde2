"""Pictures of comparisons: one scale for each metric, named as the user names it, with room for its labels."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import holdsup
from holdsup.plots import find_panels, plot
from holdsup.verdict import Comparison

LONG = ("a system of a long name", "another of a long name", "third")


def make_comparison(**options: Any) -> Comparison:
    """Return three systems compared by two metrics of very different sizes, or by one of them."""
    table = holdsup.simulate_scores(dict.fromkeys(LONG, 0.5), items=12, runs=3)
    columns: dict[str, list[Any]] = {name: table[name].to_pylist() for name in ("system", "seed", "item")}
    columns["Quality (%)"] = table["score"].to_pylist()
    columns["Latency (ms)"] = [1000 * (1 + score) for score in columns["Quality (%)"]]
    return holdsup.compare_systems(columns, **options)


@pytest.fixture(scope="module")
def both() -> Comparison:
    """Return what two metrics say."""
    return make_comparison(wide={"metric": ["Quality (%)", "Latency (ms)"]}, lower_is_better=["Latency (ms)"])


def test_every_metric_has_panels_of_its_own(both: Comparison) -> None:
    panels = find_panels(both)
    assert [panel.name for panel in panels] == ["systems-1", "systems-2", "differences-1", "differences-2"]
    for panel, ax in zip(panels, plot(both).axes, strict=True):
        metric = "Latency (ms)" if panel.name.endswith("1") else "Quality (%)"
        assert metric in ax.get_xlabel()
        assert metric in panel.shows
        low, high = ax.get_xlim()
        own = [(s.low, s.high) for s in both.systems if s.metric == metric]
        own = own if "systems" in panel.name else [(c.low, c.high) for c in both.contrasts if c.metric == metric]
        assert high - low < 3 * (max(high for _, high in own) - min(low for low, _ in own))


def test_axes_and_captions_say_where_lower_is_better(both: Comparison) -> None:
    said = {panel.name: ("lower is better" in panel.shows, ax.get_xlabel()) for panel, ax in
            zip(find_panels(both), plot(both).axes, strict=True)}  # fmt: skip
    assert {name: lower for name, (lower, _) in said.items()} == {
        name: name.endswith("1") for name in ("systems-1", "systems-2", "differences-1", "differences-2")
    }
    assert all(("lower is better" in label) == lower for lower, label in said.values())


def test_axes_name_the_column_of_the_scores() -> None:
    means, differences = plot(make_comparison(score="Latency (ms)", lower_is_better=True)).axes
    assert means.get_xlabel().startswith("mean Latency (ms), 95% limits (new-runs)\nlower is better")
    assert differences.get_xlabel().startswith("difference of Latency (ms),")


def test_labels_of_two_lines_do_not_run_together(both: Comparison) -> None:
    figure = plot(both)
    figure.canvas.draw()
    for ax in figure.axes[2:]:
        boxes = sorted((label.get_window_extent() for label in ax.get_yticklabels()), key=lambda box: box.y0)
        assert any("\n" in label.get_text() for label in ax.get_yticklabels())
        assert all(lower.y1 <= upper.y0 for lower, upper in itertools.pairwise(boxes))


def test_advice_names_the_metric_that_a_difference_is_of(both: Comparison) -> None:
    sized = [advice for advice in both.next if "difference of" in advice]
    assert sized
    assert all("Latency (ms)" in advice or "Quality (%)" in advice for advice in sized)
    assert "(ms)" not in " ".join(make_comparison(score="Latency (ms)", lower_is_better=True).next)
