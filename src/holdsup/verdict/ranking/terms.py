"""How much of the variance each random term has, and whether it has any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdsup.design.newdata import code_fitted_rows
from holdsup.fit import LmmFit
from holdsup.fit.likelihood import Reduction, reduce_terms
from holdsup.fit.nesting import embed_terms
from holdsup.fit.quality import covariances, term_variance
from holdsup.numerics.tails import chi2_tail
from holdsup.numerics.variance_tests import find_null, simulate_null
from holdsup.verdict.ranking.term_records import TermVariance

__all__ = ["DRAWS", "share_variance", "simulate_term"]

Floats = NDArray[np.float64]
DRAWS = 10_000  # of the statistic under its null
NIL = 1e-4  # share of the residual sd below which the sd of a term is zero, as a fit is called singular


def share_variance(fit: LmmFit, *, seed: int) -> tuple[TermVariance, ...]:
    """Return every random term of a fit with its share and its test, the residual last.

    The p is the larger of a simulated null's and the mixture of chi-squares': the first takes the other variances for
    known, and finds too much where few levels say little of them. Terms of very many levels have the mixture alone.
    """
    tests = {(found.test.group, found.test.term): found for found in reduce_terms(fit)}
    exact = list(_exact_variances(fit))
    total, total_exact = sum(c.variance for c in fit.random), sum(exact)
    rows = []
    for i, (component, weighed) in enumerate(zip(fit.random, exact, strict=True)):
        nil = weighed < (NIL * fit.sigma) ** 2
        test = _Test.of(tests.get((component.group, component.term)), fit, seed + i)
        rows.append(
            TermVariance(
                group=component.group,
                term=component.term,
                levels=fit.levels.get(component.group, fit.n),
                variance=0.0 if nil else component.variance,
                sd=0.0 if nil else component.sd,
                percent=0.0 if nil else 100 * component.variance / total,
                percent_exact=0.0 if nil else 100 * weighed / total_exact,
                lrt=test.statistic,
                df=test.df,
                p=1.0 if nil and test.p is not None else test.p,  # the criterion rises by rounding alone
                method=test.method,
                p_ranova=test.p_ranova,
                log10_p_ranova=test.log10_p_ranova,
                p_at_most=test.at_most and not nil,
            )
        )
    return tuple(rows)


def _exact_variances(fit: LmmFit) -> Iterator[float]:
    """Yield what each term adds to the variance of a row: slopes weighed by the mean square of their regressors."""
    coded = code_fitted_rows(fit.model().design)
    for columns, sigma in zip(coded.columns, covariances(fit), strict=True):
        for i in range(columns.shape[1]):
            yield term_variance(columns[:, [i]], sigma[np.ix_([i], [i])])
    yield fit.sigma**2


@dataclass(frozen=True, slots=True)
class _Test:
    """The test of one term; all None for the residual and for an intercept that its slopes need."""

    statistic: float | None = None
    df: int | None = None
    p: float | None = None
    method: str | None = None
    p_ranova: float | None = None
    log10_p_ranova: float | None = None
    at_most: bool = False

    @classmethod
    def of(cls, found: Reduction | None, fit: LmmFit, seed: int) -> _Test:
        if found is None:
            return cls()
        test = found.test.test
        plain = chi2_tail(test.statistic, test.df)
        p, method, at_most = test.p, "chi-square mixture", False
        drawn = simulate_term(fit, found, seed) if test.df == 1 else None
        if drawn is not None:
            p = max(test.p, (1 + int((drawn >= test.statistic).sum())) / (DRAWS + 1))
            at_most = p == 1 / (DRAWS + 1)
            method = "simulated null and mixture"
        return cls(test.statistic, test.df, p, method, plain.p, plain.log10_p, at_most)


def simulate_term(fit: LmmFit, found: Reduction, seed: int) -> Floats | None:
    """Return draws of the statistic where the term's variance is zero and the others are as in the fit without it.

    None where the term has too many levels, or the fit without it has columns of its own.
    """
    large, small = fit.model(), found.fit.model()
    parameters = embed_terms(small.design.random, large.design.random)
    if parameters is None:
        return None
    theta = np.zeros(len(large.engine.moments.lower))
    theta[parameters] = small.engine.optimum.theta
    (parameter,) = np.setdiff1d(np.arange(len(theta)), parameters)
    spectrum = find_null(large.engine.moments, theta, int(parameter))
    if spectrum is None:
        return None
    return simulate_null(spectrum, fit.n - large.engine.moments.p, draws=DRAWS, seed=seed)
