"""A table of uneven ratings, the same wherever it is made: no random numbers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Table(NamedTuple):
    score: NDArray[np.float64]
    system: NDArray[np.int64]
    rater: NDArray[np.int64]
    item: NDArray[np.int64]


def rate_unevenly(items: int = 40) -> Table:
    """Return ratings of three systems by four raters, one or two for each output; severe raters had more of system b."""
    rows = []
    for item in range(items):
        for system in range(3):
            first = (item * 7 + system * 3) % 4 if system != 1 else (3 if item % 5 else item % 3)
            for rater in {first, (first + 1 + item % 2) % 4} if item % 3 == 0 else {first}:
                wave = np.sin(1.0 + item * 2.3) + 0.7 * np.cos(item * 5.1 + system * 1.7 + rater * 0.9)
                rows.append((wave + 0.4 * system - 0.6 * rater + 0.1 * ((system * rater) % 3), system, rater, item))
    score, system, rater, item = (np.array(column) for column in zip(*rows, strict=True))
    return Table(score.astype(float), system, rater, item)
