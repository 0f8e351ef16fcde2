"""What each system does on each dataset beyond both their means: a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots import style
from holdsup.rendering.numbers import format_number
from holdsup.verdict.phrases import say_level

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.ranking import Ranking
    from holdsup.verdict.ranking.records import InteractionEffect

COLOURS = "PuOr_r"  # orange and purple are told apart with any kind of colour vision; white is zero
UNSEEN = "#BDBDBD"
ROW, FRAME = 0.2, 1.6  # inches a row, and around the rows
MOST = 40  # systems, or datasets
FEW = 12  # columns up to which a column of a paper is wide enough
WIDE = 6.5  # inches, where there are more
NUMBERED = 8  # columns up to which a cell has room for its number
DARK = 0.65  # share of the largest effect from which a number on it is white
LONGEST, LONGER = 18, 30  # letters of a name in a column of a paper, and where there is more room


@style.in_style
def plot_interactions(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the effect of each system on each dataset, systems by rank; the longer side runs down.

    A dot, or where there is room a bold number, marks an effect whose CI leaves out zero. Grey with a cross is a
    cell without scores. Of more than 40 datasets or systems, those with the largest effects are drawn.
    """
    effects = {(e.system, e.dataset): e for e in result.interactions}
    systems = _largest(result, [system.name for system in result.systems], "system")
    datasets = _largest(result, list(dict.fromkeys(e.dataset for e in result.interactions)), "dataset")
    fewer, more = sorted((len(systems), len(datasets)))
    ax = ax or style.new_axes(ROW * more + FRAME, width=style.COLUMN if fewer <= FEW else WIDE)
    down, across, turned = (systems, datasets, True) if len(systems) > len(datasets) else (datasets, systems, False)
    cells = [[effects[(row, column) if turned else (column, row)] for column in across] for row in down]
    largest = max(abs(e.effect) for e in result.interactions) or 1.0
    image = ax.imshow(
        [[e.effect for e in row] for row in cells], cmap=COLOURS, vmin=-largest, vmax=largest, aspect="auto"
    )
    for y, row in enumerate(cells):
        for x, effect in enumerate(row):
            _mark(ax, x, y, effect, largest, numbered=len(across) <= NUMBERED)
            _tell_cell(ax, x, y, effect)
    room = LONGEST if style.figure_of(ax).get_figwidth() < WIDE else LONGER
    ax.set_yticks(range(len(down)), style.short_apart(down, room), fontsize=style.SMALL)
    turn = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if len(across) <= FEW else {"rotation": 90}
    ax.set_xticks(range(len(across)), style.short_apart(across, LONGEST), fontsize=style.SMALL, **turn)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    bar = style.figure_of(ax).colorbar(image, ax=ax, shrink=0.6, pad=0.02)
    bar.ax.tick_params(labelsize=style.SMALL - 1)
    bar.outline.set_visible(False)
    mark = "bold" if len(across) <= NUMBERED else "dot"
    marked = f"{mark}: {say_level(result.level)} CI leaves out zero"
    style.explain_axis(ax, "effect beyond both means", marked, _left_out(result, systems, datasets))
    return style.figure_of(ax)


def _largest(result: Ranking, names: list[str], side: str) -> list[str]:
    """Return names in their order; of too many, those with the largest effects."""
    sizes = dict.fromkeys(names, 0.0)
    for effect in result.interactions:
        name = getattr(effect, side)
        sizes[name] = max(sizes[name], abs(effect.effect))
    drawn = set(sorted(names, key=lambda name: -sizes[name])[:MOST])
    return [name for name in names if name in drawn]


def _left_out(result: Ranking, systems: list[str], datasets: list[str]) -> str:
    every = {"systems": {e.system for e in result.interactions}, "datasets": {e.dataset for e in result.interactions}}
    shown = {"systems": len(systems), "datasets": len(datasets)}
    fewer = [f"{shown[side]} of {len(names)} {side}" for side, names in every.items() if shown[side] < len(names)]
    return f"{' and '.join(fewer)}: the largest" if fewer else ""


def _tell_cell(ax: Axes, x: int, y: int, effect: InteractionEffect) -> None:
    """Lay something over a cell that is not seen, and says what the cell is: the colours are one picture."""
    from matplotlib.patches import Rectangle

    cell = ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor="white", alpha=0.0))
    value = style.say_estimate(effect.effect, effect.low, effect.high) if effect.scores else "no scores"
    style.tell(cell, [f"{effect.system} on {effect.dataset}: {value}"])


def _mark(ax: Axes, x: int, y: int, effect: InteractionEffect, largest: float, *, numbered: bool) -> None:
    from matplotlib.patches import Rectangle

    if not effect.scores:
        ax.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, color=UNSEEN, linewidth=0))
        ax.text(x, y, "×", ha="center", va="center", fontsize=style.SMALL - 1, color="black")
        return
    ink = "white" if abs(effect.effect) > DARK * largest else "black"
    told = effect.low > 0 or effect.high < 0
    if numbered:
        words = format_number(effect.effect, uncertainty=largest / 10)
        ax.text(
            x,
            y,
            words,
            ha="center",
            va="center",
            fontsize=style.SMALL - 1,
            color=ink,
            weight="bold" if told else "normal",
        )
    elif told:
        ax.plot(x, y, "o", color=ink, markersize=2)
