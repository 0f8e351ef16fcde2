"""`holdsup rank`: is one system the best over many datasets?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from holdsup.cli.options import (
    GroupedCommand,
    direction_option,
    join_properties,
    names_option,
    pairs_option,
    rows_options,
    scores_options,
    split_names,
    split_pairs,
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
@names_option("--nuisance", metavar="COLS", help="What else varies between runs [seeds, settings].")
@pairs_option("--treat", "epochs=numeric", metavar="COL=HOW", help="Model COL as fixed, numeric, log or random.")
@click.option("--paper", is_flag=True, help="Use Equation 1 of Sanchez Carmona et al. as printed.")
@click.option("--formula", metavar="F", help="Your model: 'f1 ~ factor(lr) + (1|model) + (1|task)'.")
@click.option("--forms", "compare_forms", is_flag=True, help="Compare models by cross-validation error.")
@click.option(
    "--folds", type=click.IntRange(min=0), default=10, metavar="N", help="Cross-validation folds; 0 for none [10]."
)
@names_option("--contribution", metavar="COLS", help="What does each of these 0/1 ingredients add?")
@click.option("--predict", metavar="CONFIG", help="Predict a score: system=A,dataset=X,seed=1.")
@click.option("--pair", metavar="A,B", help="Explain the raw gap between A and B [the top two].")
@rows_options
@direction_option
@scores_options
@output_options
def command(
    data: tuple[str, ...],
    nuisance: tuple[str, ...],
    treat: dict[str, list[str]],
    predict: str | None,
    pair: str | None,
    shown: Output,
    jobs: int,
    **given: Any,
) -> None:
    """Is one system the best over many datasets?

    DATA has one row per system, dataset and run (seed, learning rate, ...).
    """
    from holdsup.verdict.ranking import rank_systems

    configuration = None
    if predict is not None:
        configuration = _take_single(split_pairs(split_names([predict]), "system=A,dataset=X"), "--predict")
    arguments = {
        **join_properties(given),
        "nuisance": nuisance or None,
        "treat": _take_single(treat, "--treat"),
        "predict": configuration,
        "pair": None if pair is None else split_names([pair]),
    }
    shown.answer(rank_systems, data, **arguments)


def _take_single(pairs: Mapping[str, Sequence[str]], option: str) -> dict[str, str]:
    """Return the one value of each name; refuse a name that is given twice."""
    if twice := next((name for name, values in pairs.items() if len(values) > 1), None):
        raise click.BadParameter(f"{twice!r} is given twice: {' and '.join(pairs[twice])}.", param_hint=option)
    return {name: value for name, (value,) in pairs.items()}
