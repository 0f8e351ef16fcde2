"""Formula and table as matrices; a formula never runs code."""

from holdsup.design.grammar import Formula, parse_formula
from holdsup.design.matrices import Design, build_design, make_design

__all__ = ["Design", "Formula", "build_design", "make_design", "parse_formula"]
