"""For people with another tuner: a J-K-fold mean as an objective for Optuna, pruned between partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples

from holdsup.errors import MissingExtra, TuningError
from holdsup.splits.copies import skip_copies
from holdsup.splits.routing import route_groups, warn_of_unrouted
from holdsup.studies.tuning.options import require_folds
from holdsup.studies.tuning.pools import choose_splitter, deal_partitions, run_partitions
from holdsup.studies.tuning.scoring import ONE_METRIC
from holdsup.studies.tuning.training import prepare_training
from holdsup.verdict.tuning import Tuning, judge_tuning

if TYPE_CHECKING:
    from optuna import Study, Trial

__all__ = ["Objective", "judge_trials", "optuna_objective"]

PARTITIONS = "partitions"  # the user attribute that keeps the scores of a trial
CAUTIONS = "cautions"  # the one that keeps what limits trust in them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Objective:
    """A J-K-fold mean score of the estimator that a trial stands for; to be maximised.

    Attributes
    ----------
    make_estimator : ``make_estimator(trial)`` returns an unfitted estimator with the parameters that the trial suggests
    X : the items
    y : their targets
    groups : what each item belongs to
    j : how many partitions; copies of others, as few groups give, are left out
    k : how many folds each has
    seed : of the partitions, which are the same for all trials
    scoring : as in scikit-learn, one metric
    stratify : whether classes have the same share in all folds; None: for classifiers
    uneven : whether folds may be very unequal because of large groups; else that is refused
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
    uneven: bool
    n_jobs: int | None

    def __call__(self, trial: Trial) -> float:
        """Return the mean over partitions; report it after each of them, and stop where Optuna prunes.

        The scores of the partitions are kept as the trial's user attribute "partitions", which `judge_trials` reads.
        An error of the estimator is raised: Optuna records it, as a failed trial, if ``study.optimize`` is told to
        ``catch`` it.
        """
        from optuna import TrialPruned

        _require_maximising(trial)
        estimator = self.make_estimator(trial)
        training = prepare_training(
            estimator, [{}], self.X, self.y, scoring=self.scoring, strict=True,
            fit_params=route_groups(estimator, self.groups),
        )  # fmt: skip
        trial.set_user_attr(CAUTIONS, list(warn_of_unrouted(estimator, self.groups)))
        scores: list[float] = []
        splitter = choose_splitter(
            estimator, self.y, self.groups, j=self.j, k=self.k, seed=self.seed, stratify=self.stratify,
            uneven=self.uneven,
        )  # fmt: skip
        for partition in skip_copies(deal_partitions(splitter, self.X, self.y, self.groups)):
            pool = run_partitions(training, [partition], [{}], [0], n_jobs=self.n_jobs)
            scores.append(float(pool.only_means()[0, 0]))
            trial.set_user_attr(PARTITIONS, list(scores))
            trial.report(float(np.mean(scores)), step=len(scores))
            if len(scores) < self.j and trial.should_prune():
                raise TrialPruned(f"pruned after {len(scores)} of {self.j} partitions")
        return float(np.mean(scores))


def _require_maximising(trial: Trial) -> None:
    """Refuse a study that would choose the worst candidate; a trial that is of no study is not looked at."""
    directions = [direction.name for direction in getattr(getattr(trial, "study", None), "directions", ())]
    if directions and directions != ["MAXIMIZE"]:
        raise TuningError(
            f"the study's direction is {', '.join(directions).lower()}, but scikit-learn's scorers are the better the "
            'larger: create the study with direction="maximize"'
        )


def judge_trials(study: Study, *, k: int = 5, level: float = 0.95, metric_name: str = ONE_METRIC) -> Tuning:
    """Return the verdict on the trials of a study whose objective was `optuna_objective`.

    Best means best of the trials that there are. Trials that were pruned stand beside the pick on the partitions that
    they were trained on; trials that failed are left out.

    Parameters
    ----------
    study : a finished study
    k : folds of a partition, as in the objective
    level : confidence of limits
    metric_name : what the scores are called
    """
    tried = [trial for trial in study.trials if trial.user_attrs.get(PARTITIONS)]
    if not tried:
        raise TuningError("no trial of the study has scores of partitions: optimise an optuna_objective with it first")
    most = max(len(trial.user_attrs[PARTITIONS]) for trial in tried)
    scores = np.full((most, len(tried)), np.nan)
    for place, trial in enumerate(tried):
        own = trial.user_attrs[PARTITIONS]
        scores[: len(own), place] = own
    return judge_tuning(
        scores, [trial.params for trial in tried], k=k, metric_name=metric_name, level=level,
        cautions=list(dict.fromkeys(said for trial in tried for said in trial.user_attrs.get(CAUTIONS, ()))),
        signed={"study": study.study_name},
    )  # fmt: skip


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
    uneven: bool = False,
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
        uneven=uneven,
        n_jobs=n_jobs,
    )
