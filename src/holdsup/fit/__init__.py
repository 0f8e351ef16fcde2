"""The engine's fits, and what can be asked of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.lazy import load_lazily

if TYPE_CHECKING:
    from holdsup.fit.bootstrap import BootstrapTest as BootstrapTest, bootstrap_test as bootstrap_test
    from holdsup.fit.bootstrap_intervals import (
        BootstrapFits as BootstrapFits,
        BootstrapInterval as BootstrapInterval,
        bootstrap_fit as bootstrap_fit,
    )
    from holdsup.fit.contrasts import (
        JointTest as JointTest,
        contrast as contrast,
        joint_test as joint_test,
        marginal_means as marginal_means,
    )
    from holdsup.fit.effects import LevelEffects as LevelEffects, random_effects as random_effects
    from holdsup.fit.fitting import fit_lmm as fit_lmm, fit_within as fit_within
    from holdsup.fit.likelihood import (
        LikelihoodRatioTest as LikelihoodRatioTest,
        RandomTermTest as RandomTermTest,
        likelihood_ratio_test as likelihood_ratio_test,
        test_random_terms as test_random_terms,
    )
    from holdsup.fit.prediction import (
        Predictions as Predictions,
        fitted_values as fitted_values,
        predict as predict,
        refit as refit,
        residuals as residuals,
        simulate as simulate,
    )
    from holdsup.fit.profile import (
        ProfileInterval as ProfileInterval,
        profile_intervals as profile_intervals,
        profile_share as profile_share,
    )
    from holdsup.fit.quality import (
        RSquared as RSquared,
        intraclass_correlations as intraclass_correlations,
        r_squared as r_squared,
    )
    from holdsup.fit.records import Contrast as Contrast
    from holdsup.fit.result import LmmFit as LmmFit

__all__, __getattr__ = load_lazily(
    __name__,
    {
        "bootstrap": "BootstrapTest bootstrap_test",
        "bootstrap_intervals": "BootstrapFits BootstrapInterval bootstrap_fit",
        "contrasts": "JointTest contrast joint_test marginal_means",
        "effects": "LevelEffects random_effects",
        "fitting": "fit_lmm fit_within",
        "likelihood": "LikelihoodRatioTest RandomTermTest likelihood_ratio_test test_random_terms",
        "prediction": "Predictions fitted_values predict refit residuals simulate",
        "profile": "ProfileInterval profile_intervals profile_share",
        "quality": "RSquared intraclass_correlations r_squared",
        "records": "Contrast",
        "result": "LmmFit",
    },
)
