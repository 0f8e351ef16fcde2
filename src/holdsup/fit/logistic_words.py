"""What a fitted logistic mixed model says in words, made from its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdsup.fit.logistic_records import LogisticNumbers, Rate
from holdsup.fit.words import INTERCEPT, MOST_EFFECTS, count_clear, odds_of, tabulate_effects, write_answer
from holdsup.rendering import Answer, Estimate, Interval, Table
from holdsup.rendering.numbers import format_count, format_interval, format_number, say_level, say_p
from holdsup.results import KINDS, Caution, Method

QUESTION = KINDS["glmm"].question
EXTREME = 0.95  # share of successes beyond which Laplace's approximation is known to mislead


def write_logistic(fit: LogisticNumbers) -> Answer:
    """Return how probable success is, and what the fixed effects say."""
    effects = tabulate_effects(fit.fixed, fit.level, most=MOST_EFFECTS, odds=True)
    rates, names = tabulate_rates(fit.rates[:MOST_EFFECTS], fit.level), [rate.name for rate in fit.rates]
    return write_answer(
        fit, QUESTION, _headline(fit), effects, rates, full="se, odds ratios", unit=" (logits)", names=names
    )  # fmt: skip


def _headline(fit: LogisticNumbers) -> str:
    """Return the rates that the only factor has, the overall one, or how many effects differ from zero."""
    doubt = f"{say_level(fit.level)} CI"
    if fit.pair is not None and fit.difference is not None:
        d, rate, (effect,) = fit.difference, fit.rates[1], [e for e in fit.fixed if e.name != INTERCEPT]
        size = format_number(100 * abs(d.estimate), uncertainty=100 * d.se)
        chance = ", which could be chance" if effect.p > 1 - fit.level else ""
        # p is that of the log-odds, and so is the CI beside it: one of points may say otherwise
        ends = format_interval(odds_of(effect.low), odds_of(effect.high))
        return (
            f"{fit.pair.variable} {fit.pair.level} succeeds in {_percent(rate)}, {size} points "
            f"{'below' if d.estimate < 0 else 'above'} {fit.pair.reference}{chance} "
            f"(odds ratio {format_number(odds_of(effect.estimate), uncertainty=odds_of(effect.estimate) * effect.se)}, "
            f"{doubt} {ends}, {say_p(effect.p)})."
        )
    if [effect.name for effect in fit.fixed] == [INTERCEPT]:
        (rate,) = fit.rates
        return f"The rate of success is {_percent(rate)} ({doubt} {format_interval(100 * rate.low, 100 * rate.high)}%)."
    return count_clear(fit.fixed, fit.level)


def _percent(rate: Rate) -> str:
    return f"{format_number(100 * rate.estimate, uncertainty=100 * rate.se)}%"


def tabulate_rates(rates: Sequence[Rate], level: float) -> Table:
    """Return the probabilities of success."""
    return Table(
        name="rates",
        title="Probability of success, averaged over random effects",
        columns=("rate of", "probability", f"{say_level(level)} CI"),
        rows=tuple((r.name, Estimate(r.estimate, r.se), Interval(r.low, r.high, r.estimate)) for r in rates),
    )


def describe_logistic_method(fit: LogisticNumbers) -> Method:
    """Return what was done, for a paper."""
    how = "Laplace's approximation of the likelihood" if fit.method == "laplace" else "maximum likelihood"
    if fit.method == "quadrature":
        how = f"maximum likelihood, random effects integrated out on {fit.nodes} nodes"
    penalty = "" if fit.penalty is None else f" and a normal prior of sd {fit.penalty:g} on the fixed effects"
    return Method(
        question=QUESTION,
        sentences=(
            f"The logistic mixed model {fit.formula} was fitted to {format_count(int(fit.trials))} outcomes "
            f"by {how}{penalty}.",
            "Fixed effects were tested by Wald's z; probabilities are averaged over random effects, with CIs by the "
            "delta method.",
        ),
        citations=("bates2015",),
    )


def caution_laplace(method: str, share: float) -> Iterator[Caution]:
    """Yield a caution where Laplace's approximation is known to mislead; `share` is the most extreme rate."""
    if method != "laplace":
        return
    if max(share, 1 - share) > EXTREME:
        yield Caution(
            code="laplace-extreme",
            message=f"Laplace's approximation is biased where a rate is {100 * share:.3g}%.",
            effect="Spreads and log-odds may be several times too large.",
            advice="Leave out random terms so that quadrature is possible, or fit the linear model of means.",
        )
    else:
        yield Caution(
            code="laplace",
            severity="note",
            about="table:random",
            message="The likelihood is Laplace's approximation: these terms and rows allow no (quick) quadrature.",
            advice="With few outcomes for each level, spreads come out somewhat too small.",
        )


def caution_agreement(unanimous: float, cells: float, expected: float, *, far: bool) -> Iterator[Caution]:
    """Yield a caution where outcomes of one cell agree more than the fit expects."""
    if far:
        yield Caution(
            code="repeats-agree",
            message=f"{unanimous:,.0f} of {cells:,.0f} cells are all right or all wrong, not {expected:,.0f}.",
            effect="Repeats of one item agree more than the fit says, so its standard errors are too small.",
            advice="Add a random term for what repeats share, such as (1 | system:item).",
            count=int(unanimous),
        )
