"""Responses drawn from a mixed model as their cross-products alone: no row is ever made.

With M0 = [Z2 X], coefficients a = [b2; beta] and the effects b1_j of the first factor, all that a fit needs
of a new response is (A_j, b_j and C as in `moments`, without the column of y)

    Z1j'W y = A_j v_j + b_j a,      M0'W y = C a + sum_j b_j'v_j + g,
    y'W y = a'C a + 2 a'(sum_j b_j'v_j + g) + sum_j v_j'A_j v_j + g'S^+ g + s^2 chi2,

where v_j = b1_j + A_j^+ Z1j'We ~ N(0, s^2 (Lambda Lambda' + A_j^+)), g ~ N(0, s^2 S) with the Schur complement
S = C - sum_j b_j'A_j^+ b_j, and chi2 has the degrees of freedom that the columns leave: the projection of
the noise on the columns, and the length of what is left. Where levels act through patterns, even the v_j
are not drawn: sums of b_j (x) v_j over a pattern are normal, and sums of v_j v_j' are what these leave of
a Wishart matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from holdsup.numerics.criterion import lambda_of
from holdsup.numerics.elimination import Elimination, Patterns
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.moments import Moments

NOTHING = 1e-10  # share of its column's length below which a direction of the columns counts as none


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The parameters from which responses are drawn, as the engine has them."""

    theta: Floats  # relative covariance factors
    beta: Floats  # fixed effects, shape (p,)
    sigma: float  # residual standard deviation


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Cross-products of d responses with the columns of a model."""

    products: Floats  # M0'W y, shape (d, m0)
    squares: Floats  # y'W y, shape (d,)
    sums: Floats  # Z1j'W y, shape (d, q1, k1); no levels where they act through patterns
    crossed: Floats  # sum of b_j[k] (Z1j'W y)[h] over the levels of each pattern, shape (d, patterns, k1, k1, m0)
    squared: Floats  # sum of (Z1j'W y)[k] (Z1j'W y)[h], shape (d, patterns, k1, k1)

    def __len__(self) -> int:
        return len(self.squares)

    @classmethod
    def join(cls, parts: Sequence[Drawn]) -> Drawn:
        """Return several, one after the other."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*(part.arrays() for part in parts), strict=True)))

    def take(self, places: Ints) -> Drawn:
        """Return some of the responses."""
        return Drawn(*(array[places] for array in self.arrays()))

    def arrays(self) -> tuple[Floats, ...]:
        """Return the fields."""
        return tuple(getattr(self, field.name) for field in fields(self))

    def within(self, columns: Floats) -> Drawn:
        """Return the cross-products with the columns M0 @ columns of a smaller model."""
        return Drawn(self.products @ columns, self.squares, self.sums, self.crossed @ columns, self.squared)


class Root(NamedTuple):
    """A root of a covariance matrix of some `rank`: factor @ factor.T is the matrix, `projector` its row space.

    The symmetric root, because it is the only one: others turn with the signs that a library gives eigenvectors,
    and the same seed would give other responses on another machine.
    """

    factor: Floats
    projector: Floats
    rank: int


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """What does not change from draw to draw."""

    moments: Moments  # the model
    truth: Truth  # its parameters
    kernels: Floats  # A_j of each pattern, or of each level, shape (u, k1, k1)
    spread: Floats  # root of s^2 (Lambda Lambda' + A_j^+), same shape
    left: Root  # root of the Schur complement
    degrees: int  # of freedom that the columns leave
    # of each pattern, the root of the cross-products of its rows b_j, and how many levels it has beyond the rank of
    # that; () where levels are drawn one by one
    gram: tuple[tuple[Root, int], ...]
    shared: Floats  # sums of b_j (x) b_j, shape (patterns, k1, k1, m0, m0)


