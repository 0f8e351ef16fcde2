"""`holdsup`: the group of commands, and the one place where errors become a line on stderr."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from difflib import get_close_matches

import click

from holdsup import __version__
from holdsup.errors import HoldsupError

__all__ = ["COMMANDS", "main", "program"]

COMMANDS = ("check", "compare", "variance", "rank", "qra", "contest", "tune", "run", "fit", "report", "demo")


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
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], COMMANDS, n=1)
            if not near or "Did you mean" in error.message:  # newer versions of click say it themselves
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from None


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: holdsup demo. Then, on your own scores: holdsup check scores.csv",
)
@click.version_option(__version__, prog_name="holdsup")
def program() -> None:
    """Does this result hold up?

    Point holdsup at the scores you have: a table with a row for each score of a system on an item in
    a run (CSV, TSV, JSONL, Parquet, also gzipped), or two files with one score a line. It answers in
    one sentence, shows the table behind it, and signs it with a line from which others can redo it.
    """


def main(args: Sequence[str] | None = None, prog_name: str = "holdsup") -> None:
    """Run the command line and exit: 0 done, 1 bad input (one line says what), 2 wrong usage."""
    _write_what_the_terminal_can()
    try:
        code = program.main(args, prog_name=prog_name, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        stopped = error.__cause__ or error  # click wraps what Python raises; a run says how to go on
        _complain(str(stopped) or "stopped")
        sys.exit(128 + getattr(stopped, "number", 2))
    except HoldsupError as error:
        if os.environ.get("HOLDSUP_DEBUG"):
            raise
        _complain(str(error))
        sys.exit(1)
    except BrokenPipeError:  # the reader (head, less) has seen enough
        _forget_output()
        sys.exit(0)
    except OSError as error:  # readers and writers of files name them; what is left is the terminal's side
        _forget_output()
        _complain(f"cannot write the output: {error.strerror or error}")
        sys.exit(1)
    except MemoryError:
        _complain("this machine has too little memory for this table: give fewer columns, or fewer rows")
        sys.exit(1)
    sys.exit(code if isinstance(code, int) else 0)


def _complain(message: str) -> None:
    from holdsup.rendering.table import visible

    line = visible(" ".join(message.split()))
    click.echo(f"holdsup: {line}", err=True)


def _forget_output() -> None:
    """Let go of an output that takes no more, which Python would try to flush again at exit."""
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (stays open)


def _write_what_the_terminal_can() -> None:
    """Show characters that the output's encoding lacks (cp1252, ASCII) as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
