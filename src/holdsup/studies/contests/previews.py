"""What a contest would do, found out without importing or running anything of the user's."""

from __future__ import annotations

from dataclasses import replace

from holdsup.studies.contests.rounds import rounds_of_spec
from holdsup.studies.specs import Preview, Spec, preview_spec

__all__ = ["preview_contest"]


def preview_contest(spec: Spec) -> Preview:
    """Return what a contest would import, execute and train, all its repeats."""
    rounds = rounds_of_spec(spec, sequential=False)
    options = rounds.strategy.options(rounds.repeats)
    return preview_spec(replace(spec, splits={name: value for name, value in options.items() if name != "seed"}))
