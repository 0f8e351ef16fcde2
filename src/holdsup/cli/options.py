"""Options that several commands share, and what is done with them."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdsup.errors import ResultError

if TYPE_CHECKING:
    from holdsup.results import Result

__all__ = ["emit", "output_options", "parse_range", "scores_options", "split_roles"]

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("text", "json", "markdown", "latex")
PIPED_WIDTH = 100  # columns when the output is no terminal


def output_options(command: F) -> F:
    """Add the options that every command takes."""
    for option in reversed(
        [
            click.option("--format", "style", type=click.Choice(FORMATS), default="text", show_default=True,
                         help="What to print; json has full precision and is what `holdsup.read_result` reads."),
            click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE",
                         help="Write to FILE instead of the terminal."),
            click.option("--plot", "picture", type=click.Path(path_type=Path), metavar="FILE",
                         help="Draw the result, too: FILE.svg, FILE.pdf or FILE.png."),
            click.option("--seed", type=int, default=0, show_default=True, help="Seed of everything random."),
            click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.95,
                         show_default=True, help="Coverage of intervals."),
            click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True,
                         help="Processes to use where the work can be shared out."),
            click.option("--quiet", is_flag=True, help="Show no progress."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def scores_options(command: F) -> F:
    """Add the options that say which column plays which part."""
    for option in reversed(
        [
            click.option("--score", metavar="COL", help="The score. Found by name if left out, like all of these."),
            click.option("--system", metavar="COL", help="What is compared: system, model, ..."),
            click.option("--item", metavar="COL", help="What is scored: item, id, sentence_id, ..."),
            click.option("--run", metavar="COL", help="One trained and evaluated instance of a system."),
            click.option("--facets", metavar="COLS", help="Columns in which runs differ, such as seed,learning_rate."),
            click.option("--replicates", metavar="COLS", help="Facets that are mere repetitions (seed is anyway)."),
            click.option("--shared", metavar="COLS", help="Facets whose levels mean the same in every system."),
            click.option("--dataset", metavar="COL", help="Where items come from: dataset, task, ..."),
            click.option("--metric", metavar="COL", help="What the score measures, in a table of several metrics."),
            click.option("--cluster", metavar="COL", help="Items that belong together: a document's sentences."),
            click.option("--properties", metavar="COLS", help="Columns that describe items, such as length,genre."),
            click.option("--wide", metavar="ROLE=COLS",
                         help="Each system (or metric) has a column of its own: system=A,B or metric=bleu,chrf."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def split_roles(roles: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the options of `scores_options` as the arguments of `read_scores`; "a,b" names two columns."""
    several = ("facets", "replicates", "shared", "properties")
    arguments: dict[str, Any] = {role: _listed(roles[role]) for role in several}
    arguments.update({role: column for role, column in roles.items() if role not in (*several, "wide")})
    wide = roles["wide"]
    if wide:
        role, equals, columns = wide.partition("=")
        if role not in ("system", "metric") or not equals or not columns:
            raise click.BadParameter(f"{wide!r} is neither system=A,B nor metric=A,B.", param_hint="--wide")
        arguments["wide"] = {role: _listed(columns)}
    return arguments


def _listed(columns: str | None) -> tuple[str, ...]:
    r"""Return the names in "a,b"; a comma inside a name is written "\,"."""
    marked = (columns or "").replace("\\,", "\0")
    return tuple(name.strip().replace("\0", ",") for name in marked.split(",") if name.strip())


def parse_range(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, float] | None:
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


def emit(result: Result, *, style: str, output: Path | None, picture: Path | None) -> None:
    """Print a result or write it to a file, and draw it if asked; files appear whole or not at all."""
    if picture is not None:
        from holdsup.plots import save_plot

        save_plot(result, picture)
    if output is None:
        click.echo(_rendered(result, style, sys.stdout.encoding, sys.stdout.isatty()), nl=False)
        return
    text = _rendered(result, style, "utf-8", False)
    try:
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(name).chmod(0o666 & ~_umask())
        Path(name).replace(output)
    except OSError as error:
        raise ResultError(f"cannot write {output}: {error.strerror or error}") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _rendered(result: Result, style: str, encoding: str, terminal: bool) -> str:
    if style == "json":
        return result.to_json(ascii_only=encoding.lower().replace("-", "") != "utf8")
    page = result.page()
    if style == "markdown":
        return page.markdown()
    if style == "latex":
        return page.latex()
    from holdsup.rendering.text import ASCII, UNICODE

    asked = terminal or "COLUMNS" in os.environ
    width = shutil.get_terminal_size().columns if asked else PIPED_WIDTH
    text = page.text(width=max(40, width), ink=UNICODE if UNICODE.drawable(encoding) else ASCII)
    if terminal and not os.environ.get("NO_COLOR"):
        verdict, _, rest = text.partition("\n\n")
        return f"{click.style(verdict, bold=True)}\n\n{rest}"
    return text
