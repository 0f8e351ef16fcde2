"""Several tests at once: p-values adjusted so that the chance of any false positive stays what it was."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["adjust_holm"]


def adjust_holm(log10_p: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjustment (Holm 1979), on decimal logarithms, in the order given.

    >>> [round(10**q, 3) for q in adjust_holm([-2.0, -1.0, -1.698970004])]
    [0.03, 0.1, 0.04]
    """
    logs = np.asarray(log10_p, float)
    order = np.argsort(logs, kind="stable")
    raised = np.minimum(0.0, logs[order] + np.log10(np.arange(len(logs), 0, -1)))
    adjusted = np.empty(len(logs))
    adjusted[order] = np.maximum.accumulate(raised)
    return adjusted.tolist()
