"""`holdsup demo`: the six questions, on data whose truth is known."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdsup.cli.output import find_width, name_file
from holdsup.errors import ResultError

if TYPE_CHECKING:
    from holdsup.demo import Tale

__all__ = ["command"]

LABEL = 11  # columns of the words on the left


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
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything random.")
def command(output: Path, seed: int) -> None:
    """Show why a leaderboard gap may not hold up: six questions on data whose truth is known.

    It takes about half a minute, needs no network and ends with a page: verdicts, tables and pictures of
    all six. The data are simulated, published measurements, or come with scikit-learn.
    """
    if output.suffix.lower() != ".html":
        raise ResultError(f"cannot write the page to {output}: its name must end in .html")
    if not output.parent.is_dir():
        raise ResultError(f"cannot write the page to {output}: there is no folder {output.parent}; make it first")
    started = time.monotonic()
    from holdsup.demo import QUESTIONS, write_page

    _say("Six questions that a leaderboard number does not answer, on data whose truth is known.")
    click.echo()
    tales = {}
    for place, question in enumerate(QUESTIONS, start=1):
        _say(f"{place}/{len(QUESTIONS)} {question.text}  (holdsup {question.command})", bold=True)
        tales[question] = question.tell(seed)
        for word, text in _parts(tales[question]).items():
            _say(f"  {word:<{LABEL - 2}}{text}", indent=" " * LABEL)
        click.echo()
    write_page(tales, output)
    click.echo(f"Tables and pictures of all six: {output.resolve()} ({time.monotonic() - started:.0f} s)")
    click.echo("Open it in a browser. Then try your own scores: holdsup check YOUR_SCORES.csv")


def _parts(tale: Tale) -> dict[str, str]:
    """Return the data, what it seems, what is true, the verdict and the lesson, each with its word."""
    return {
        "data": tale.data, "seeming": tale.seeming, "truth": tale.truth, "verdict": tale.result.verdict,
        "so": tale.lesson,
    }  # fmt: skip


def _say(text: str, *, indent: str = "", bold: bool = False) -> None:
    """Print a text in lines that fit the terminal."""
    from holdsup.rendering.text import wrap_text

    for line in wrap_text(text, find_width(sys.stdout.isatty()), indent=indent):
        click.echo(click.style(line, bold=bold))
