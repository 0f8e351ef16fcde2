"""What trains systems: specs, and the studies that stand on the runner."""

from holdsup.studies.contests import run_contest, run_contest_spec
from holdsup.studies.specs import Spec, make_plan, read_spec

__all__ = ["Spec", "make_plan", "read_spec", "run_contest", "run_contest_spec"]
