"""What no logistic mixed model describes: systems that are always right, items that are always right or wrong."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, expit

from holdsup.design import Design
from holdsup.errors import Separation
from holdsup.fit.logistic_model import Cellular, LogisticModel, Outcomes
from holdsup.numerics.chain import factor_of
from holdsup.numerics.logistic import Runaway
from holdsup.numerics.outcomes import sum_by
from holdsup.numerics.quadrature import normal_nodes
from holdsup.numerics.separation import find_separated

LINEAR = "or fit the linear model on means, without --family (`fit_lmm`)"
NODES = 51
FAR = 0.15  # excess of unanimous cells that no fit survives
CHANCE = 3e-7  # probability below which an excess is none: five standard errors
SOME = 0.03  # excess that is worth a caution


@dataclass(frozen=True, slots=True)
class Agreement:
    """How many cells (a level of the finest group with the same fixed effects) are all right or all wrong."""

    cells: float  # cells with several outcomes
    unanimous: float  # of them, all right or all wrong
    expected: float  # by the fit

    @property
    def excess(self) -> float:
        """By which share more cells are unanimous than expected, 0 where it may be chance."""
        if not self.cells:
            return 0.0
        share = min(self.expected / self.cells, 1.0)  # the binomial tail is an incomplete beta function
        clear = self.unanimous > 0 and betainc(self.unanimous, self.cells - self.unanimous + 1, share) < CHANCE
        return (self.unanimous - self.expected) / self.cells if clear else 0.0


def measure_agreement(model: LogisticModel) -> Agreement:
    """Return how far the outcomes of a cell agree, beside what the fit expects.

    Raises
    ------
    Separation : they agree so far that the fit describes something else
    """
    fit, cellwise = model.engine.fit, model.engine.cellular.model
    cells = cellwise.cells
    _, first, kind = np.unique(cellwise.X, axis=0, return_index=True, return_inverse=True)
    key = cells.leaf * len(first) + kind.ravel()[cells.point]
    _, shown, group = np.unique(key, return_index=True, return_inverse=True)
    s, n = np.bincount(group, cells.s), np.bincount(group, cells.n)
    several = n > 1
    mass, s, n, kinds = cells.mass[shown][several], s[several], n[several], kind.ravel()[cells.point[shown]][several]
    variance = np.zeros(cells.points)
    for term in cellwise.terms:
        variance += ((term.columns @ factor_of(term, fit.theta)) ** 2).sum(axis=1)
    nodes, weight = normal_nodes(NODES)
    eta = (cellwise.X[first] @ fit.beta)[:, None] + np.sqrt(variance[first])[:, None] * nodes
    alike, place = np.unique(np.stack([kinds, n], axis=1), axis=0, return_inverse=True)
    of, size = alike[:, 0].astype(int), alike[:, 1][:, None]
    expected = (expit(eta[of]) ** size + expit(-eta[of]) ** size) @ weight
    unanimous = float(mass @ ((s == 0) | (s == n)))
    found = Agreement(float(mass.sum()), unanimous, float(mass @ expected[place.ravel()]))
    if found.excess > FAR:
        more = "" if unanimous == found.cells else "add a term for what repeats share, such as (1 | system:item), "
        raise Separation(
            f"{found.unanimous:,.0f} of {found.cells:,.0f} cells (outcomes with the same fixed effects and the same "
            f"{_finest(model)}) are all right or all wrong, {found.expected:,.0f} were expected: repeats agree, "
            f"which these random effects don't describe. This is no fit; {more}keep one row a cell, {LINEAR}"
        )
    return found


def _finest(model: LogisticModel) -> str:
    chain, group = model.engine.cellular.chain, model.engine.cellular.group
    return next(
        (b.group.label for b, g in zip(model.design.random, group, strict=True) if chain and g == chain[0]), "row"
    )


def check_separation(design: Design, cellular: Cellular) -> None:
    """Raise if a fixed effect has no finite estimate."""
    cells, X = cellular.model.cells, cellular.model.X
    rows, kind = np.unique(X, axis=0, return_inverse=True)
    s, n = (sum_by(kind.ravel(), cells.by_point(x), len(rows)) for x in (cells.s, cells.n))
    separated = find_separated(rows, s, n)
    if not len(separated):
        return
    first = separated[0]
    row = int(cellular.points.shown[np.flatnonzero(kind.ravel() == first)[0]])
    named = []
    for factor in dict.fromkeys(itertools.chain.from_iterable(design.formula.fixed)):
        coded = design.variables.coded[factor]
        if coded.factor is not None:
            labels = design.variables.factors[coded.factor]
            named.append(f"{factor} {labels.names[labels.codes[row]]}")
    where = ", ".join(named) if named else "the rows beyond a value of a number"
    raise Separation(
        f"{where}: {s[first]:,.0f} of {n[first]:,.0f} outcomes are successes, so the log-odds run to infinity "
        f"(separation); leave it out, give a penalty (--penalty 2.5), {LINEAR}"
    )


def name_bimodal(design: Design, outcomes: Outcomes, runaway: Runaway) -> Separation:
    """Return the error for a group whose levels are always right or always wrong."""
    block = next(b for b in design.random if any(t == runaway.parameter for _, _, t in b.places))
    codes, count = np.asarray(block.group.codes), block.group.count
    trials = np.bincount(codes, outcomes.trials, count)
    right = np.bincount(codes, outcomes.successes, count)
    held = trials > 0
    pure = int((held & ((right == 0) | (right == trials))).sum())
    total = int(held.sum())
    by = " (by Laplace's approximation, which exaggerates where most are right)" if runaway.method == "laplace" else ""
    alike = f" (and keep one row of each {block.group.label}, if its repeats always agree)" if pure == total else ""
    return Separation(
        f"{pure:,} of {total:,} levels of {block.group.label} are always right or always wrong: their spread runs to "
        f"{runaway.size:.2g} logits{by}, and no normal distribution describes levels with two modes. This is no fit; "
        f"leave out the term{alike}, {LINEAR}"
    )
