"""What others would answer: whether there is a difference, and an interval."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from scipy import special

import holdsup
from cells import Codes, Floats
from holdsup.numerics.distributions import chi2_tail

__all__ = ["bootstrap_items", "kenward_roger", "likelihood_ratio", "mixed_model", "welch_run_means", "with_evalstats"]

Answer = tuple[Floats, Floats, Floats]  # whether it rejects, and both limits
RESAMPLES = 1000
ALTERNATIVE, NULL = "score ~ system + (1|item)", "score ~ 1 + (1|item)"


def welch_run_means(left: Floats, right: Floats, level: float) -> Answer:
    """Welch's t-test on the mean score of each run."""
    means = [np.nanmean(scores, axis=1) for scores in (left, right)]
    parts = [mean.var(1, ddof=1) / mean.shape[1] for mean in means]
    variance = parts[0] + parts[1]
    df = variance**2 / sum(part**2 / (mean.shape[1] - 1) for part, mean in zip(parts, means, strict=True))
    estimate = means[0].mean(1) - means[1].mean(1)
    half = special.stdtrit(df, (1 + level) / 2) * np.sqrt(variance)
    return np.abs(estimate) > half, estimate - half, estimate + half


def bootstrap_items(left: Floats, right: Floats, level: float, rng: np.random.Generator) -> Answer:
    """The paired bootstrap over items, scores averaged over runs; percentile limits."""
    differences = np.nanmean(left, axis=2) - np.nanmean(right, axis=2)
    items = differences.shape[1]
    weights = rng.multinomial(items, np.full(items, 1 / items), RESAMPLES) / items
    low, high = np.quantile(differences @ weights.T, [(1 - level) / 2, (1 + level) / 2], axis=1)
    return (low > 0) | (high < 0), low, high


def likelihood_ratio(left: Floats, right: Floats, level: float) -> Answer:
    """The likelihood ratio test of eqs. 3-5 of Hagmann et al. (2023), and Wald limits of eq. 4."""
    found = [_fit_both(*pair, level) for pair in zip(left, right, strict=True)]
    rejects, low, high = np.array(found, float).T
    return rejects, low, high


def _fit_both(left: Floats, right: Floats, level: float) -> tuple[bool, float, float]:
    table = long_table(left, right)
    try:
        large, small = (holdsup.fit_lmm(formula, table, "ml") for formula in (ALTERNATIVE, NULL))
    except holdsup.FitError:  # all scores are the same
        return False, -np.inf, np.inf
    effect = large.fixed[1]
    half = float(special.ndtri((1 + level) / 2)) * effect.se
    p = chi2_tail(small.criterion - large.criterion, 1).p
    return p < 1 - level, -effect.estimate - half, -effect.estimate + half


def mixed_model(left: Floats, right: Floats, facets: tuple[Codes | None, Codes | None], level: float) -> Answer:
    """Satterthwaite's t of a mixed model in which facets are random in the systems that have them.

    A fit that does not converge answers nothing: it neither rejects nor covers wrongly.
    """
    rejects, low, high = np.array([_fit_facets(*pair, facets, level) for pair in zip(left, right, strict=True)]).T
    return rejects, low, high


def _fit_facets(
    left: Floats, right: Floats, facets: tuple[Codes | None, Codes | None], level: float
) -> tuple[float, ...]:
    table = long_table(left, right)
    right_side = np.asarray(table["system"].combine_chunks().indices)
    run = np.asarray(table["run"])
    columns = {"left": 1.0 - right_side, "right": 1.0 * right_side}
    terms = ["(1 | item)", "(1 | system:item)", "(0 + left | system:run)", "(0 + right | system:run)"]
    for side, (name, own) in enumerate(zip(("left", "right"), facets, strict=True)):
        for number, codes in enumerate(own if own is not None else ()):
            levels = np.where(right_side == side, codes[run % len(codes)], 0)
            columns[f"{name}{number}"] = pa.array(levels).cast(pa.string())
            terms.append(f"(0 + {name} | {name}{number})")
    table = table.set_column(table.column_names.index("run"), "run", pa.array(run).cast(pa.string()))
    for name, values in columns.items():
        table = table.append_column(name, pa.array(values))
    fit = holdsup.fit_lmm(f"score ~ left + {' + '.join(terms)}", table, level=level)
    effect = fit.fixed[1]
    if not fit.converged:
        return 0.0, -np.inf, np.inf
    return float(effect.p < 1 - level), effect.low, effect.high


def long_table(left: Floats, right: Floats) -> pa.Table:
    """Return the scores of two systems as rows, missing ones left out."""
    columns: dict[str, list[np.ndarray]] = {"system": [], "run": [], "item": [], "score": []}
    for code, scores in enumerate((left, right)):
        item, run = np.nonzero(~np.isnan(scores))
        for name, values in (("item", item), ("run", run), ("score", scores[item, run])):
            columns[name].append(values)
        columns["system"].append(np.full(len(item), code))
    table = {name: np.concatenate(parts) for name, parts in columns.items()}
    systems = pa.DictionaryArray.from_arrays(table["system"], ["left", "right"])
    items = pa.DictionaryArray.from_arrays(table["item"], [f"{i}" for i in range(len(left))])
    return pa.table({"system": systems, "item": items, "run": table["run"], "score": table["score"]})


def with_evalstats(left: Floats, right: Floats, python: str) -> Answer:
    """Return what evalstats' `compare_models` says, by an interpreter that has it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.npz"
        np.savez(file, left=left, right=right)
        command = [python, str(Path(__file__).parent / "evalstats_compare.py"), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"evalstats failed: {done.stderr.strip().splitlines()[-1]}")
    rejects, low, high = np.array(json.loads(done.stdout.splitlines()[-1]), float).T
    return rejects, low, high


def kenward_roger(left: Floats, right: Floats, level: float) -> Floats:
    """Return what Kenward and Roger's test rejects, items, items within systems and runs random (pbkrtest, in R)."""
    columns = ["table", "system", "run", "item", "score"]
    rows = []
    for system, scores in enumerate((left, right)):
        table, item, run = (axis.ravel() for axis in np.indices(scores.shape))
        rows.append(np.stack([table, np.full(scores.size, system), run, item, scores.ravel()], axis=1))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.csv"
        np.savetxt(file, np.concatenate(rows), delimiter=",", header=",".join(columns), comments="", fmt="%.10g")
        command = ["Rscript", str(Path(__file__).parent / "kenward_roger.R"), str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    p = np.array([np.nan if word == "NA" else float(word) for word in done.stdout.split()])
    assert len(p) == len(left)
    return p < 1 - level
