"""The steps of `holdsup demo`."""

from holdsup.demo.script import Step, steps

__all__ = ["Step", "steps"]
