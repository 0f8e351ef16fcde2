"""Learning curves: is the sign of a difference at half of the corpus its sign near all of it?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from holdsup.errors import MetricError
from holdsup.metrics import Metric
from holdsup.splits import RepeatedHoldOut
from holdsup.studies.contests.strategies import Strategy, choose_strategy
from holdsup.studies.contests.training import Trainer
from holdsup.verdict.contest import Trained

__all__ = ["train_curve"]

SHARES = (1 / 4, 1 / 2, 3 / 4, 8 / 9)  # of the corpus, trained on
REPEATS = 10  # samples of each size
SHARED = ("seed", "stratify", "match", "uneven")  # options that the splits of the contest have, too


def train_curve(trainer: Trainer, strategy: Strategy, metric: Metric) -> dict[str, dict[int, list[float]]]:
    """Return the scores of each system, by how many items it was trained on, all systems on the same samples."""
    options = {name: strategy.splitter[name] for name in SHARED}
    targets = trainer.field.corpus.targets
    curve: dict[str, dict[int, list[float]]] = {system: {} for system in trainer.field.systems}
    for share in SHARES:
        holdouts, _ = choose_strategy(RepeatedHoldOut(test=1 - share, repeats=REPEATS, **options))
        (partition,) = trainer.train(holdouts, [0], 1)
        for system, instances in partition.trained.items():
            size = _mean_size(instances, len(targets))
            for trained in instances:
                assert trained.test is not None  # what was trained here has all three
                assert trained.predictions is not None
                score = metric.evaluate([targets[i] for i in trained.test.tolist()], trained.predictions)
                if not math.isfinite(score):
                    raise MetricError(
                        f"the learning curve of {system!r} has no {metric.name} after training on {share:.0%} of the "
                        "corpus: stratify the splits, or leave the curve out"
                    )
                curve[system].setdefault(size, []).append(score)
    return curve


def _mean_size(instances: Sequence[Trained], items: int) -> int:
    """Return how many items instances were trained on: groups make that differ a little from sample to sample."""
    tested = [len(trained.test) for trained in instances if trained.test is not None]
    return items - round(sum(tested) / len(tested))
