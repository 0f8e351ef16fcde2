"""`holdsup report`: saved results as one page, a document, or a folder for a paper."""

from __future__ import annotations

from pathlib import Path

import click

from holdsup.cli.output import name_file
from holdsup.errors import ResultError

LARGE = 2_000_000  # bytes; a larger page is slow to open and to send


@click.command(
    "report",
    epilog="""\b
    Examples:
      holdsup compare scores.csv --format json -o compare.json
      holdsup check scores.csv --format json -o check.json
      holdsup report compare.json check.json -o page.html
      holdsup report compare.json --paper paper/""",
)
@click.argument("results", nargs=-1, required=True, metavar="RESULT.json...", type=click.Path(path_type=Path))
@click.option("-o", "--output", callback=name_file, metavar="PAGE", help="PAGE.html: one page. PAGE.md: Markdown.")
@click.option(
    "--paper",
    callback=name_file,
    metavar="FOLDER",
    help="Write a figure (SVG, PDF) and a LaTeX table per result, a methods text and BibTeX.",
)
@click.option("--full", is_flag=True, help="With --paper: all figures and tables, not one of each per result.")
@click.option("--title", metavar="TEXT", help="Title of the page.")
def command(results: tuple[Path, ...], output: Path | None, paper: Path | None, full: bool, title: str | None) -> None:
    """Turn saved results into a page or files for a paper.

    RESULT.json is what any command writes with --format json -o FILE. The page shows the results in the order
    given: question, answer, figure and a small table, with all other tables folded below. It works offline.
    --paper FOLDER writes what a paper needs, with or without a page.
    """
    if output is None and paper is None:
        raise click.UsageError("Nothing to write: give -o PAGE.html, -o PAGE.md or --paper FOLDER.")
    from holdsup.report import write_paper, write_report
    from holdsup.report.view import make_view
    from holdsup.report.writing import list_written, read_entries

    entries = read_entries(results)
    view = make_view(entries)
    refuse_inputs(results, list_written(view, output, paper, full=full))
    for section in view.sections:
        for remark in section.remarks:
            click.echo(f"{section.source}: {remark}", err=True)
    if output is not None:
        write_report(entries, output, title=title)
        size = output.stat().st_size
        if size > LARGE:
            click.echo(
                f"{output} has {size / 1e6:.1f} MB and may open slowly: report fewer results at a time", err=True
            )
    if paper is not None:
        write_paper(entries, paper, full=full)


def refuse_inputs(read: tuple[Path, ...], written: list[Path]) -> None:
    """Raise if a file to be written is one of those that were read."""
    for target in written:
        if target.exists() and any(target.samefile(path) for path in read):
            raise ResultError(f"cannot write {target}: it is one of the results to read; use another name")
