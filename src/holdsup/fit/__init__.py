"""The engine's fits, and what can be asked of them."""

from holdsup.fit.bootstrap import BootstrapTest, bootstrap_test
from holdsup.fit.bootstrap_intervals import BootstrapFits, BootstrapInterval, bootstrap_fit
from holdsup.fit.contrasts import JointTest, contrast, joint_test, marginal_means
from holdsup.fit.effects import LevelEffects, random_effects
from holdsup.fit.fitting import fit_lmm
from holdsup.fit.likelihood import (
    LikelihoodRatioTest,
    RandomTermTest,
    likelihood_ratio_test,
    test_random_terms,
)
from holdsup.fit.prediction import Predictions, fitted_values, predict, refit, residuals, simulate
from holdsup.fit.profile import ProfileInterval, profile_intervals, profile_share
from holdsup.fit.quality import RSquared, intraclass_correlations, r_squared
from holdsup.fit.records import Contrast
from holdsup.fit.result import LmmFit

__all__ = [
    "BootstrapFits",
    "BootstrapInterval",
    "BootstrapTest",
    "Contrast",
    "JointTest",
    "LevelEffects",
    "LikelihoodRatioTest",
    "LmmFit",
    "Predictions",
    "ProfileInterval",
    "RSquared",
    "RandomTermTest",
    "bootstrap_fit",
    "bootstrap_test",
    "contrast",
    "fit_lmm",
    "fitted_values",
    "intraclass_correlations",
    "joint_test",
    "likelihood_ratio_test",
    "marginal_means",
    "predict",
    "profile_intervals",
    "profile_share",
    "r_squared",
    "random_effects",
    "refit",
    "residuals",
    "simulate",
    "test_random_terms",
]
