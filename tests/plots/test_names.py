"""Whatever names are and however many there are, every label of every picture can be read."""

from __future__ import annotations

import warnings

import pytest

from every_kind import PLAIN, make_results
from holdsup.plots import find_panels, plot
from overlaps import find_overlaps

NAMES = {
    "plain": PLAIN,
    "long": tuple(f"{name} {'x' * 300} {name}" for name in PLAIN),
    "unbroken": tuple(f"{name}{'Wide' * 75}{name}" for name in PLAIN),
    "wide letters": tuple(f"{'模型大语言系统测试数据' * 5}{name}" for name in PLAIN),
}
MANY = (*PLAIN, *(f"a system of a rather long name, number {i:02}" for i in range(45)))
TALLEST = 11.0  # inches


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_no_label_of_any_picture_overlaps_another_or_leaves_it(names: tuple[str, ...]) -> None:
    check_pictures(names, systems=3)


@pytest.mark.slow
def test_nor_does_one_of_58_systems() -> None:
    check_pictures(MANY, systems=58)


def check_pictures(names: tuple[str, ...], *, systems: int) -> None:
    """Draw every picture of every kind of result; a warning of matplotlib about the layout is an error."""
    for result in make_results(names, systems=systems):
        for panel in find_panels(result):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="Glyph .* missing")  # which fonts there are is no matter here
                figure = plot(result, figure=panel.name)
                assert find_overlaps(figure) == [], f"{result.kind}, {panel.name}"
            assert figure.get_size_inches()[1] < TALLEST
