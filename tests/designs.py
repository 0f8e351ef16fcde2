"""Designs of formulas on tables in memory."""

from __future__ import annotations

from typing import Any

from holdsup.columns import open_tables
from holdsup.design import Design, build_design, parse_formula
from holdsup.design.variables import Variables, encode_variables

__all__ = ["make_design", "read_variables"]


def make_design(formula: str, data: Any, *, weights: str | None = None) -> Design:
    return build_design(parse_formula(formula), read_variables(formula, data, weights=weights))


def read_variables(formula: str, data: Any, *, weights: str | None = None) -> Variables:
    return encode_variables(parse_formula(formula), open_tables(data), weights=weights)
