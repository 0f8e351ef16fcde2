"""Numbers of tuning by J-K-fold cross-validation: scores of candidates on partitions, larger is better."""

from holdsup.numerics.tuning.adaptation import AdaptivePlan, Review
from holdsup.numerics.tuning.advice import Plan, advise_plans, measure_bias
from holdsup.numerics.tuning.limits import Limits, limit_regret
from holdsup.numerics.tuning.probability import best_probabilities
from holdsup.numerics.tuning.retuning import Retuning, retune
from holdsup.numerics.tuning.standing import Standing, count_wins, measure_standing, pick_best

__all__ = [
    "AdaptivePlan",
    "Limits",
    "Plan",
    "Retuning",
    "Review",
    "Standing",
    "advise_plans",
    "best_probabilities",
    "count_wins",
    "limit_regret",
    "measure_bias",
    "measure_standing",
    "pick_best",
    "retune",
]
