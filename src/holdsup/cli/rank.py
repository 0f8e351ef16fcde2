"""`holdsup rank`: which system is best, once datasets and nuisance factors are isolated?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from holdsup.cli.options import (
    direction_option,
    last_option,
    nested_option,
    scores_options,
    split_names,
    split_pairs,
    split_roles,
)
from holdsup.cli.output import emit, output_options, refuse_to_overwrite

__all__ = ["command"]


@click.command(
    "rank",
    epilog="""\b
    Examples:
      holdsup rank runs.csv
      holdsup rank runs.csv --score f1 --system model --dataset task --nuisance seed,lr,batch,epochs
      holdsup rank runs.csv --treat epochs=numeric --contribution dapt,scratch,link --pair BioLinkBERT,PubMedBERT
      holdsup rank runs.csv --paper --predict system=BioBERT,dataset=BioASQ,seed=20,lr=1e-5,batch=16,epochs=15
      holdsup rank folds.csv --nuisance fold --shared fold --forms --plot ranking.svg

    \b
    Words of the answer:
      adjusted   a mean in which datasets, and levels of each setting, count equally, whatever was run how often
      limits     in the verdict and of contrasts: for all pairs at once (Bonferroni); their p is Holm's
      places     the ranks that Holm's tests of all pairs leave a system
      best in    share of draws in which it comes first; like a one-sided p, not adjusted for the number of pairs
      shrunken   the paper's mean, drawn towards that of all systems
      pooled p   the mixed model's test, which takes all systems to be equally fickle; p itself is by a pair's own
                 differences between datasets""",
)
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--nuisance",
    metavar="COLS",
    multiple=True,
    help="Columns in which runs differ: seed,lr,batch. By default seeds, and columns named like settings.",
)
@click.option(
    "--treat",
    metavar="COL=HOW",
    multiple=True,
    help="Take a nuisance column as fixed (levels), numeric or log (a straight line in it, or in its logarithm) or "
    "random (levels that are draws): epochs=numeric. May be repeated. By default levels; from 31 numbers on, or where "
    "they do not recur, a line, in the logarithm if they span a decade. Seeds are random.",
)
@click.option("--paper", is_flag=True, help="Equation 1 of Sanchez Carmona et al. as printed, its references included.")
@click.option(
    "--formula",
    metavar="F",
    help="A model of your own, in the names of your columns: 'f1 ~ factor(lr) + (1|model) + (1|task) + "
    "(1|model:task)'. Numbers are numbers in it unless factor() makes levels of them.",
)
@click.option("--forms", "compare_forms", is_flag=True, help="Compare forms by their cross-validated errors.")
@click.option(
    "--contribution",
    metavar="COLS",
    multiple=True,
    help="Columns that describe systems, such as 0 and 1 for an ingredient: what does each add?",
)
@click.option(
    "--predict",
    metavar="COL=VALUE,...",
    help="Predict the score of a configuration, term by term: system=A,dataset=X,seed=1. One with commas is quoted: "
    "'system=\"A, v2\",dataset=X,seed=1'.",
)
@click.option(
    "--pair",
    metavar="A,B",
    help="The two systems whose raw gap is explained; by default the first two of the ranking. A name that holds "
    "commas is quoted: '\"A, v2\",B'.",
)
@click.option(
    "--where",
    metavar="COL=VALUE",
    multiple=True,
    help="Use the rows in which COL is VALUE: metric=f1. May be repeated; several values of one column are joined.",
)
@last_option
@nested_option
@click.option("--folds", type=click.IntRange(min=0), default=10, show_default=True,
              help="Folds of the cross-validation; 0 for none.")  # fmt: skip
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
    style: str,
    output: Path | None,
    picture: Path | None,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
    **roles: Any,
) -> None:
    """Rank systems over datasets, with nuisance factors isolated.

    DATA is what `holdsup check` takes: a row for each system, dataset and run. A mixed model takes apart
    what systems, datasets, their interaction and nuisance factors (seed, learning rate, ...) add to a
    score. It answers which nuisance factors matter, what ingredients add, where the variance comes from,
    how systems and datasets interact, and which system is best for new datasets like these, and how sure
    that is.
    """
    from holdsup.cli.bar import show_progress
    from holdsup.verdict.ranking import rank_systems

    arguments = split_roles(roles)
    treated = _single(treat, "--treat", "epochs=numeric")
    chosen = dict(split_pairs(where, "--where", "metric=f1"))
    configuration = None if predict is None else _single(split_names([predict]), "--predict", "system=A,dataset=X")
    refuse_to_overwrite(data, output, picture)
    with show_progress(quiet=quiet) as progress:
        found = rank_systems(
            list(data), nuisance=split_names(nuisance) or None, treat=treated, paper=paper, formula=formula,
            compare_forms=compare_forms, contribution=split_names(contribution), predict=configuration,
            pair=None if pair is None else split_names([pair]), where=chosen, last=last,
            nested_runs=nested_runs, folds=folds,
            lower_is_better=lower_is_better, level=level, seed=seed, progress=progress, **arguments,
        )  # fmt: skip
    emit(found, style=style, output=output, picture=picture)


def _single(given: Iterable[str], option: str, example: str) -> dict[str, str]:
    """Return the values in "system=A" and "dataset=X", one for each name."""
    pairs = dict(split_pairs(given, option, example))
    if twice := next((name for name, values in pairs.items() if len(values) > 1), None):
        raise click.BadParameter(f"{twice!r} is given twice: {' and '.join(pairs[twice])}.", param_hint=option)
    return {name: value for name, (value,) in pairs.items()}
