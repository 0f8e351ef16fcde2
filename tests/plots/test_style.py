"""One look for all figures."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import holdsup
from every_kind import PLAIN, make_results
from holdsup.plots import draw_svg, find_panels, one_palette
from holdsup.plots.comparison import plot_systems
from holdsup.plots.drawing import INHERITED, slim
from holdsup.plots.style import (
    COLOURS,
    COLUMN,
    MARK,
    UNSURE,
    line_looks,
    new_axes,
    rasterize_many,
    short,
    short_pair,
    system_colours,
    tell,
)
from holdsup.results import Result

SVG = "{http://www.w3.org/2000/svg}"


def test_every_panel_returns_a_figure_and_takes_an_axes(results: list[Result]) -> None:
    seen = 0
    for result in results:
        for panel in find_panels(result):
            alone = panel.draw()
            assert isinstance(alone, Figure)
            figure = Figure()
            assert panel.draw(ax=figure.add_subplot()) is figure
            assert [ax.get_label() for ax in figure.axes[1:]] in ([], ["<colorbar>"])
            seen += 1
    assert seen > 10


def test_figures_are_as_wide_as_a_column_with_letters_that_can_be_read_there(results: list[Result]) -> None:
    for result in results:
        for panel in find_panels(result):
            figure = panel.draw()
            assert figure.get_size_inches()[0] == pytest.approx(COLUMN)
            sizes = [text.get_fontsize() for text in figure.findobj(matplotlib.text.Text) if text.get_text()]
            assert min(sizes) >= 6, panel.name


@pytest.mark.parametrize(
    "names", [PLAIN, [f"{'a name that goes on ' * 2}{i}" for i in range(13)]], ids=["short", "long"]
)
def test_nothing_is_cut_off_at_the_width_of_a_column(names: list[str]) -> None:
    seen = 0
    for result in make_results(names):
        for panel in find_panels(result):
            figure = panel.draw()
            figure.draw_without_rendering()
            inches = figure.get_tightbbox()
            assert inches.x0 > -0.02, panel.name
            width, height = figure.get_size_inches()
            assert inches.x1 < width + 0.02, panel.name
            assert inches.y0 > -0.02, panel.name
            assert inches.y1 < height + 0.02, panel.name
            seen += 1
    assert seen > 10


def test_drawing_leaves_the_users_settings_alone(results: list[Result]) -> None:
    before = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"axes.facecolor": "red", "font.size": 30}):
        figure = holdsup.plot(results[1])
        assert figure.axes[0].get_facecolor() == (1, 1, 1, 1)
        assert matplotlib.rcParams["font.size"] == 30
    assert dict(matplotlib.rcParams) == before


def test_a_system_keeps_its_colour_in_all_figures_of_a_report() -> None:
    assert system_colours(["new", "base"]) == {"base": COLOURS[0], "new": COLOURS[1]}
    with one_palette(["a", "base", "new"]):
        assert system_colours(["new"])["new"] == COLOURS[2]
    assert system_colours(["new"])["new"] == COLOURS[0]


def test_colours_are_not_repeated_where_nothing_else_tells_systems_apart() -> None:
    many = system_colours([f"s{i}" for i in range(9)], first="s3")
    assert [name for name, colour in many.items() if colour == MARK] == ["s3"]
    assert set(many.values()) == {MARK, UNSURE}
    for count in (1, len(COLOURS), 12):
        looks = line_looks(count)
        assert len({tuple(look.values()) for look in looks}) == count
        assert len({look["color"] for look in looks}) == (count if count <= len(COLOURS) else 2)


def test_the_colours_of_systems_are_those_drawn() -> None:
    found = holdsup.compare_systems(holdsup.simulate_scores({"b": 0.5, "a": 0.9}, items=8, runs=3))
    dots = [line for line in plot_systems(found).axes[0].lines if line.get_marker() == "o"]
    assert [line.get_color() for line in dots] == [COLOURS[0], COLOURS[1]]  # a is the best, and the first by name


def luminance(colour: str) -> float:
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(colour)]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("paper", ["#ffffff", "#14171c"])
def test_the_first_colours_stand_out_on_light_and_dark_pages(paper: str) -> None:
    for colour in COLOURS[:4]:
        light, dark = sorted((luminance(colour), luminance(paper)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 3


def test_labels_are_short_and_never_mathematics() -> None:
    assert short("x" * 100) == "x" * 25 + "…"
    assert short("$x$") == r"\$x\$"
    assert short_pair("a", "b") == "a - b"
    assert short_pair("a" * 20, "b" * 20) == f"{'a' * 20}\n- {'b' * 20}"


def test_points_say_what_they_are_in_svg() -> None:
    ax = new_axes(1.0)
    (dots,) = ax.plot([1, 2], [1, 2], "o")
    tell(dots, ["<one>", "two"])
    (bar,) = ax.bar([1], [1])
    tell(bar, ["bar"])
    root = ElementTree.fromstring(draw_svg(ax.get_figure(root=True), follow_page=True))  # type: ignore[arg-type]
    told = {parent: child.text for parent in root.iter() for child in parent if child.tag == f"{SVG}title"}
    assert sorted(map(str, told.values())) == ["<one>", "bar", "two"]
    assert all(parent.get("class") == "point" for parent in told)


def test_very_many_points_become_one_picture() -> None:
    ax = new_axes(1.0)
    (dots,) = ax.plot(range(5000), range(5000), "o")
    rasterize_many(dots, 5000)
    svg = draw_svg(ax.get_figure(root=True), follow_page=True)  # type: ignore[arg-type]
    assert "<image" in svg
    assert len(svg) < 50_000


def effective(root: ElementTree.Element) -> list[tuple[str, dict[str, str], str]]:
    """Return what is drawn, in order: each with the attributes that it has or inherits, and where it is."""
    found: list[tuple[str, dict[str, str], str]] = []

    def visit(element: ElementTree.Element, given: dict[str, str], defined: bool) -> None:
        own = {key: element.get(key, given.get(key, "")) for key in INHERITED}
        if element.tag in (f"{SVG}defs", f"{SVG}clipPath"):
            own, defined = dict.fromkeys(INHERITED, ""), True
        if element.tag in [f"{SVG}{name}" for name in ("path", "use", "text", "image", "rect")]:
            letters = element.tag == f"{SVG}text"
            said = {key: value for key, value in own.items() if letters or not key.startswith("font")}
            said["fill"] = re.sub(r"url\(.*\)", "url", said["fill"])  # what it is filled with, not by which name
            found.append((element.tag, said, element.get("x", "") if not defined else ""))
        for child in element:
            visit(child, own, defined)

    visit(root, {}, False)
    return found


def test_lean_svg_draws_the_same_marks_in_the_same_look_and_place(
    results: list[Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[bytes] = []

    def keep(root: ElementTree.Element) -> None:
        before.append(ElementTree.tostring(root))
        slim(root)

    monkeypatch.setattr("holdsup.plots.drawing.slim", keep)
    for result in results:
        lean = draw_svg(holdsup.plot(result), follow_page=True)
        full = before.pop()
        assert len(lean) < 0.7 * len(full), result.kind
        ours, theirs = effective(ElementTree.fromstring(lean)), effective(ElementTree.fromstring(full))
        assert [(tag, said) for tag, said, _ in ours] == [(tag, said) for tag, said, _ in theirs], result.kind
        places = [(float(a), float(b)) for (*_, a), (*_, b) in zip(ours, theirs, strict=True) if b]
        assert places
        assert max(abs(a - b) for a, b in places) <= 0.0051


def test_saved_svg_has_dark_letters_and_pages_choose_their_own(results: list[Result], tmp_path: Path) -> None:
    figure = holdsup.plot(results[0])
    assert "currentColor" in draw_svg(figure, follow_page=True)
    assert "currentColor" not in draw_svg(figure, follow_page=False)


def test_the_last_bits_of_a_number_change_nothing_in_a_picture() -> None:
    def drawn(noise: float) -> str:
        ax = new_axes(1.0)
        (dots,) = ax.plot([0.1, 0.2 + noise, 0.7], [1.0, 2.0 + noise, 4.0], "o-")
        ax.barh([1.0], [0.5 + noise], hatch="//")
        tell(dots, ["one", "two", "three"])
        return draw_svg(ax.get_figure(root=True), follow_page=False)  # type: ignore[arg-type]

    assert drawn(0.0) == drawn(1e-15)
    assert drawn(0.0) != drawn(0.1)
