"""The engine's fits, and what can be asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.lazy import load_lazily

if TYPE_CHECKING:
    from holdsup.fit.bootstrap import (
        BootstrapFits as BootstrapFits,
        BootstrapInterval as BootstrapInterval,
        BootstrapTest as BootstrapTest,
        bootstrap_fit as bootstrap_fit,
        bootstrap_test as bootstrap_test,
    )
    from holdsup.fit.contrasts import (
        JointTest as JointTest,
        contrast as contrast,
        joint_test as joint_test,
        marginal_means as marginal_means,
    )
    from holdsup.fit.fitting import fit_lmm as fit_lmm, fit_within as fit_within
    from holdsup.fit.glmm import fit_glmm as fit_glmm
    from holdsup.fit.glmm_result import GlmmFit as GlmmFit
    from holdsup.fit.likelihood import (
        LikelihoodRatioTest as LikelihoodRatioTest,
        RandomTermTest as RandomTermTest,
        likelihood_ratio_test as likelihood_ratio_test,
        random_term_tests as random_term_tests,
    )
    from holdsup.fit.logistic_records import Rate as Rate, RateDifference as RateDifference
    from holdsup.fit.prediction import (
        LevelEffects as LevelEffects,
        Predictions as Predictions,
        RSquared as RSquared,
        fitted_values as fitted_values,
        intraclass_correlations as intraclass_correlations,
        predict as predict,
        r_squared as r_squared,
        random_effects as random_effects,
        refit as refit,
        residuals as residuals,
        simulate as simulate,
    )
    from holdsup.fit.probabilities import (
        OddsRatio as OddsRatio,
        marginal_differences as marginal_differences,
        marginal_probabilities as marginal_probabilities,
        odds_ratios as odds_ratios,
    )
    from holdsup.fit.profile import (
        ProfileInterval as ProfileInterval,
        profile_intervals as profile_intervals,
        profile_share as profile_share,
    )
    from holdsup.fit.records import Contrast as Contrast
    from holdsup.fit.result import LmmFit as LmmFit

__all__, __getattr__ = load_lazily(
    __name__,
    {
        "bootstrap": "BootstrapFits BootstrapInterval BootstrapTest bootstrap_fit bootstrap_test",
        "contrasts": "JointTest contrast joint_test marginal_means",
        "fitting": "fit_lmm fit_within",
        "glmm": "fit_glmm",
        "glmm_result": "GlmmFit",
        "likelihood": "LikelihoodRatioTest RandomTermTest likelihood_ratio_test random_term_tests",
        "logistic_records": "Rate RateDifference",
        "probabilities": "OddsRatio marginal_differences marginal_probabilities odds_ratios",
        "prediction": "LevelEffects Predictions RSquared fitted_values intraclass_correlations predict r_squared "
        "random_effects refit residuals simulate",
        "profile": "ProfileInterval profile_intervals profile_share",
        "records": "Contrast",
        "result": "LmmFit",
    },
)
