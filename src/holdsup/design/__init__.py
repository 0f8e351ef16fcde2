"""Formula and table as matrices; a formula never runs code."""

from holdsup.design.formulas import Formula
from holdsup.design.grammar import parse_formula
from holdsup.design.matrices import CodedRows, Design, build_design, code_fitted_rows, code_rows

__all__ = [
    "CodedRows",
    "Design",
    "Formula",
    "build_design",
    "code_fitted_rows",
    "code_rows",
    "parse_formula",
]
