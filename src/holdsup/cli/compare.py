"""`holdsup compare`: is one system better than another?"""

from __future__ import annotations

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
    "compare",
    epilog="""\b
    Examples:
      holdsup compare scores.csv
      holdsup compare a.txt b.txt                                 one score a line, paired by line
      holdsup compare scores.csv --baseline A --bootstrap 1000
      holdsup compare runs/*.csv --score ter --margin 0.01
      holdsup compare scores.csv --wide metric=bleu,ter --lower ter
      holdsup compare scores.csv --by readability --property "readability=flesch(source)"
      holdsup compare scores.csv --claim these-runs --plot systems.svg

    \b
    Words of the answer:
      Welch's t in two ways  a t-test whose standard error has a part for items and one for the runs of
                             each system, each with its own degrees of freedom
      cautious df            each part in turn is taken as large as it may well be, and the fewest degrees of
                             freedom count: few runs may be alike by luck
      the paper, eqs. 3-4    the likelihood-ratio test of Hagmann, Meier & Riezler (2023), which takes several
                             runs on one item for independent evidence; it stands beside ours""",
)
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--claim",
    type=click.Choice(["these-runs", "new-runs", "new-settings"]),
    help="What to claim; by default new-runs where two systems have two runs or more.",
)
@click.option("--baseline", metavar="SYSTEM", help="Compare all systems with this one; by default all pairs.")
@click.option(
    "--margin",
    type=float,
    metavar="D",
    help="Differences below D do not matter: test equivalence, non-inferiority and a lead beyond D, too.",
)
@click.option(
    "--best",
    metavar="COL",
    help="Compare the best run of each system by this column, such as dev_score; the lowest where lower is better.",
)
@click.option(
    "--by",
    metavar="PROPS",
    multiple=True,
    help="Properties of items, such as readability,genre: do differences depend on them, and where do they hold?",
)
@click.option(
    "--where",
    metavar="COL=VALUE",
    multiple=True,
    help="Use the rows in which COL is VALUE: dataset=news. May be repeated; several values of one column are joined.",
)
@last_option
@nested_option
@click.option(
    "--average",
    type=click.Choice(["macro", "micro"]),
    default="macro",
    show_default=True,
    help="Over several datasets: datasets weigh the same (macro), or items do (micro).",
)
@click.option(
    "--bootstrap",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Check the likelihood ratio against N simulated nulls.",
)
@direction_option
@click.option(
    "--lower",
    metavar="METRICS",
    multiple=True,
    help="The metrics of which a lower one is better, such as ter,wer; of others the name tells.",
)
@scores_options
@output_options
def command(
    data: tuple[str, ...],
    claim: str | None,
    baseline: str | None,
    margin: float | None,
    best: str | None,
    by: tuple[str, ...],
    where: tuple[str, ...],
    last: str | None,
    nested_runs: bool,
    average: str,
    bootstrap: int,
    lower_is_better: bool | None,
    lower: tuple[str, ...],
    style: str,
    output: Path | None,
    picture: Path | None,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
    **roles: Any,
) -> None:
    """Compare systems: which differ, by how much, and for what claim.

    DATA is what `holdsup check` takes: a table with a row for each score of a system on an item in a
    run, or a file for each system. Three claims can be made. these-runs: for these trained runs, over
    new items. new-runs: over new training runs as well, settings as they are. new-settings: over new
    settings, too. Only what the table can carry is claimed, and the answer says what it is. Several
    datasets make it a claim over new datasets, clusters of items one over new clusters.
    """
    from holdsup.cli.bar import show_progress
    from holdsup.verdict import compare_systems

    if lower and lower_is_better is not None:
        raise click.UsageError("--lower-is-better and --higher-is-better hold for every metric: leave --lower out.")
    arguments = split_roles(roles)
    refuse_to_overwrite(data, output, picture)
    with show_progress(quiet=quiet) as progress:
        found = compare_systems(
            list(data), claim=claim, baseline=baseline, margin=margin, best=best, by=split_names(by),
            where=dict(split_pairs(where, "--where", "dataset=news")) or None, last=last,
            nested_runs=nested_runs, average=average, bootstrap=bootstrap,
            lower_is_better=split_names(lower) or lower_is_better, level=level, seed=seed,
            processes=jobs if jobs > 1 else None, progress=progress, **arguments,
        )  # fmt: skip
    emit(found, style=style, output=output, picture=picture)
