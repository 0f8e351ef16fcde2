"""Where a result goes, and in what form: options that every command takes, and what is done with them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdsup.errors import HoldsupError, ResultError

if TYPE_CHECKING:
    from holdsup.rendering import Table
    from holdsup.rendering.text import Ink
    from holdsup.results import Result

__all__ = ["emit", "find_width", "name_file", "output_options", "print_tables", "refuse_to_overwrite"]

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("text", "json", "markdown", "latex")
PIPED_WIDTH = 100  # columns when the output is no terminal
STANDARD_OUTPUT = Path("-")


def name_file(ctx: click.Context, param: click.Parameter, value: str | None) -> Path | None:
    """Return the path of a file to write; Python takes an empty name for the current folder."""
    if value is None:
        return None
    if not value.strip():
        raise click.BadParameter("the name of the file is empty.")
    return Path(value)


def output_options(command: F) -> F:
    """Add the options that every command takes."""
    for option in reversed(
        [
            click.option("--format", "style", type=click.Choice(FORMATS), default="text", show_default=True,
                         help="What to print; json has full precision and is what `holdsup.read_result` reads."),
            click.option("-o", "--output", callback=name_file, metavar="FILE",
                         help="Write to FILE instead of the terminal (-: standard output)."),
            click.option("--plot", "picture", callback=name_file, metavar="FILE",
                         help="Draw the result, too: FILE.svg, FILE.pdf or FILE.png."),
            click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True,
                         help="Seed of everything random."),
            click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95,
                         show_default=True,
                         help="Coverage of intervals; what is tested is told where p is 1 minus it or less."),
            click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
                         help="Processes to use where the work can be shared out."),
            click.option("--quiet", is_flag=True, help="Show no progress."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def refuse_to_overwrite(data: Sequence[str], *written: Path | None) -> None:
    """Raise if a file to be written is one of those to be read, or is to be written twice."""
    from holdsup.columns.sources import find_sources

    named = [path.resolve() for path in written if path is not None and path != STANDARD_OUTPUT]
    if twice := next((path for path in named if named.count(path) > 1), None):
        raise ResultError(f"cannot write {twice.name} twice: give each file that is written a name of its own")
    targets = [path for path in written if path is not None and path != STANDARD_OUTPUT and path.is_file()]
    if not targets:
        return
    read = [source.path for asked in data for source in find_sources(asked) if source.path is not None]
    for target in targets:
        if any(target.samefile(path) for path in read):
            raise ResultError(f"cannot write {target}: it is one of the files to read; give another name")


def emit(result: Result, *, style: str, output: Path | None, picture: Path | None) -> None:
    """Print a result or write it to a file, and draw it if asked; files appear whole or not at all."""
    result, refusal = (result, None) if picture is None else _draw(result, picture)
    if output is None or output == STANDARD_OUTPUT:
        click.echo(_rendered(result, style, *_terminal()), nl=False)
    else:
        from holdsup.results import write_file

        write_file(output, _rendered(result, style, "utf-8", False).encode("utf-8", "backslashreplace"))
    if refusal is not None:
        raise refusal


def _draw(result: Result, picture: Path) -> tuple[Result, HoldsupError | None]:
    """Draw a result; return it with what became of the picture, and why it was refused: the answer comes first."""
    from holdsup.plots import save_plot
    from holdsup.results.extras import find_extra

    said: list[str] = []
    try:
        find_extra(f"the picture {picture.name}", lambda: save_plot(result, picture), said, None, asked=True)
    except HoldsupError as error:
        return result, error
    return replace(result, warnings=(*result.warnings, *said)), None


def print_tables(sentence: str, tables: Sequence[Table]) -> None:
    """Print a sentence and tables that are no result: nothing was computed."""
    from holdsup.rendering.text import render_text, wrap_text

    width, ink = _sheet(*_terminal())
    parts = ["\n".join(wrap_text(sentence, width)), *(render_text(table, width=width, ink=ink) for table in tables)]
    click.echo("\n\n".join(parts))


def _terminal() -> tuple[str, bool]:
    """Return the encoding of standard output and whether it is a terminal; a stand-in may know neither."""
    if sys.stdout is None:  # it was closed before we began: nothing is printed, and that is no success
        raise click.exceptions.Exit(1)
    return getattr(sys.stdout, "encoding", None) or "utf-8", bool(getattr(sys.stdout, "isatty", bool)())


def _sheet(encoding: str, terminal: bool) -> tuple[int, Ink]:
    """Return how wide text may be, and what lines are drawn with."""
    from holdsup.rendering.text import ASCII, UNICODE

    return find_width(terminal), UNICODE if UNICODE.drawable(encoding) else ASCII


def find_width(terminal: bool) -> int:
    """Return how many columns text may take."""
    asked = terminal or "COLUMNS" in os.environ
    return max(40, shutil.get_terminal_size().columns if asked else PIPED_WIDTH)


def _rendered(result: Result, style: str, encoding: str, terminal: bool) -> str:
    if style == "json":
        return result.to_json(ascii_only=encoding.lower().replace("-", "") != "utf8")
    page = result.page()
    if style == "markdown":
        return page.markdown()
    if style == "latex":
        return page.latex()
    width, ink = _sheet(encoding, terminal)
    text = page.text(width=width, ink=ink)
    if terminal and not os.environ.get("NO_COLOR"):
        verdict, _, rest = text.partition("\n\n")
        return f"{click.style(verdict, bold=True)}\n\n{rest}"
    return text
