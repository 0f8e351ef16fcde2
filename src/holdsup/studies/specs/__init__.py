"""Specs: TOML files that say what to train on what, and the plans that they stand for."""

from holdsup.studies.specs.planning import make_plan
from holdsup.studies.specs.preview import Preview, preview_spec
from holdsup.studies.specs.reading import read_spec
from holdsup.studies.specs.spec import Spec

__all__ = ["Preview", "Spec", "make_plan", "preview_spec", "read_spec"]
