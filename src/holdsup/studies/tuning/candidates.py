"""Candidates: the settings that a search chooses from, in a fixed order; and what they share, which is done once.

A pipeline ``counts -> tf-idf -> classifier``, of which candidates change the classifier alone, has two stages. The
first is fitted once per fold, whatever the number of candidates. Where candidates change an earlier step too, each of
its settings is fitted once, and the candidates that share it go on from there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline

from holdsup.errors import TuningError, list_names
from holdsup.results import Caution
from holdsup.verdict.tuning.candidates import identify_settings

Params = dict[str, Any]

Numbered = tuple[int, Params]  # a candidate, and its place among all


def list_candidates(given: Any, *, n_candidates: int | None, seed: int) -> tuple[list[Params], list[Caution]]:
    """Return the different candidates of a grid, of several grids, or drawn from distributions, in a fixed order.

    And a caution, where they are fewer than asked for: equal ones are one.

    Parameters
    ----------
    given : a mapping from parameter names to lists of values or distributions (with ``rvs``), or a list of mappings
    n_candidates : how many to draw; None takes the whole grid
    seed : of the draws
    """
    grids = [given] if isinstance(given, Mapping) else given
    if not isinstance(grids, Sequence) or isinstance(grids, str) or not all(isinstance(g, Mapping) for g in grids):
        raise TuningError(f"candidates are {given!r:.60}: give a dict from parameter names to lists of values")
    drawn = [name for grid in grids for name, values in grid.items() if hasattr(values, "rvs")]
    if drawn and n_candidates is None:
        raise TuningError(f"{list_names(drawn)} of the candidates is a distribution: say how many with n_candidates=")
    try:
        whole = [] if drawn else [dict(params) for params in ParameterGrid(grids)]
        if n_candidates is None or (not drawn and n_candidates >= len(whole)):
            found = whole
        else:
            found = [dict(params) for params in ParameterSampler(grids, n_candidates, random_state=seed)]
    except (TypeError, ValueError) as error:
        raise TuningError(f"candidates cannot be listed: {error}") from error
    if not found:
        raise TuningError("there are no candidates: give at least one value for a parameter")
    different: dict[Hashable, Params] = {}
    for params in found:
        different.setdefault(identify_settings(params), params)
    asked = max(len(found), n_candidates or 0)
    message = f"{asked} candidates were asked for, but only {len(different)} are different."
    fewer = Caution(code="fewer-candidates", severity="note", about="table:candidates", message=message)
    return list(different.values()), [fewer] if asked > len(different) else []


def configure(estimator: Any, params: Params) -> Any:
    """Return an unfitted clone of the estimator with these parameters; an unknown name is refused with the nearest."""
    copied = {name: clone(value, safe=False) for name, value in params.items()}  # a value may be an estimator
    try:
        return clone(estimator).set_params(**copied)
    except (AttributeError, ValueError) as error:
        known = estimator.get_params(deep=True)
        for name in params:
            if name not in known:
                inside = [other for other in known if other.endswith(f"__{name}")]  # of a step of a pipeline
                near = inside or get_close_matches(name, known, n=1, cutoff=0.4)
                hint = f" Did you mean {near[0]!r}?" if near else f" It has {list_names(known)}."
                raise TuningError(f"{type(estimator).__name__} has no parameter {name!r}.{hint}") from error
        raise TuningError(f"{type(estimator).__name__} does not take {params!r:.80}: {error}") from error


@dataclass(frozen=True, slots=True)
class Stage:
    """Some steps of a pipeline, one after the other, or all of an estimator."""

    estimator: Any  # the steps as a pipeline, or the estimator itself
    steps: tuple[str, ...] | None = None  # names of the steps; None if this is the whole estimator

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
