"""`holdsup fit`: a linear mixed model, in lme4's language."""

from __future__ import annotations

import click

from holdsup.cli.output import Output, output_options


@click.command(
    "fit",
    epilog="""\b
    Examples:
      holdsup fit "score ~ system + (1 | item)" scores.csv --ml
      holdsup fit "score ~ system * length + (1 | item) + (0 + system || run)" scores.parquet
      holdsup fit "f1 ~ 1 + (1 | question) + (1 | seed)" runs/ --format json -o fit.json""",
)
@click.argument("formula")
@click.argument("data", nargs=-1, required=True)
@click.option("--ml", is_flag=True, help="Maximum likelihood instead of REML: for comparing fixed effects.")
@click.option("--weights", metavar="COL", help="Case weights: the residual variance of a row is sigma^2 / weight.")
@output_options
def command(
    formula: str,
    data: tuple[str, ...],
    ml: bool,
    weights: str | None,
    shown: Output,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
) -> None:
    r"""Fit a linear mixed model to a table.

    FORMULA is written as for lme4: fixed effects, then random terms in parentheses. `(1 | item)` lets
    the mean vary between items, `(1 + length | run)` also the slope of length, `(length || run)`
    without a correlation; `a:b` and `a / b` are interactions and nesting. log, log2, log10, log1p, exp,
    sqrt, abs, center, scale, factor and poly(x, 2) are the functions there are; nothing in a formula
    is run as code. DATA is a file, a folder or a pattern, as for `holdsup check`.
    """
    from holdsup.cli.bar import show_progress
    from holdsup.fit import fit_lmm

    shown.refuse_to_overwrite(data)
    with show_progress(quiet=quiet) as progress:
        fit = fit_lmm(formula, list(data), "ml" if ml else "reml", weights, level=level, progress=progress)
    shown.emit(fit)
