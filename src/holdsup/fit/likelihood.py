"""Likelihood-ratio tests: a fit against a smaller one, each random term on its own, and how the smaller lies within."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import log10

import numpy as np

from holdsup.design import Design, Formula, build_design
from holdsup.design.formulas import RandomTerm
from holdsup.design.groups import RandomBlock
from holdsup.design.matrices import code_fitted_rows
from holdsup.errors import FitError, NotNested
from holdsup.fit.fitting import fit_by, fit_design
from holdsup.fit.glmm import fit_formula
from holdsup.fit.glmm_result import GlmmFit
from holdsup.fit.result import LmmFit, Model, describe
from holdsup.fit.words import say_method
from holdsup.numerics.distributions import Tail, chi2_tail
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.mixed import NothingLeft, fit_moments
from holdsup.numerics.restriction import Restriction, restrict
from holdsup.rendering import PValue, Table
from holdsup.rendering.text import render_text

LEAST_START = 0.05  # relative standard deviation from which the search for a variance starts at least
SAME = 1e-12  # share of its size to which a mean is known, in whatever order its rows are added


@dataclass(frozen=True, slots=True, kw_only=True)
class LikelihoodRatioTest:
    """Whether the larger of two nested fits explains the response better than chance."""

    null: str  # the smaller formula
    alternative: str  # the larger formula
    method: str  # "ml" or "reml", by which both were fitted for the test; "quadrature" or "laplace" of logistic fits
    statistic: float  # difference of their criteria
    df: int  # difference of their numbers of parameters
    p: float  # p-value
    log10_p: float  # its decimal logarithm
    on_boundary: bool  # whether the null puts variances at zero; then p refers to an equal mixture of chi-squares
    p_chi2: float  # p-value by the plain chi-square with `df`, too large on the boundary

    def table(self) -> Table:
        """Return the cells that all renderings show."""
        reference = "mixture of chi-squares" if self.on_boundary else "chi-square"
        row = (self.null, self.alternative, self.statistic, self.df, reference, PValue(self.p))
        columns = ("null", "alternative", "statistic", "df", "reference", "p")
        return Table(title=f"Likelihood-ratio test ({say_method(self.method)})", columns=columns, rows=(row,))

    def __str__(self) -> str:
        return render_text(self.table())


@dataclass(frozen=True, slots=True)
class RandomTermTest:
    """The test of one random term (or slope): the fit against the one without it."""

    group: str  # the grouping factor
    term: str  # what is taken out
    test: LikelihoodRatioTest  # the likelihood-ratio test


@dataclass(frozen=True, slots=True, eq=False)
class Reduction:
    """A fit without one of its random terms, and the test of that term."""

    fit: LmmFit  # without the term
    test: RandomTermTest  # of the term


def likelihood_ratio_test(small: LmmFit, large: LmmFit) -> LikelihoodRatioTest:
    """Return the test of `small` against `large`; fits with different fixed effects are refitted by ML.

    Raises
    ------
    NotNested : the fits differ in their rows or response, or the larger does not contain the smaller
    """
    a, b = small.model().design, large.model().design
    _check_same_data(a, b)
    logistic = isinstance(small, GlmmFit)
    if logistic != isinstance(large, GlmmFit):
        raise NotNested("one of the fits is logistic and the other is linear")
    if logistic and a.random and small.method != large.method:
        raise NotNested(
            f"one likelihood is by {small.method}, the other by {large.method}: fit both with method='laplace'"
        )
    if large.npar < small.npar:
        raise NotNested(f"{small.formula!r} has more parameters than {large.formula!r}: give the smaller fit first")
    _check_nested(a, b)
    if logistic:
        return _compare(small, large)
    same_fixed = _fixed_names(a) == _fixed_names(b)  # by name: REML criteria of other columns have other scales
    method = small.method if same_fixed and small.method == large.method else "ml"
    return _compare(fit_by(small, method), fit_by(large, method))


def random_term_tests(fit: LmmFit) -> tuple[RandomTermTest, ...]:
    """Return the test of each random term: a slope with its correlations, or the whole of a term with one column.

    Unlike lmerTest's ``ranova``, ``(0 + x | g)`` is tested against its absence, not against ``(1 | g)``,
    which is not nested in it.
    """
    return tuple(reduction.test for reduction in reduce_terms(fit))


def reduce_terms(fit: LmmFit) -> Iterator[Reduction]:
    """Yield the fit without each random term in turn, and the test of the term.

    A term without which every row is fitted exactly has no test: there is no residual to compare likelihoods by.
    """
    for group, term, formula in _reductions(fit.model().design.formula):
        try:
            smaller = _without(fit, formula)
        except (NothingLeft, FitError):
            continue
        named = replace(smaller, formula=f"without {term} of {group}")
        yield Reduction(named, RandomTermTest(group, term, _compare(named, fit)))


def _without(fit: LmmFit, formula: Formula) -> LmmFit:
    """Return the fit of a formula with fewer random terms, from the larger one's cross-products if they hold it."""
    if isinstance(fit, GlmmFit):
        return fit_formula(fit, formula)
    model = fit.model()
    design = build_design(formula, model.design.variables)
    parameters = embed_terms(design.random, model.design.random)
    if parameters is None:
        return fit_design(design, method=fit.method)
    moments = model.engine.moments
    small, _ = restrict(moments, Restriction(np.eye(moments.p), parameters))
    theta = model.engine.optimum.theta[parameters]
    start = np.where(small.lower == 0, np.maximum(theta, LEAST_START), theta)  # at zero every variance is stationary
    engine = replace(fit_moments(small, reml=fit.method == "reml", start=start), kept=model.engine.kept)
    reduced = replace(model.design, formula=formula, random=design.random)
    return describe(Model(reduced, engine), method=fit.method, level=fit.level)


