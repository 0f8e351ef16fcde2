"""What the user sees: options that every command takes, where a result goes and in what form, a progress bar."""

from __future__ import annotations

import functools
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from holdsup.cli.options import F, add_options
from holdsup.errors import HoldsupError, ReadError, ResultError
from holdsup.progress import Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar, TaskID

    from holdsup.rendering import Table
    from holdsup.rendering.text import Ink
    from holdsup.results import Result

R = TypeVar("R", bound="Result")
FORMATS = ("text", "json", "markdown", "latex")
PIPED_WIDTH = 100  # columns of full answers when the output is no terminal
WIDEST = 80  # columns of a short answer: what every terminal, mail and comment has
STANDARD_OUTPUT = Path("-")
PATIENCE = 2.0  # seconds before a progress bar shows


def name_file(ctx: click.Context, param: click.Parameter, value: str | None) -> Path | None:
    """Return the path of a file to write; Python takes an empty name for the current folder."""
    if value is None:
        return None
    if not value.strip():
        raise click.BadParameter("the name of the file is empty.")
    return Path(value)


def output_options(command: F) -> F:
    """Add the options that every command takes; those of what is shown and written arrive as one `Output`."""
    options = [
        click.option("--full", is_flag=True, help="Show everything: all tables, tests and caveats."),
        click.option("--pairs", is_flag=True, help="List all pairs as well."),
        click.option("--format", "style", type=click.Choice(FORMATS), default="text", metavar="FORMAT",
                     help="text, json (for holdsup report), markdown or latex."),
        click.option("-o", "--output", "file", callback=name_file, metavar="FILE",
                     help="Write to FILE (-: standard output)."),
        click.option("--plot", "picture", callback=name_file, metavar="FILE",
                     help="Draw the answer as SVG, PDF or PNG; another: --figure NAME."),
        click.option("--figure", metavar="NAME", hidden=True, help="Draw this figure; a wrong name lists them all."),
        click.option("--plot-all", "folder", callback=name_file, metavar="FOLDER",
                     help="Draw every figure, one file each."),
        click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95,
                     metavar="P", show_default=True, help="Confidence level; tests use 1 - P."),
        click.option("--seed", type=click.IntRange(min=0), default=0, metavar="N", show_default=True,
                     help="Random seed."),
        click.option("--jobs", type=click.IntRange(min=1), default=1, metavar="N", show_default=True,
                     help="Number of processes."),
        click.option("--quiet", is_flag=True, help="Hide the progress bar."),
    ]  # fmt: skip

    @functools.wraps(command)
    def packed(**given: Any) -> Any:
        shown = {field.name: given.pop(field.name) for field in fields(Output)}
        return command(shown=Output(**shown), **given)

    return add_options(cast(F, packed), options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What is shown of a result, in which form, and where it goes."""

    full: bool  # whether all of it is shown, not the answer alone
    pairs: bool  # whether all pairs are listed
    style: str  # text, json, markdown or latex
    file: Path | None  # where it is written; None for the terminal
    picture: Path | None  # where the answer is drawn
    figure: str | None  # the name of another picture to draw there
    folder: Path | None  # where every picture is drawn
    quiet: bool  # whether no progress bar is drawn

    def answer(self, ask: Callable[..., R], data: Sequence[str], **arguments: Any) -> R:
        """Ask a question of some data, and show what came out."""
        self.refuse_to_overwrite(data)
        with show_progress(quiet=self.quiet) as progress:
            result = ask(list(data), progress=progress, **arguments)
        self.emit(result)
        return result

    def refuse_to_overwrite(self, data: Sequence[str], *others: Path | None) -> None:
        """Raise if a file to be written is one of those to be read, or is to be written twice."""
        from holdsup.columns.sources import find_sources

        if self.figure is not None and self.picture is None:
            raise click.UsageError("--figure needs --plot FILE: say where to draw it.")
        written = (self.file, self.picture, *others)
        named = [path.resolve() for path in written if path is not None and path != STANDARD_OUTPUT]
        if twice := next((path for path in named if named.count(path) > 1), None):
            raise ResultError(f"cannot write {twice.name} twice: give each output its own name")
        targets = [path for path in written if path is not None and path != STANDARD_OUTPUT and path.is_file()]
        if not targets:
            return
        read: list[Path] = []
        for asked in data:
            with suppress(ReadError):  # a folder without tables, say: whoever reads it says so
                read.extend(source.path for source in find_sources(asked) if source.path is not None)
        for target in targets:
            if any(target.samefile(path) for path in read):
                raise ResultError(f"cannot write {target}: it is one of the files to read; use another name")

    def emit(self, result: Result) -> None:
        """Print a result or write it to a file, and draw it if asked; files appear whole or not at all."""
        result, refusal = self._draw(result)
        if self.file is None or self.file == STANDARD_OUTPUT:
            click.echo(self._render(result, *_terminal()), nl=False)
        else:
            from holdsup.results import write_file

            write_file(self.file, self._render(result, "utf-8", False).encode("utf-8", "backslashreplace"))
        if refusal is not None:
            raise refusal

    def _draw(self, result: Result) -> tuple[Result, HoldsupError | None]:
        """Draw a result; return it with what became of the pictures, and why one was refused."""
        if self.picture is None and self.folder is None:
            return result, None
        from holdsup.plots import save_plot, save_plots
        from holdsup.results import Caution, find_extra

        said: list[Caution] = []
        try:
            if (picture := self.picture) is not None:
                draw = functools.partial(save_plot, result, picture, figure=self.figure)
                find_extra(f"the picture {picture.name}", draw, said, None, asked=True)
            if (folder := self.folder) is not None:
                find_extra("a picture", functools.partial(save_plots, result, folder), said, None, asked=True)
        except HoldsupError as error:
            return result, error
        for caution in said:  # a short answer has no room for it
            click.echo(f"holdsup: {caution.sentence()}", err=True)
        return replace(result, cautions=(*result.cautions, *said)), None

    def _render(self, result: Result, encoding: str, terminal: bool) -> str:
        if self.style == "json":
            return result.to_json(ascii_only=encoding.lower().replace("-", "") != "utf8")
        if self.style == "latex" and not self.full:
            return result.answer().latex(figure=None if self.picture is None else self.picture.name)
        shown = result.page() if self.full else result.list_pairs() if self.pairs else result.answer()
        if self.style != "text":
            return shown.markdown() if self.style == "markdown" else shown.latex()
        width, ink = _sheet(encoding, terminal)
        width = width if self.full or self.pairs else min(width, WIDEST)
        return shown.text(width=width, ink=replace(ink, coloured=terminal and not os.environ.get("NO_COLOR")))


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


@contextmanager
def show_progress(*, quiet: bool) -> Iterator[Progress]:
    """Give a `progress` callback that draws a bar on stderr: on a terminal, once the work has taken a while."""
    if quiet or not getattr(sys.stderr, "isatty", bool)():
        yield no_progress
        return
    drawn = _DrawnLate()
    try:
        yield drawn
    finally:
        drawn.stop()


class _DrawnLate:
    def __init__(self) -> None:
        self.started = time.monotonic()
        self.bar: Bar | None = None
        self.task: TaskID | None = None

    def __call__(self, done: int, total: int | None, label: str) -> None:
        if time.monotonic() - self.started < PATIENCE:
            return
        if self.bar is None:
            self._start()
        assert self.bar is not None
        if self.task is None:
            self.task = self.bar.add_task(label, total=total)
        self.bar.update(self.task, completed=done, total=total, description=label)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.text import Text

        class PlainText(TextColumn):  # labels come from files: never read as rich's markup
            def render(self, task):  # type: ignore[no-untyped-def]
                return Text(task.description)

        columns = (PlainText(""), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.bar.start()

    def stop(self) -> None:
        if self.bar is not None:
            self.bar.stop()
