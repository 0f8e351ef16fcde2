"""Where the variance of a ranking's scores lies: a bar for each random term."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.plots.labels import short_apart
from holdsup.plots.style import INK, MARK, SMALL, UNSURE, figure_of, in_style, new_axes, tell
from holdsup.rendering.numbers import format_percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from holdsup.verdict.ranking import Ranking
    from holdsup.verdict.ranking.term_records import TermVariance

__all__ = ["plot_terms", "terms_height"]

ROW, FRAME = 0.24, 0.85  # inches a bar, and around the bars
LONGEST = 26


@in_style
def plot_terms(result: Ranking, *, ax: Axes | None = None) -> Figure:
    """Draw the share of each random term, slopes weighed by their regressors; a tick where the paper's share differs.

    Grey are terms whose variance cannot be told from none, and the residual, which has no test.
    """
    ax = ax or new_axes(terms_height(result))
    terms = result.random
    shares = [term.percent_exact for term in terms]
    told = [term.p is not None and term.p <= 1 - result.level for term in terms]
    bars = ax.barh(range(len(terms)), shares, height=0.7, color=[MARK if sure else UNSURE for sure in told])
    for place, (term, bar) in enumerate(zip(terms, bars, strict=True)):
        tell(bar, [f"{_name(term)}: {format_percent(term.percent_exact)} of the variance"])
        end = (max(term.percent, term.percent_exact), place)
        words = format_percent(term.percent_exact)
        ax.annotate(words, end, (4, 0), textcoords="offset points", va="center", fontsize=SMALL - 1)
    differ = [i for i, term in enumerate(terms) if abs(term.percent - term.percent_exact) > 0.05]
    ax.plot([terms[i].percent for i in differ], differ, "|", color=INK, markersize=9)
    ax.set_yticks(range(len(terms)), short_apart(map(_name, terms), LONGEST))
    ax.set_ylim(len(terms) - 0.4, -0.6)
    ax.set_xlim(0, 1.2 * max(1.0, *shares, *(term.percent for term in terms)))  # room for the numbers
    tick = "\n(tick: approximate share, as published)" if differ else ""
    ax.set_xlabel(
        f"share of the variance, percent{tick}\ngrey: not told from none, or the residual", fontsize=SMALL, loc="right"
    )
    return figure_of(ax)


def terms_height(result: Ranking) -> float:
    """Return the inches that the bars need."""
    return ROW * len(result.random) + FRAME


def _name(term: TermVariance) -> str:
    return term.group if term.term in ("", "(Intercept)") else f"{term.term} by {term.group}"
