"""Majority votes on codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Election", "elect"]

Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Election:
    """The winner of each vote, as a code, and where it took a rule to break a tie."""

    winner: Ints
    tied: NDArray[np.bool_]


def elect(ballots: Ints, support: NDArray[np.float64] | None = None) -> Election:
    """Return what most of some voters chose, vote by vote.

    Parameters
    ----------
    ballots : the codes chosen, shape (voters, votes); the earlier voter wins a tie
    support : summed probability of what each voter chose, shape (voters, votes), to break ties with first

    Examples
    --------
    >>> elect(np.array([[0, 1, 2], [1, 1, 0], [2, 0, 1]])).winner.tolist()
    [0, 1, 2]
    """
    agreeing = np.zeros(ballots.shape, dtype=np.intp)
    for own in ballots:
        agreeing += ballots == own
    most = agreeing == agreeing.max(axis=0)
    first = most.argmax(axis=0) if support is None else np.where(most, support, -np.inf).argmax(axis=0)
    winner = np.take_along_axis(ballots, first[None], axis=0)[0]
    return Election(winner, (most & (ballots != winner)).any(axis=0))
