"""Runs near an end, by design: how often is a true null rejected, without and with variances under the null?

    python benchmarks/near_ends.py [tables]   tables a row: 1,500 by default (ten seconds of CPU)

0/1 scores by a probit, standard deviations as in `cells.py`; the runs, or settings, of one system are loud (4.3 to 1).
Then how often CIs of the mean of k of n, or of an F1 that is often 1, cover it: Student's and Wilson's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import numpy as np
from scipy import special

from cells import Floats
from grid_cells import ITEM, LOUD, RESIDUAL, RUN, SYSTEM_ITEM
from holdsup.numerics.decisions import Criterion, decide_all
from holdsup.numerics.differences import choose_tests, dataset_means
from holdsup.numerics.settings import measure_facets, measure_over_settings, new_settings_test
from holdsup.numerics.spread import (
    Arm,
    Spread,
    at_common_mean,
    find_clusters,
    measure_arm,
    measure_spread,
    pairs_at_common_mean,
)
from holdsup.numerics.these_datasets import measure_on_datasets
from together import cover_means

TABLES, BATCH = int(sys.argv[1]) if len(sys.argv) > 1 else 1_500, 250
ENDS, SHARED, DATASETS, MANY_DATASETS = (0.0, 1.0), 0.02, 3, 10
RNG = np.random.default_rng(3)


def main() -> None:
    print(f"{'0/1 scores, one system loud':<58}  as they are  under the null")
    for share in (0.9, 0.95, 0.98):
        for runs, items in ((3, 300), (5, 600)):
            counts: dict[str, Floats] = {}
            for _ in range(TABLES // BATCH):
                for design, rates in measure(share, runs, items):
                    counts[design] = counts.get(design, 0.0) + np.array(rates) / (TABLES // BATCH)
            for design, (plain, null) in counts.items():
                name = f"{share}, {runs} runs x {items}: {design}"
                print(f"{name:<58}{100 * plain:>13.1f}{100 * null:>16.1f}", flush=True)
    print(f"\n{'means':<45}  Student's  Wilson's")
    for kind in ("k of 4", "k of 10", "F1"):
        for share, (items, runs, sd) in (
            (s, d) for s in (0.9, 0.97, 0.99) for d in ((200, 5, RUN), (1000, 5, LOUD[0]))
        ):
            scores, mean = draw_shares(kind, share, items, runs, sd)
            t, wilson = (
                cover_means(scores, None, mean, ENDS, two_valued=two_valued).mean() for two_valued in (False, True)
            )
            print(f"{kind + f' near {share}, {items} x {runs}, run sd {sd}':<45}{100 * t:>11.1f}{100 * wilson:>10.1f}")


def draw(effects: Sequence[tuple[Floats, float]], item: Floats, share: float) -> list[Floats]:
    """Return the 0/1 scores of each system from effects of its runs, each with their standard deviation."""
    found = []
    for effect, sd in effects:
        shape = (*item.shape, effect.shape[2])
        latent = item[..., None] + SYSTEM_ITEM * RNG.standard_normal((*item.shape, 1)) + effect
        total = np.sqrt(ITEM**2 + SYSTEM_ITEM**2 + RESIDUAL**2 + sd**2)
        found.append((latent + RESIDUAL * RNG.standard_normal(shape) < special.ndtri(share) * total).astype(float))
    return found


def sides(arms: Sequence[Arm]) -> list[tuple[Floats, Floats]]:
    a, b = (arm.items.mean(-1) for arm in arms)
    return [(a, b), (b, a)]


def rate(spreads: Sequence[Spread], more: Sequence[Criterion] = ()) -> float:
    estimate = sum(each.estimate for each in spreads)
    found = decide_all(estimate, [*more, *choose_tests(spreads, new_runs=True)], 1.0, 0.95, tails=False)
    return float((((found.low > 0) | (found.high < 0)) & (found.se_limits > 0)).mean())


def two_way(scores: Sequence[Floats]) -> tuple[Spread, list[Arm]]:
    none = find_clusters(None, scores[0].shape[-2])
    arms = [measure_arm(each, None, none) for each in scores]
    return measure_spread(arms, arms[0].items - arms[1].items, none), arms


def measure(share: float, runs: int, items: int) -> Iterator[tuple[str, tuple[float, float]]]:
    """Yield how often each design rejects: variances as they are, and those under the null."""
    item, none = ITEM * RNG.standard_normal((BATCH, items)), find_clusters(None, items)

    def effect(*shape: int) -> Floats:
        return RNG.standard_normal((BATCH, *shape))

    scores = draw([(sd * effect(1, runs), sd) for sd in LOUD], item, share)
    spread, arms = two_way(scores)
    yield "new runs", (rate([spread]), rate([at_common_mean(spread, sides(arms), ENDS)]))
    codes = np.arange(items) * DATASETS // items
    _, on_all = measure_on_datasets([(each, None) for each in scores], codes, None)
    yield "these datasets, same runs", (rate([on_all]), rate([at_common_mean(on_all, sides(arms), ENDS)]))
    many, own = two_way([dataset_means(each, np.arange(items) * MANY_DATASETS // items) for each in scores])
    yield "ten new datasets, same runs", (rate([many]), rate([at_common_mean(many, sides(own), ENDS)]))

    scores = draw([(sd * effect(DATASETS, runs)[:, codes], sd) for sd in LOUD], item, share)
    parts = [two_way([each[:, codes == code] for each in scores]) for code in range(DATASETS)]
    moved = [at_common_mean(spread, sides(arms), ENDS).scaled(1 / DATASETS) for spread, arms in parts]
    yield "these datasets, own runs", (rate([spread.scaled(1 / DATASETS) for spread, _ in parts]), rate(moved))

    both = SHARED * effect(1, runs)
    left, right = draw([(sd * effect(1, runs) + both, float(np.hypot(sd, SHARED))) for sd in LOUD], item, share)
    arm = measure_arm(left - right, None, none)
    spread, (_, arms) = measure_spread([arm], arm.items, none, ENDS), two_way([left, right])
    yield "shared seeds", (rate([spread]), rate([pairs_at_common_mean(spread, arms, ENDS)]))

    levels = np.repeat(np.arange(runs), 2)
    drawn = [(sd * effect(1, runs)[..., levels] + RUN * effect(1, 2 * runs), float(np.hypot(sd, RUN))) for sd in LOUD]
    scores = draw(drawn, item, share)
    arms = [measure_arm(each, levels, none) for each in scores]
    here = measure_spread(arms, arms[0].items - arms[1].items, none)
    there = measure_over_settings(here, [tuple(measure_facets(each, levels[None])) for each in scores])
    rates = [rate([spread], [new_settings_test(other)]) for spread, other in (
        (here, there), tuple(at_common_mean(each, sides(arms), ENDS) for each in (here, there))
    )]  # fmt: skip
    yield "new settings, two runs each", (rates[0], rates[1])


def draw_shares(kind: str, share: float, items: int, runs: int, sd: float) -> tuple[Floats, float]:
    """Return scores of one system, tables x items x runs, and their mean."""
    latent = ITEM * RNG.standard_normal((TABLES // 3, items, 1)) + SYSTEM_ITEM * RNG.standard_normal(
        (TABLES // 3, items, 1)
    )
    latent = latent + sd * RNG.standard_normal((TABLES // 3, 1, runs))
    total = np.sqrt(ITEM**2 + SYSTEM_ITEM**2 + RESIDUAL**2 + sd**2)
    trials = {"k of 4": 4, "k of 10": 10, "F1": 1}[kind]
    cut = special.ndtri(share) * total
    right = sum((latent + RESIDUAL * RNG.standard_normal(latent.shape) < cut) + 0.0 for _ in range(trials)) / trials
    if kind == "F1":
        return np.where(right == 1, 1.0, RNG.beta(4, 2, right.shape)), share + (1 - share) * 4 / 6
    return right, share


if __name__ == "__main__":
    main()
