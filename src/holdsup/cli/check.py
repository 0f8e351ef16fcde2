"""`holdsup check`: is this table of scores fit to answer a question?"""

from __future__ import annotations

from typing import Any

import click

from holdsup.cli.options import GroupedCommand, direction_option, parse_range, scores_options, split_roles
from holdsup.cli.output import Output, output_options
from holdsup.errors import ScoresError


@click.command(
    "check",
    cls=GroupedCommand,
    groups={"Question": "range strict"},
    epilog="""\b
    Examples:
      holdsup check scores.csv --range 0,1
      holdsup check a.txt b.txt                    one score a line, paired by line
      holdsup check scores.csv --wide system=A,B   a column for each system
      holdsup check runs/ --names "{system}_seed{seed}" --plot coverage.svg""",
)
@click.argument("data", nargs=-1, required=True)
@scores_options
@click.option("--range", "score_range", callback=parse_range, metavar="LOW,HIGH", help="Scores that can occur: 0,1")
@direction_option
@click.option("--strict", is_flag=True, help="Exit with 1 if there is an error.")
@output_options
def command(
    data: tuple[str, ...],
    score_range: tuple[float, float] | None,
    lower_is_better: bool | None,
    strict: bool,
    shown: Output,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
    **roles: Any,
) -> None:
    """Is this table of scores fit for use?

    DATA is a file (CSV, TSV, JSONL, Parquet, also gzipped), a folder or a pattern of them, several
    files, or - for standard input. The check finds duplicate and missing rows, scores that are not
    numbers, columns that change only together, copied runs and more. --full says what each does to a
    result and what to do.
    """
    from holdsup.cli.bar import show_progress
    from holdsup.scores import audit_scores

    arguments = split_roles(roles)
    shown.refuse_to_overwrite(data)
    with show_progress(quiet=quiet) as progress:
        audit = audit_scores(
            list(data), score_range=score_range, lower_is_better=lower_is_better, progress=progress, **arguments
        )
    shown.emit(audit)
    errors = [finding.code for finding in audit.findings if finding.severity == "error"]
    if strict and errors:
        raise ScoresError(f"the table has errors ({', '.join(dict.fromkeys(errors))}), and --strict was given")
