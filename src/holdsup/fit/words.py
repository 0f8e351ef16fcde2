"""What a fitted model says in words, made from its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from holdsup.fit.records import Contrast, FitNumbers, LevelPair, RandomComponent
from holdsup.rendering import Answer, Cell, Estimate, Interval, PValue, Table
from holdsup.rendering.numbers import format_counted, format_interval, format_number, say_level, say_p
from holdsup.results import KINDS, Caution, Method, write_caveats

QUESTION = KINDS["fit"].question
INTERCEPT = "(Intercept)"
MOST_EFFECTS = 10  # of the short answer
NOTHING = 1e-4  # of the noise: a standard deviation below is shown as zero
MOST_SPREADS = 5  # standard deviations of the short answer, beside that of the noise


def write_linear(fit: FitNumbers) -> Answer:
    """Return what the fixed effects say, and how large the variances are."""
    effects = tabulate_effects(fit.fixed, fit.level, most=MOST_EFFECTS)
    return write_answer(
        fit, QUESTION, _headline(fit.fixed, fit.pair, fit.level), effects, full="se, df, t, correlations"
    )


def write_answer(
    fit: FitNumbers, question: str, headline: str, *parts: Table, full: str, unit: str = "", names: Sequence[str] = ()
) -> Answer:
    """Return the answer of a fit; `full` is what --full adds, `unit` that of the spreads."""
    pair = fit.pair
    return Answer(
        question=question,
        state=None,
        headline=headline if fit.converged else "The fit did not converge: don't use its numbers.",
        parts=parts,
        foot=(
            *([("holds for", say_covered(fit.levels))] if fit.levels else []),
            ("spread", f"{say_spread(fit.random)}{unit}"),
            *([("rows", fit.rows.sentence())] if fit.rows.used < fit.rows.planned else []),
            *write_caveats(fit.cautions),
        ),
        more=(f"--full ({full})", "holdsup report", "--plot figure.svg"),
        signature=fit.signature,
        names=(
            *(effect.name for effect in fit.fixed),
            *names,
            *(name for c in fit.random for name in (c.group, c.term)),
            *(() if pair is None else (pair.variable, pair.level, pair.reference, pair.response)),
        ),
    )


def _headline(fixed: Sequence[Contrast], pair: LevelPair | None, level: float) -> str:
    """Return what the only effect is, or how many of several differ from zero."""
    effects = [effect for effect in fixed if effect.name != INTERCEPT]
    if len(effects) > 1:
        return count_clear(fixed, level)
    effect = (effects or fixed)[0]
    size = format_number(abs(effect.estimate) if pair else effect.estimate, uncertainty=(effect.high - effect.low) / 2)
    doubt = f"{say_level(level)} CI {format_interval(effect.low, effect.high)}"
    if not effects:
        return f"The mean is {size} ({doubt})."
    doubt += "" if math.isnan(effect.p) else f", {say_p(effect.p)}"
    if pair is None:
        return f"The effect of {effect.name} is {size} ({doubt})."
    side = f"{size} {'below' if effect.estimate < 0 else 'above'} {pair.reference}"
    chance = ", which could be chance" if effect.p > 1 - level else ""
    who = f"{pair.variable} {pair.level}"
    if pair.response == "score":
        return f"{who} scores {side}{chance} ({doubt})."
    return f"{who} is {side} in {pair.response}{chance} ({doubt})."


def count_clear(fixed: Sequence[Contrast], level: float) -> str:
    """Return how many effects differ from zero, or whether the only one does."""
    effects = [effect for effect in fixed if effect.name != INTERCEPT]
    if not effects:
        return "There is no fixed effect to test."
    if len(effects) == 1:
        verdict = "differs from zero" if effects[0].p <= 1 - level else "could be chance"
        return f"The effect of {effects[0].name} {verdict} ({say_p(effects[0].p)})."
    count = sum(effect.p <= 1 - level for effect in effects)
    return (
        f"{count} of {len(effects)} effects {'differs' if count == 1 else 'differ'} "
        f"from zero (p at most {f'{1 - level:.3g}'.removeprefix('0')})."
    )


def say_covered(levels: Mapping[str, int]) -> str:
    """Return which factors may have new levels: the random ones."""
    counted = [f"{name} ({count:,} here)" for name, count in levels.items()]
    listed = f"{', '.join(counted[:-1])} and {counted[-1]}" if len(counted) > 1 else counted[0]
    return f"new levels of {listed}; only these fixed effects"


def say_spread(random: Sequence[RandomComponent]) -> str:
    """Return the standard deviations in one line."""
    *groups, noise = random
    named = [f"{c.group}{'' if c.term == INTERCEPT else f' {c.term}'} {_sd(c.sd, noise.sd)}" for c in groups]
    more = [f"{len(named) - MOST_SPREADS} more"] if len(named) > MOST_SPREADS else []
    return f"SD of {', '.join([*named[:MOST_SPREADS], *more, f'noise {_sd(noise.sd, noise.sd)}'])}"


def _sd(sd: float, noise: float) -> str:
    return format_number(sd, uncertainty=sd / 10) if sd > NOTHING * noise else "0"


def tabulate_effects(fixed: Sequence[Contrast], level: float, *, most: int | None = None, odds: bool = False) -> Table:
    """Return the fixed effects, which may be log-odds; where `most` may be shown, the first ones with fewer columns."""
    interval, shown = f"{say_level(level)} CI", dict[str, Callable[[Contrast], Cell]]()
    if most is None and odds:
        shown = {"se": lambda e: Estimate(e.se, e.se), "z": lambda e: e.t, "odds ratio": lambda e: odds_of(e.estimate)}
    elif most is None:
        shown = {"se": lambda e: Estimate(e.se, e.se), "df": lambda e: e.df, "t": lambda e: e.t}
    return Table(
        name="fixed",
        title=f"Fixed effects{' on log-odds' if odds else ''}: {interval} and "
        + ("Wald's tests" if odds else "tests by Satterthwaite's t"),
        columns=("effect", "log-odds" if odds else "estimate", *shown, "p", interval),
        rows=tuple(
            (e.name, Estimate(e.estimate, e.se), *(cell(e) for cell in shown.values()), PValue(e.p),
             Interval(e.low, e.high, e.estimate, drawn=e.name != INTERCEPT))
            for e in fixed[:most]
        ),
        notes=(f"{len(fixed) - most} more: --full",) if most is not None and len(fixed) > most else (),
    )  # fmt: skip


def odds_of(log_odds: float) -> float:
    """Return e to the power of log-odds, cut where it would overflow."""
    return math.exp(min(log_odds, 700.0))


def say_method(method: str) -> str:
    """Return how a likelihood is called in a title: ML, REML, quadrature, laplace."""
    return method.upper() if method in ("ml", "reml") else method


def caution_fit(*, converged: bool, reason: str, singular: bool, dropped: tuple[str, ...]) -> Iterator[Caution]:
    """Yield what limits a fit: `reason` is why the search ended, `dropped` are columns that could not be estimated."""
    if not converged:
        yield Caution(
            code="not-converged",
            severity="error",
            message=f"The fit did not converge: {reason}.",
            effect="Do not rely on its numbers.",
            advice="Simplify the random terms.",
        )
    if singular:
        yield Caution(
            code="singular-fit",
            about="table:random",
            message="The fit is singular: a variance is zero, or a correlation is -1 or 1.",
            advice="The data show no sign of that random term: consider leaving it out.",
        )
    if dropped:
        yield Caution(
            code="dropped-columns",
            about="table:fixed",
            message=f"Dropped, because other columns determine them: {', '.join(dropped)}.",
            advice="Leave one of the terms out of the formula.",
            count=len(dropped),
        )


def describe_method(formula: str, method: str, rows: int) -> Method:
    """Return what was done, for a paper."""
    how = "REML" if method == "reml" else "maximum likelihood"
    return Method(
        question=QUESTION,
        sentences=(
            f"The linear mixed model {formula} was fitted to {format_counted(rows, 'row')} by {how}.",
            "Tests and CIs of fixed effects are by t with Satterthwaite's degrees of freedom.",
        ),
        citations=("bates2015", "satterthwaite1946"),
    )
