"""`holdsup compare`: is one system better than another?"""

from __future__ import annotations

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
    "compare",
    cls=GroupedCommand,
    groups={"Question": "claim baseline margin by best bootstrap"},
    epilog="""\b
    Examples:
      holdsup compare scores.csv                    or: holdsup compare a.txt b.txt
      holdsup compare runs/*.csv --score ter --baseline A --margin 0.01""",
)
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--claim",
    type=click.Choice(["these-runs", "new-runs", "new-settings"]),
    metavar="CLAIM",
    help="these-runs, new-runs or new-settings [as runs allow]",
)
@click.option("--baseline", metavar="SYSTEM", help="Compare all systems with this one, not all pairs.")
@click.option("--margin", type=float, metavar="D", help="Differences below D do not matter: test equivalence.")
@click.option("--by", metavar="PROPS", multiple=True, help="Does the lead depend on properties of items?")
@click.option("--best", metavar="COL", help="Compare the best run of each system by COL: dev_score.")
@click.option(
    "--bootstrap", type=click.IntRange(min=0), default=0, metavar="N", help="Simulate N nulls of the likelihood ratio."
)
@click.option("--where", metavar="COL=VALUE", multiple=True, help="Use only rows with this value; may be repeated.")
@last_option
@direction_option
@click.option("--lower", metavar="METRICS", multiple=True, help="Lower is better by these metrics: ter,wer.")
@click.option(
    "--average",
    type=click.Choice(["macro", "micro"]),
    default="macro",
    metavar="HOW",
    help="Over datasets: macro (all weigh the same) or micro.",
)
@nested_option
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
    shown: Output,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
    **roles: Any,
) -> None:
    """Is one system better than another?

    DATA is a table with a row for each score of a system on an item in a run, or a file for each system.
    """
    from holdsup.cli.bar import show_progress
    from holdsup.verdict import compare_systems

    if lower and lower_is_better is not None:
        raise click.UsageError("--lower-is-better and --higher-is-better hold for every metric: leave --lower out.")
    arguments = split_roles(roles)
    shown.refuse_to_overwrite(data)
    with show_progress(quiet=quiet) as progress:
        found = compare_systems(
            list(data), claim=claim, baseline=baseline, margin=margin, best=best, by=split_names(by),
            where=dict(split_pairs(where, "--where", "dataset=news")) or None, last=last,
            nested_runs=nested_runs, average=average, bootstrap=bootstrap,
            lower_is_better=split_names(lower) or lower_is_better, level=level, seed=seed,
            processes=jobs if jobs > 1 else None, progress=progress, **arguments,
        )  # fmt: skip
    shown.emit(found)
