"""Colours of systems, the same in every picture."""

from __future__ import annotations

from collections.abc import Iterable

from holdsup.plots.intervals import MARK

__all__ = ["COLUMN", "SMALL", "system_colours"]

COLUMN = 3.3  # inches: a column of a paper
SMALL = 8  # points: what is still read there

# Okabe and Ito's colours, told apart with any kind of colour vision; yellow, too pale for a thin line, is left out.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def system_colours(names: Iterable[str]) -> dict[str, str]:
    """Return a colour for each system, by its name and not by its place, so that it keeps it in another ranking.

    More systems than there are colours all have the same one: a repeated colour would say that two belong together.
    """
    ordered = sorted(set(names))
    if len(ordered) > len(COLOURS):
        return dict.fromkeys(ordered, MARK)
    return dict(zip(ordered, COLOURS, strict=False))
