"""`holdsup fit`: a linear or logistic mixed model, in lme4's language."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from holdsup.cli.options import GroupedCommand
from holdsup.cli.output import Output, output_options


@click.command(
    "fit",
    cls=GroupedCommand,
    groups={"Model": "ml weights", "Right or wrong": "family trials failures method penalty"},
    epilog="""\b
    Examples:
      holdsup fit "score ~ system + (1 | item)" scores.csv --ml
      holdsup fit "score ~ system * length + (1 | item) + (0 + system || run)" scores.parquet
      holdsup fit "passed ~ system + (1 | item) + (1 | system:item)" results.csv --family binomial
      holdsup fit "f1 ~ 1 + (1 | question) + (1 | seed)" runs/ --format json -o fit.json""",
)
@click.argument("formula")
@click.argument("data", nargs=-1, required=True)
@click.option("--ml", is_flag=True, help="Maximum likelihood, to compare fixed effects [REML].")
@click.option("--weights", metavar="COL", help="Case weights: residual variance is sigma^2 / weight.")
@click.option("--family", type=click.Choice(["binomial"]), help="Right or wrong: fit a logistic mixed model.")
@click.option("--trials", metavar="COL", help="Number of trials; the response is then a count or a proportion.")
@click.option("--failures", metavar="COL", help="Number of failures; the response is then a count of successes.")
@click.option(
    "--method", type=click.Choice(["auto", "quadrature", "laplace"]), default="auto",
    help="Of the likelihood [auto: quadrature where the terms allow it].",
)  # fmt: skip
@click.option(
    "--penalty", type=float, metavar="SD", help="Normal prior on fixed effects, for separation (2.5 is usual)."
)
@output_options
def command(
    formula: str, data: tuple[str, ...], ml: bool, weights: str | None, family: str | None, trials: str | None,
    failures: str | None, method: str, penalty: float | None, shown: Output, level: float, **_: Any,
) -> None:  # fmt: skip
    r"""Fit a mixed model to a table: linear or, with --family binomial, logistic.

    FORMULA is written as for lme4: fixed effects, then random terms in parentheses. `(1 | item)` lets
    the mean vary between items, `(1 + length | run)` the slope of length as well, `(length || run)` both
    without a correlation; `a:b` and `a / b` are interactions and nesting. The functions are log, log2,
    log10, log1p, exp, sqrt, abs, center, scale, factor and poly(x, 2); nothing in a formula runs as code.
    DATA is a file, a folder or a pattern, as for `holdsup check`.
    """
    from holdsup.errors import FitError
    from holdsup.fit import fit_glmm, fit_lmm

    logistic = {
        "trials": trials,
        "failures": failures,
        "penalty": penalty,
        "method": None if method == "auto" else method,
    }
    if family is None:
        given = [f"--{name}" for name, value in logistic.items() if value is not None]
        if given:
            raise FitError(f"{given[0]} belongs to a logistic model: add --family binomial")
        options: dict[str, Any] = {"method": "ml" if ml else "reml", "weights": weights}
        with _pointing_to_import(data):
            shown.answer(functools.partial(fit_lmm, formula), data, level=level, **options)
        return
    if ml or weights is not None:
        raise FitError(f"{'--ml' if ml else '--weights'} belongs to a linear model: leave it out, or --family")
    with _pointing_to_import(data):
        shown.answer(
            functools.partial(fit_glmm, formula), data, trials=trials, failures=failures, method=method,
            penalty=penalty, level=level,
        )  # fmt: skip


@contextmanager
def _pointing_to_import(data: tuple[str, ...]) -> Iterator[None]:
    """Where the data turn out to be logs, say how they become a table: a formula names columns, and logs have none."""
    from holdsup.errors import ColumnError, ReadError
    from holdsup.logs.opening import find_log

    try:
        yield
    except (ColumnError, ReadError) as error:
        if (log := find_log(list(data))) is None:
            raise
        told = f"{log}, and a formula needs a table: make one with holdsup import {shlex.join(data)} -o scores.parquet"
        raise ReadError(told) from error
