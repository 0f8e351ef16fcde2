"""Stages: a pipeline cut where candidates part, so that what they share is done once per fold.

A pipeline ``counts -> tf-idf -> classifier``, of which candidates change the classifier alone, has two stages. The
first is fitted once per fold, whatever the number of candidates. Where candidates change an earlier step too, each of
its settings is fitted once, and the candidates that share it go on from there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn import get_config
from sklearn.pipeline import Pipeline

from holdsup.studies.tuning.candidates import Params, configure

__all__ = ["Numbered", "Stage", "cut_stages"]

Numbered = tuple[int, Params]  # a candidate, and its place among all


@dataclass(frozen=True, slots=True)
class Stage:
    """Some steps of a pipeline, one after the other, or all of an estimator.

    Attributes
    ----------
    estimator : the steps as a pipeline, or the estimator itself
    steps : names of the steps; None if this is the whole estimator
    """

    estimator: Any
    steps: tuple[str, ...] | None = None

    def settings(self, named: Params) -> Params:
        """Return those parameters (of a candidate, or of ``fit``) that belong to these steps."""
        if self.steps is None:
            return named
        return {name: value for name, value in named.items() if name.partition("__")[0] in self.steps}

    def make(self, params: Params) -> Any:
        """Return an unfitted estimator of this stage as a candidate sets it."""
        return configure(self.estimator, self.settings(params))

    def branch(self, candidates: Iterable[Numbered]) -> list[list[Numbered]]:
        """Return candidates in groups that set this stage alike, in the order in which each first occurs."""
        groups: dict[Hashable, list[Numbered]] = {}
        for candidate in candidates:
            groups.setdefault(_key(self.settings(candidate[1])), []).append(candidate)
        return list(groups.values())


def cut_stages(estimator: Any, candidates: Sequence[Params], fit_params: Params, *, share: bool) -> tuple[Stage, ...]:
    """Return the stages of an estimator; the last one holds what predicts.

    Only scikit-learn's own `Pipeline` is cut, and only where it is sure what each step receives: not when metadata are
    routed, nor when a parameter names no step.
    """
    whole = (Stage(estimator),)
    if not share or type(estimator) is not Pipeline or estimator.transform_input is not None:
        return whole
    names = [name for name, _ in estimator.steps]
    asked = {name.partition("__")[0] for named in (*candidates, fit_params) for name in named}
    if not asked <= set(names) or (fit_params and get_config()["enable_metadata_routing"]):
        return whole
    stages: list[Stage] = []
    start = 0
    for end in range(1, len(names)):
        if _count(names[: end + 1], candidates) > _count(names[:end], candidates):
            stages.append(_part(estimator, start, end))
            start = end
    return (*stages, _part(estimator, start, len(names))) if stages else whole


def _part(pipeline: Pipeline, start: int, end: int) -> Stage:
    steps = pipeline.steps[start:end]
    part = Pipeline(steps, memory=pipeline.memory, verbose=pipeline.verbose)
    return Stage(part, tuple(name for name, _ in steps))


def _count(steps: Sequence[str], candidates: Sequence[Params]) -> int:
    """Return how many different settings candidates have for these steps."""
    stage = Stage(None, tuple(steps))
    return len({_key(stage.settings(params)) for params in candidates})


def _key(settings: Params) -> Hashable:
    """Return what two settings share if they are the same: values for plain ones, else the very object."""
    plain = str | int | float | None
    return tuple(
        (name, type(value), value if isinstance(value, plain) else id(value))
        for name, value in sorted(settings.items())
    )
