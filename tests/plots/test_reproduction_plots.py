"""The pictures of a reproduction."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

import holdsup
from holdsup.data import belz2022
from holdsup.plots import find_panels, save_plot
from holdsup.plots.reproduction import OTHER, SAME, UNKNOWN, plot_conditions, plot_precision


@pytest.fixture(scope="module")
def paper() -> holdsup.Reproduction:
    return holdsup.assess_reproduction(belz2022())


def test_dots_stand_at_cv_in_order_and_ticks_at_the_papers(paper: holdsup.Reproduction) -> None:
    (ax,) = plot_precision(paper).axes
    dots = [float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o"]  # type: ignore[index]
    assert dots == [a.cv for a in paper.assessments]
    ticks = [float(line.get_xdata()[0]) for line in ax.lines if line.get_color() == "#999999"]  # type: ignore[index]
    assert ticks == list(paper.reference)
    assert ax.get_yticklabels()[0].get_text() == "NTS_def, BLEU (n = 7)"


def test_limits_without_an_end_get_an_arrow(paper: holdsup.Reproduction) -> None:
    (ax,) = plot_precision(paper).axes
    arrows = [line for line in ax.lines if line.get_marker() == ">"]
    assert len(arrows) == sum(a.n == 2 for a in paper.assessments)


def test_cells_show_what_agrees_with_the_first() -> None:
    rows = [
        {"object": "x", "measurand": "F1", "value": v, "code": c, "performed_by": p}
        for v, c, p in ((0.8, "A", "me"), (0.9, "B", "me"), (0.7, "A", ""))
    ]
    found = holdsup.assess_reproduction(rows)
    (ax,) = plot_conditions(found).axes
    signs = [text.get_text() for text in ax.texts]
    assert signs == [SAME[1], OTHER[1], SAME[1], SAME[1], SAME[1], UNKNOWN[1]]


def test_there_is_a_matrix_where_there_is_one_for_all(paper: holdsup.Reproduction) -> None:
    essays = holdsup.assess_reproduction(belz2022(), where={"measurand": "wF1"})
    assert [panel.name for panel in find_panels(essays)] == ["precision", "conditions"]
    assert [panel.name for panel in find_panels(paper)] == ["precision"]
    figure = Figure()
    assert holdsup.plot(essays, ax=figure.add_subplot()) is figure
    assert len(figure.axes) == 1


def test_the_same_reproduction_gives_the_same_bytes(paper: holdsup.Reproduction, tmp_path: Path) -> None:
    for name in "ab":
        save_plot(paper, tmp_path / f"{name}.svg")
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
