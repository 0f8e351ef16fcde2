"""The command line: parse, call, print. Each command has a file of its own."""

from holdsup.cli.program import main

__all__ = ["main"]
