"""The pictures of a ranking show its numbers, and bear any names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import holdsup
from holdsup.errors import ResultError
from holdsup.plots import draw_svg, find_panels, save_plot
from holdsup.plots.heatmap import plot_interactions
from holdsup.plots.ranking import (
    plot_contributions,
    plot_leads,
    plot_means,
    plot_nuisance,
    plot_quantiles,
    plot_ranks,
    plot_terms,
    plot_waterfall,
)
from holdsup.plots.style import COLOURS, MARK, UNSURE, system_colours
from holdsup.verdict.ranking import Ranking, rank_systems

HOSTILE = ("<script>alert(1)</script>", "a&b", "x_1%", r"$\alpha$", "_hidden", "a name that goes on and on and on " * 2)
PICTURES: list[Callable[..., Figure]] = [
    plot_means, plot_leads, plot_nuisance, plot_contributions, plot_terms, plot_interactions, plot_waterfall, plot_ranks,
    plot_quantiles,
]  # fmt: skip


def make_table(names: Sequence[str], *, datasets: int = 6, missing: tuple[str, str] | None = None) -> dict[str, Any]:
    """Return scores of systems, one better than the other, at two rates with two seeds; a cell may be missing."""
    rng = np.random.default_rng(4)
    axes = np.meshgrid(range(len(names)), range(datasets), range(2), range(2), indexing="ij")
    s, d, rate, seed = (axis.ravel() for axis in axes)
    cell = s * datasets + d
    y = 70 + 2.0 * s + rng.normal(0, 4, datasets)[d] + rng.normal(0, 2, cell.max() + 1)[cell] + rate
    y += rng.normal(0, 1, (cell.max() + 1, 2))[cell, rate] + rng.normal(0, 1, len(s))
    table = {
        "score": y,
        "system": np.array(names, dtype=object)[s],
        "dataset": np.array([f"d{i:02}" for i in range(datasets)], dtype=object)[d],
        "lr": rate,
        "seed": seed,
        "large": (s > 1).astype(float),
    }
    gone = (None, None) if missing is None else missing
    keep = (table["system"] != gone[0]) | (table["dataset"] != gone[1])
    return {name: values[keep] for name, values in table.items()}


@pytest.fixture(scope="module")
def found() -> Ranking:
    return rank_systems(make_table(["A", "B", "C", "D"]), contribution="large", folds=0)


@pytest.fixture(scope="module")
def hostile() -> Ranking:
    return rank_systems(make_table(HOSTILE, missing=(HOSTILE[1], "d03")), contribution="large", folds=0)


def dots(ax: Axes) -> list[tuple[float, float]]:
    return [
        (float(x), float(y))
        for line in ax.lines
        if line.get_marker() == "o"
        for x, y in zip(np.atleast_1d(line.get_xdata()), np.atleast_1d(line.get_ydata()), strict=True)  # type: ignore[call-overload]
    ]


def labels(ax: Axes) -> list[str]:
    return [label.get_text() for label in ax.get_yticklabels()]


def test_means_stand_in_their_order_with_limits_and_raw_means(found: Ranking) -> None:
    (ax,) = plot_means(found).axes
    assert labels(ax) == [system.name for system in found.systems] == ["D", "C", "B", "A"]
    assert dots(ax) == [(system.mean, place) for place, system in enumerate(found.systems)]
    spans = [list(line.get_xdata()) for line in ax.lines if line.get_linestyle() == "-" and len(line.get_xdata()) == 2]  # type: ignore[arg-type]
    assert spans == [[system.low, system.high] for system in found.systems]
    (ticks,) = (line for line in ax.lines if line.get_marker() == "|")
    assert list(ticks.get_xdata()) == [system.raw_mean for system in found.systems]  # type: ignore[arg-type]
    words = [text.get_text() for text in ax.texts]
    assert words[-1] == "places best"
    assert words[0].endswith(f"{found.systems[0].p_best:.2f}")


def test_a_system_keeps_its_colour_whoever_leads(found: Ranking) -> None:
    def colours(result: Ranking) -> dict[str, str]:
        (ax,) = plot_means(result).axes
        drawn = [to_hex(line.get_color()) for line in ax.lines if line.get_marker() == "o"]
        return dict(zip(labels(ax), drawn, strict=True))

    turned = replace(found, systems=found.systems[::-1])
    assert colours(found) == colours(turned)
    assert len(set(colours(found).values())) == 4
    (ax,) = plot_ranks(found).axes
    ranks = [to_hex(line.get_color()) for line in ax.lines if line.get_marker() == "o"]
    assert dict(zip(labels(ax), ranks, strict=True)) == colours(found)


def test_of_more_systems_than_colours_one_is_highlighted_and_the_rest_are_grey() -> None:
    assert len(set(system_colours("ABCDEFG").values())) == len(COLOURS) == 7
    many = system_colours("ABCDEFGH", first="C")
    assert many.pop("C") == MARK
    assert set(many.values()) == {UNSURE}


def test_leads_are_the_leaders_contrasts(found: Ranking) -> None:
    (ax,) = plot_leads(found).axes
    of = {frozenset((c.left, c.right)): c for c in found.contrasts}
    expected = [of[frozenset(("D", name))] for name in "CBA"]
    assert labels(ax) == ["C", "B", "A"]
    assert [x for x, _ in dots(ax)] == [c.difference if c.left == "D" else -c.difference for c in expected]
    colours = [to_hex(line.get_color()) for line in ax.lines if line.get_marker() == "o"]
    assert [colour != "#8c8c8c" for colour in colours] == [c.p_adjusted <= 0.05 for c in expected]


def test_nuisance_effects_and_contributions_are_drawn_without_the_intercept(found: Ranking) -> None:
    (ax,) = plot_nuisance(found).axes
    effects = [effect for effect in found.fixed if effect.factor is not None]
    assert len(effects) == len(found.fixed) - 1
    assert [x for x, _ in dots(ax)] == [effect.estimate for effect in effects]
    (ax,) = plot_contributions(found).axes
    assert labels(ax) == ["large"]


def test_bars_are_shares_of_the_variance(found: Ranking) -> None:
    (ax,) = plot_terms(found).axes
    assert [bar.get_width() for bar in ax.patches] == [term.percent_exact for term in found.random]  # type: ignore[attr-defined]
    assert labels(ax)[-1] == "Residual"
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(100)  # type: ignore[attr-defined]


def test_the_heat_map_has_a_cell_for_every_system_on_every_dataset(found: Ranking) -> None:
    ax, _ = plot_interactions(found).axes
    drawn = np.asarray(ax.images[0].get_array())
    effects = {(e.dataset, e.system): e.effect for e in found.interactions}
    assert labels(ax) == [f"d{i:02}" for i in range(6)]
    assert drawn.tolist() == [[effects[dataset, system] for system in "DCBA"] for dataset in labels(ax)]
    assert ax.images[0].norm.vmin == -max(map(abs, effects.values()))  # zero is white
    bold = sum(text.get_fontweight() == "bold" for text in ax.texts)
    assert bold == sum(e.low > 0 or e.high < 0 for e in found.interactions)


def test_a_cell_without_scores_is_crossed_out(hostile: Ranking) -> None:
    ax, _ = plot_interactions(hostile).axes
    assert [text.get_text() for text in ax.texts].count("×") == 1


def test_of_many_datasets_those_with_the_largest_effects_are_drawn(found: Ranking) -> None:
    effect = found.interactions[0]
    many = tuple(
        replace(effect, system=system, dataset=f"{i:03}", effect=float(i % 50)) for i in range(100) for system in "ABCD"
    )
    ax, _ = plot_interactions(replace(found, interactions=many)).axes
    assert len(labels(ax)) == 40
    assert min(int(name) % 50 for name in labels(ax)) == 30
    assert "40 of 100 datasets: the largest" in ax.get_xlabel()


def test_bars_of_the_waterfall_lead_from_the_raw_gap_to_the_isolated_one(found: Ranking) -> None:
    (ax,) = plot_waterfall(found).axes
    ends = {
        name: (bar.get_x(), bar.get_x() + bar.get_width()) for name, bar in zip(labels(ax), ax.patches, strict=True)
    }  # type: ignore[attr-defined]
    before_shrinkage = [step for step in found.waterfall if step.step != "shrinkage"]
    assert ends["raw gap"] == pytest.approx((0, found.waterfall[0].gap))
    assert ends["isolated gap"] == pytest.approx((0, before_shrinkage[-1].gap))
    for earlier, step in zip(found.waterfall, found.waterfall[1:], strict=False):
        assert ends[step.step] == pytest.approx((earlier.gap, step.gap))
    assert labels(ax)[-1] == "shrunken gap"
    without = replace(found, waterfall=tuple(before_shrinkage))
    assert labels(plot_waterfall(without).axes[0])[-1] == "isolated gap"


def test_ranks_are_drawn_with_the_critical_difference_and_the_groups(found: Ranking) -> None:
    (ax,) = plot_ranks(found).axes
    assert found.companion is not None
    assert dots(ax) == [(row.average_rank, place) for place, row in enumerate(found.companion.ranks)]
    (bar,) = (line for line in ax.lines if line.get_marker() == "|")
    assert np.ptp(bar.get_xdata()) == pytest.approx(found.companion.critical_difference)  # type: ignore[arg-type]
    groups = [line for line in ax.lines if line.get_linewidth() == 2]
    assert len(groups) == len(found.companion.cliques) > 0


def test_a_ranking_without_average_ranks_says_so(found: Ranking) -> None:
    with pytest.raises(ResultError, match="has no average ranks"):
        plot_ranks(replace(found, companion=None))


def test_quantiles_are_drawn_a_panel_each(found: Ranking) -> None:
    (ax,) = plot_quantiles(found).axes
    first = found.diagnostics[0]
    assert sorted(dots(ax)) == sorted(zip(first.normal, first.observed, strict=True))
    shown = [panel for panel in find_panels(found) if panel.name.startswith("quantiles")]
    titles = [panel.draw().axes[0].get_title(loc="left") for panel in shown]
    assert titles == [each.name for each in found.diagnostics]


def test_places_answer_and_every_other_question_has_its_picture(found: Ranking) -> None:
    names = [panel.name for panel in find_panels(found)]
    assert names[:9] == ["systems", "leads", "variance", "nuisance", "contributions", "interactions", "waterfall",
                         "ranks", "quantiles"]  # fmt: skip
    assert len(names) == 8 + len(found.diagnostics)
    assert len(holdsup.plot(found).axes) == 1
    figure = Figure()
    assert holdsup.plot(found, ax=figure.add_subplot()) is figure
    assert len(figure.axes) == 1
    bare = replace(found, companion=None, contributions=(), interactions=(), diagnostics=(), fixed=(), waterfall=())
    assert [panel.name for panel in find_panels(bare)] == ["systems", "leads", "variance"]


@pytest.mark.parametrize("draw", PICTURES)
def test_pictures_go_on_an_axes_that_is_given(found: Ranking, draw: Callable[..., Figure]) -> None:
    figure = Figure(figsize=(3.3, 3))
    assert draw(found, ax=figure.add_subplot()) is figure


@pytest.mark.parametrize("draw", PICTURES)
def test_nothing_is_cut_off_at_the_width_of_a_column(hostile: Ranking, draw: Callable[..., Figure]) -> None:
    figure = draw(hostile)
    assert figure.get_figwidth() == 3.3
    figure.draw_without_rendering()
    inches = figure.get_tightbbox()
    assert inches.x0 > -0.02
    assert inches.x1 < 3.32


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_hostile_names_are_drawn_as_they_are(hostile: Ranking, tmp_path: Path, ending: str) -> None:
    save_plot(hostile, tmp_path / f"x.{ending}")
    written = (tmp_path / f"x.{ending}").read_bytes()
    assert len(written) > 5_000
    assert b"<script>" not in written
    assert r"\$\alpha\$" in labels(plot_means(hostile).axes[0])


def test_a_quantile_plot_of_many_points_is_small_and_its_ends_say_what_they_are(found: Ranking) -> None:
    normal = tuple(i / 100 - 2 for i in range(400))
    many = replace(found.diagnostics[0], normal=normal, observed=normal, count=400)
    svg = draw_svg(plot_quantiles(replace(found, diagnostics=(many,))), follow_page=False)
    assert len(svg) < 30_000
    assert svg.count("<title>") == 30
    assert ": -2<" in svg
