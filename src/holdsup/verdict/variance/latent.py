"""Scores of right and wrong on the latent scale.

On the scale of 0 and 1 the variance of a system's scores, and with it phi, depends on its accuracy; on log-odds it does
not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from holdsup.errors import FitError
from holdsup.fit.glmm import fit_outcomes
from holdsup.fit.logistic_model import LATENT_SD, Outcomes
from holdsup.results import Caution
from holdsup.verdict.variance.fits import Decomposed
from holdsup.verdict.variance.records import LatentScale, name_of


def find_latent(one: Decomposed, said: list[Caution]) -> Iterator[LatentScale]:
    """Yield the components of a system's right and wrong as spreads of log-odds; nothing for other scores."""
    design = one.fit.model().design
    scores = design.variables.response
    if not one.item or not np.isin(scores, (0.0, 1.0)).all():
        return
    try:
        fit = fit_outcomes(design, Outcomes(scores, None))
    except FitError as error:
        said.append(
            Caution(
                code="no-latent-scale",
                severity="note",
                about=f"system:{one.system}",
                message=f"No latent scale for {name_of(one.system, one.metric)}: {error}",
            )
        )
        return
    variances = [component.variance for component in fit.random[:-1]]
    yield LatentScale(
        system=one.system,
        metric=one.metric,
        sd={term.name: component.sd for term, component in zip(one.terms, fit.random, strict=False)},
        phi=sum(variances[: len(one.measured)]) / (sum(variances) + LATENT_SD**2),
        method=fit.method,
        converged=fit.converged,
    )
