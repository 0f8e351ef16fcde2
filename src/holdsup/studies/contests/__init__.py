"""Contests: systems trained and tested on partition after partition of one corpus."""

from holdsup.studies.contests.running import run_contest, run_contest_spec

__all__ = ["run_contest", "run_contest_spec"]