def prepare_drawing(moments: Moments, elimination: Elimination, truth: Truth) -> Drawing:
    """Return what drawing from a model needs; `elimination` says whether levels act through patterns."""
    k1, m0 = len(moments.first), len(moments.C) - 1
    inverses, ranks = _pseudo_inverses(moments.A)
    kernels, gram, shared = moments.A, [], np.zeros((0, k1, k1, m0, m0))
    if isinstance(elimination, Patterns):
        kernels, shared = elimination.blocks.A, elimination.sums[..., :-1, :-1]
        inverses, _ = _pseudo_inverses(kernels)
        taken = np.einsum("ukh,ukhij->ij", inverses, shared)
        for sums, count in zip(shared, elimination.blocks.counts, strict=True):
            flat = sums.transpose(0, 2, 1, 3).reshape(k1 * m0, k1 * m0)
            rows = _root(flat, np.diag(flat), most=int(count))
            gram.append((rows, int(count) - rows.rank))
    else:
        taken = _taken(moments, inverses)
    root = _root(truth.sigma**2 * (moments.C[:-1, :-1] - taken), truth.sigma**2 * np.diag(moments.C)[:-1])
    degrees = moments.n - ranks - root.rank
    factor = lambda_of(moments.first, truth.theta)
    spread = _roots(truth.sigma**2 * (factor @ factor.T + inverses))
    return Drawing(moments, truth, kernels, spread, root, max(degrees, 0), tuple(gram), shared)


def draw_responses(drawing: Drawing, rng: np.random.Generator, count: int) -> Drawn:
    """Return the cross-products of `count` responses."""
    moments, truth = drawing.moments, drawing.truth
    C = moments.C[:-1, :-1]
    a = _coefficients(moments, truth, rng, count)
    z = rng.standard_normal((count, len(C)))
    g = z @ drawing.left.factor.T
    inside = (z * (z @ drawing.left.projector)).sum(axis=1)  # g'S^+ g
    noise = truth.sigma**2 * (inside + rng.chisquare(max(drawing.degrees, 1), count) * (drawing.degrees > 0))
    if len(drawing.shared):
        across, length, crossed, squared = _by_pattern(drawing, a, rng, count)
        sums = np.zeros((count, 0, len(moments.first)))
    else:
        across, length, sums = _by_level(drawing, a, rng, count)
        crossed = np.zeros((count, 0, *drawing.shared.shape[1:4]))
        squared = np.zeros((count, 0, *drawing.shared.shape[1:3]))
    products = a @ C + across + g
    squares = ((products + across + g) * a).sum(axis=1) + length + noise
    return Drawn(products, squares, sums, crossed, squared)


def _coefficients(moments: Moments, truth: Truth, rng: np.random.Generator, count: int) -> Floats:
    """Return effects of the other factors, drawn anew, and the fixed effects, shape (count, m0)."""
    a = np.empty((count, moments.q2 + moments.p))
    for block in moments.blocks:
        factor = truth.sigma * lambda_of(block.pattern, truth.theta)
        effects = rng.standard_normal((count, block.count, block.width)) @ factor.T
        a[:, block.start : block.stop] = effects.reshape(count, -1)
    a[:, moments.q2 :] = truth.beta
    return a


def _by_level(drawing: Drawing, a: Floats, rng: np.random.Generator, count: int) -> tuple[Floats, Floats, Floats]:
    """Return sum b_j'v_j, sum v_j'A_j v_j and Z1j'Wy, with v_j drawn for every level."""
    B, k1 = drawing.moments.B, len(drawing.moments.first)
    z = rng.standard_normal((count, len(drawing.kernels), k1))
    v = np.einsum("jkl,djl->djk", drawing.spread, z)
    taken = np.einsum("jkl,djl->djk", drawing.kernels, v)
    length = (v * taken).sum(axis=(1, 2))
    if isinstance(B, np.ndarray):
        flat = B[:, :, :-1].reshape(-1, a.shape[1])
        return v.reshape(count, -1) @ flat, length, taken + (a @ flat.T).reshape(v.shape)
    rows = [part[:, :-1] for part in B]
    across = sum((rows[k].T @ v[:, :, k].T).T for k in range(k1))
    sums = taken + np.stack([(rows[k] @ a.T).T for k in range(k1)], axis=2)
    return np.asarray(across), length, sums


