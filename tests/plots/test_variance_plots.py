"""The pictures of a decomposition."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import holdsup
from holdsup.errors import ResultError
from holdsup.plots import save_plot
from holdsup.plots.facet_lines import plot_facet_lines
from holdsup.plots.study import plot_study
from holdsup.plots.variance import plot_shares


@pytest.fixture(scope="module")
def found() -> holdsup.Decomposition:
    return holdsup.decompose_variance(holdsup.simulate_scores({"A": 0.5, "$B_1$": 0.6}, items=20, runs=3))


def test_bars_show_the_shares_and_fill_the_width(found: holdsup.Decomposition) -> None:
    (ax,) = plot_shares(found).axes
    widths = [[bar.get_width() for bar in group] for group in ax.containers]  # type: ignore[attr-defined]
    expected = [[c.percent for c in found.components if c.name == name] for name in ("item", "seed", "Residual")]
    assert np.allclose(widths, expected)
    assert [sum(shares) for shares in zip(*widths, strict=True)] == pytest.approx([100, 100])
    assert [label.get_text() for label in ax.get_yticklabels()] == [r"\$B_1\$", "A"]


def test_curves_show_phi_against_levels(found: holdsup.Decomposition) -> None:
    (ax,) = plot_study(found).axes
    drawn = {str(line.get_label()): line for line in ax.lines if line.get_marker() == "o"}
    assert set(drawn) == {"A: seed", r"\$B_1\$: seed"}
    plans = sorted((p.counts["seed"], p.phi) for p in found.study if p.system == "A")
    assert list(zip(drawn["A: seed"].get_xdata(), drawn["A: seed"].get_ydata(), strict=True)) == plans  # type: ignore[arg-type]


def test_the_figure_has_both_and_goes_on_the_axes_given(found: holdsup.Decomposition) -> None:
    assert len(holdsup.plot(found).axes) == 2
    figure = Figure()
    assert holdsup.plot(found, ax=figure.add_subplot()) is figure
    assert len(figure.axes) == 1


@pytest.mark.parametrize("by", ["length", "kind"])
def test_lines_show_the_predicted_scores_of_levels(by: str) -> None:
    table = holdsup.simulate_scores({"A": 0.5}, items=20, runs=3)
    item = table["item"].to_numpy()
    columns = {name: table[name] for name in table.column_names}
    columns |= {"length": item * 1.5, "kind": np.where(item > 9, "_long", "short")}
    found = holdsup.decompose_variance(columns, by=by)
    assert len(holdsup.plot(found).axes) == 3
    (ax,) = plot_facet_lines(found).axes
    assert [line.get_label() for line in ax.lines] == ["1", "2", "3"]
    drawn = [list(line.get_ydata()) for line in ax.lines]  # type: ignore[arg-type]
    points = found.properties[0].points
    assert drawn == [[p.mean for p in points if p.level == level] for level in "123"]


def test_there_are_no_lines_without_a_property(found: holdsup.Decomposition) -> None:
    with pytest.raises(ResultError, match="there is no property in this result"):
        plot_facet_lines(found)


def test_the_same_decomposition_gives_the_same_bytes(found: holdsup.Decomposition, tmp_path: Path) -> None:
    for name in "ab":
        save_plot(found, tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
