"""Both fits of a form, and what is averaged where systems are compared."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.crossing import cross
from holdsup.design import parse_formula
from holdsup.design.matrices import code_fitted_rows
from holdsup.errors import ScoresError, list_names
from holdsup.fit import LmmFit, fit_lmm
from holdsup.fit.contrasts import average_row, marginal_weights
from holdsup.numerics.inference import lacking_covariance
from holdsup.numerics.spread import find_clusters, measure_arm
from holdsup.verdict.phrases import join_names
from holdsup.verdict.ranking.combinations import FixedEffects
from holdsup.verdict.ranking.forms import Form
from holdsup.verdict.ranking.table import RunTable
from holdsup.verdict.ranking.treatments import are_linked, goes_with

Floats = NDArray[np.float64]
LEAST_DATASETS = 3  # of a system, from which it has a place
ROUNDING = 1e-12  # of the largest score: what is less is zero, and runs that differ by less are copies
NOT_REPEATED = (np.nan, np.nan, np.nan)  # what runs add of which no setting has two
NIL = 1e-9  # by which shares of rows differ that are equal


@dataclass(frozen=True, eq=False)
class RankFits:
    """A form, fitted by REML."""

    runs: RunTable  # the rows
    form: Form  # what was fitted
    means: LmmFit  # the fit in which systems are fixed
    variances: LmmFit  # the fit in which they are random

    @cached_property
    def weights(self) -> dict[str, Floats]:
        """For each system, the combination of fixed effects that is its adjusted mean."""
        found = marginal_weights(self.means, self.runs.system_name, held=self._held)
        lost = [name for name, weights in found.items() if weights is None]
        if lost:
            raise self._cannot_tell(lost[0])
        return {name: weights for name, weights in found.items() if weights is not None}

    def _cannot_tell(self, system: str) -> ScoresError:
        """Return why a system has no adjusted mean: a column that is one with the systems, or levels that it lacks."""
        runs = self.runs
        same = [name for name, labels in runs.factors.items() if goes_with(runs.system, labels)]
        if same:
            return ScoresError(
                f"{list_names(same)} is the same in all rows of a system, so its effect can't be separated from the "
                f"system's: leave {join_names(same)} out of the formula"
            )
        apart = [t.name for t in self.form.treatments if t.treated == "fixed" and not are_linked(runs, t.name)]
        if apart:
            number = runs.numbers(apart[0]) is not None
            give = f"give --treat {shlex.quote(f'{apart[0]}=numeric')}, or leave" if number else "leave"
            return ScoresError(
                f"systems do not share levels of {apart[0]!r}, so their effects can't be separated from those of the "
                f"systems: {give} the column out of {'the formula' if self.form.name == 'formula' else '--nuisance'}"
            )
        return ScoresError(
            f"the rows cannot tell the mean of {system!r} over all levels of the nuisance factors: some of them never "
            "occur with it; leave them out of the formula's interactions with systems"
        )

    @cached_property
    def averages(self) -> bool:
        """Whether datasets can be averaged by hand: not where random levels are spread unevenly over the cells."""
        return self.form.averages and all(self._is_even(name) for name in self.form.drawn)

    def _is_even(self, name: str) -> bool:
        """Return whether every system has the levels of a column in the same proportions on every dataset."""
        codes = self.runs.factors[name].codes
        shares = [self.runs.cell_means((codes == code).astype(float)) for code in range(self.runs.factors[name].count)]
        return all(bool(np.nanmax(share) - np.nanmin(share) < NIL) for share in shares)

    def isolates_datasets(self) -> bool:
        """Return whether the form has an effect of datasets, so that systems are compared within them."""
        return self.runs.dataset_name in self.means.levels or self.has_fixed_datasets()

    def has_fixed_datasets(self) -> bool:
        """Return whether datasets are fixed effects, so that limits of means are for these alone."""
        formula = parse_formula(self.form.means)
        return any(factor.variable == self.runs.dataset_name for term in formula.fixed for factor in term)

    def isolated_columns(self) -> tuple[str, ...]:
        """Return the nuisance columns of which the form has a term."""
        added = self.form.added()
        used = {added.get(name, name) for name in parse_formula(self.form.means).variables()}
        return tuple(name for name in self.runs.factors if name in used)

    def interacts(self) -> bool:
        """Return whether contrasts let systems differ from dataset to dataset.

        By the differences between datasets they do; so they do where a system has one score on each, as the residual.
        """
        if self.form.averages or int(self.runs.cells().max()) == 1:
            return True
        system, dataset = self.runs.system_name, self.runs.dataset_name
        slopes = any(c.group == dataset and c.term.startswith(system) for c in self.means.random)
        return slopes or any(set(group.split(":")) == {system, dataset} for group in self.means.levels)

    @cached_property
    def mean_weights(self) -> Floats:
        """The same for all systems, shape (systems, effects)."""
        return np.stack([self.weights[name] for name in self.runs.system.names])

    @cached_property
    def adjusted_means(self) -> Floats:
        """The adjusted mean of each system."""
        return np.asarray(self.mean_weights @ self.means.model().beta)

    def know_differences(self) -> FixedEffects:
        """Return what is known of differences of adjusted means; what they have in common is taken off."""
        return FixedEffects.of(self.means, self.mean_weights - self.mean_weights.mean(axis=0))

    @cached_property
    def lacking(self) -> Floats:
        """What the covariance of adjusted means lacks because variances are estimated."""
        model = self.means.model()
        found = lacking_covariance(model.engine.criterion, model.engine.optimum.theta, model.engine.inference)
        inside = self.mean_weights @ model.transform
        return np.asarray(inside @ found @ inside.T)

    @property
    def _held(self) -> dict[str, float]:
        """Where the averages have the indicators of a factor: at each of its levels equally often."""
        counts = {name: self.runs.factors[i.factor].count for name, i in self.form.indicators.items()}
        return {name: 1 / count for name, count in counts.items()}

    @cached_property
    def grand_mean(self) -> float:
        """The mean of an average system, by the fit in which systems are random."""
        model = self.variances.model()
        return float(average_row(self.variances, held=self._held)[model.engine.kept] @ model.beta)

    @cached_property
    def adjusted(self) -> Floats:
        """The score of each row with the fixed nuisance effects taken out: as if all were at their average."""
        model = self.means.model()
        fixed = code_fitted_rows(model.design).fixed[:, model.engine.kept] @ model.beta
        return np.asarray(self.runs.score - fixed + self.adjusted_means[self.runs.system.codes])

    @cached_property
    def cells(self) -> Floats:
        """The mean adjusted score of each system on each dataset, NaN where there is none."""
        found = self.runs.cell_means(self.adjusted)
        found[np.abs(found) < ROUNDING * np.abs(self.runs.score).max()] = 0.0  # of a system whose scores are all zero
        return found

    @cached_property
    def _by_training(self) -> list[tuple[Floats, NDArray[np.int64]]]:
        """For each system its adjusted scores by datasets x trainings, NaN where there is none, and their settings."""
        runs, found = self.runs, []
        for code in range(runs.system.count):
            rows = np.flatnonzero(runs.system.codes == code)
            trainings = cross(runs.trainings[rows])
            place = runs.dataset.codes[rows].astype(np.int64) * trainings.count + trainings.codes
            size = runs.dataset.count * trainings.count
            with np.errstate(invalid="ignore"):
                means = np.bincount(place, self.adjusted[rows], size) / np.bincount(place, minlength=size)
            found.append((means.reshape(-1, trainings.count), runs.settings[rows][trainings.first]))
        return found

    def measure_runs(self, systems: NDArray[np.int64], datasets: NDArray[np.bool_]) -> Floats:
        """Return what runs that were each scored on all datasets add to the variance of a system's mean.

        Parameters
        ----------
        systems : those of some combinations, shape (combinations, systems of each)
        datasets : those on which each combination is looked at, shape (combinations, datasets)

        Returns
        -------
        shape (combinations, systems of each, 3): their variance over their number, residual included; what the residual
        contributes to it, which the spread between datasets holds as well; and degrees of freedom. NaN where a system
        has no two runs at a setting
        """
        chosen, which = np.unique(datasets, axis=0, return_inverse=True)
        keys, place = np.unique(which.reshape(-1, 1) * self.runs.system.count + systems, return_inverse=True)
        found = []
        for choice, system in zip(*np.divmod(keys, self.runs.system.count), strict=True):
            key = (int(system), chosen[choice].tobytes())
            if key not in self._parts:
                self._parts[key] = self._measure(int(system), chosen[choice])
            found.append(self._parts[key])
        return np.asarray(np.array(found)[place.reshape(-1)].reshape(*systems.shape, 3))

    @cached_property
    def _parts(self) -> dict[tuple[int, bytes], tuple[float, float, float]]:
        """What was measured of the runs of systems on some datasets, for the pairs to come."""
        return {}

    def _measure(self, system: int, datasets: NDArray[np.bool_]) -> tuple[float, float, float]:
        scores, settings = self._by_training[system]
        used = ~np.isnan(scores[datasets]).all(axis=0)
        scores, settings = scores[datasets][:, used], settings[used]
        if len(settings) == len(np.unique(settings)):
            return NOT_REPEATED
        several = settings if len(np.unique(settings)) > 1 else None
        # Settings that lack datasets can't be separated from these one by one; their effects are taken out already.
        for codes in dict.fromkeys((several is not None, False)):
            try:
                arm = measure_arm(scores, several if codes else None, find_clusters(None, len(scores)))
                return float(arm.part), float(arm.noise), float(arm.df)
            except ValueError:
                continue
        return NOT_REPEATED

    @cached_property
    def repeats(self) -> bool:
        """Whether new runs are covered: each dataset has its own, or two systems have two runs at a setting."""
        every = np.ones(self.runs.dataset.count, bool)
        able = (self._measure(code, every) != NOT_REPEATED for code in range(self.runs.system.count))
        return self.runs.nested_runs or sum(able) > 1

    @cached_property
    def placed(self) -> NDArray[np.bool_]:
        """Which systems have datasets enough for a place: three, or as many as any has. Two scores lead nothing."""
        counts = np.isfinite(self.cells).sum(axis=1)
        return counts >= min(LEAST_DATASETS, int(counts.max())) if self.averages else np.ones(len(counts), bool)

    def order(self, means: Floats, *, lower_is_better: bool) -> NDArray[np.int64]:
        """Return systems from best to worst by their means; those without datasets enough for a place come last."""
        return np.lexsort((means if lower_is_better else -means, ~self.placed)).astype(np.int64)

    @cached_property
    def shifts(self) -> tuple[NDArray[np.int64], Floats]:
        """Which fixed effects of cells are not at their average, and how far, shape (systems, datasets, effects).

        There is none where every cell has every setting equally often; elsewhere an adjusted mean rests on what the
        effects are thought to be.
        """
        model = self.means.model()
        fixed = code_fitted_rows(model.design).fixed[:, model.engine.kept]
        away = self.mean_weights[self.runs.system.codes] - fixed
        columns = np.flatnonzero(np.abs(away).max(axis=0) > 0)
        cells = [self.runs.cell_means(away[:, column]) for column in columns]
        return columns, np.stack(cells, axis=-1) if cells else np.empty((*self.cells.shape, 0))


def fit_form(form: Form, runs: RunTable, *, level: float) -> RankFits:
    """Return both fits of a form."""
    frame = form.frame(runs)
    means = fit_lmm(form.means, frame, "reml", level=level)
    alone = RankFits(runs, form, means, means)
    assert alone.weights  # a system without a mean is refused with its reason, before the other fit fails on it
    return replace(alone, variances=fit_lmm(form.variances, frame, "reml", level=level))
