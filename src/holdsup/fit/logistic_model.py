"""The live part of a logistic fit: the design as cells, the optimum, and the effects of levels."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve

from holdsup.design import Design
from holdsup.design.coding import dense_columns
from holdsup.design.groups import RandomBlock
from holdsup.fit.result import Model
from holdsup.numerics.chain import Model as Cellwise, Term
from holdsup.numerics.laplace import Laplace
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.logistic import LogisticFit
from holdsup.numerics.mixed import find_independent
from holdsup.numerics.optimization import Optimum
from holdsup.numerics.outcomes import Points, compact, find_chain, make_cells, number_points
from holdsup.numerics.quadrature import MOST_OTHERS

LATENT_SD = math.pi / math.sqrt(3)  # of the logistic distribution: the residual of the latent scale
LEAST = 8  # levels of a factor that may be eliminated level by level beside the largest


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """Successes, of trials."""

    successes: Floats  # of each row, shape (n,)
    trials: Floats | None  # None where every row is one trial
    given: tuple[str, str] | None = None  # "trials" or "failures", and the column that tells them

    @property
    def total(self) -> float:
        """How many trials there are."""
        return float(len(self.successes) if self.trials is None else self.trials.sum())

    @property
    def shares(self) -> Floats:
        """The share of successes of each row."""
        return self.successes if self.trials is None else self.successes / np.maximum(self.trials, 1)

    def draw(self, probability: Floats, rng: np.random.Generator) -> Floats:
        """Return successes drawn with these probabilities."""
        trials = 1 if self.trials is None else self.trials.astype(np.int64)
        return rng.binomial(trials, probability).astype(float)


@dataclass(frozen=True, slots=True, eq=False)
class Cellular:
    """A design on outcomes as the numerics have it."""

    model: Cellwise
    points: Points
    kept: Ints  # the fixed columns that are no combination of others
    chain: tuple[int, ...]  # index among the groups of each factor that is eliminated level by level
    group: tuple[int, ...]  # index of each random term's group


def build_cells(
    design: Design, outcomes: Outcomes, *, penalty: float | None, nested: bool, merge: bool = True
) -> Cellular:
    """Return a design as cells; `nested`: with two factors level by level at most, as the quadrature takes them."""
    codes = [labels.codes for labels in design.variables.factors]
    numbers = design.sample.numbers
    labels = list(dict.fromkeys(block.group.label for block in design.random))
    blocks = {block.group.label: block for block in design.random}
    groups = [compact(np.asarray(blocks[label].group.codes)) for label in labels]
    chain = find_chain(groups, least=LEAST) if groups else []
    rest = [g for g in range(len(groups)) if g not in chain]
    simple = all(block.columns == block.columns[:1] and not block.columns[0].levels and not block.columns[0].numbers
                 for block in design.random)  # fmt: skip
    beyond = chain[2:]
    if nested and simple and sum(groups[g][1] for g in (*rest, *beyond)) <= MOST_OTHERS:
        chain, rest = chain[:2], sorted((*rest, *beyond))
    columns = [*design.layout.fixed, *(column for block in design.random for column in block.engine)]
    used_codes = sorted({factor for column in columns for factor, _ in column.levels})
    used_numbers = sorted({number for column in columns for number in column.numbers})
    rows = len(outcomes.successes)
    keys = [*(codes[i] for i in used_codes), *(numbers[i] for i in used_numbers), *(groups[g][0] for g in rest)]
    points = number_points(keys, rows)
    shown = points.shown
    at_points, of_points = [c[shown] for c in codes], [x[shown] for x in numbers]
    leaves = [groups[g] for g in chain] or [(np.zeros(rows, np.int64), 1)]
    cells = make_cells(outcomes.successes, outcomes.trials, points, leaves, merge=merge)
    X = dense_columns(design.layout.fixed, of_points, at_points, points.count)
    scale = np.sqrt(np.bincount(points.codes, minlength=points.count))[:, None]
    kept = find_independent((X * scale).T @ (X * scale))
    terms = tuple(
        Term(
            dense_columns(block.engine, of_points, at_points, points.count), block.places,
            chain.index(g) if g in chain else None, groups[g][0][shown], groups[g][1],
        )
        for block in design.random
        for g in [labels.index(block.group.label)]
    )  # fmt: skip
    prior = np.zeros(len(kept))
    if penalty is not None:
        prior[[i for i, column in enumerate(kept) if (column,) != design.constant]] = penalty**-2
    model = Cellwise(cells, X[:, kept], terms, sum(len(block.places) for block in design.random), prior)
    return Cellular(model, points, kept, tuple(chain), tuple(labels.index(b.group.label) for b in design.random))


@dataclass(frozen=True, slots=True, eq=False)
class LogisticEngine:
    """An optimum, and the cells that it is the optimum of."""

    fit: LogisticFit
    cellular: Cellular

    @property
    def kept(self) -> Ints:
        """Which fixed columns were kept."""
        return self.cellular.kept

    @property
    def optimum(self) -> Optimum:
        """The optimum as a linear engine has it: theta alone."""
        found = self.fit.optimum
        return Optimum(self.fit.theta, found.value, found.gradient, found.curvature, found.reason, found.steps)


@dataclass(frozen=True, eq=False)
class LogisticModel(Model):
    """A logistic fit, asked as the linear one is: estimates are log-odds, sigma that of the latent scale."""

    engine: LogisticEngine  # type: ignore[assignment]
    outcomes: Outcomes
    penalty: float | None

    @property
    def sigma(self) -> float:
        """The residual standard deviation of the latent scale."""
        return LATENT_SD

    @property
    def engine_sigma(self) -> float:
        """What theta is relative to."""
        return 1.0

    @cached_property
    def beta(self) -> Floats:
        """The fixed effects of the formula."""
        return np.asarray(self.transform @ self.engine.fit.beta)

    @cached_property
    def covariance(self) -> Floats:
        """The covariance of the fixed effects."""
        return np.asarray(self.transform @ self.engine.fit.covariance @ self.transform.T)

    def degrees(self, weights: Floats) -> float:
        """Return the degrees of freedom of a Wald test."""
        return math.inf

    @cached_property
    def effects(self) -> tuple[tuple[Floats, Floats], ...]:
        """The conditional modes of each random term, shape (levels, k), and their covariances, (levels, k, k)."""
        fit = self.engine.fit
        nested = len(self.engine.cellular.chain) <= 2
        cellular = build_cells(self.design, self.outcomes, penalty=self.penalty, nested=nested, merge=False)
        laplace = Laplace(cellular.model)
        laplace.evaluate(fit.theta, fit.beta)
        return tuple(_find_effects(self.design, cellular, laplace, fit.theta))


def _find_effects(
    design: Design, cellular: Cellular, laplace: Laplace, theta: Floats
) -> Iterator[tuple[Floats, Floats]]:
    q2 = laplace.q2
    inverse = cho_solve((laplace.chol[:q2, :q2], True), np.eye(q2)) if q2 else np.empty((0, 0))
    TL = laplace.TL[:, :q2]
    by_d, _, by_C = laplace.run_back(TL @ inverse @ TL.T)
    order = sorted(
        (n for n, t in enumerate(cellular.model.terms) if t.level is not None),
        key=lambda n: cellular.model.terms[n].level or 0,
    )
    chained, outside = 0, 0
    found: dict[int, tuple[Floats, Floats]] = {}
    for number in order:
        term, block = cellular.model.terms[number], design.random[number]
        k = term.columns.shape[1]
        own = range(chained, chained + k)
        chained += k
        levels = cellular.model.cells.level[term.level or 0]
        u, spread = np.zeros((len(levels), k)), np.zeros((len(levels), k, k))
        for i, c in enumerate(own):
            u[levels, i], spread[levels, i, i] = laplace.u[c], by_d[c]
            for j, e in enumerate(own):
                if e > c:
                    spread[levels, i, j] = spread[levels, j, i] = by_C[c, e] / 2
        found[number] = _in_formula(block, theta, u, spread)
    for number, term in enumerate(cellular.model.terms):
        if term.level is not None:
            continue
        k, block = term.columns.shape[1], design.random[number]
        places = (outside + np.arange(term.count * k)).reshape(term.count, k)
        outside += term.count * k
        found[number] = _in_formula(block, theta, laplace.tail[places], inverse[places[:, :, None], places[:, None, :]])
    yield from (found[number] for number in range(len(design.random)))


def _in_formula(block: RandomBlock, theta: Floats, u: Floats, spread: Floats) -> tuple[Floats, Floats]:
    factor = block.factor(theta)
    return u @ factor.T, factor @ spread @ factor.T
