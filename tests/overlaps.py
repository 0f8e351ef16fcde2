"""Texts of a picture that cannot be read: they overlap another text, or leave the picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.text import Text

SLACK = 1.0  # pixels that are no overlap


def find_overlaps(figure: Any) -> list[tuple[str, str]]:
    """Return the texts of a figure that overlap each other, and those that stand partly outside of it."""
    figure.draw_without_rendering()
    hidden = {id(label) for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for label in _list_hidden(axis)}
    texts = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden
    ]
    boxes = np.array([text.get_window_extent().extents for text in texts])
    low, high = np.maximum(boxes[:, None, :2], boxes[None, :, :2]), np.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    near = np.triu(((high - low) > SLACK).all(axis=2), 1)
    pairs = [(texts[i], texts[j]) for i, j in zip(*np.nonzero(near), strict=True)]
    found = [(one.get_text(), other.get_text()) for one, other in pairs if _touch(_corners(one), _corners(other))]
    width, height = figure.get_size_inches() * figure.dpi
    outside = (boxes[:, :2] < -SLACK).any(axis=1) | (boxes[:, 2:] > np.array([width, height]) + SLACK).any(axis=1)
    return found + [(texts[i].get_text(), "the edge") for i in np.flatnonzero(outside)]


def _list_hidden(axis: Any) -> list[Text]:
    """Return the labels of ticks beyond the ends of an axis, which are not drawn."""
    low, high = sorted(axis.get_view_interval())
    ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    edge = 1e-9 * (high - low)
    gone = [tick for tick in ticks if not low - edge <= tick.get_loc() <= high + edge]
    return [label for tick in gone for label in (tick.label1, tick.label2)]


def _corners(text: Text) -> np.ndarray:
    """Return the corners of a text, which may be turned, shape (4, 2)."""
    turned = text.get_rotation()
    left, bottom, right, top = text.get_window_extent().extents
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(turned)
    across, up = (np.array([np.cos(np.radians(a)), np.sin(np.radians(a))]) for a in (turned, turned + 90))
    middle = np.array([(left + right) / 2, (bottom + top) / 2])
    halves = (across * (box.width / 2 - SLACK / 2), up * (box.height / 2 - SLACK / 2))
    return np.array([middle + i * halves[0] + j * halves[1] for i, j in ((1, 1), (1, -1), (-1, -1), (-1, 1))])


def _touch(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two rectangles overlap: no line along a side of either has them on different sides."""
    for side in (*np.diff(one[:3], axis=0), *np.diff(other[:3], axis=0)):
        first, second = one @ side, other @ side
        if first.max() <= second.min() or second.max() <= first.min():
            return False
    return True
