"""`holdsup demo`: the six questions, on data whose truth is known."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from holdsup.cli.output import find_width, name_file
from holdsup.errors import ResultError

LABEL = 10  # columns of the words on the left


@click.command("demo", epilog="Example: holdsup demo -o demo.html")
@click.option(
    "-o",
    "--output",
    callback=name_file,
    default="holdsup-demo.html",
    show_default=True,
    metavar="PAGE.html",
    help="The page to write.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Random seed.")
def command(output: Path, seed: int) -> None:
    """Show six answers on data whose truth is known.

    It takes about half a minute, works offline and writes a page: a card per question, with all tables below.
    The data are simulated, published, or ship with scikit-learn.
    """
    if output.suffix.lower() != ".html":
        raise ResultError(f"cannot write the page to {output}: its name must end in .html")
    if not output.parent.is_dir():
        raise ResultError(f"cannot write the page to {output}: there is no folder {output.parent}; create it first")
    started = time.monotonic()
    from holdsup.demo import QUESTIONS, write_page

    tales = {}
    for place, question in enumerate(QUESTIONS, start=1):
        _say(f"{place} {question.text}  (holdsup {question.command})", bold=True)
        tale = tales[question] = question.tell(seed)
        state = f"{tale.result.state.upper()}. " if tale.result.state else ""
        for word, text in (
            ("seems", tale.seeming),
            ("truth", tale.truth),
            ("holdsup", f"{state}{tale.result.headline}"),
        ):
            _say(f"  {word:<{LABEL - 2}}{text}", indent=" " * LABEL)
    write_page(tales, output)
    click.echo(f"\nPictures and tables: {output.resolve()} ({time.monotonic() - started:.0f} s)")
    click.echo("Now your own scores: holdsup check YOUR_SCORES.csv")


def _say(text: str, *, indent: str = "", bold: bool = False) -> None:
    """Print a text in lines that fit the terminal."""
    from holdsup.rendering.text import wrap_text

    for line in wrap_text(text, find_width(sys.stdout.isatty()), indent=indent):
        click.echo(click.style(line, bold=bold))