def _by_pattern(
    drawing: Drawing, a: Floats, rng: np.random.Generator, count: int
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return sum b_j'v_j, sum v_j'A_j v_j, and the sums over patterns, without any level."""
    patterns, k1, _, m0, _ = drawing.shared.shape
    across, length = np.zeros((count, m0)), np.zeros(count)
    crossed = np.empty((count, patterns, k1, k1, m0))
    squared = np.empty((count, patterns, k1, k1))
    for u, (rows, beyond) in enumerate(drawing.gram):
        spread, kernel, shared = drawing.spread[u], drawing.kernels[u], drawing.shared[u]
        z = rng.standard_normal((count, k1 * m0, k1))
        seen = z.transpose(0, 2, 1) @ (rows.projector @ z)  # of the levels' coordinates, those that their rows show
        inner = spread @ (seen + _wishart(beyond, k1, rng, count)) @ spread.T  # sum v v'
        G = (rows.factor @ (z @ spread.T)).reshape(count, k1, m0, k1)  # sum of b_j[k] v_j[l], at [k, :, l]
        across += np.einsum("dkmk->dm", G)
        length += np.einsum("kl,dlk->d", kernel, inner)
        fixed = np.einsum("khmn,dn->dkhm", shared, a)  # sum of b_j[k] (b_j a)[h]
        by_level = np.einsum("dkml,hl->dkhm", G, kernel)  # sum of b_j[k] (A v_j)[h]
        crossed[:, u] = fixed + by_level
        mixed = np.einsum("dhkm,dm->dkh", by_level, a)  # sum of (A v_j)[k] (b_j a)[h]
        both = np.einsum("dkhm,dm->dkh", fixed, a)
        squared[:, u] = kernel @ inner @ kernel + mixed + mixed.transpose(0, 2, 1) + both
    return across, length, crossed, squared


def _wishart(degrees: int, k: int, rng: np.random.Generator, count: int) -> Floats:
    """Return z'z of `degrees` x k standard normals, shape (count, k, k), by Bartlett's factor if there are many."""
    if degrees < k:
        z = rng.standard_normal((count, degrees, k))
        return np.asarray(z.transpose(0, 2, 1) @ z)
    factor = np.zeros((count, k, k))
    for i in range(k):
        factor[:, i, i] = np.sqrt(rng.chisquare(degrees - i, count))
        factor[:, i, :i] = rng.standard_normal((count, i))
    return np.asarray(factor @ factor.transpose(0, 2, 1))


def _taken(moments: Moments, inverses: Floats) -> Floats:
    """Return sum_j b_j'A_j^+ b_j, without the column of y."""
    B, m0 = moments.B, len(moments.C) - 1
    if isinstance(B, np.ndarray):
        flat = B[:, :, :-1].reshape(-1, m0)
        return np.asarray(flat.T @ (inverses @ B[:, :, :-1]).reshape(-1, m0))
    parts = [part[:, :-1] for part in B]
    total = np.zeros((m0, m0))
    for k, left in enumerate(parts):
        for h, right in enumerate(parts):
            total += (left.T @ (sp.diags_array(inverses[:, k, h]) @ right)).toarray()
    return total


def _pseudo_inverses(kernels: Floats) -> tuple[Floats, int]:
    """Return A_j^+ of each kernel, and the sum of their ranks."""
    if not kernels.shape[1]:
        return kernels, 0
    size = np.sqrt(np.maximum(np.diagonal(kernels, axis1=1, axis2=2), 0.0))
    scale = np.where(size > 0, 1 / np.where(size > 0, size, 1.0), 0.0)
    scaled = kernels * scale[:, :, None] * scale[:, None, :]
    values, vectors = np.linalg.eigh(scaled)
    held = values > NOTHING
    inverse = (vectors * np.where(held, 1 / np.where(held, values, 1.0), 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1)
    return inverse * scale[:, :, None] * scale[:, None, :], int(held.sum())


def _root(matrix: Floats, size: Floats, *, most: int | None = None) -> Root:
    """Return the root of a matrix whose columns have squared lengths `size`, by which it is scaled."""
    scale = np.sqrt(np.where(size > 0, size, 1.0))
    values, vectors = np.linalg.eigh((matrix + matrix.T) / (2 * np.outer(scale, scale)))
    held = np.flatnonzero(values > NOTHING * max(1.0, float(values.max(initial=0.0))))
    if most is not None:  # rounding must not give a sum over few rows a higher rank
        held = held[max(0, len(held) - most) :]
    kept = vectors[:, held]
    return Root(scale[:, None] * ((kept * np.sqrt(values[held])) @ kept.T), kept @ kept.T, len(held))


def _roots(matrices: Floats) -> Floats:
    """Return a symmetric root of each of many covariance matrices, which may be singular."""
    if matrices.shape[1] == 1:
        return np.sqrt(matrices)
    values, vectors = np.linalg.eigh(matrices)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ vectors.transpose(0, 2, 1))
