"""`holdsup fit`: a linear mixed model, in lme4's language."""

from __future__ import annotations

import functools
from typing import Any

import click

from holdsup.cli.options import GroupedCommand
from holdsup.cli.output import Output, output_options


@click.command(
    "fit",
    cls=GroupedCommand,
    groups={"Model": "ml weights"},
    epilog="""\b
    Examples:
      holdsup fit "score ~ system + (1 | item)" scores.csv --ml
      holdsup fit "score ~ system * length + (1 | item) + (0 + system || run)" scores.parquet
      holdsup fit "f1 ~ 1 + (1 | question) + (1 | seed)" runs/ --format json -o fit.json""",
)
@click.argument("formula")
@click.argument("data", nargs=-1, required=True)
@click.option("--ml", is_flag=True, help="Maximum likelihood, to compare fixed effects [REML].")
@click.option("--weights", metavar="COL", help="Case weights: residual variance is sigma^2 / weight.")
@output_options
def command(
    formula: str, data: tuple[str, ...], ml: bool, weights: str | None, shown: Output, level: float, **_: Any
) -> None:
    r"""Fit a linear mixed model to a table.

    FORMULA is written as for lme4: fixed effects, then random terms in parentheses. `(1 | item)` lets
    the mean vary between items, `(1 + length | run)` the slope of length as well, `(length || run)` both
    without a correlation; `a:b` and `a / b` are interactions and nesting. The functions are log, log2,
    log10, log1p, exp, sqrt, abs, center, scale, factor and poly(x, 2); nothing in a formula runs as code.
    DATA is a file, a folder or a pattern, as for `holdsup check`.
    """
    from holdsup.fit import fit_lmm

    method = "ml" if ml else "reml"
    shown.answer(functools.partial(fit_lmm, formula), data, method=method, weights=weights, level=level)
