"""What a stranger needs to redo a search: items, groups, splits, estimator, scorer."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from holdsup.errors import SplitError
from holdsup.experiment.identity import identify
from holdsup.splits import JKFold
from holdsup.studies.contests.identities import digest_values
from holdsup.studies.contests.signing import CORPUS_DIGITS, sign_estimator, sign_object
from holdsup.studies.tuning.training import Training

__all__ = ["sign_training"]


def sign_training(training: Training, groups: Any, splitter: JKFold, scoring: Any) -> dict[str, object]:
    """Return what the signature says about everything but the candidates and their scores."""
    parts = {"input": training.X, "target": training.y, "group": groups, **training.fit_params}
    digests = {name: _digest(part) for name, part in parts.items() if part is not None}
    known = None not in digests.values()
    return {
        "scoring": None if scoring is None or isinstance(scoring, str) else sign_object(scoring),
        "system": sign_estimator(training.estimator),
        "splitter": repr(splitter),
        "corpus": identify(digests)[:CORPUS_DIGITS] if known else "unknown",
        "groups": None if groups is None else "given",
    }


def _digest(values: Any) -> str | None:
    """Return a hash of items, targets or what else has a value for each; None where they are objects of any kind."""
    if not (hasattr(values, "__len__") or hasattr(values, "shape")):
        return sign_object(values)
    try:
        return digest_values(values, "the values")
    except (SplitError, pa.ArrowException, TypeError, ValueError):
        return None
