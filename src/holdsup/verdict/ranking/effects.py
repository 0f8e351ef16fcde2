"""The fixed effects of nuisance factors, named by factor and level."""

from __future__ import annotations

from holdsup.fit.result import Model
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.term_records import NuisanceEffect

__all__ = ["find_effects"]


def find_effects(fits: RankFits) -> tuple[NuisanceEffect, ...]:
    """Return the intercept and the fixed effects, by the fit in which systems are random."""
    model = fits.variances.model()
    rows = []
    for effect, kept in zip(fits.variances.fixed, model.engine.kept, strict=True):
        factor, level, reference = _origin(fits, model, int(kept))
        taken_log = factor is not None and factor in fits.form.logs.values()
        rows.append(
            NuisanceEffect(
                name=_name(effect.name, factor, level, taken_log=taken_log),
                factor=factor,
                level=level,
                reference=reference,
                estimate=effect.estimate,
                se=effect.se,
                df=effect.df,
                t=effect.t,
                p=effect.p,
                log10_p=effect.log10_p,
                low=effect.low,
                high=effect.high,
            )
        )
    return tuple(rows)


def _name(effect: str, factor: str | None, level: str | None, *, taken_log: bool) -> str:
    if level is not None:
        return f"{factor} {level}"
    return f"log10 {factor}" if taken_log else factor or effect


def _origin(fits: RankFits, model: Model, column: int) -> tuple[str | None, str | None, str | None]:
    """Return the factor, level and reference of a fixed column; of a product of several, its name alone."""
    spec = model.design.fixed[column]
    if len(spec.levels) + len(spec.numbers) != 1:
        return None, None, None
    for factor, coded in model.design.variables.coded.items():
        if spec.levels and coded.factor == spec.levels[0][0]:
            return factor.variable, coded.levels[spec.levels[0][1]], coded.levels[0]
        if spec.numbers and any(index == spec.numbers[0] for _, index in coded.numbers):
            indicator = fits.form.indicators.get(factor.variable)
            if indicator is None:
                return fits.form.logs.get(factor.variable, factor.variable), None, None
            return indicator.factor, indicator.level, fits.runs.factors[indicator.factor].names[-1]
    return None, None, None
