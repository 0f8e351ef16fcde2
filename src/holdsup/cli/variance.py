"""`holdsup variance`: where does the variance come from, and how reliable is this evaluation?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import click

from holdsup.cli.options import (
    GroupedCommand,
    last_option,
    nested_option,
    scores_options,
    split_names,
    split_pairs,
    split_roles,
)
from holdsup.cli.output import Output, output_options


@click.command(
    "variance",
    cls=GroupedCommand,
    groups={"Question": "threshold interactions by levels"},
    epilog="""\b
    Examples:
      holdsup variance scores.csv
      holdsup variance grid.csv --facets seed,learning_rate --interactions seed:learning_rate
      holdsup variance ratings.csv --facets rater,occasion --interactions item:rater
      holdsup variance scores.csv --where system=A --levels seed=3,5,10""",
)
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.80,
    show_default=True,
    metavar="PHI",
    help="The reliability a single score should have.",
)
@click.option("--interactions", metavar="A:B", multiple=True, help="Further sources: seed:prompt,item:rater.")
@click.option("--by", metavar="PROPS", multiple=True, help="Does a facet's effect depend on these? length,genre")
@click.option("--levels", metavar="FACET=N", multiple=True, help="Plan for these numbers of levels: seed=3,10.")
@click.option("--where", metavar="COL=VALUE", multiple=True, help="Use only rows with this value; may be repeated.")
@last_option
@nested_option
@scores_options
@output_options
def command(
    data: tuple[str, ...],
    interactions: tuple[str, ...],
    where: tuple[str, ...],
    last: str | None,
    nested_runs: bool,
    by: tuple[str, ...],
    levels: tuple[str, ...],
    threshold: float,
    shown: Output,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
    **roles: Any,
) -> None:
    """Is a single score reliable, and where does the variance come from?

    DATA is a table with a row for each score of a system on an item in a run, or a file for each system.
    Reliability, phi, is the share of the variance that is between items. Near 1, a score would be much the
    same with another seed; near 0, it is mostly noise.
    """
    from holdsup.cli.bar import show_progress
    from holdsup.verdict import decompose_variance

    arguments = split_roles(roles)
    chosen = dict(split_pairs(where, "--where", "system=A"))
    planned = {facet: _counts(values) for facet, values in split_pairs(levels, "--levels", "seed=3,5")}
    shown.refuse_to_overwrite(data)
    with show_progress(quiet=quiet) as progress:
        found = decompose_variance(
            list(data), interactions=split_names(interactions), where=chosen, last=last,
            nested_runs=nested_runs, by=split_names(by),
            levels=planned, threshold=threshold, level=level, seed=seed, processes=jobs if jobs > 1 else None,
            progress=progress, **arguments,
        )  # fmt: skip
    shown.emit(found)


def _counts(values: Iterable[str]) -> list[int]:
    """Return the numbers in "3,5"."""
    numbers = split_names(values)
    if not numbers or not all(number.isascii() and number.isdigit() and int(number) for number in numbers):
        raise click.BadParameter(f"{', '.join(numbers)!r} is not whole numbers such as 3,5.", param_hint="--levels")
    return [int(number) for number in numbers]
