"""Where the variance comes from: shares and phi, what more levels would be worth, and facets along a property."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdsup.errors import ResultError
from holdsup.plots.panels import Panel
from holdsup.plots.style import (
    COLOURS,
    FAINT,
    FRAME,
    INK,
    ROW,
    UNSURE,
    add_legend,
    explain_axis,
    figure_of,
    in_style,
    legend_height,
    line_looks,
    name_places,
    new_axes,
    say_estimate,
    short,
    short_apart,
    tell,
    write_beside,
)
from holdsup.rendering.numbers import format_percent
from holdsup.results import find_scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict import Decomposition
    from holdsup.verdict.variance.records import FacetByProperty, StudyPlan

HATCHES = ("//", "..", "xx")  # when the colours are used up
DARK = ("#0072B2", "#D55E00", "#009E73", INK)  # on which numbers are white
LABELLED = 12.0  # percent that a bar needs to have room for its number
MOST_BARS = 40
THRESHOLDS = ((0.5, "moderate", "-"), (0.75, "good", "-"), (0.8, "Jiang's .80", ":"), (0.9, "excellent", "-"))
TALL, TALLER = 2.0, 2.2  # inches of curves, and with a title of their legend
MOST_CURVES = 12


def panels_of_variance(result: Decomposition) -> Iterator[Panel]:
    """Yield the shares, and the decision study and the levels along a property where there are any."""
    yield Panel(
        name="shares",
        shows="The share of each source in the variance of a system's scores"
        + ("; at the right the reliability phi of single scores." if result.reliabilities else "."),
        beside="components",
        draw=partial(plot_shares, result),
    )
    if result.study:
        yield Panel(
            name="study",
            shows="The reliability phi of averages over more levels of a facet.",
            beside="study",
            draw=partial(plot_study, result),
        )
    if result.properties:
        yield Panel(
            name="property",
            shows="The predicted score of each level of a facet along a property of the items, with CI.",
            beside="properties",
            draw=partial(plot_facet_lines, result),
        )


@in_style
def plot_shares(result: Decomposition, *, ax: Axes | None = None) -> Figure:
    """Draw one stacked bar for each system, the share of each component, and its phi; of more than 40, the first."""
    owners = [(s.system, s.metric) for s in result.systems][:MOST_BARS]
    ax = ax or new_axes(ROW * len(owners) + legend_height(_names(result)) + FRAME)
    ends = dict.fromkeys(owners, 0.0)
    for i, name in enumerate(_names(result)):
        own = [c for c in result.components if c.name == name]
        shares = {(c.system, c.metric): min(100.0, max(0.0, c.percent)) for c in own}  # a saved result may be edited
        widths = [shares.get(owner, 0.0) for owner in owners]
        coloured = i < len(COLOURS)
        colour = FAINT if name == "Residual" else COLOURS[i] if coloured else UNSURE
        hatch = "" if name == "Residual" or coloured else HATCHES[i % len(HATCHES)]
        bars = ax.barh(
            range(len(owners)), widths, left=[ends[owner] for owner in owners], color=colour, hatch=hatch,
            edgecolor="white", linewidth=0.6, label=short(name),
        )  # fmt: skip
        shown = [format_percent(width) if width >= LABELLED else "" for width in widths]
        ax.bar_label(bars, shown, label_type="center", fontsize=7, color="white" if colour in DARK else "black")
        for bar, owner, width in zip(bars, owners, widths, strict=True):
            tell(bar, [f"{owner[0]}, {name}: {format_percent(width)}"])
            ends[owner] += width
    ax.set_yticks(range(len(owners)), short_apart(s if m is None else f"{s}, {m}" for s, m in owners))
    ax.set_ylim(len(owners) - 0.4, -0.6)  # the first on top
    ax.set_xlim(0, 100)
    phi = {(r.system, r.metric): r for r in result.reliabilities}
    for place, owner in enumerate(owners):
        if owner in phi:
            write_beside(ax, place, f"{phi[owner].phi:.2f}")
    if phi:
        write_beside(ax, -0.8, "phi")
    more = f"the first {len(owners)} of {len(result.systems)}" if len(owners) < len(result.systems) else ""
    explain_axis(ax, "share of the variance, percent", more)
    add_legend(ax, flush="right")
    return figure_of(ax)


def _names(result: Decomposition) -> list[str]:
    """Return the components, the residual last."""
    return sorted(dict.fromkeys(c.name for c in result.components), key="Residual".__eq__)


@in_style
def plot_study(result: Decomposition, *, ax: Axes | None = None) -> Figure:
    """Draw phi against the number of levels of each facet, the others at one level; the first 12 curves."""
    curves = _curves(result)
    ax = ax or new_axes(TALL + legend_height(name for name, _ in curves))
    for (name, points), look in zip(curves, line_looks(len(curves)), strict=True):
        counts, phi = zip(*points, strict=True)
        (line,) = ax.plot(counts, phi, label=short(name), **look)
        tell(line, [f"{name}, {count} levels: phi {value:.2f}" for count, value in points])
    for threshold, name, dashes in THRESHOLDS:
        ax.axhline(threshold, color=FAINT, linewidth=0.6, linestyle=dashes, zorder=0)
        ax.annotate(
            name, (1.0, threshold), xycoords=("axes fraction", "data"), xytext=(2, 0), textcoords="offset points",
            va={0.75: "top", 0.8: "bottom"}.get(threshold, "center"), fontsize=6, annotation_clip=False,
        )  # fmt: skip
    ax.set_ylim(0, 1)
    ax.set_xlabel("levels that scores are averaged over")
    ax.set_ylabel("reliability, phi")
    add_legend(ax)
    return figure_of(ax)


def _curves(result: Decomposition) -> list[tuple[str, list[tuple[int, float]]]]:
    """Return the curves that are drawn: what each is called, and its points."""
    several = len(result.reliabilities) > 1
    facets = list(dict.fromkeys(facet for plan in result.study for facet in plan.counts))
    owners = list(dict.fromkeys((plan.system, plan.metric) for plan in result.study))
    curves = [
        (f"{system}: {facet}" if several else facet, _curve(result, (system, metric), facet))
        for system, metric in owners
        for facet in facets
    ]
    return [curve for curve in curves if curve[1]][:MOST_CURVES]


def _curve(result: Decomposition, owner: tuple[str, str | None], facet: str) -> list[tuple[int, float]]:
    """Return the points of one facet's curve: of the plans with one number of its levels, the cheapest."""
    plans = [p for p in result.study if (p.system, p.metric) == owner and facet in p.counts]
    planned = [p for p in plans if not p.current or len(p.counts) == 1]
    cheapest: dict[int, StudyPlan] = {}
    for plan in sorted(planned, key=lambda p: sum(p.counts.values())):
        cheapest.setdefault(plan.counts[facet], plan)
    return [(count, cheapest[count].phi) for count in sorted(cheapest)]


