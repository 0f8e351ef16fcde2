"""`holdsup check`: is this table of scores fit to answer a question?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from holdsup.cli.options import direction_option, parse_range, scores_options, split_roles
from holdsup.cli.output import emit, output_options, refuse_to_overwrite
from holdsup.errors import ScoresError

__all__ = ["command"]


@click.command(
    "check",
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
@click.option("--strict", is_flag=True, help="Exit with 1 if there is a finding of severity error.")
@output_options
def command(
    data: tuple[str, ...],
    score_range: tuple[float, float] | None,
    lower_is_better: bool | None,
    strict: bool,
    style: str,
    output: Path | None,
    picture: Path | None,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
    **roles: Any,
) -> None:
    """Say what a table of scores holds, and what is wrong with it.

    DATA is a file (CSV, TSV, JSONL, Parquet, also gzipped), a folder or a pattern of them, several
    files, or - for standard input. Columns are found by their names (system or model, item or id,
    score or a metric's name, seed, run ...) unless you say otherwise; "-" for a role says that no
    column has it. The check finds duplicate rows, missing rows, scores that are not numbers, columns
    that change only together, copied runs and more. For each it says what it does to a result and
    what to do. Nothing here is random: --seed, --level and --jobs are accepted as everywhere, and
    change nothing.
    """
    from holdsup.cli.bar import show_progress
    from holdsup.scores import audit_scores

    arguments = split_roles(roles)
    refuse_to_overwrite(data, output, picture)
    with show_progress(quiet=quiet) as progress:
        audit = audit_scores(
            list(data), score_range=score_range, lower_is_better=lower_is_better, progress=progress, **arguments
        )
    emit(audit, style=style, output=output, picture=picture)
    errors = [finding.code for finding in audit.findings if finding.severity == "error"]
    if strict and errors:
        raise ScoresError(f"the table has errors ({', '.join(dict.fromkeys(errors))}), and --strict was given")
