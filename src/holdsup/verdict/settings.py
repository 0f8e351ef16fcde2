"""The difference between two systems over new settings: facets random in the systems that have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa

from holdsup.errors import ScoresError
from holdsup.fit import Contrast, contrast, fit_lmm
from holdsup.numerics.differences import Difference, compare_new_runs
from holdsup.scores import Scores
from holdsup.verdict.evaluation import Evaluation, SystemRuns, is_repetition

__all__ = ["compare_new_settings"]


def compare_new_settings(
    evaluation: Evaluation, a: SystemRuns, b: SystemRuns, up: float, *, level: float
) -> Difference:
    """Return the difference over new items, runs and settings: Satterthwaite's t of a mixed model.

    Every facet that is a setting has a variance in each system in which it varies; so have runs, and the items of
    each system. Never a smaller p or narrower limits than for new runs at these settings.
    """
    several = [system.settings if system.setting_count > 1 else None for system in (a, b)]
    here = compare_new_runs(a.scores + up, b.scores, left_settings=several[0], right_settings=several[1], level=level)
    found = _contrast(evaluation.scores, a.name, b.name, up, level)
    half = max(found.high - found.low, here.high - here.low) / 2
    if found.log10_p < here.log10_p:
        return replace(here, low=here.estimate - half, high=here.estimate + half)
    return replace(
        here,
        estimate=found.estimate,
        se=found.se,
        df=found.df,
        p=found.p,
        log10_p=found.log10_p,
        low=found.estimate - half,
        high=found.estimate + half,
        claim="new-settings",
    )


def _contrast(scores: Scores, left: str, right: str, up: float, level: float) -> Contrast:
    """Return left minus right by a mixed model of both systems' rows."""
    names = scores.system.names
    is_left, is_right = (scores.system.codes == names.index(name) for name in (left, right))
    pair = scores.take(is_left | is_right)
    assert pair.items is not None  # settings are asked for where there are items only
    is_left = pair.system.codes == pair.system.names.index(left)
    columns = {
        "score": pair.score + up * is_left,
        "left": is_left.astype(float),
        "right": (~is_left).astype(float),
        "item": pa.array(pair.items.codes).cast(pa.string()),
        "run": pa.array(np.where(is_left, pair.run.codes, -1 - pair.run.codes)).cast(pa.string()),
        "system": np.where(is_left, "left", "right"),
    }
    terms = ["(1 | item)", "(1 | system:item)", "(1 | run)"]
    for number, (name, varies) in enumerate(_varying(pair, is_left)):
        columns[f"f{number}"] = pa.DictionaryArray.from_arrays(pair.facets[name].codes, pair.facets[name].levels)
        terms.extend(f"(0 + {side} | f{number})" for side in varies)
    fit = fit_lmm(f"score ~ left + {' + '.join(terms)}", pa.table(columns), level=level)
    if not fit.converged:
        raise ScoresError(f"the mixed model of {left!r} and {right!r} over settings did not converge: claim new-runs")
    return contrast(fit, {"left": 1.0}, name=f"{left} - {right}")


def _varying(pair: Scores, is_left: np.ndarray) -> Iterator[tuple[str, list[str]]]:
    """Yield each facet that is a setting, and the sides on which it varies."""
    for name, labels in pair.facets.items():
        if is_repetition(pair, name):
            continue
        sides = {"left": labels.codes[is_left], "right": labels.codes[~is_left]}
        varies = [side for side, codes in sides.items() if len(np.unique(codes)) > 1]
        if varies:
            yield name, varies
