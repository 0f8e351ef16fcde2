"""How far to trust a ranking: without each dataset and system, by average ranks, and by errors on rows held out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from holdsup.columns import Labels
from holdsup.errors import FitError
from holdsup.fit import LmmFit, random_effects, residuals
from holdsup.fit.holdouts import PartialFit, fit_without, predict_parts
from holdsup.numerics.least_squares import predict_parts_by_cells
from holdsup.numerics.ranks import critical_difference, find_cliques, friedman_test, rank_each, share_wins
from holdsup.progress import Progress, no_progress
from holdsup.rendering.numbers import format_counted, format_number
from holdsup.results import Caution
from holdsup.splits import KFold
from holdsup.verdict.ranking.combinations import FixedEffects
from holdsup.verdict.ranking.contrasts import compare_by_dataset
from holdsup.verdict.ranking.fits import RankFits
from holdsup.verdict.ranking.records import AverageRank, Companion, CrossValidation, Influence, Quantiles
from holdsup.verdict.ranking.table import RunTable

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
LEAST_SYSTEMS = 2  # that must stay
LEAST_DATASETS = 2
MOST_SYSTEMS = 50  # left out one at a time: each takes a fit
LEVEL = 0.95  # of limits that nobody sees
PLAIN = "plain regression"
MOST_POINTS = 200  # of a Q-Q plot
LEAST_POINTS = 3  # values that a Q-Q plot needs
NIL = 1e-6  # residual standard deviations within which effects are all zero: their variance is


def find_influence(
    fits: RankFits, said: list[Caution], *, lower_is_better: bool = False, progress: Progress = no_progress
) -> tuple[Influence, ...]:
    """Return the ranking without each dataset, and without each system where more than two are compared.

    The fit in which systems are fixed is made again from the rows that stay, variances included. Of very many systems
    the best are left out in turn. `said` gets a caution where one cannot be left out.
    """
    runs = fits.runs
    best = fits.order(fits.adjusted_means, lower_is_better=lower_is_better)[:MOST_SYSTEMS]
    codes = sorted(best.tolist()) if runs.system.count > LEAST_SYSTEMS else []
    if len(codes) < runs.system.count > LEAST_SYSTEMS:
        message = f"Of {runs.system.count} systems, the best {MOST_SYSTEMS} were left out one at a time."
        said.append(Caution(code="systems-kept", severity="note", about="table:influence", message=message))
    steps = [("dataset", runs.dataset, code) for code in range(runs.dataset.count)]
    steps += [("system", runs.system, code) for code in codes]
    model = fits.means.model()
    weights = np.zeros((runs.system.count, len(model.design.fixed)))
    weights[:, model.engine.kept] = fits.mean_weights
    ranking = _Ranking(fits, weights, -1.0 if lower_is_better else 1.0)
    found = []
    for done, (kind, labels, code) in enumerate(steps):
        progress(done, len(steps), "leaving out one at a time")
        try:
            found.append(ranking.without(kind, labels, code))
        except FitError as error:
            message = f"Can't rank without the {kind} {labels.names[code]}: {error}."
            said.append(Caution(code="not-left-out", severity="note", about="table:influence", message=message))
    progress(len(steps), len(steps), "leaving out one at a time")
    return tuple(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Ranking:
    """The ranking by all rows."""

    fits: RankFits  # the form, fitted to all rows
    weights: Floats  # of all fixed columns in the adjusted mean of each system, shape (systems, columns)
    sign: float  # 1, or -1 where lower is better

    def without(self, kind: str, labels: Labels, code: int) -> Influence:
        """Return the ranking without one dataset or system."""
        fits, names, before = self.fits, self.fits.runs.system.names, self.fits.adjusted_means
        rows = np.flatnonzero(labels.codes != code)
        staying = np.unique(fits.runs.system.codes[rows]).astype(np.int64)
        if len(staying) < LEAST_SYSTEMS:
            raise FitError("one system alone has scores then")
        part = fit_without(fits.means, labels.codes == code)
        means = np.full(len(before), np.nan)
        means[staying] = part.estimate(self.weights[staying])
        last = ~fits.placed[staying]
        order, usual = (staying[np.lexsort((-self.sign * each[staying], last))] for each in (means, before))
        return Influence(
            kind=kind,
            left_out=labels.names[code],
            ranking=tuple(names[system] for system in order),
            leader=names[order[0]],
            gap=float(means[order[0]] - means[order[1]]),
            p=self._test_lead(part, rows, means, order[:2]),
            changed=not np.array_equal(order, usual),
            largest_shift=float(np.ptp((means - before)[staying])),
        )

    def _test_lead(self, part: PartialFit, rows: Codes, means: Floats, pair: Codes) -> float | None:
        """Return the p of the lead of one system over another, as the contrasts have it; None without one."""
        fits, runs = self.fits, self.fits.runs
        known = FixedEffects.of(fits.means, fits.mean_weights, pair, part)
        left = np.full(len(runs), np.nan)
        left[rows] = runs.score[rows] - part.predict(rows, random=False)
        systems, signs = pair[None], np.array([[1.0, -1.0]])
        found = compare_by_dataset(fits, known, systems, signs, runs.cell_means(left) + means[:, None])
        if not fits.averages:
            found = known.test(means[pair[:1]] - means[pair[1:]], systems, signs, LEVEL)
        told = fits.averages or len(np.unique(runs.dataset.codes[rows])) > 1
        return float(found.p[0]) if told and not math.isnan(found.p[0]) else None


def make_companion(
    runs: RunTable, *, order: Sequence[str], said: list[Caution], lower_is_better: bool = False, level: float = 0.95
) -> Companion | None:
    """Return average ranks and their tests on the mean scores by dataset; None, and a caution, without two datasets.

    A dataset that lacks a system cannot rank it, and is left out and counted.

    Parameters
    ----------
    order : the systems from best to worst by their adjusted means, with which the ranks are compared
    """
    means = runs.cell_means(runs.score).T * (-1.0 if lower_is_better else 1.0)
    scores = means[np.isfinite(means).all(axis=1)]
    if len(scores) < LEAST_DATASETS:
        message = "No average ranks: fewer than two datasets have a score of every system."
        said.append(Caution(code="no-average-ranks", severity="note", about="claim", message=message))
        return None
    ranks = rank_each(scores)
    average, wins = ranks.mean(axis=0), share_wins(ranks)
    test = friedman_test(ranks)
    difference = critical_difference(len(ranks), ranks.shape[1], level=level)
    names = runs.system.names
    by_rank = np.argsort(average, kind="stable")
    return Companion(
        datasets=len(ranks),
        left_out=len(means) - len(ranks),
        ranks=tuple(AverageRank(system=names[i], average_rank=float(average[i]), wins=float(wins[i])) for i in by_rank),
        chi2=test.chi2,
        df=test.df,
        p=test.chi2_tail.p,
        log10_p=test.chi2_tail.log10_p,
        f=test.f,
        df1=test.df1,
        df2=test.df2,
        p_f=test.f_tail.p,
        log10_p_f=test.f_tail.log10_p,
        critical_difference=difference,
        cliques=tuple(tuple(names[i] for i in clique) for clique in find_cliques(average, difference)),
        parting=_say_parting(scores, ranks, [names.index(name) for name in order], names),
    )


def _say_parting(scores: Floats, ranks: Floats, order: Sequence[int], names: Sequence[str]) -> str:
    """Return on which pairs ranks and adjusted means disagree, and what the first of them is owed to.

    `scores` are means by dataset, shape (datasets, systems), higher better.
    """
    average = ranks.mean(axis=0)
    pairs = [(better, worse) for i, better in enumerate(order) for worse in order[i + 1 :]]
    parted = [(better, worse) for better, worse in pairs if average[better] > average[worse]]
    if not parted:
        return "Average ranks and adjusted means agree on the order of every pair."
    better, worse = parted[0]
    first = (
        f"Average ranks and adjusted means disagree on {len(parted)} of {format_counted(len(pairs), 'pair')}: by rank "
        f"{names[worse]} is before {names[better]}."
    )
    gaps = scores[:, better] - scores[:, worse]
    if gaps.mean() <= 0:
        return f"{first} So it is by plain means; the model also adjusts for nuisance factors and missing datasets."
    often = (gaps < 0).sum() > (gaps > 0).sum()
    sizes, unit = (gaps, "") if often else (ranks[:, worse] - ranks[:, better], " places")
    ahead, behind = sizes[gaps > 0], -sizes[gaps < 0]
    why = "how often" if often else "the systems in between"
    return (
        f"{first} {names[worse]} is ahead on {len(behind)} of {len(gaps)} datasets, by "
        f"{format_number(float(behind.mean()))}{unit} on average, {names[better]} on {len(ahead)}, by "
        f"{format_number(float(ahead.mean()))}: ranks count {why}, means by how much."
    )


def validate_forms(
    fits: Mapping[str, LmmFit],
    runs: RunTable,
    said: list[Caution],
    *,
    folds: int = 10,
    seed: int = 0,
    progress: Progress = no_progress,
) -> tuple[CrossValidation, ...]:
    """Return the errors of forms, and of a plain regression, on rows that they were not fitted to.

    First rows are held out, dealt at random; levels of a group that the other rows have keep their predicted effects.
    Then whole datasets, whose effects, and those of systems on them, are then unknown and count as zero. The plain
    regression is what the paper compares with: a fixed effect for every system on every dataset, and the fixed columns
    of the first form; it knows nothing about a new dataset. All forms have the same folds.
    """
    deals = {"rows": _deal(len(runs), folds, seed), "datasets": _deal(runs.dataset.count, folds, seed)}
    deals["datasets"] = deals["datasets"][runs.dataset.codes]
    found: list[CrossValidation] = []

    def caution(message: str) -> None:
        said.append(Caution(code="not-predicted", severity="note", about="table:forms", message=message))

    def add(form: str, formula: str, held_out: str, predicted: Floats) -> None:
        told = np.isfinite(predicted)
        if not told.all():
            which = "the plain regression" if form == PLAIN else f"the {form} form"
            count = f"{int((~told).sum()):,} of {format_counted(len(told), 'row')}"
            caution(f"With {held_out} held out, {which} can't predict {count}: their levels occur in no other fold.")
        if told.any():
            error, parts = predicted[told] - runs.score[told], len(np.unique(deals[held_out]))
            mae, rmse = float(np.abs(error).mean()), float(np.sqrt((error**2).mean()))
            found.append(
                CrossValidation(form=form, formula=formula, held_out=held_out, folds=parts, mae=mae, rmse=rmse)
            )

    steps = [(held_out, name) for held_out in deals for name in fits]
    for done, (held_out, name) in enumerate(steps):
        progress(done, len(steps), "cross-validation")
        try:
            add(name, fits[name].formula, held_out, predict_parts(fits[name], deals[held_out]))
        except FitError as error:
            caution(f"No cross-validation over {held_out} for the {name} form: {error}.")
    columns = next(iter(fits.values())).model().design.columns()
    cells = runs.system.codes.astype(np.int64) * runs.dataset.count + runs.dataset.codes
    formula = f"{runs.score_name} ~ {runs.system_name}:{runs.dataset_name} + the fixed effects of nuisance factors"
    add(PLAIN, formula, "rows", predict_parts_by_cells(runs.score, columns, cells, deals["rows"]))
    progress(len(steps), len(steps), "cross-validation")
    return tuple(found)


def _deal(count: int, folds: int, seed: int) -> Codes:
    """Return the part of each of some rows or datasets."""
    part = np.empty(count, np.int64)
    for number, split in enumerate(KFold(k=min(folds, count), seed=seed).split(range(count))):
        part[split.test] = number
    return part


def find_quantiles(fit: LmmFit) -> tuple[Quantiles, ...]:
    """Return the points of Q-Q plots: of the residuals, and of the predicted effects of terms that have a variance."""
    found = [_quantiles("residuals", residuals(fit))]
    for term in random_effects(fit, with_sd=False):
        for name, values in zip(term.terms, term.values.T, strict=True):
            shown = term.group if name == "(Intercept)" else f"{name} by {term.group}"
            if len(values) >= LEAST_POINTS and np.ptp(values) > NIL * fit.sigma:
                found.append(_quantiles(shown, values))
    return tuple(found)


def _quantiles(name: str, values: Floats) -> Quantiles:
    """Return values in order beside normal quantiles; of many, those next to evenly spaced ones, both ends kept."""
    ordered, n = np.sort(values), len(values)
    normal = special.ndtri((np.arange(n) + 0.5) / n)
    places = np.arange(n)
    if n > MOST_POINTS:
        even = np.linspace(normal[0], normal[-1], MOST_POINTS)
        places = np.unique(np.clip(np.round(special.ndtr(even) * n - 0.5), 0, n - 1).astype(np.int64))
    return Quantiles(
        name=name, count=n, normal=tuple(normal[places].tolist()), observed=tuple(ordered[places].tolist())
    )