@in_style
def plot_facet_lines(result: Decomposition, which: int | None = None, *, ax: Axes | None = None) -> Figure:
    """Draw the predicted score of each level against a property, with CI given the mean line; the first 12 levels.

    `which` is a place in `result.properties`; by default the one with the smallest p.
    """
    if not result.properties:
        raise ResultError("there is no property in this result: ask for one with --by")
    crossed = _strongest(result) if which is None else result.properties[which]
    ax = ax or new_axes(TALLER + legend_height(_levels(crossed)))
    values = list(dict.fromkeys(p.value for p in crossed.points))
    classes = [value for value in values if isinstance(value, str)]
    places = {value: float(i) if isinstance(value, str) else value for i, value in enumerate(values)}
    levels = _levels(crossed)
    for level, look in zip(levels, line_looks(len(levels)), strict=True):
        own = [p for p in crossed.points if p.level == level]
        at = [places[p.value] for p in own]
        ax.fill_between(at, [p.low for p in own], [p.high for p in own], color=look["color"], alpha=0.15, linewidth=0)
        (line,) = ax.plot(at, [p.mean for p in own], label=short(level), **look)
        named = [f"{crossed.facet} {level}, {crossed.property} {p.value}: " for p in own]
        tell(line, [f"{name}{say_estimate(p.mean, p.low, p.high)}" for name, p in zip(named, own, strict=True)])
    if classes:
        name_places(ax, classes)
    ax.set_xlabel(short(crossed.property))
    ax.set_ylabel(f"predicted {short(find_scored(result).name(crossed.metric))} of\n{short(crossed.system)}")
    add_legend(ax, title=short(crossed.facet))
    return figure_of(ax)


def _strongest(result: Decomposition) -> FacetByProperty:
    return min(result.properties, key=lambda f: f.log10_p)


def _levels(crossed: FacetByProperty) -> list[str]:
    return list(dict.fromkeys(p.level for p in crossed.points))[:MOST_CURVES]
