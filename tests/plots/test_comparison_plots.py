"""Pictures of comparisons: one answers the question, with its direction on the axis and room for every label."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex

import holdsup
from holdsup.errors import ResultError
from holdsup.plots import find_panels, plot, save_plot, save_plots
from holdsup.plots.comparison import plot_difference, plot_matrix, plot_pairs, plot_systems
from holdsup.plots.style import BETTER, STATES, WORSE
from holdsup.verdict import Comparison
from holdsup.verdict.comparison.standings import better_of, is_told
from overlaps import find_overlaps

LONG = ("a system of a long name", "another of a long name", "third")


def make_comparison(**options: Any) -> Comparison:
    """Return three systems compared by two metrics of very different sizes, or by one of them."""
    table = holdsup.simulate_scores(dict.fromkeys(LONG, 0.5), items=12, runs=3)
    columns: dict[str, list[Any]] = {name: table[name].to_pylist() for name in ("system", "seed", "item")}
    columns["Quality (%)"] = table["score"].to_pylist()
    columns["Latency (ms)"] = [1000 * (1 + score) for score in columns["Quality (%)"]]
    return holdsup.compare_systems(columns, **options)


def compare_many(count: int, **options: Any) -> Comparison:
    """Return systems each of which is a little better than the one before."""
    means = {f"system {i:02}": 0.3 + 0.4 * i / count for i in range(count)}
    return holdsup.compare_systems(holdsup.simulate_scores(means, items=60, runs=3), **options)


@pytest.fixture(scope="module")
def both() -> Comparison:
    """Return what two metrics say."""
    return make_comparison(wide={"metric": ["Quality (%)", "Latency (ms)"]}, lower_is_better=["Latency (ms)"])


@pytest.fixture(scope="module")
def two() -> Comparison:
    return holdsup.compare_systems(holdsup.simulate_scores({"base": 0.5, "new": 0.8}, items=40, runs=4))


@pytest.fixture(scope="module")
def ten() -> Comparison:
    return compare_many(10)


def test_two_systems_have_their_difference_with_zero_and_the_two_sides(two: Comparison) -> None:
    assert [panel.name for panel in find_panels(two)] == ["difference", "systems"]
    (ax,) = plot_difference(two).axes
    (c,) = two.contrasts
    spans = [sorted(line.get_xdata()) for line in ax.lines if len(set(line.get_xdata())) == 2]  # type: ignore[arg-type]
    assert spans == [[c.low, c.high]]
    assert any(set(line.get_xdata()) == {0} for line in ax.lines)  # type: ignore[arg-type]
    sides = {text.get_text(): to_hex(text.get_color()) for text in ax.texts if "better" in text.get_text()}
    first_wins = c.left == "new"
    assert sides["new better →" if first_wins else "← new better"] == (BETTER if first_wins else WORSE).lower()


@pytest.mark.parametrize("lower", [False, True])
def test_the_words_stand_where_who_they_name_is_better(lower: bool) -> None:
    found = holdsup.compare_systems(
        holdsup.simulate_scores({"a": 0.4, "b": 0.6}, items=40, runs=4), baseline="a", lower_is_better=lower
    )
    (ax,) = plot_difference(found).axes
    (c,) = found.contrasts
    assert (c.left, c.right) == ("b", "a")
    words = [text.get_text() for text in ax.texts if text.get_text().startswith("←")]
    assert words[0].startswith("← b" if lower else "← a")


def test_the_answer_is_the_title(two: Comparison, ten: Comparison) -> None:
    for found in (two, ten):
        title = plot(found).get_suptitle().replace("\n", " ")
        shape, _ = STATES[str(found.state)]
        assert title.startswith(f"{shape} {str(found.state).upper()} ")
        assert title.endswith(found.answer().question)
    assert plot(two, figure="systems").get_suptitle() == ""


def test_places_have_letters_that_say_who_can_be_told_apart(ten: Comparison) -> None:
    assert [panel.name for panel in find_panels(ten)] == ["systems", "matrix", "pairs"]
    (ax,) = plot_systems(ten).axes
    rows: dict[float, set[str]] = {}
    for text in ax.texts:
        rows.setdefault(text.xy[1], set()).add(text.get_text())  # type: ignore[attr-defined]
    for place, system in enumerate(ten.ordered()):
        assert rows[place] == set(system.letters)


def test_the_matrix_fills_the_pairs_that_differ(ten: Comparison) -> None:
    (ax,) = plot_matrix(ten).axes
    filled = [cell for cell in ax.patches if to_hex(cell.get_facecolor()) == BETTER.lower()]
    assert len(ax.patches) == 45
    assert len(filled) == sum(is_told(c, ten.level) for c in ten.contrasts) > 0
    few = compare_many(4)
    leads = [text.get_text() for text in plot_matrix(few).axes[0].texts]
    assert len(leads) == 6
    assert leads.count("?") == sum(not is_told(c, few.level) for c in few.contrasts)


def test_pairs_are_blue_where_the_first_is_better_and_grey_where_nobody_knows(ten: Comparison) -> None:
    (ax,) = plot_pairs(ten).axes
    dots = [to_hex(line.get_color()) for line in ax.lines if line.get_marker() == "o"]
    shown = ten.contrasts[:40]
    assert [colour == BETTER.lower() for colour in dots] == [
        is_told(c, ten.level) and better_of(c)[0] == c.left for c in shown
    ]
    assert "the first 40 of 45" in ax.get_xlabel()


def test_with_a_baseline_the_differences_from_it_answer() -> None:
    found = compare_many(5, baseline="system 02")
    assert [panel.name for panel in find_panels(found)] == ["pairs", "systems"]
    (ax,) = plot(found).axes
    assert [label.get_text() for label in ax.get_yticklabels()] == [c.left for c in found.contrasts]
    assert "from system 02" in ax.get_xlabel()
    assert [text.get_text() for text in ax.texts] == ["← worse", "better →"]


@pytest.mark.parametrize("count", [3, 12, 40])
def test_no_label_overlaps_another(count: int) -> None:
    found = compare_many(count)
    for panel in find_panels(found):
        figure = panel.draw()
        assert figure.get_size_inches()[0] == pytest.approx(3.3)
        assert figure.get_size_inches()[1] < 11
        assert find_overlaps(figure) == [], panel.name
    assert find_overlaps(plot(found)) == []


def test_of_more_than_forty_systems_the_first_are_drawn_and_the_axis_says_so(ten: Comparison) -> None:
    one = ten.systems[0]
    many = replace(ten, systems=tuple(replace(one, name=f"s{i}", mean=float(-i)) for i in range(58)))
    for draw in (plot_systems, plot_matrix):
        assert "the first 40 of 58" in draw(many).axes[0].get_xlabel()


def test_a_figure_has_a_name_and_a_wrong_one_lists_them(ten: Comparison, tmp_path: Path) -> None:
    save_plot(ten, tmp_path / "matrix.svg", figure="matrix")
    with pytest.raises(ResultError, match="'systems', 'matrix', 'pairs'"):
        save_plot(ten, tmp_path / "x.svg", figure="nonsense")
    written = save_plots(ten, tmp_path / "all")
    assert [file.name for file in written] == ["systems.svg", "matrix.svg", "pairs.svg"]
    assert all(file.stat().st_size for file in written)


def test_every_metric_has_panels_of_its_own(both: Comparison) -> None:
    panels = find_panels(both)
    assert [panel.name for panel in panels] == [
        f"{name}-{place}" for name in ("systems", "matrix", "pairs") for place in (1, 2)
    ]
    for panel in panels:
        metric = "Latency (ms)" if panel.name.endswith("1") else "Quality (%)"
        (ax,) = panel.draw().axes
        assert metric in panel.shows
        assert ("lower is better" in ax.get_xlabel()) == (panel.name.endswith("1") and "matrix" not in panel.name)
        if "matrix" in panel.name:
            continue
        assert metric in ax.get_xlabel()
        low, high = ax.get_xlim()
        own = [(s.low, s.high) for s in both.systems if s.metric == metric]
        own = own if "systems" in panel.name else [(c.low, c.high) for c in both.contrasts if c.metric == metric]
        assert high - low < 3 * (max(high for _, high in own) - min(low for low, _ in own))


def test_axes_name_the_column_of_the_scores() -> None:
    found = make_comparison(score="Latency (ms)", lower_is_better=True)
    assert plot_systems(found).axes[0].get_xlabel().startswith("mean Latency (ms), 95% CI\n")
    assert "lower is better" in plot_systems(found).axes[0].get_xlabel()
    assert plot_pairs(found).axes[0].get_xlabel().startswith("difference in Latency (ms),")


def test_labels_of_two_lines_do_not_run_together(both: Comparison) -> None:
    figure = plot_pairs(both)
    assert any("\n" in label.get_text() for label in figure.axes[0].get_yticklabels())
    assert find_overlaps(figure) == []
