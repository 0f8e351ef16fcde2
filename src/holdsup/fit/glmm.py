"""`fit_glmm`: from a formula and a table of right and wrong to a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from holdsup.arguments import check_level
from holdsup.columns import open_tables
from holdsup.design import Design, build_design, parse_formula
from holdsup.design.variables import Variables, encode_variables
from holdsup.errors import FitError, Separation
from holdsup.fit.glmm_result import GlmmFit, describe_logistic
from holdsup.fit.logistic_checks import check_separation, measure_agreement, name_bimodal
from holdsup.fit.logistic_model import LogisticEngine, LogisticModel, Outcomes, build_cells
from holdsup.numerics.layout import Floats
from holdsup.numerics.logistic import Runaway, fit_logistic
from holdsup.progress import Progress, no_progress

METHODS = ("auto", "quadrature", "laplace")
MOST_TRIALS = 1e9  # of a row: log-likelihoods of more leave no digits for differences
WHOLE = 1e-6  # how far a proportion times its trials may be from a whole number


def fit_glmm(
    formula: str,
    data: Any,
    family: str = "binomial",
    trials: str | None = None,
    *,
    failures: str | None = None,
    method: str = "auto",
    penalty: float | None = None,
    level: float = 0.95,
    progress: Progress = no_progress,
) -> GlmmFit:
    """Return a logistic mixed model fitted to a table of outcomes.

    Parameters
    ----------
    formula : as for `fit_lmm`, ``passed ~ system + (1 | item) + (1 | system:item)``; the response is 0 or 1 in each
        row, with `trials` a number of successes or a proportion, with `failures` a number of successes
    data : a path, a frame, a dict of columns: anything that `read_scores` takes
    family : "binomial", with the logit link
    trials : column of the number of trials of each row
    failures : column of the number of failures of each row
    method : "quadrature" integrates items, and systems within items, as exactly as wanted; "laplace" approximates;
        "auto" takes quadrature wherever the random terms allow it
    penalty : standard deviation of a normal prior on every fixed effect but the intercept (2.5 is usual): finite
        estimates where a system is always right
    level : coverage of the CIs

    Raises
    ------
    Separation : an estimate runs to infinity: a system is always right, or items are always right or always wrong

    Examples
    --------
    >>> table = {"item": [f"q{i}" for i in range(8) for _ in range(4)], "passed": [1, 0, 1, 1, 0, 0, 1, 0] * 4}
    >>> fit = fit_glmm("passed ~ 1 + (1 | item)", table)
    >>> fit.trials, f"{fit.rates[0].estimate:.2f}", fit.method
    (32.0, '0.50', 'quadrature')
    """
    if family != "binomial":
        raise FitError(f"family is {family!r}; it can be 'binomial' (0 and 1, or successes of trials)")
    if method not in METHODS:
        raise FitError(f"method is {method!r}; it can be {', '.join(map(repr, METHODS))}")
    if trials is not None and failures is not None:
        raise FitError("give trials= or failures=, not both: either says how many outcomes a row has")
    if penalty is not None and not penalty > 0:
        raise FitError(f"penalty is {penalty!r}; give a standard deviation above zero (2.5 is usual)")
    check_level(level, FitError)
    parsed = parse_formula(formula)
    tables = open_tables(data, progress=progress)
    variables = encode_variables(
        parsed, tables, weights=trials or failures, keep_zeros=failures is not None, progress=progress
    )
    outcomes, variables = _read_outcomes(variables, failures=failures is not None, response=str(parsed.response))
    design = build_design(parsed, variables, observed=outcomes.total)
    return fit_outcomes(design, outcomes, method=method, penalty=penalty, level=level)


def _read_outcomes(variables: Variables, *, failures: bool, response: str) -> tuple[Outcomes, Variables]:
    """Return successes and trials, and the variables without weights."""
    y, n = variables.response, variables.weights
    plain = replace(variables, weights=None, weight_summary=None)
    if n is None:
        odd = y[(y != 0) & (y != 1)]
        if len(odd):
            raise FitError(
                f"{response} holds {odd[0]:g}: right or wrong is 1 or 0 in each row; for counts or proportions name "
                "the column of trials (--trials COL), or of failures"
            )
        return Outcomes(y, None), plain
    column = variables.weights_column or ""
    if failures:
        n = y + n
    if ((n % 1) != 0).any():
        raise FitError(f"{column} holds {n[(n % 1) != 0][0]:g}: trials are whole numbers")
    if n.max(initial=0) > MOST_TRIALS:
        raise FitError(f"{column} makes {n.max():.3g} trials of a row: a logistic fit takes {MOST_TRIALS:,.0f} at most")
    if (y % 1 != 0).any():
        y = _count_proportions(y, n, response, column)
    elif not failures and ((y == 0) | (y == 1)).all() and (n > 1).any() and (n[y == 1] > 1).any():
        raise FitError(
            f"{response} is 0 or 1 in every row of several trials: it could be a count or a proportion; "
            "give the column of failures instead (--failures COL)"
        )
    if (y < 0).any() or (y > n).any():
        worst = np.flatnonzero((y < 0) | (y > n))[0]
        raise FitError(f"{response} is {y[worst]:g} of {n[worst]:g} trials: successes lie between 0 and the trials")
    return Outcomes(y, n, ("failures" if failures else "trials", column)), plain


def _count_proportions(y: Floats, n: Floats, response: str, column: str) -> Floats:
    """Return the successes that proportions of trials are."""
    beyond = y[(y < 0) | (y > 1)]
    if len(beyond):
        raise FitError(
            f"{response} holds {y[y % 1 != 0][0]:g} and {beyond[0]:g}: give whole numbers of successes, "
            "or proportions from 0 to 1 in every row"
        )
    y = y * n
    if (np.abs(y - np.round(y)) > WHOLE * n + WHOLE).any():
        raise FitError(f"{response} times {column} is not whole: {response} must be a proportion of {column}")
    return np.round(y)


def fit_outcomes(
    design: Design, outcomes: Outcomes, *, method: str = "auto", penalty: float | None = None, level: float = 0.95,
    start: Floats | None = None,
) -> GlmmFit:  # fmt: skip
    """Return the fit of a design that was built already."""
    share = outcomes.successes.sum() / max(outcomes.total, 1)
    if share in (0.0, 1.0):
        raise Separation(f"every outcome is a {'success' if share else 'failure'}: there is nothing to fit")
    cellular = build_cells(design, outcomes, penalty=penalty, nested=method != "laplace")
    if penalty is None:
        check_separation(design, cellular)
    try:
        found = fit_logistic(cellular.model, method=method, start=start)
    except Runaway as runaway:
        raise name_bimodal(design, outcomes, runaway) from runaway
    if method == "quadrature" and found.method != method and design.random:
        raise FitError(
            "there is no quadrature: the random terms don't factor into one group and one within it, or a level has "
            "so many outcomes that it takes thousands of nodes; use method='laplace' (--method laplace)"
        )
    model = LogisticModel(design, LogisticEngine(found, cellular), outcomes, penalty)
    return describe_logistic(model, level=level, agreement=measure_agreement(model))


def refit_outcomes(fit: GlmmFit, successes: Floats) -> GlmmFit:
    """Return the model of a fit, fitted to other successes of the same rows."""
    model = fit.model()
    trials = model.outcomes.trials
    most = 1.0 if trials is None else trials
    if successes.shape != model.outcomes.successes.shape or not ((successes >= 0) & (successes <= most)).all():
        raise FitError(
            f"refit needs {len(model.outcomes.successes):,} numbers of successes, one for each row used; "
            f"it was given an array of shape {successes.shape}"
        )
    start = np.concatenate([model.engine.fit.theta, model.engine.fit.beta])
    return fit_outcomes(
        model.design,
        replace(model.outcomes, successes=successes),
        method=fit.method,
        penalty=fit.penalty,
        level=fit.level,
        start=start,
    )


def fit_formula(fit: GlmmFit, formula: Any) -> GlmmFit:
    """Return the fit of another parsed formula to the rows of a fit, by the same method where that is possible."""
    model = fit.model()
    design = build_design(formula, model.design.variables, observed=model.outcomes.total)
    return fit_outcomes(design, model.outcomes, method=fit.method, penalty=fit.penalty, level=fit.level)
