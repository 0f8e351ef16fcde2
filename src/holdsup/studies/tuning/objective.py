"""For people with another tuner: a J-K-fold mean as an objective for Optuna, pruned between partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples

from holdsup.errors import MissingExtra
from holdsup.studies.tuning.options import require_folds
from holdsup.studies.tuning.pools import deal_partitions, run_partitions
from holdsup.studies.tuning.training import prepare_training

if TYPE_CHECKING:
    from optuna import Trial

__all__ = ["Objective", "optuna_objective"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Objective:
    """A J-K-fold mean score of the estimator that a trial stands for; to be maximised.

    Attributes
    ----------
    make_estimator : ``make_estimator(trial)`` returns an unfitted estimator with the parameters that the trial suggests
    X : the items
    y : their targets
    groups : what each item belongs to
    j : how many partitions
    k : how many folds each has
    seed : of the partitions, which are the same for all trials
    scoring : as in scikit-learn, one metric
    stratify : whether classes have the same share in all folds; None: for classifiers
    n_jobs : how many processes
    """

    make_estimator: Callable[[Trial], Any]
    X: Any
    y: Any
    groups: Any
    j: int
    k: int
    seed: int
    scoring: Any
    stratify: bool | None
    n_jobs: int | None

    def __call__(self, trial: Trial) -> float:
        """Return the mean over partitions; report it after each of them, and stop where Optuna prunes.

        The scores of the partitions are kept as the trial's user attribute "partitions". An error of the estimator
        is raised: Optuna records it, as a failed trial, if ``study.optimize`` is told to ``catch`` it.
        """
        from optuna import TrialPruned

        estimator = self.make_estimator(trial)
        training = prepare_training(estimator, [{}], self.X, self.y, scoring=self.scoring, strict=True)
        scores: list[float] = []
        for partition in deal_partitions(
            estimator, self.X, self.y, self.groups, j=self.j, k=self.k, seed=self.seed, stratify=self.stratify
        ):
            pool = run_partitions(training, [partition], [{}], [0], n_jobs=self.n_jobs)
            scores.append(float(pool.only_means()[0, 0]))
            trial.set_user_attr("partitions", list(scores))
            trial.report(float(np.mean(scores)), step=len(scores))
            if len(scores) < self.j and trial.should_prune():
                raise TrialPruned(f"pruned after {len(scores)} of {self.j} partitions")
        return float(np.mean(scores))


def optuna_objective(
    make_estimator: Callable[[Trial], Any],
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    j: int = 4,
    k: int = 5,
    seed: int = 0,
    scoring: Any = None,
    stratify: bool | None = None,
    n_jobs: int | None = None,
) -> Objective:
    """Return a function for ``study.optimize`` in a study that maximises; see `Objective`."""
    try:
        import optuna  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra.named("optuna", purpose="optuna_objective") from error
    require_folds(k, _num_samples(X))
    return Objective(
        make_estimator=make_estimator,
        X=X,
        y=y,
        groups=groups,
        j=j,
        k=k,
        seed=seed,
        scoring=scoring,
        stratify=stratify,
        n_jobs=n_jobs,
    )
