"""`holdsup import`: logs, or any scores, as one table that says what its columns are."""  # noqa: N999

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from holdsup.cli.options import GroupedCommand, join_properties, scores_options
from holdsup.cli.output import Output, name_file, show_progress


@click.command(
    "import",
    cls=GroupedCommand,
    groups={"Output": "output full quiet"},
    epilog="""\b
    Examples:
      holdsup import logs/ -o scores.parquet      then: holdsup compare scores.parquet
      holdsup import a.eval b.eval -o scores.csv
      holdsup import logs/ --reader mine.reader --accept different-items-under-one-id -o scores.parquet""",
)
@click.argument("data", nargs=-1, required=True)
@click.option("-o", "--output", "target", callback=name_file, required=True, metavar="FILE",
              help="Write the table to FILE.parquet or FILE.csv.")  # fmt: skip
@click.option("--full", is_flag=True, help="Show everything that was found, with what to do.")
@click.option("--quiet", is_flag=True, help="Hide the progress bar.")
@scores_options
def command(data: tuple[str, ...], target: Path, full: bool, quiet: bool, **given: Any) -> None:
    """Write logs, or any scores, to one table that says what its columns are.

    DATA is a folder of logs, log files, or anything that compare takes. The table keeps what the logs say: systems,
    tasks, items, metrics, samples and settings. Parquet keeps the role of every column; in CSV, names of columns tell
    it.
    """
    from holdsup.scores import audit_scores, read_scores
    from holdsup.scores.writing import check_ending, export_table, write_scores

    check_ending(target)
    shown = Output(
        full=full, pairs=False, style="text", file=None, picture=None, figure=None, folder=None, quiet=quiet
    )  # fmt: skip
    shown.refuse_to_overwrite(data, target)
    with show_progress(quiet=quiet) as progress:
        scores = read_scores(list(data), progress=progress, **join_properties(given))
    write_scores(export_table(scores), target)
    shown.emit(audit_scores(scores))
