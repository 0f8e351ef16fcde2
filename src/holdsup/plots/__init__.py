"""One function per figure: takes a result and maybe an Axes, returns the Figure, computes nothing."""

from holdsup.plots.figures import plot, save_plot

__all__ = ["plot", "save_plot"]
