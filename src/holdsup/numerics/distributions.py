"""Tails, quantiles and adjusted p-values, which keep their logarithm where the probability itself underflows.

A double ends near 1e-308, but chi-square = 1500 on one degree of freedom has p = 10^-327.4. SciPy's
incomplete gamma and beta functions serve down to `FAR`; beyond it the tail is expanded here, in logarithms.
Equation numbers are those of the NIST Digital Library of Mathematical Functions (DLMF, https://dlmf.nist.gov).
Densities are written as in Loader (2000), "Fast and accurate computation of binomial probabilities": with
deviances and Stirling errors, which are small, not with log-gammas, which are large and cancel.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from holdsup.numerics.layout import Floats

FAR = 1e-8  # SciPy is right to 1e-12 above this p; further out it drifts to 2e-11, then underflows
SMALLEST_DF, LARGEST_DF = 1e-150, 1e150  # their squares are still doubles
LARGEST_DF1 = 1e10  # as df1 and df2 grow together F closes in on 1, until a double cannot tell it from 1
MAX_TERMS = 1000  # a guard: below FAR, twenty terms reach rounding
LN10 = math.log(10.0)
MANY, TINY = 1000, 1e-290  # tails at once from which SciPy's digits will do, down to where it underflows
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360)  # DLMF 5.11.1, k = 1 to 6


@dataclass(frozen=True, slots=True)
class Tail:
    """A tail probability and its decimal logarithm, which stays finite where `p` underflows to 0."""

    p: float
    log10_p: float


def chi2_tail(statistic: float, df: float) -> Tail:
    """Return P(X > statistic) for X chi-square on `df` degrees of freedom.

    It is Q(df/2, statistic/2), DLMF 8.2.4.

    Examples
    --------
    >>> tail = chi2_tail(1500, 1)
    >>> tail.p, round(tail.log10_p, 4)
    (0.0, -327.4073)
    """
    df, statistic = _positive("df", df), float(statistic)
    edge = _edge(statistic)
    return edge if edge is not None else _gamma_tail(df / 2, statistic / 2)


def normal_tail(z: float) -> Tail:
    """Return P(|Z| > |z|) for Z standard normal: erfc(|z| / sqrt(2)), DLMF 7.2.2."""
    z = float(z)
    if math.isnan(z):
        return Tail(math.nan, math.nan)
    size = abs(z) / math.sqrt(2)
    return _tail(math.erfc(size), math.erf(size), lambda: math.log(2) + float(special.log_ndtr(-abs(z))))


def t_tail(t: float, df: float) -> Tail:
    """Return P(|T| > |t|) for T Student's t on `df` degrees of freedom, which is that of F = t^2 on 1 and `df`."""
    df, t = _positive("df", df, or_inf=True), float(t)
    if math.isinf(df):
        return normal_tail(t)
    edge = _edge(abs(t))
    return edge if edge is not None else _beta_tail(df / 2, 0.5, t * t, 2 * math.log(abs(t)))


