"""How the smaller of two fits lies within the larger one, so that both can be fitted to the same cross-products."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdsup.design.matrices import RandomBlock
from holdsup.fit.result import Model
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.restriction import Restriction

__all__ = ["embed", "embed_terms"]


def embed(small: Model, large: Model) -> Restriction | None:
    """Return how `small` lies within the columns and parameters of `large`.

    None if it does not: a fixed effect that the larger fit lacks or codes in another way, or a slope that is
    centred in the one and not in the other (``0 + x | g`` within ``1 + x | g``).
    """
    fixed = _fixed(small, large)
    if fixed is None:
        return None
    parameters = embed_terms(small.design.random, large.design.random)
    return None if parameters is None else Restriction(fixed, parameters)


def embed_terms(small: Sequence[RandomBlock], large: Sequence[RandomBlock]) -> Ints | None:
    """Return the parameter of the larger fit that each of the smaller one is, None if some is none."""
    parameters = np.full(sum(len(block.places) for block in small), -1, np.int64)
    for block in small:
        if not any(_place(block, other, parameters) for other in large):
            return None
    return parameters


def _fixed(small: Model, large: Model) -> Floats | None:
    """Return K in X_small = X_large K, for the columns as the engine has them."""
    place = {name: i for i, name in enumerate(large.names)}
    if not set(small.names) <= set(place):
        return None
    # X_engine = X_formula T for either fit; by the formula, the columns of the one are columns of the other.
    inverse = np.linalg.inv(large.transform) if len(place) else large.transform
    return np.asarray(inverse[:, [place[name] for name in small.names]] @ small.transform)


def _place(block: RandomBlock, other: RandomBlock, parameters: Ints) -> bool:
    """Write where the parameters of a term stand in a term of the larger fit; return whether they do."""
    column = {c.name: i for i, c in enumerate(other.columns)}
    if set(block.group.variables) != set(other.group.variables) or not all(c.name in column for c in block.columns):
        return False
    if block.correlated and len(block.columns) > 1 and not other.correlated:
        return False
    inside = [column[c.name] for c in block.columns]
    beside = np.delete(other.transform[:, inside], inside, axis=0)
    if beside.any() or not np.array_equal(other.transform[np.ix_(inside, inside)], block.transform):
        return False
    known = {(i, j): parameter for i, j, parameter in other.places}
    if any((inside[i], inside[j]) not in known for i, j, _ in block.places):
        return False  # the columns stand in another order, so their triangular factors differ
    for i, j, parameter in block.places:
        parameters[parameter] = known[inside[i], inside[j]]
    return True
