"""`holdsup`: the group of commands."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.abc import MetaPathFinder

import click

from holdsup import __version__

COMMANDS = tuple("check import plan compare gate variance rank qra contest tune run fit report demo".split())
TRAINING = ("contest", "tune", "run", "demo")  # these run code that may need any package


class LazyGroup(click.Group):
    """Loads a command's file when the command is asked for; each imports only click at its top."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, or None if there is none of this name."""
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"holdsup.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command asked for; an unknown one is answered with the nearest that there is."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], COMMANDS, n=1)
            if not near or "Did you mean" in error.message:  # newer versions of click say it themselves
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from None
        if ctx.obj and name not in TRAINING:
            sys.meta_path.insert(0, NoPandas())
        if command is not None:
            _refuse_repeated(click.Context(command, info_name=name, parent=ctx), rest)
        return name, command, rest


def _refuse_repeated(ctx: click.Context, args: list[str]) -> None:
    """Refuse an option that takes one value and is given twice: click would take the last without a word."""
    _, _, given = ctx.command.make_parser(ctx).parse_args(args=list(args))
    single = (p for p in given if isinstance(p, click.Option) and not (p.multiple or p.is_flag or p.count))
    for option, times in Counter(single).items():
        if times > 1:
            raise click.BadParameter(f"given {times} times, but it takes one value.", ctx, option)


class NoPandas(MetaPathFinder):
    """Makes a process one without pandas, which Arrow imports for its first array: that takes as long as an answer."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        """Refuse pandas, and leave all else to those who come next."""
        if fullname == "pandas":
            raise ModuleNotFoundError("holdsup's commands need no pandas", name=fullname)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: holdsup demo. Then, on your own scores: holdsup check scores.csv",
)
@click.version_option(__version__, prog_name="holdsup")
def program() -> None:
    """Does this result hold up?

    Point holdsup at your scores: a table with one row per score of a system on an item in a run (CSV,
    TSV, JSONL or Parquet, gzipped or not), or two files with one score per line. It answers in one
    sentence, shows the numbers behind it, and ends with a line from which others can reproduce it.
    """


def run(args: Sequence[str] | None, prog_name: str) -> int:
    """Run the command line and return the exit code of a command that has come to its end.

    Without `args` the process is ours: it was started for this one command.
    """
    _write_what_the_terminal_can()
    code = program.main(args, prog_name=prog_name, standalone_mode=False, obj=args is None)
    return code if isinstance(code, int) else 0


def _write_what_the_terminal_can() -> None:
    """Show characters that the output's encoding lacks (cp1252, ASCII) as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
