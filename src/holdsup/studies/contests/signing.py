"""What a stranger needs to redo a contest or a tuning: corpus, groups, splits, metric, systems with their settings."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from holdsup.errors import SpecError
from holdsup.experiment.holding import find_held
from holdsup.experiment.identity import identify
from holdsup.metrics.writing import write_metric
from holdsup.splits import Splitter
from holdsup.studies.contests.fields import Field
from holdsup.studies.contests.identities import identify_function
from holdsup.studies.specs.planning import IN_PASSING

__all__ = ["CORPUS_DIGITS", "sign_estimator", "sign_field", "sign_object", "sign_system"]

LONGEST = 80  # signs of an estimator that is written out; a longer one has a digest
DIGITS, CORPUS_DIGITS = 8, 12  # of digests


def sign_field(field: Field, splitter: Splitter) -> dict[str, object]:
    """Return what the signature says about everything but the systems."""
    corpus = {name: value for name, value in field.data.items() if name not in IN_PASSING}
    group = field.data.get("group") or ("given" if field.corpus.groups is not None else None)
    return {
        "metric": write_metric(field.metric),
        "splitter": repr(splitter),
        "corpus": identify(corpus)[:CORPUS_DIGITS],
        "groups": group,
    }


def sign_system(name: str, described: Mapping[str, Any]) -> str:
    """Return one system (see `describe_systems`) as its source and settings, with a digest of its own code."""
    if "held" not in described:
        source = described["source"]
        written = _call(source if isinstance(source, str) else " ".join(source), described["settings"])
        code = {part: described["code"].get(part) for part in ("modules", "files", "key")}
        return f"{written}#{identify(code)[:DIGITS]}" if any(code.values()) else written
    held = find_held(described["held"])
    if described["kind"] == "estimator":
        return sign_estimator(held.args[0])
    try:
        code = identify_function(held, name)
    except SpecError:  # a closure, say: nothing tells it from another of its name
        return f"{described['source']}#unknown"
    return f"{described['source']}#{identify({**code, 'file': None})[:DIGITS]}"


def sign_estimator(estimator: Any) -> str:
    """Return an estimator with the parameters that are not scikit-learn's own, by a digest where they are many.

    >>> from sklearn.linear_model import Ridge
    >>> sign_estimator(Ridge(alpha=2.0))
    'Ridge(alpha=2.0)'
    """
    written = sign_object(estimator)
    if len(written) <= LONGEST:
        return written
    parameters = {name: sign_object(value) for name, value in estimator.get_params(deep=True).items()}
    return f"{type(estimator).__name__}#{identify(parameters)[:DIGITS]}"


def sign_object(value: Any) -> str:
    """Return a value as Python writes it, but for where in memory it is."""
    return re.sub(r" at 0x[0-9a-f]+", "", " ".join(repr(value).split()))


def _call(name: str, options: Mapping[str, Any]) -> str:
    given = ", ".join(f"{option}={value!r}" for option, value in options.items())
    return f"{name}({given})" if given else name
