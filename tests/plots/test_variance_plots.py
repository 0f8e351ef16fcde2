"""The pictures of a decomposition."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import holdsup
from holdsup.errors import ResultError
from holdsup.plots import find_panels, save_plot
from holdsup.plots.variance import plot_facet_lines, plot_shares, plot_study


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
    drawn = {str(line.get_label()): line for line in ax.lines if line.get_marker() in ("o", "s")}
    assert set(drawn) == {"A: seed", r"\$B_1\$: seed"}
    plans = sorted((p.counts["seed"], p.phi) for p in found.study if p.system == "A")
    assert list(zip(drawn["A: seed"].get_xdata(), drawn["A: seed"].get_ydata(), strict=True)) == plans  # type: ignore[arg-type]


def test_phi_is_written_at_the_bar_of_its_system(found: holdsup.Decomposition) -> None:
    (ax,) = plot_shares(found).axes
    written = [text.get_text() for text in ax.texts if text.get_text()]
    assert [f"{r.phi:.2f}" for r in found.reliabilities] == [text for text in written if text[:2] in ("0.", "1.")]


def test_components_beyond_the_colours_are_hatched_and_grey(found: holdsup.Decomposition) -> None:
    one = next(c for c in found.components if c.system == "A")
    many = tuple(replace(one, name=f"facet {i}", percent=10.0) for i in range(10))
    (ax,) = plot_shares(replace(found, components=many)).axes
    looks = [(bars[0].get_facecolor(), bars[0].get_hatch()) for bars in ax.containers]  # type: ignore[index]
    assert len(set(looks)) == 10


def test_the_shares_answer_and_go_on_the_axes_given(found: holdsup.Decomposition) -> None:
    assert [panel.name for panel in find_panels(found)] == ["shares", "study"]
    assert len(holdsup.plot(found).axes) == 1
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
    assert [panel.name for panel in find_panels(found)] == ["shares", "study", "property"]
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


def test_a_share_that_was_edited_to_infinity_is_drawn_without_a_warning(found: holdsup.Decomposition) -> None:
    edited = [
        replace(c, percent=float(each)) for c, each in zip(found.components, ("inf", "-inf", "nan"), strict=False)
    ]
    figure = plot_shares(replace(found, components=(*edited, *found.components[3:])))
    assert figure.axes[0].get_xlim() == (0, 100)
    figure.canvas.draw()  # warnings are errors in these tests
