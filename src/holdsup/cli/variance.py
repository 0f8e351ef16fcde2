"""`holdsup variance`: where does the variance come from, and how reliable is this evaluation?"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from holdsup.cli.options import last_option, nested_option, scores_options, split_names, split_pairs, split_roles
from holdsup.cli.output import emit, output_options, refuse_to_overwrite

__all__ = ["command"]


@click.command(
    "variance",
    epilog="""\b
    Examples:
      holdsup variance scores.csv
      holdsup variance grid.csv --score ter --facets seed,learning_rate --interactions seed:learning_rate
      holdsup variance ratings.csv --system mode --facets rater,occasion --interactions item:rater
      holdsup variance scores.csv --where system=A --levels seed=3,5,10 --plot shares.svg
      holdsup variance grid.csv --facets learning_rate --by length""",
)
@click.argument("data", nargs=-1, required=True)
@click.option(
    "--interactions",
    metavar="A:B,...",
    multiple=True,
    help="Further components: seed:learning_rate, or item:seed where a seed has several scores of an item.",
)
@click.option(
    "--where",
    metavar="COL=VALUE",
    multiple=True,
    help="Use the rows in which COL is VALUE: system=A. May be repeated; several values of one column are joined.",
)
@last_option
@nested_option
@click.option(
    "--by",
    metavar="PROPS",
    multiple=True,
    help="Properties of items, such as length,genre: does the effect of a facet depend on them?",
)
@click.option(
    "--levels",
    metavar="FACET=N,...",
    multiple=True,
    help="Plan for these numbers of levels, seed=3,5,10, instead of some usual ones. May be repeated.",
)
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
    style: str,
    output: Path | None,
    picture: Path | None,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
    **roles: Any,
) -> None:
    """Decompose the variance of each system's scores, and say how reliable they are.

    DATA is what `holdsup check` takes. Scores differ because items differ, because facets do (seed,
    learning rate, rater), and by chance. The reliability coefficient phi is the share of the items: near
    1 a score tells items apart whatever the seed; near 0 it is mostly noise. Its limits count, not the
    point: few seeds leave it wide open. The decision study tells what averages over more levels would
    be worth. With two systems or more: which differences could be found with more runs or more items.
    """
    from holdsup.cli.bar import show_progress
    from holdsup.verdict import decompose_variance

    arguments = split_roles(roles)
    chosen = dict(split_pairs(where, "--where", "system=A"))
    planned = {facet: _counts(values) for facet, values in split_pairs(levels, "--levels", "seed=3,5")}
    refuse_to_overwrite(data, output, picture)
    with show_progress(quiet=quiet) as progress:
        found = decompose_variance(
            list(data), interactions=split_names(interactions), where=chosen, last=last,
            nested_runs=nested_runs, by=split_names(by),
            levels=planned, level=level, seed=seed, processes=jobs if jobs > 1 else None, progress=progress,
            **arguments,
        )  # fmt: skip
    emit(found, style=style, output=output, picture=picture)


def _counts(values: Iterable[str]) -> list[int]:
    """Return the numbers in "3,5"."""
    numbers = split_names(values)
    if not numbers or not all(number.isascii() and number.isdigit() and int(number) for number in numbers):
        raise click.BadParameter(f"{', '.join(numbers)!r} is not whole numbers such as 3,5.", param_hint="--levels")
    return [int(number) for number in numbers]
