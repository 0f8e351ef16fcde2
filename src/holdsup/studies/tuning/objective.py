"""For people with another tuner: a J-K-fold mean as an objective for Optuna, pruned between partitions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import _num_samples

from holdsup.errors import MissingExtra, TuningError
from holdsup.results import Caution
from holdsup.results.plain import from_plain, to_plain
from holdsup.splits.routing import route_groups, warn_of_unrouted
from holdsup.splits.splitter import skip_copies
from holdsup.studies.tuning.options import ONE_METRIC, require_folds
from holdsup.studies.tuning.pools import choose_splitter, deal_partitions, run_partitions
from holdsup.studies.tuning.training import Params, prepare_training
from holdsup.verdict.tuning import Tuning, judge_tuning

if TYPE_CHECKING:
    from optuna import Study, Trial

PARTITIONS = "partitions"  # the user attribute that keeps the scores of a trial
CAUTIONS = "cautions"  # the one that keeps what limits trust in them


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
) -> Callable[[Trial], float]:
    """Return a function for ``study.optimize`` in a study that maximises: the J-K-fold mean of a trial's estimator.

    The mean is reported after each partition, and a trial stops where Optuna prunes. The scores of the partitions are
    kept as its user attribute "partitions", which `judge_trials` reads. An error of the estimator is raised: Optuna
    records it, as a failed trial, if ``study.optimize`` is told to ``catch`` it.

    Parameters
    ----------
    make_estimator : ``make_estimator(trial)`` returns an unfitted estimator with the parameters that the trial suggests
    j : how many partitions, the same for all trials; copies of others, as few groups give, are left out
    scoring : as in scikit-learn, one metric
    X, y, groups, k, seed, stratify, uneven, n_jobs : as in `JKSearchCV`
    """
    try:
        import optuna  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtra.named("optuna", purpose="optuna_objective") from error
    require_folds(k, _num_samples(X))
    dealing = {"j": j, "k": k, "seed": seed, "stratify": stratify, "uneven": uneven}
    return partial(
        _score_trial, make_estimator=make_estimator, X=X, y=y, groups=groups, dealing=dealing, scoring=scoring,
        n_jobs=n_jobs,
    )  # fmt: skip


def _score_trial(
    trial: Trial,
    make_estimator: Callable[[Trial], Any],
    X: Any,
    y: Any,
    groups: Any,
    dealing: Params,
    scoring: Any,
    n_jobs: int | None,
) -> float:
    from optuna import TrialPruned

    _require_maximising(trial)
    estimator = make_estimator(trial)
    fit_params = route_groups(estimator, groups)
    training = prepare_training(estimator, [{}], X, y, scoring=scoring, strict=True, fit_params=fit_params)
    trial.set_user_attr(CAUTIONS, [to_plain(caution) for caution in warn_of_unrouted(estimator, groups)])
    scores: list[float] = []
    for partition in skip_copies(deal_partitions(choose_splitter(estimator, y, groups, **dealing), X, y, groups)):
        pool = run_partitions(training, [partition], [{}], [0], n_jobs=n_jobs)
        scores.append(float(pool.only_means()[0, 0]))
        trial.set_user_attr(PARTITIONS, list(scores))
        trial.report(float(np.mean(scores)), step=len(scores))
        if len(scores) < dealing["j"] and trial.should_prune():
            raise TrialPruned(f"pruned after {len(scores)} of {dealing['j']} partitions")
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
    """Return the answer about the trials of a study whose objective was `optuna_objective`.

    Best means best of these trials. Trials that were pruned are compared with the pick on the partitions that they were
    trained on; trials that failed are left out.

    Parameters
    ----------
    study : a finished study
    k : folds of a partition, as in the objective
    level : confidence of what is said
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
    kept = (caution for trial in tried for caution in trial.user_attrs.get(CAUTIONS, ()))
    return judge_tuning(
        scores, [trial.params for trial in tried], k=k, metric_name=metric_name, level=level,
        cautions=list(dict.fromkeys(from_plain(Caution, caution, path=CAUTIONS) for caution in kept)),
        signed={"study": study.study_name},
    )  # fmt: skip
