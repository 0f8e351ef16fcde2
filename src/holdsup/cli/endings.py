"""How a command ends that did not come to its end: the one place where errors become a line on stderr."""

from __future__ import annotations

import os
import sys

import click

from holdsup.errors import HoldsupError


def end_with(error: BaseException) -> int:
    """Say in one line why a command ends, and return the exit code; what is no fault of the user's is raised."""
    try:
        raise error
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except (click.Abort, KeyboardInterrupt) as end:
        stopped = end.__cause__ or end  # click wraps what Python raises; a run says how to go on
        _complain(str(stopped) or "stopped")
        return 128 + int(getattr(stopped, "number", 2))
    except HoldsupError as refused:
        if os.environ.get("HOLDSUP_DEBUG"):
            raise
        _complain(str(refused))
        return 1
    except BrokenPipeError:  # the reader (head, less) has seen enough
        _forget_output()
        return 0
    except OSError as failed:  # readers and writers of files name them; what is left is the terminal's side
        _forget_output()
        _complain(f"cannot write the output: {failed.strerror or failed}")
        return 1
    except MemoryError:
        _complain("this machine has too little memory for this table: give fewer columns, or fewer rows")
        return 1


def _complain(message: str) -> None:
    from holdsup.rendering.table import visible

    line = visible(" ".join(message.split()))
    click.echo(f"holdsup: {line}", err=True)


def _forget_output() -> None:
    """Let go of an output that takes no more, which Python would try to flush again at exit."""
    sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115 (stays open)
