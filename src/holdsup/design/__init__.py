"""Formula and table as matrices; a formula never runs code."""

from holdsup.design.grammar import Formula, parse_formula
from holdsup.design.matrices import Design, build_design, make_design
from holdsup.design.newdata import CodedRows, code_fitted_rows, code_rows

__all__ = [
    "CodedRows",
    "Design",
    "Formula",
    "build_design",
    "code_fitted_rows",
    "code_rows",
    "make_design",
    "parse_formula",
]
