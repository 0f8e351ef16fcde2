"""Training and scoring on one fold: candidates that share the first stages of a pipeline share their work."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from holdsup.errors import TuningError
from holdsup.numerics.threads import blas_threads
from holdsup.splits import Split
from holdsup.studies.tuning.candidates import Numbered, Params, Stage, cut_stages
from holdsup.studies.tuning.options import ONE_METRIC, find_scorer, scorer_sees_items


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
        raise TuningError(f"the scorer gave {what} as {name}: a candidate is ranked by one number, so return one")
    return float(value)


def _fit_params(training: Training, fold: Fold, stage: Stage) -> Params:
    return dict(_check_method_params(training.X, stage.settings(training.fit_params), fold.split.train))


def _copy(fold: Fold) -> Fold:
    return replace(fold, train=copy.deepcopy(fold.train), test=copy.deepcopy(fold.test))


def _describe(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
