"""Each candidate with what is known of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.numerics.rounding import largest, without_noise
from holdsup.numerics.tuning import Limits, Standing, count_wins
from holdsup.verdict.tuning.naming import name_candidates, plain_setting
from holdsup.verdict.tuning.records import CandidateRow, Status

__all__ = ["list_candidates", "standard_error"]

Floats = NDArray[np.float64]


def list_candidates(
    table: Floats,
    candidates: Sequence[Mapping[str, Any]],
    standing: Standing,
    limits: Limits,
    chances: Floats,
    failed: NDArray[np.bool_],
    repeated: NDArray[np.intp],
    sign_of: float,
) -> tuple[CandidateRow, ...]:
    """Return a row for each candidate, in their order; `sign_of` is -1 where smaller scores are better."""
    out = failed | (repeated != np.arange(len(candidates)))
    same = np.where(repeated != np.arange(len(candidates)), repeated, standing.twins)
    wins = count_wins(np.where(out, np.nan, sign_of * table))
    names = name_candidates(candidates)
    return tuple(
        CandidateRow(
            index=c,
            name=names[c],
            params={key: plain_setting(value) for key, value in candidates[c].items()},
            status="same" if repeated[c] != c else _status(c, standing, limits, failed, len(table)),
            partitions=int(np.isfinite(table[:, c]).sum()),
            mean=sign_of * float(standing.means[c]),
            se=standard_error(table[:, c]) if not out[c] else float("nan"),
            difference=sign_of * float(standing.gaps[c]) + 0.0,  # no negative zero
            lead=float(limits.upper[c]),
            wins=float("nan") if out[c] else float(wins[c]),
            p_best=float("nan") if out[c] else float(chances[c]),
            same_as=int(same[c]) if same[c] != c and (repeated[c] != c or not failed[c]) else None,
            scores=tuple(map(float, table[:, c])),
        )
        for c in range(len(candidates))
    )


def _status(c: int, standing: Standing, limits: Limits, failed: NDArray[np.bool_], partitions: int) -> Status:
    if failed[c]:
        return "failed"
    if c == standing.pick:
        return "pick"
    if standing.counts[c] < partitions:
        return "dropped"
    return "alike" if limits.alike[c] else "worse"


def standard_error(scores: Floats) -> float:
    """Return the standard error of the mean of the scores that are there; NaN for one, zero if they are the same.

    >>> standard_error(np.array([0.7562147366068935, 0.7562147366068936])), standard_error(np.array([1.0, 3.0, np.nan]))
    (0.0, 1.0)
    """
    own = scores[np.isfinite(scores)]
    if len(own) < 2:
        return float("nan")
    left = without_noise(own - own.mean(), largest(own))
    return float(np.sqrt((left**2).sum() / (len(own) - 1) / len(own)))
