"""`holdsup check`: is this table of scores fit to answer a question?"""

from __future__ import annotations

from pathlib import Path

import click

from holdsup.cli.options import emit, output_options, parse_range, scores_options, split_roles

__all__ = ["command"]


@click.command(
    "check",
    epilog="""\b
    Examples:
      holdsup check scores.csv --range 0,1
      holdsup check a.txt b.txt                    one score a line, paired by line
      holdsup check scores.csv --wide system=A,B   a column for each system
      holdsup check runs/ --facets seed,learning_rate --plot coverage.svg""",
)
@click.argument("data", nargs=-1, required=True)
@scores_options
@click.option("--range", "score_range", callback=parse_range, metavar="LOW,HIGH", help="Scores that can occur: 0,1")
@output_options
def command(
    data: tuple[str, ...],
    score_range: tuple[float, float] | None,
    style: str,
    output: Path | None,
    picture: Path | None,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
    **roles: str | None,
) -> None:
    """Say what a table of scores holds, and what is wrong with it.

    DATA is a file (CSV, TSV, JSONL, Parquet, also gzipped), a folder or a pattern of them, several
    files, or - for standard input. Columns are taken by their names (system or model, item or id,
    score or a metric's name, seed, run ...) unless you say otherwise; "-" for a role says that
    nothing plays it. Repeated rows, missing cells, scores that are no numbers, confounded columns and
    more are found, each with what it does to a result and what to do about it. Nothing here is
    random: --seed, --level and --jobs are accepted as everywhere, and change nothing.
    """
    from holdsup.cli.bar import show_progress
    from holdsup.scores import audit_scores

    with show_progress(quiet=quiet) as progress:
        audit = audit_scores(list(data), score_range=score_range, progress=progress, **split_roles(roles))
    emit(audit, style=style, output=output, picture=picture)
