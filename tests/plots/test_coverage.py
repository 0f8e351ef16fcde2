"""The picture of an audit."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

import holdsup
from holdsup.errors import ResultError
from holdsup.plots import save_plot

HOSTILE = {"$\\frac{1}{0}$": 0.5, "<script>": 0.6, "a" * 200: 0.7, "模型": 0.5, "\x1b[0m": 0.4}


@pytest.fixture
def audit() -> holdsup.Audit:
    table = holdsup.simulate_scores({"A": 0.5, "B": 0.6}, items=10, runs=2)
    return holdsup.audit_scores(table.slice(0, 37))


def test_bars_show_the_numbers_of_the_audit(audit: holdsup.Audit) -> None:
    (ax,) = holdsup.plot(audit).axes
    widths = [[bar.get_width() for bar in group] for group in ax.containers]  # type: ignore[attr-defined]
    assert widths == [[20, 17], [0, 0], [0, 3]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A", "B"]


def test_a_figure_is_drawn_on_the_axes_given(audit: holdsup.Audit) -> None:
    figure = Figure()
    ax = figure.add_subplot()
    assert holdsup.plot(audit, ax=ax) is figure


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_audit_gives_the_same_bytes(audit: holdsup.Audit, ending: str, tmp_path: Path) -> None:
    save_plot(audit, tmp_path / f"a.{ending}")
    save_plot(audit, tmp_path / f"b.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_hostile_names_are_drawn_as_text(tmp_path: Path) -> None:
    save_plot(holdsup.audit_scores(holdsup.simulate_scores(HOSTILE, items=3)), tmp_path / "h.svg")
    assert "<script>" not in (tmp_path / "h.svg").read_text(encoding="utf-8")


def test_a_picture_of_another_kind_is_refused(audit: holdsup.Audit, tmp_path: Path) -> None:
    with pytest.raises(ResultError, match=r"must end in \.svg"):
        save_plot(audit, tmp_path / "a.gif")
    with pytest.raises(ResultError, match="cannot write "):
        save_plot(audit, tmp_path / "none" / "a.svg")


def test_letters_that_the_font_lacks_cause_no_warning(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    save_plot(holdsup.audit_scores(holdsup.simulate_scores({"模型": 0.5, "B": 0.5}, items=3)), tmp_path / "h.png")
    assert capfd.readouterr().err == ""


def test_of_very_many_systems_the_worst_are_drawn_and_the_title_says_so() -> None:
    table = holdsup.simulate_scores({f"s{i:03}": 0.5 for i in range(150)}, items=4, runs=2)
    audit = holdsup.audit_scores(table.slice(0, table.num_rows - 3))
    figure = holdsup.plot(audit)
    (ax,) = figure.axes
    assert ax.get_title(loc="left").startswith("40 of 150 systems")
    assert [label.get_text() for label in ax.get_yticklabels()][:2] == ["s149", "s000"]
    assert figure.get_size_inches()[1] < 20
    low, high = sorted(ax.get_ylim())
    assert high - low < 41  # no empty margin


@pytest.mark.parametrize("given", ["r.json", Path("r.json"), 5])
def test_what_is_no_result_is_not_drawn(given: object) -> None:
    with pytest.raises(ResultError, match="plot takes a result, not a"):
        holdsup.plot(given)  # type: ignore[arg-type]


def test_scores_are_not_drawn_before_they_are_audited() -> None:
    scores = holdsup.read_scores(holdsup.simulate_scores({"A": 0.5}))
    with pytest.raises(ResultError, match="audit_scores"):
        holdsup.plot(scores)  # type: ignore[arg-type]
