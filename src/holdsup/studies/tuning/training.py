"""Candidates, in a fixed order, trained and scored on one fold: what they share is done once.

A pipeline ``counts -> tf-idf -> classifier``, of which candidates change the classifier alone, has two stages. The
first is fitted once per fold, whatever the number of candidates. Where candidates change an earlier step too, each of
its settings is fitted once, and the candidates that share it go on from there.
"""

from __future__ import annotations

import copy
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from holdsup.errors import TuningError, list_names
from holdsup.numerics.threads import blas_threads
from holdsup.results import Caution
from holdsup.splits import Split
from holdsup.studies.tuning.options import ONE_METRIC, find_scorer, scorer_sees_items
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Training:
    """What all fits of a search share."""

    estimator: Any  # as given, never fitted
    X: Any  # the items
    y: Any  # their targets, if there are any
    scorer: Any  # scikit-learn's: ``scorer(estimator, X, y)`` gives a number, or a dict of them
    stages: tuple[Stage, ...]  # the estimator, cut where candidates part
    fit_params: Params  # what ``fit`` receives besides, for all items
    score_params: Params  # what the scorer receives besides, for all items
    scorer_sees_items: bool  # whether it is a user's function, which must be given the items and the whole pipeline
    strict: bool  # whether an error of a candidate ends the search


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one candidate on one fold."""

    scores: Mapping[str, float]  # by metric; empty if it failed
    fit_time: float = 0.0  # seconds of training, its share of what was done for several candidates included
    score_time: float = 0.0  # seconds of scoring
    error: str | None = None  # why there are no scores


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """The two sides of a split, as they are after the stages done so far."""

    split: Split  # places of the items
    train: Any  # items and targets
    y_train: Any
    test: Any
    y_test: Any
    steps: tuple[tuple[str, Any], ...] = ()  # the fitted steps so far
    spent: float = 0.0  # seconds spent on them for each candidate


def prepare_training(
    estimator: Any,
    candidates: Sequence[Params],
    X: Any,
    y: Any,
    *,
    scoring: Any,
    fit_params: Params | None = None,
    score_params: Params | None = None,
    share: bool = True,
    strict: bool = False,
) -> Training:
    """Return what the fits of these candidates share; `share` is whether steps that they set alike are fitted once."""
    return Training(
        estimator=estimator,
        X=X,
        y=y,
        scorer=find_scorer(estimator, scoring),
        stages=cut_stages(estimator, candidates, fit_params or {}, share=share),
        fit_params=fit_params or {},
        score_params=score_params or {},
        scorer_sees_items=scorer_sees_items(scoring),
        strict=strict,
    )


def train_unit(training: Training, split: Split, candidates: Sequence[Numbered]) -> list[tuple[int, Outcome]]:
    """Return the outcome of each of some candidates on one fold.

    BLAS has one thread: processes are what runs in parallel, and sums come out the same whatever their number.
    """
    with blas_threads(1):
        train, y_train = _safe_split(training.estimator, training.X, training.y, split.train)
        test, y_test = _safe_split(training.estimator, training.X, training.y, split.test, split.train)
        return list(_grow(training, Fold(split, train, y_train, test, y_test), training.stages, candidates))


def _grow(
    training: Training, fold: Fold, stages: Sequence[Stage], candidates: Sequence[Numbered]
) -> Iterator[tuple[int, Outcome]]:
    """Yield outcomes, fitting each stage once for all candidates that set it alike."""
    stage, *later = stages
    groups = stage.branch(candidates) if later else [[candidate] for candidate in candidates]
    for group in groups:
        own = fold if group is groups[-1] else _copy(fold)  # an estimator may work in place on what it is given
        if not later:
            yield group[0][0], _finish(training, own, stage, group[0][1])
            continue
        try:
            after = _transform(training, own, stage, group)
        except Exception as error:
            if training.strict:
                raise
            yield from ((index, Outcome({}, error=_describe(error))) for index, _ in group)
            continue
        yield from _grow(training, after, later, group)


def _transform(training: Training, fold: Fold, stage: Stage, group: Sequence[Numbered]) -> Fold:
    """Return the fold behind a stage, fitted as the group sets it."""
    began = perf_counter()
    fitted = stage.make(group[0][1])
    train = fitted.fit_transform(fold.train, fold.y_train, **_fit_params(training, fold, stage))
    test = fitted.transform(fold.test)
    spent = fold.spent + (perf_counter() - began) / len(group)
    return replace(fold, train=train, test=test, steps=(*fold.steps, *fitted.steps), spent=spent)


def _finish(training: Training, fold: Fold, stage: Stage, params: Params) -> Outcome:
    """Return what a candidate's last stage scores."""
    began = perf_counter()
    try:
        fitted = stage.make(params)
        targets = () if fold.y_train is None else (fold.y_train,)
        fitted.fit(fold.train, *targets, **_fit_params(training, fold, stage))
        trained = perf_counter()
        scores = _score(training, fold, fitted)
        return Outcome(scores, fold.spent + trained - began, perf_counter() - trained)
    except TuningError:  # a scorer that gives no number is no fault of the candidate
        raise
    except Exception as error:
        if training.strict:
            raise
        return Outcome({}, fold.spent + perf_counter() - began, error=_describe(error))


def _score(training: Training, fold: Fold, fitted: Any) -> dict[str, float]:
    test = fold.test
    if training.scorer_sees_items and fold.steps:
        fitted = Pipeline([*fold.steps, *fitted.steps])
        test, _ = _safe_split(training.estimator, training.X, None, fold.split.test, fold.split.train)
    params = _check_method_params(training.X, training.score_params, fold.split.test)
    targets = () if fold.y_test is None else (fold.y_test,)
    given = training.scorer(fitted, test, *targets, **params)
    named = given if isinstance(given, Mapping) else {ONE_METRIC: given}
    scores = {name: _number(value, name) for name, value in named.items()}
    for name, score in scores.items():
        if not np.isfinite(score):
            raise ArithmeticError(f"the {name} is {score}")
    return scores


def _number(value: Any, name: str) -> float:
    """Return the number that a scorer gave; NumPy's scalars and arrays of one are numbers."""
    if getattr(value, "size", 1) == 1 and hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, Real):
        what = f"an array of shape {value.shape}" if hasattr(value, "shape") else f"{value!r:.40}"
        raise TuningError(f"the scorer gave {what} as {name}: return one number to rank candidates by")
    return float(value)


def _fit_params(training: Training, fold: Fold, stage: Stage) -> Params:
    return dict(_check_method_params(training.X, stage.settings(training.fit_params), fold.split.train))


def _copy(fold: Fold) -> Fold:
    return replace(fold, train=copy.deepcopy(fold.train), test=copy.deepcopy(fold.test))


def _describe(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
