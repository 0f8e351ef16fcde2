"""`JKSearchCV`: scikit-learn's search over hyper-parameters, by J-K-fold cross-validation."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import warnings
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn import get_config
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import _check_method_params, _num_samples

from holdsup.errors import SplitError, TuningError
from holdsup.experiment.identity import identify
from holdsup.numerics.tuning_plans import AdaptiveSchedule
from holdsup.results import Caution
from holdsup.splits import JKFold, Split
from holdsup.splits.routing import route_groups
from holdsup.splits.splitter import skip_copies
from holdsup.studies.contests.identities import CORPUS_DIGITS, digest_values, sign_estimator, sign_object
from holdsup.studies.tuning.options import (
    ONE_METRIC,
    choose_metric,
    find_scorer,
    list_cautions,
    list_metrics,
    name_metric,
    refuse_unknown,
    require_lengths,
    require_sense,
    takes_weights,
    warn_of_weights,
)
from holdsup.studies.tuning.pools import Pool, choose_splitter, deal_partitions, run_partitions, tabulate
from holdsup.studies.tuning.training import Params, Training, configure, list_candidates, prepare_training
from holdsup.verdict.tuning import judge_tuning


class JKSearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search for the candidate with the best mean over J partitions of K folds (Moss, Leslie & Rayson 2018).

    It takes the place of ``GridSearchCV`` and ``RandomizedSearchCV``. Every candidate is trained on the same
    partitions; of equal means the first candidate wins. `tuning_` says how far the choice can be trusted.

    Parameters
    ----------
    estimator : scikit-learn's contract: ``fit``, and ``score`` unless `scoring` is given
    candidates : a dict from parameter names to lists of values, a list of such dicts, or, with `n_candidates`,
        distributions to draw from
    n_candidates : how many candidates to draw
    j : how many partitions; with `adaptive`, the most
    k : how many folds each has, 3 or more
    scoring : as in scikit-learn: a name, a function, or several with `refit` naming the one to rank by
    refit : whether to train the best candidate on all items; with several metrics, the name of the one to rank by; or a
        function of `cv_results_` that returns the place of a candidate. With several metrics and a function, or False,
        `tuning_` is about the first of them
    stratify : whether classes have the same share in all folds; None: for classifiers. A spec has no default but false
    uneven : whether folds may be very unequal because of large groups; else that is refused
    adaptive : whether to drop candidates that can no longer win by more than the margin, and to stop when the choice is
        settled
    margin : a difference in score that does not matter; None: found from the first partitions
    budget : the most fits on folds; training the best one on all items is not counted
    level : the confidence of what `tuning_` states
    share_steps : whether steps of a pipeline that candidates set alike are fitted once per fold
    error_score : NaN records a candidate that fails, which is then ranked last; "raise" ends the search
    n_jobs : how many processes; scores do not depend on it
    seed : of the partitions, and of candidates that are drawn

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> search = JKSearchCV(RidgeClassifier(), {"alpha": [1, 1000]}, j=3, k=3).fit(*load_iris(return_X_y=True))
    >>> search.best_params_, search.n_splits_
    ({'alpha': 1}, 9)

    Attributes
    ----------
    tuning_ : the verdict: best candidate, errors, wins, probability that it is the best over all partitions
    cv_results_ : a dict of columns, a row for each candidate: scikit-learn's; ``se_test_...``, the standard error
        between partitions; and ``partitions``, on how many a candidate was trained
    best_index_ : place of the best candidate
    best_params_ : its parameters
    best_score_ : its mean score
    best_estimator_ : it, trained on all items
    refit_time_ : seconds that this took
    scorer_ : the scorer, or a dict of them
    multimetric_ : whether there are several
    n_splits_ : how many folds there were
    """

    cv = None  # scikit-learn's name for the splitter, which j, k, seed, stratify and uneven stand for here
    __metadata_request__fit = {"groups": True}  # noqa: RUF012  scikit-learn's way to ask for them

    def __init__(
        self,
        estimator: Any,
        candidates: Any = None,
        *,
        n_candidates: int | None = None,
        j: int = 4,
        k: int = 5,
        scoring: Any = None,
        refit: Any = True,
        stratify: bool | None = None,
        uneven: bool = False,
        adaptive: bool = False,
        margin: float | None = None,
        budget: int | None = None,
        level: float = 0.95,
        share_steps: bool = True,
        error_score: Any = np.nan,
        n_jobs: int | None = None,
        seed: int = 0,
        **unknown: Any,
    ) -> None:
        refuse_unknown(unknown)
        self.estimator = estimator
        self.candidates = candidates
        self.n_candidates = n_candidates
        self.j = j
        self.k = k
        self.scoring = scoring
        self.refit = refit
        self.stratify = stratify
        self.uneven = uneven
        self.adaptive = adaptive
        self.margin = margin
        self.budget = budget
        self.level = level
        self.share_steps = share_steps
        self.error_score = error_score
        self.n_jobs = n_jobs
        self.seed = seed

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> JKSearchCV:
        """Train all candidates on all folds, then the best one on all items.

        Parameters
        ----------
        X : the items
        y : their targets
        groups : what each item belongs to; the items of a group are never on both sides of a split
        params : for ``fit`` of the estimator, and by scikit-learn's routing for the scorer; what has a value for each
            item is split with the items

        Raises
        ------
        TuningError : options, candidates or data that make no sense; a scorer that gives no number; all fits failed
        """
        candidates, fewer = list_candidates(self.candidates, n_candidates=self.n_candidates, seed=self.seed)
        estimators = [configure(self.estimator, candidate) for candidate in candidates]
        require_lengths(_num_samples(X), groups=groups, sample_weight=params.get("sample_weight"))
        X, y, groups = indexable(X, y, groups)
        require_sense(self, len(candidates), _num_samples(X))
        if y is None and get_tags(self.estimator).target_tags.required:
            raise TuningError(f"{type(self.estimator).__name__} requires y to be passed, but the target y is None")
        training = self._training(X, y, candidates, groups, _check_method_params(X, params))
        splitter = self._splitter(training, groups)
        cautions = [
            *fewer,
            *list_cautions(estimators, splitter, y, groups),
            *warn_of_weights(params.get("sample_weight")),
        ]
        pool, copies = self._run(training, deal_partitions(splitter, X, y, groups), candidates)
        self._conclude(pool, candidates, training, groups, copies=copies, cautions=cautions)
        if self.refit:
            self._refit(training)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags = copy.deepcopy(get_tags(self.estimator).target_tags)
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """Return what is routed where: `groups` are used here, and go to who asks for them, like all the rest."""
        to_scorer = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
        return (
            MetadataRouter(owner=self)
            .add_self_request(self)
            .add(estimator=self.estimator, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
            .add(scorer=find_scorer(self.estimator, self.scoring), method_mapping=to_scorer)
        )

    def _training(self, X: Any, y: Any, candidates: Sequence[Params], groups: Any, params: Params) -> Training:
        fit_params, score_params = {**route_groups(self.estimator, groups), **params}, {}
        if get_config()["enable_metadata_routing"]:
            routed = process_routing(self, "fit", **params, **({} if groups is None else {"groups": groups}))
            fit_params, score_params = routed.estimator.fit, routed.scorer.score
        elif "sample_weight" in params and takes_weights(find_scorer(self.estimator, self.scoring)):
            score_params = {"sample_weight": params["sample_weight"]}
        return prepare_training(
            self.estimator,
            candidates,
            X,
            y,
            scoring=self.scoring,
            fit_params=fit_params,
            score_params=score_params,
            share=self.share_steps,
            strict=self.error_score == "raise",
        )

    def _run(self, training: Training, dealt: Iterator[list[Split]], candidates: Sequence[Params]) -> tuple[Pool, int]:
        """Return what the candidates scored, and how many partitions that were wanted besides are copies of others."""
        everyone = range(len(candidates))
        schedule, fresh = self._schedule(len(candidates)), skip_copies(dealt)
        if schedule is None:
            partitions = list(fresh)
            # Where only a function knows the metrics, the first partition tells whether `refit` names one of them.
            first = 1 if list_metrics(self.scoring) is None else len(partitions)
            pool = run_partitions(training, partitions[:first], candidates, everyone, n_jobs=self.n_jobs)
            self._metric(pool)
            if rest := partitions[first:]:
                pool = pool.joined(run_partitions(training, rest, candidates, everyone, n_jobs=self.n_jobs))
            return pool, self.j - len(partitions)
        pool = run_partitions(training, [next(fresh)], candidates, everyone, n_jobs=self.n_jobs)
        metric = self._metric(pool)
        while (chosen := schedule.next(pool.means(metric))) and (partition := next(fresh, None)):
            pool = pool.joined(run_partitions(training, [partition], candidates, chosen, n_jobs=self.n_jobs))
        return pool, self.j - len(pool.fit_times) if chosen else 0

    def _splitter(self, training: Training, groups: Any) -> JKFold:
        return choose_splitter(
            self.estimator, training.y, groups, j=self.j, k=self.k, seed=self.seed, stratify=self.stratify,
            uneven=self.uneven,
        )  # fmt: skip

    def _schedule(self, candidates: int) -> AdaptiveSchedule | None:
        if not self.adaptive:
            return None
        return AdaptiveSchedule(
            candidates=candidates, k=self.k, margin=self.margin, level=self.level, budget=self.budget, most=self.j
        )

    def _metric(self, pool: Pool) -> str:
        """Return the metric to rank by; refuse a pool without scores."""
        if pool.failed.all():
            first = pool.failures[0]
            raise TuningError(
                f"all {len(pool.failed)} candidates failed; candidate {first.candidate + 1} on {first.place}:"
                f" {first.error.rstrip('.')}. error_score='raise' shows where"
            )
        return choose_metric(list_metrics(self.scoring) or list(pool.scores), self.refit)

    def _conclude(
        self,
        pool: Pool,
        candidates: Sequence[Params],
        training: Training,
        groups: Any,
        *,
        copies: int,
        cautions: Sequence[Caution],
    ) -> None:
        metric = self._metric(pool)
        self.scorer_ = getattr(training.scorer, "_scorers", training.scorer)
        self.multimetric_ = list(pool.scores) != [ONE_METRIC]
        self.n_splits_ = pool.fit_times.shape[0] * pool.fit_times.shape[1]
        self.cv_results_ = tabulate(pool, candidates)
        self.tuning_ = judge_tuning(
            pool.means(metric),
            candidates,
            k=self.k,
            metric_name=name_metric(self.scoring, metric),
            level=self.level,
            margin=self.margin,
            budget=self.budget,
            seed=self.seed,
            fits=pool.fits,
            failures=pool.failures,
            schedule=self._schedule(len(candidates)),
            copies=copies,
            grouped=groups is not None,
            cautions=cautions,
            signed=sign_training(training, groups, self._splitter(training, groups), self.scoring),
        )
        self.best_index_ = self.tuning_.best_index
        if callable(self.refit):
            self._take(self.refit(self.cv_results_))
        self.best_score_ = float(self.cv_results_[f"mean_test_{metric}"][self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        if pool.failures:
            first = pool.failures[0]
            warnings.warn(
                f"{len(pool.failures)} of {pool.fits} fits failed; the candidates ({pool.failed.sum()} of"
                f" {len(candidates)}) are ranked last. The first: {candidates[first.candidate]}, {first.place}:"
                f" {first.error}",
                FitFailedWarning,
                stacklevel=3,
            )

    def _take(self, index: Any) -> None:
        """Take the candidate that a function chose, and say how it stands where it is not the pick."""
        if not isinstance(index, int | np.integer):
            raise TypeError(f"refit returned {index!r:.40}: return the place of a candidate, a whole number from 0")
        if not 0 <= index < len(self.tuning_.candidates):
            raise IndexError(f"refit chose candidate {index}, but there are {len(self.tuning_.candidates)}, from 0")
        self.best_index_ = int(index)
        if index != self.tuning_.best_index:
            self.tuning_ = dataclasses.replace(self.tuning_, taken=self.best_index_)

    def _refit(self, training: Training) -> None:
        began = perf_counter()
        targets = () if training.y is None else (training.y,)
        self.best_estimator_ = configure(self.estimator, self.best_params_)
        self.best_estimator_.fit(training.X, *targets, **training.fit_params)
        self.refit_time_ = perf_counter() - began
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


# Unknown arguments are taken only to be refused with the way to say it here: they are no parameters.
_FULL = inspect.signature(JKSearchCV.__init__)
JKSearchCV.__signature__ = _FULL.replace(
    parameters=[part for name, part in _FULL.parameters.items() if name not in ("self", "unknown")]
)


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
