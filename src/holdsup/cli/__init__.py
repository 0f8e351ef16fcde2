"""The command line: parse, call, print. Each command has a file of its own."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from holdsup.cli.endings import Interrupts, end_with

__all__ = ["main"]


def main(args: Sequence[str] | None = None, prog_name: str = "holdsup") -> None:
    """Run the command line and exit: 0 done, 1 bad input (one line says what), 2 wrong usage, 130 stopped."""
    with Interrupts(last=args is None) as interrupts:
        try:
            from holdsup.cli.program import run  # only now: it takes a moment, in which one may press Ctrl-C

            code = run(args, prog_name)
        except BaseException as error:
            if interrupts.came:
                print("holdsup: stopped", file=sys.stderr)
                code = 128 + signal.SIGINT
            else:
                code = end_with(error)
    sys.exit(code)
