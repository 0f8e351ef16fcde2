"""`holdsup rank`: is one system the best over many datasets?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from holdsup.cli.options import (
    GroupedCommand,
    direction_option,
    last_option,
    nested_option,
    scores_options,
    split_names,
    split_pairs,
    split_roles,
)
from holdsup.cli.output import Output, output_options


@click.command(
    "rank",
    cls=GroupedCommand,
    groups={"Question": "nuisance treat paper formula forms folds contribution predict pair"},
    epilog="""\b
    Examples:
      holdsup rank runs.csv --score f1 --dataset task --nuisance seed,lr --plot ranking.svg
      holdsup rank runs.csv --contribution dapt,link --pair '"A, v2",B'""",
)
@click.argument("data", nargs=-1, required=True)
@click.option("--nuisance", metavar="COLS", multiple=True, help="Runs differ in these [seeds, named settings].")
@click.option("--treat", metavar="COL=HOW", multiple=True, help="HOW: fixed (levels), numeric, log (lines) or random.")
@click.option("--paper", is_flag=True, help="Equation 1 of Sanchez Carmona et al. as printed.")
@click.option("--formula", metavar="F", help="Your own: 'f1 ~ factor(lr) + (1|model) + (1|task)'.")
@click.option("--forms", "compare_forms", is_flag=True, help="Compare models by cross-validated errors.")
@click.option("--folds", type=click.IntRange(min=0), default=10, metavar="N", help="Folds of it; 0 for none [10].")
@click.option("--contribution", metavar="COLS", multiple=True, help="What do these ingredients (0/1) of systems add?")
@click.option("--predict", metavar="CONFIG", help="Predict a score: system=A,dataset=X,seed=1.")
@click.option("--pair", metavar="A,B", help="Explain the raw gap of these two [the first two].")
@click.option("--where", metavar="COL=VALUE", multiple=True, help="Use only rows with this value; may be repeated.")
@last_option
@nested_option
@direction_option
@scores_options
@output_options
def command(
    data: tuple[str, ...],
    nuisance: tuple[str, ...],
    treat: tuple[str, ...],
    paper: bool,
    formula: str | None,
    compare_forms: bool,
    contribution: tuple[str, ...],
    predict: str | None,
    pair: str | None,
    where: tuple[str, ...],
    last: str | None,
    nested_runs: bool,
    folds: int,
    lower_is_better: bool | None,
    shown: Output,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
    **roles: Any,
) -> None:
    """Is one system the best over many datasets?

    DATA has a row for each system, dataset and run (seed, learning rate, ...).
    """
    from holdsup.cli.bar import show_progress
    from holdsup.verdict.ranking import rank_systems

    arguments = split_roles(roles)
    treated = _single(treat, "--treat", "epochs=numeric")
    chosen = dict(split_pairs(where, "--where", "metric=f1"))
    configuration = None if predict is None else _single(split_names([predict]), "--predict", "system=A,dataset=X")
    shown.refuse_to_overwrite(data)
    with show_progress(quiet=quiet) as progress:
        found = rank_systems(
            list(data), nuisance=split_names(nuisance) or None, treat=treated, paper=paper, formula=formula,
            compare_forms=compare_forms, contribution=split_names(contribution), predict=configuration,
            pair=None if pair is None else split_names([pair]), where=chosen, last=last,
            nested_runs=nested_runs, folds=folds,
            lower_is_better=lower_is_better, level=level, seed=seed, progress=progress, **arguments,
        )  # fmt: skip
    shown.emit(found)


def _single(given: Iterable[str], option: str, example: str) -> dict[str, str]:
    """Return the values in "system=A" and "dataset=X", one for each name."""
    pairs = dict(split_pairs(given, option, example))
    if twice := next((name for name, values in pairs.items() if len(values) > 1), None):
        raise click.BadParameter(f"{twice!r} is given twice: {' and '.join(pairs[twice])}.", param_hint=option)
    return {name: value for name, (value,) in pairs.items()}
