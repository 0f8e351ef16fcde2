"""Candidates: the settings that a search chooses from, in a fixed order, checked before anything is trained."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, ParameterSampler

from holdsup.errors import TuningError, list_names
from holdsup.verdict.tuning.equality import identify_settings

__all__ = ["Params", "configure", "list_candidates"]

Params = dict[str, Any]


def list_candidates(given: Any, *, n_candidates: int | None, seed: int) -> tuple[list[Params], list[str]]:
    """Return the different candidates of a grid, of several grids, or drawn from distributions, in a fixed order.

    And a caution, where they are fewer than asked for: equal ones are one.

    Parameters
    ----------
    given : a mapping from parameter names to lists of values or distributions (with ``rvs``), or a list of mappings
    n_candidates : how many to draw; None takes the whole grid
    seed : of the draws
    """
    grids = [given] if isinstance(given, Mapping) else given
    if not isinstance(grids, Sequence) or isinstance(grids, str) or not all(isinstance(g, Mapping) for g in grids):
        raise TuningError(f"candidates are {given!r:.60}: give a dict from parameter names to lists of values")
    drawn = [name for grid in grids for name, values in grid.items() if hasattr(values, "rvs")]
    if drawn and n_candidates is None:
        raise TuningError(f"{list_names(drawn)} of the candidates is a distribution: say how many with n_candidates=")
    try:
        whole = [] if drawn else [dict(params) for params in ParameterGrid(grids)]
        if n_candidates is None or (not drawn and n_candidates >= len(whole)):
            found = whole
        else:
            found = [dict(params) for params in ParameterSampler(grids, n_candidates, random_state=seed)]
    except (TypeError, ValueError) as error:
        raise TuningError(f"candidates cannot be listed: {error}") from error
    if not found:
        raise TuningError("there are no candidates: give at least one value for a parameter")
    different: dict[Hashable, Params] = {}
    for params in found:
        different.setdefault(identify_settings(params), params)
    asked = max(len(found), n_candidates or 0)
    said = f"{asked} candidates were asked for, but there are only {len(different)} different ones."
    return list(different.values()), [said] if asked > len(different) else []


def configure(estimator: Any, params: Params) -> Any:
    """Return an unfitted clone of the estimator with these parameters; an unknown name is refused with the nearest."""
    copied = {name: clone(value, safe=False) for name, value in params.items()}  # a value may be an estimator
    try:
        return clone(estimator).set_params(**copied)
    except (AttributeError, ValueError) as error:
        known = estimator.get_params(deep=True)
        for name in params:
            if name not in known:
                inside = [other for other in known if other.endswith(f"__{name}")]  # of a step of a pipeline
                near = inside or get_close_matches(name, known, n=1, cutoff=0.4)
                hint = f" Did you mean {near[0]!r}?" if near else f" It has {list_names(known)}."
                raise TuningError(f"{type(estimator).__name__} has no parameter {name!r}.{hint}") from error
        raise TuningError(f"{type(estimator).__name__} does not take {params!r:.80}: {error}") from error
