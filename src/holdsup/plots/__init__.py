"""One function per figure: takes a result and maybe an Axes, returns the Figure, computes nothing."""

from holdsup.plots.drawing import draw_bytes, draw_svg
from holdsup.plots.figures import draw_file, find_panels, plot, save_figure, save_plot, save_plots
from holdsup.plots.panels import Panel
from holdsup.plots.style import one_palette

__all__ = [
    "Panel", "draw_bytes", "draw_file", "draw_svg", "find_panels", "one_palette", "plot", "save_figure", "save_plot",
    "save_plots",
]  # fmt: skip