def t_tails(t: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Return two-sided tails of Student's t, many at once, and their decimal logarithms; see `t_tail`.

    Of more than a thousand far out, SciPy's own digits will do while there are any: ten, or more.
    """
    t, df = (np.array(each, float).ravel() for each in np.broadcast_arrays(t, df))
    p = np.empty_like(t)
    with np.errstate(all="ignore"):
        odds, half = t * t / df, df / 2
        near = odds < 1  # ask for the smaller of x and 1 - x: the other has lost its digits; DLMF 8.17.4
        x = np.where(near, odds, 1.0) / (1 + odds)
        p[near] = special.betaincc(0.5, half[near], x[near])
        p[~near] = special.betainc(half[~near], 0.5, x[~near])
        log = np.log(p)
        for large, one in ((near & (p >= 0.5), special.betainc), (~near & (p >= 0.5), special.betaincc)):
            a, b = (0.5, half[large]) if one is special.betainc else (half[large], 0.5)
            log[large] = np.log1p(-one(a, b, x[large]))
        log = log / LN10 + 0.0
    plain = np.isfinite(t) & (t != 0) & np.isfinite(df)
    far = np.flatnonzero(~plain | ~(p / 0.5 >= FAR))
    if len(far) > MANY:
        far = np.flatnonzero(~plain | ~(p > TINY))
    for i in far:
        found = t_tail(t[i], df[i])
        p[i], log[i] = found.p, found.log10_p
    return p, log


def f_tail(statistic: float, df1: float, df2: float) -> Tail:
    """Return P(X > statistic) for X from Fisher's F on `df1` and `df2` degrees of freedom; df2 may be inf.

    It is I_x(df2/2, df1/2) at x = df2 / (df2 + df1 statistic), DLMF 8.17.2.
    For df2 = inf, df1 X is chi-square. Where both df exceed 1e6, p has fewer than 12 digits.
    """
    df1, df2 = _positive("df1", df1, largest=LARGEST_DF1), _positive("df2", df2, or_inf=True)
    statistic = float(statistic)
    if math.isinf(df2):
        return chi2_tail(df1 * statistic, df1)
    edge = _edge(statistic)
    return edge if edge is not None else _beta_tail(df2 / 2, df1 / 2, statistic, math.log(statistic))


def _positive(name: str, df: float, *, largest: float = LARGEST_DF, or_inf: bool = False) -> float:
    df = float(df)
    if SMALLEST_DF <= df <= largest or (or_inf and df == math.inf):
        return df
    limits = f"from {SMALLEST_DF:g} to {largest:g}{', or inf' if or_inf else ''}"
    raise ValueError(f"{name} must be a positive number, {limits}, but is {df!r}.")


def _edge(statistic: float) -> Tail | None:
    """Return the tail where no arithmetic is needed (nan, inf, not above 0), else None."""
    if math.isnan(statistic):
        return Tail(math.nan, math.nan)
    if statistic <= 0:
        return Tail(1.0, 0.0)
    return Tail(0.0, -math.inf) if math.isinf(statistic) else None


def _tail(p: float, complement: float, log_p: Callable[[], float], *, vanishing: float = 1.0) -> Tail:
    """Return the tail from whichever of `p`, 1 - p and the expansion `log_p` is exact to rounding.

    As the shape `vanishing` goes to 0 so does p, everywhere in proportion: that is small, but not far out.
    """
    if p / min(vanishing, 1.0) < FAR:
        log = min(log_p(), 0.0)
        return Tail(math.exp(log), log / LN10)
    log = math.log(p) if p < 0.5 else math.log1p(-complement)
    return Tail(float(p), log / LN10 + 0.0)  # + 0.0 turns -0.0 into 0.0


def _gamma_tail(a: float, x: float) -> Tail:
    """Return Q(a, x), the regularised upper incomplete gamma function."""
    p, complement = float(special.gammaincc(a, x)), float(special.gammainc(a, x))
    return _tail(p, complement, lambda: _log_gamma_tail(a, x), vanishing=a)


def _log_gamma_tail(a: float, x: float) -> float:
    """Return log Q(a, x) for x well above a: x^a e^-x / Gamma(a), over the even part of DLMF 8.9.2."""
    log_ratio = -math.log(max(a / x, sys.float_info.min))  # the floor leaves a log_ratio negligible beside x
    log_density = 0.5 * math.log(a / (2 * math.pi)) - _stirling_error(a) - _deviance(a, x - a, log_ratio)
    fraction = _continued_fraction(lambda n: n * (a - n), lambda n: x - a + 1 + 2 * n)
    return log_density - math.log(fraction)


def _beta_tail(a: float, b: float, f: float, log_f: float) -> Tail:
    """Return I_x(a, b) at x = a / (a + b f); `log_f` serves where f = t^2 overflows."""
    odds = b / a * f  # (1 - x) / x
    if odds < 1:  # ask for the smaller of x and 1 - x: the other has lost its digits; DLMF 8.17.4
        y = odds / (1 + odds)
        p, complement = special.betaincc(b, a, y), special.betainc(b, a, y)
    else:
        x = 1 / (1 + odds)
        p, complement = special.betainc(a, b, x), special.betaincc(a, b, x)
    return _tail(float(p), float(complement), lambda: _log_beta_tail(a, b, f, log_f), vanishing=b)


def _log_beta_tail(a: float, b: float, f: float, log_f: float) -> float:
    """Return log I_x(a, b) at x = a / (a + b f) for f well above 1.

    It is x^a (1 - x)^b / B(a, b) over the even part of the continued fraction DLMF 8.17.22. As in BFRAC of
    DiDonato and Morris (1992, ACM Algorithm 708), lam = a - (a + b) x keeps the digits that 1 - x would lose.
    The deviances are those of (a + b) x from a and of (a + b) (1 - x) from b.
    """
    inverse_odds = a / b / f
    x = inverse_odds / (1 + inverse_odds)
    lam = a * (1.0 if math.isinf(f) else (f - 1) / f) / (1 + inverse_odds)
    log_total = math.log1p(a / b)  # log((a + b) / b)
    # log((a + b f) / (a + b)), which is -log((a + b) x / a)
    log_spread = math.log1p((f - 1) / (1 + a / b)) if math.isfinite(f) else log_f - log_total
    log_density = (
        0.5 * (math.log(a / (2 * math.pi)) - log_total)
        + (_stirling_error(a + b) - _stirling_error(a) - _stirling_error(b))
        - _deviance(a, -lam, -log_spread)
        - _deviance(b, lam, log_f - log_spread)
    )

    def alpha(n: int) -> float:
        return (a + n - 1) / (a + 2 * n - 1) * ((a + b + n - 1) / (a + 2 * n - 1)) * n * (b - n) * x * x

    def beta(n: int) -> float:
        earlier = n * (b - n) * x / (a + 2 * n - 1) if n else 0.0  # 0 / 0 at a = 1 else: two df
        return n + earlier + (a + n) / (a + 2 * n + 1) * (lam + 1 + n * (2 - x))

    return log_density - math.log(_continued_fraction(alpha, beta))


def _stirling_error(z: float) -> float:
    """Return log Gamma(z) - [(z - 1/2) log z - z + log(2 pi) / 2], the series of DLMF 5.11.1."""
    if z < 10:
        return math.lgamma(z) - ((z - 0.5) * math.log(z) - z + 0.5 * math.log(2 * math.pi))
    return functools.reduce(lambda total, c: total / z / z + c, reversed(STIRLING)) / z


def _deviance(mean: float, excess: float, log_ratio: float) -> float:
    """Return m u - m log(1 + u) >= 0 for mean m, excess m u and log_ratio log(1 + u).

    Near u = 0, where the two cancel, log(1 + u) = 2 artanh(r) with r = u / (2 + u) is summed by DLMF 4.38.5;
    its first term, taken from u, leaves u r.
    """
    if not -mean / 2 <= excess <= mean:
        return excess - mean * log_ratio
    r = excess / (2 * mean + excess)
    odd_powers = math.fsum(r ** (2 * k + 3) / (2 * k + 3) for k in range(15))  # |r| <= 1/3: to rounding
    return excess * r - 2 * mean * odd_powers


def _continued_fraction(alpha: Callable[[int], float], beta: Callable[[int], float]) -> float:
    """Return beta_0 + alpha_1 / (beta_1 + alpha_2 / (beta_2 + ...)), DLMF 3.10.1, by Lentz's method."""
    value = c = beta(0)
    d = 0.0
    for n in range(1, MAX_TERMS):
        d = 1 / (beta(n) + alpha(n) * d)
        c = beta(n) + alpha(n) / c
        value *= c * d
        if abs(c * d - 1) <= sys.float_info.epsilon:
            return value
    raise ArithmeticError(f"A tail's continued fraction did not settle within {MAX_TERMS} terms.")


def t_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t; of the normal distribution for infinite df."""
    return float(t_quantiles(probability, df))


def t_quantiles(probability: float, df: ArrayLike) -> Floats:
    """Return the quantiles of Student's t on several df; see `t_quantile`."""
    known = np.isfinite(df)
    found = np.where(known, special.stdtrit(np.where(known, df, 1.0), probability), special.ndtri(probability))
    return np.asarray(found, float)


def chi2_quantile(probability: float, df: float) -> float:
    """Return the quantile of the chi-square distribution."""
    return float(special.chdtri(df, 1 - probability))


def adjust_holm(log10_p: Sequence[float]) -> list[float]:
    """Return Holm's step-down adjustment (Holm 1979), on decimal logarithms, in the order given.

    >>> [round(10**q, 3) for q in adjust_holm([-2.0, -1.0, -1.698970004])]
    [0.03, 0.1, 0.04]
    """
    logs = np.asarray(log10_p, float)
    order = np.argsort(logs, kind="stable")
    raised = np.minimum(0.0, logs[order] + np.log10(np.arange(len(logs), 0, -1)))
    adjusted = np.empty(len(logs))
    adjusted[order] = np.maximum.accumulate(raised)
    return adjusted.tolist()