def _reductions(formula: Formula) -> Iterator[tuple[str, str, Formula]]:
    """Yield each random term or slope that can be taken out, with the formula that is left."""
    for i, random in enumerate(formula.random):
        group = ":".join(random.group)
        for term in random.terms:
            rest = tuple(t for t in random.terms if t != term)
            if rest and not term and random.correlated:
                continue  # an intercept stays while the slopes that are correlated with it do
            kept: tuple[RandomTerm, ...] = (replace(random, terms=rest),) if rest else ()
            others = (*formula.random[:i], *kept, *formula.random[i + 1 :])
            yield group, ":".join(map(str, term)) or "(Intercept)", replace(formula, random=others)


def _compare(small: LmmFit, large: LmmFit) -> LikelihoodRatioTest:
    statistic = max(0.0, small.criterion - large.criterion)
    df = large.npar - small.npar
    plain = chi2_tail(statistic, df) if df else Tail(1.0, 0.0)
    # Only a variance of zero is on the boundary; a correlation of zero is not.
    boundary = _variances(large) > _variances(small)
    mixed = _mixture(statistic, df) if boundary else plain
    return LikelihoodRatioTest(
        null=small.formula,
        alternative=large.formula,
        method=large.method,
        statistic=statistic,
        df=df,
        p=mixed.p,
        log10_p=mixed.log10_p,
        on_boundary=boundary,
        p_chi2=plain.p,
    )


def _variances(fit: LmmFit) -> int:
    return sum(len(block.columns) for block in fit.model().design.random)


def _mixture(statistic: float, df: int) -> Tail:
    """Return the tail of the equal mixture of chi-squares with df - 1 and df degrees of freedom.

    The null of one variance, with the df - 1 correlations that go with it (Self & Liang 1987, case 6;
    Stram & Lee 1994). For two variances at once it is conservative.
    """
    upper = chi2_tail(statistic, df)
    lower = chi2_tail(statistic, df - 1) if df > 1 else Tail(1.0 if statistic <= 0 else 0.0, 0.0)
    if df == 1:
        return Tail(1.0, 0.0) if statistic <= 0 else Tail(upper.p / 2, upper.log10_p - log10(2))
    top = max(upper.log10_p, lower.log10_p)
    total = log10(10 ** (upper.log10_p - top) + 10 ** (lower.log10_p - top)) + top - log10(2)
    return Tail((upper.p + lower.p) / 2, min(total, 0.0))


def _check_same_data(a: Design, b: Design) -> None:
    if a.rows.used != b.rows.used:
        raise NotNested(f"the fits rest on {a.rows.used:,} and {b.rows.used:,} rows: fit both to the same")
    if not _same_response(a, b):
        raise NotNested("the fits have different responses (or rows in another order): fit both to the same table")
    if (a.sample.weights is None) != (b.sample.weights is None):
        raise NotNested("one of the fits is weighted and the other is not")


def _same_response(a: Design, b: Design) -> bool:
    """Return whether two fits have the same response; by its statistics, where one of them holds no rows."""
    if a.holds_rows and b.holds_rows:
        same = a.variables.response is b.variables.response
        return same or bool((a.variables.response == b.variables.response).all())
    one, other = a.variables.response_summary, b.variables.response_summary
    near = SAME * max(one.largest, other.largest)
    return (one.low, one.high) == (other.low, other.high) and (
        abs(one.mean - other.mean) <= near and abs(one.spread - other.spread) <= near
    )


def _check_nested(small: Design, large: Design) -> None:
    if not _fixed_names(small) <= _fixed_names(large) and not _spans(large, small):
        extra = sorted(_fixed_names(small) - _fixed_names(large))
        raise NotNested(f"the larger fit lacks fixed effects of the smaller one: {', '.join(extra)}")
    for block in small.random:
        inside = [
            other for other in large.random
            if set(other.group.variables) == set(block.group.variables)
            and {c.name for c in block.columns} <= {c.name for c in other.columns}
            and (other.correlated or not block.correlated or len(block.columns) == 1)
        ]  # fmt: skip
        if not inside:
            names = " + ".join(column.name for column in block.columns)
            raise NotNested(f"the larger fit lacks the random term ({names} | {block.group.label}) of the smaller one")


def _spans(large: Design, small: Design) -> bool:
    """Return whether every fixed column of the smaller fit is a combination of columns of the larger one."""
    if not (large.holds_rows and small.holds_rows):  # only rows could tell
        return False
    X, wanted = code_fitted_rows(large).fixed, code_fitted_rows(small).fixed
    X, wanted = (columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300) for columns in (X, wanted))
    left = wanted - X @ np.linalg.lstsq(X, wanted, rcond=1e-10)[0]
    return bool(np.linalg.norm(left, axis=0).max(initial=0.0) < 1e-7)


def _fixed_names(design: Design) -> set[str]:
    return {column.name for column in design.fixed}


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
