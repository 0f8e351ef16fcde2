"""`holdsup check`: is this table of scores fit to answer a question?"""

from __future__ import annotations

from typing import Any

import click

from holdsup.cli.options import GroupedCommand, direction_option, join_properties, scores_options
from holdsup.cli.output import Output, output_options
from holdsup.errors import ScoresError


def _read_range(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Return the two numbers of ``--range LOW,HIGH``."""
    if value is None:
        return None
    try:
        low, high = (float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not two numbers such as 0,1.") from None
    if not low < high:
        raise click.BadParameter(f"{value!r}: the first number must be below the second.")
    return low, high


@click.command(
    "check",
    cls=GroupedCommand,
    groups={"Question": "range strict"},
    epilog="""\b
    Examples:
      holdsup check scores.csv --range 0,1
      holdsup check a.txt b.txt                    one score per line, paired by line
      holdsup check scores.csv --wide system=A,B   one column per system
      holdsup check runs/ --names "{system}_seed{seed}" --plot coverage.svg""",
)
@click.argument("data", nargs=-1, required=True)
@scores_options
@click.option("--range", "score_range", callback=_read_range, metavar="LOW,HIGH", help="Possible scores, such as 0,1.")
@direction_option
@click.option("--strict", is_flag=True, help="Exit with code 1 if the table has errors.")
@output_options
def command(
    data: tuple[str, ...], strict: bool, shown: Output, seed: int, level: float, jobs: int, **given: Any
) -> None:
    """Is this table of scores fit for use?

    DATA is a file (CSV, TSV, JSONL or Parquet, gzipped or not), a folder, a pattern, several files, or - for
    standard input. The check finds duplicate and missing rows, scores that are not numbers, columns that only
    change together, copied runs and more. --full says how each affects a result and what to do about it.
    """
    from holdsup.scores import audit_scores

    audit = shown.answer(audit_scores, data, **join_properties(given))
    errors = [finding.code for finding in audit.findings if finding.severity == "error"]
    if strict and errors:
        raise ScoresError(f"the table has errors ({', '.join(dict.fromkeys(errors))}), and --strict was given")
