"""`holdsup variance`: where does the variance come from, and how reliable is this evaluation?"""

from __future__ import annotations

from typing import Any

import click

from holdsup.cli.options import (
    GroupedCommand,
    join_properties,
    names_option,
    pairs_option,
    rows_options,
    scores_options,
    split_names,
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
    help="How reliable a single score should be.",
)
@names_option("--interactions", metavar="A:B", help="Further sources: seed:prompt,item:rater.")
@names_option("--by", metavar="PROPS", help="Does a facet's effect depend on these? length,genre")
@pairs_option("--levels", "seed=3,5", metavar="FACET=N", help="Predict reliability with so many: seed=3,10.")
@rows_options
@scores_options
@output_options
def command(data: tuple[str, ...], levels: dict[str, list[str]], shown: Output, jobs: int, **given: Any) -> None:
    """Is one score reliable, and where does its variance come from?

    DATA is a table with one row per score of a system on an item in a run, or one file per system.
    Reliability, phi, is the share of the variance that is between items. Near 1, a score would be much the
    same with another seed; near 0, it is mostly noise.
    """
    from holdsup.verdict import decompose_variance

    planned = {facet: _counts(values) for facet, values in levels.items()}
    processes = jobs if jobs > 1 else None
    shown.answer(decompose_variance, data, levels=planned, processes=processes, **join_properties(given))


def _counts(values: list[str]) -> list[int]:
    """Return the numbers in "3,5"."""
    numbers = split_names(values)
    if not numbers or not all(number.isascii() and number.isdigit() and int(number) for number in numbers):
        raise click.BadParameter(f"{', '.join(numbers)!r} is not whole numbers such as 3,5.", param_hint="--levels")
    return [int(number) for number in numbers]
