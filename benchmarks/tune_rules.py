"""Do the stated probabilities, limits and the adaptive rule of tuning keep their promise on real grids?

    python benchmarks/tune_rules.py [--draws N] [--grids FILE] [--only race|judge|advise|noise|study]

FILE holds mean scores of candidates on up to 1,200 partitions (Moss, Leslie & Rayson 2018); by default it is
../shared/data/moss_jkfold/moss_cv_grids.npz from the project's folder. J partitions are drawn at random; the truth is
the mean over all partitions. Besides the whole grids, grids of 2 to 12 of their candidates at random, which have all
kinds of gaps. "noise" needs no grids: normal scores whose truth is known, with a best candidate that varies more than
the others. "study": re-tunings from a pool of 40 partitions beside those on partitions of their own. Prints the tables
of docs/maths/tune.md and appends them to benchmarks/results/tune_rules.jsonl.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import special

from holdsup.numerics.tuning import best_probabilities, bound_regret, measure_standing, pick_best, retune
from holdsup.numerics.tuning_plans import AdaptiveSchedule, advise_plans
from measuring import record

Grid = np.ndarray
FILE = Path(__file__).resolve().parent.parent.parent / "shared/data/moss_jkfold/moss_cv_grids.npz"
GRIDS = {
    "POS": "POS__POSLR_differentpartitions_1000_5_folds",
    "Reuters": "REUTERS__REUTERSSVM_differentpartitions_1000_5_folds",
    "IMDB": "IMDB__MoviesRF_differentpartitions_1000_5_folds",
    "LSTM width": "LSTM__LSTM_differentpartitions_514_5_folds",
    "LSTM regularisation": "LSTM__LSTM_differentpartitions_reg_1200_5_folds",
}
BINS = np.array([0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0 + 1e-9])
LEVEL = 0.95
POSTERIOR = 500  # draws of each posterior: its error is far below that of the tables


def flat(scores: Grid, rng: np.random.Generator) -> float:
    """Return the probability of the pick under flat priors: Student's t with the partitions' own covariance."""
    left = scores - scores.mean(0)
    drawn = rng.standard_normal((POSTERIOR, len(scores))) @ left
    scale = np.sqrt(len(scores) * rng.chisquare(len(scores) - 1, POSTERIOR))
    return share(scores.mean(0) + drawn / scale[:, None], scores)


def bootstrap(scores: Grid, rng: np.random.Generator) -> float:
    """Return how often the pick is best when partitions are drawn with replacement."""
    weights = rng.multinomial(len(scores), np.full(len(scores), 1 / len(scores)), POSTERIOR)
    return share(weights @ scores / len(scores), scores)


def ours(scores: Grid, rng: np.random.Generator) -> float:
    standing = measure_standing(scores)
    return float(best_probabilities(standing, seed=int(rng.integers(2**31)), draws=POSTERIOR)[standing.pick])


def share(means: Grid, scores: Grid) -> float:
    return float((means.argmax(1) == pick_best(scores)).mean())


RULES: dict[str, Callable[[Grid, np.random.Generator], float]] = {"holdsup": ours, "flat": flat, "bootstrap": bootstrap}


def sample(grid: Grid, j: int, rng: np.random.Generator, *, part: bool = False) -> tuple[Grid, Grid]:
    """Return the scores of J partitions, and the truth."""
    which = np.arange(grid.shape[1])
    if part:
        which = np.sort(rng.choice(which, rng.integers(2, min(12, len(which)) + 1), replace=False))
    rows = rng.choice(len(grid), j, replace=False)
    return grid[np.ix_(rows, which)], grid[:, which].mean(0)


def judge(grids: dict[str, Grid], draws: int, *, part: bool) -> list[dict[str, object]]:
    """Return stated and observed probabilities, and the coverage of the limits, for each grid and J."""
    rows, stated, right = [], {rule: [] for rule in RULES}, []
    for name, grid in grids.items():
        for j in (2, 4, 8):
            rng = np.random.default_rng([j, draws])
            hits, inside, within, sizes = [], [], [], []
            said = {rule: [] for rule in RULES}
            for _ in range(draws):
                scores, truth = sample(grid, j, rng, part=part)
                standing = measure_standing(scores)
                limits = bound_regret(standing, level=LEVEL, seed=int(rng.integers(2**31)), draws=POSTERIOR)
                best = np.flatnonzero(truth >= truth.max() - 1e-12)
                hits.append(standing.pick in best)
                inside.append(bool(limits.alike[best].any()))
                within.append(truth.max() - truth[standing.pick] <= limits.regret + 1e-12)
                sizes.append(int(limits.alike.sum()))
                for rule, probability in RULES.items():
                    said[rule].append(probability(scores, rng))
            right += hits
            for rule in RULES:
                stated[rule] += said[rule]
            rows.append({
                "grids": "parts" if part else "whole", "grid": name, "j": j, "draws": draws,
                "best": float(np.mean(hits)), **{f"stated {rule}": float(np.mean(p)) for rule, p in said.items()},
                "set holds best": float(np.mean(inside)), "set size": float(np.mean(sizes)),
                "regret within limit": float(np.mean(within)),
            })  # fmt: skip
            print(rows[-1], flush=True)
    return [*rows, *reliability(stated, np.array(right), part=part)]


def reliability(stated: dict[str, list[float]], right: Grid, *, part: bool) -> list[dict[str, object]]:
    """Return for each rule and bin of stated probability how often the pick was the best."""
    rows = []
    for rule, probabilities in stated.items():
        said = np.array(probabilities)
        place = np.digitize(said, BINS) - 1
        for b in np.unique(place):
            mine = place == b
            rows.append({
                "grids": "parts" if part else "whole", "rule": rule, "from": float(BINS[b]), "to": float(BINS[b + 1]),
                "stated": float(said[mine].mean()), "observed": float(right[mine].mean()), "number": int(mine.sum()),
            })  # fmt: skip
            print(rows[-1])
        brier = float(((said - right) ** 2).mean())
        rows.append({"grids": "parts" if part else "whole", "rule": rule, "brier": brier})
        print(rows[-1], flush=True)
    return rows


def naive(partitions: Grid) -> tuple[int, int, list[int]]:
    """Return the pick, candidate-partitions run and who is left when each look is a paired t-test at 5%."""
    running, cost = np.arange(partitions.shape[1]), 0
    for done in range(1, len(partitions) + 1):
        cost += len(running)
        scores = partitions[:done, running]
        pick = pick_best(scores)
        if done < 2:
            continue
        differences = scores - scores[:, [pick]]
        error = differences.std(0, ddof=1) / np.sqrt(done)
        staying = differences.mean(0) + special.stdtrit(done - 1, 0.95) * error >= 0
        winner, running = int(running[pick]), running[staying]
        if len(running) == 1:
            break
    return winner, cost, running.tolist()


def adaptive(partitions: Grid) -> tuple[Grid, int, list[int], float, bool]:
    """Return the scores, candidate-partitions run, who is left, the margin, and whether the margin was reached."""
    most, count = partitions.shape
    plan = AdaptiveSchedule(candidates=count, k=1, level=LEVEL, most=most)
    scores = np.empty((0, count))
    while run := plan.next(scores):
        row = np.full(count, np.nan)
        row[run] = partitions[len(scores), run]
        scores = np.vstack([scores, row])
    review = plan.review(scores)
    left = [c for c in range(count) if c not in review.dropped]
    return scores, review.fits, left, review.margin or 0.0, review.stop == "within margin"


def race(grids: dict[str, Grid], draws: int, most: int = 8) -> list[dict[str, object]]:
    """Return fits, regret and who is dropped for fixed J, adaptive J and naive elimination."""
    rows = []
    for name, grid in grids.items():
        truth = grid.mean(0)
        best = truth.argmax()
        rng = np.random.default_rng(draws)
        found = {"fixed": [], "adaptive": [], "naive": []}
        for _ in range(draws):
            partitions = grid[rng.choice(len(grid), most, replace=False)]
            scores, cost, left, margin, reached = adaptive(partitions)
            found["adaptive"].append((truth[best] - truth[pick_best(scores)], cost, best in left, margin, reached))
            pick, cost, left = naive(partitions)
            found["naive"].append((truth[best] - truth[pick], cost, best in left, margin, len(left) == 1))
            pick = pick_best(partitions)
            found["fixed"].append((truth[best] - truth[pick], partitions.size, True, margin, False))
        for rule, table in found.items():
            regret, cost, kept, margin, reached = np.array(table, dtype=float).T
            fits = cost / (most * grid.shape[1])
            rows.append({
                "grid": name, "rule": rule, "draws": draws, "fits": float(fits.mean()),
                "fits se": float(fits.std(ddof=1) / np.sqrt(draws)), "regret": float(regret.mean()),
                "regret se": float(regret.std(ddof=1) / np.sqrt(draws)), "margin": float(margin.mean()),
                "beyond margin": float((regret > margin).mean()), "best dropped": float(1 - kept.mean()),
                "stopped": float(reached.mean()),
                "beyond margin when stopped": float((regret > margin)[reached > 0].mean()) if reached.any() else None,
            })  # fmt: skip
            print(rows[-1], flush=True)
    return rows


def advise(grids: dict[str, Grid], more_folds: dict[str, Grid], draws: int) -> list[dict[str, object]]:
    """Return how often 8 partitions of 5 folds are advised over 4 of 10, from the first J partitions of each."""
    rows = []
    for name, ten in more_folds.items():
        five = grids[name]
        for j in (2, 3, 4, 8):
            rng = np.random.default_rng([j, draws])
            samples = [{5: sample(five, j, rng)[0], 10: sample(ten, j, rng)[0]} for _ in range(draws)]
            found = [advise_plans(each, 40 * five.shape[1])[0].k for each in samples]
            rows.append({"grid": name, "first": j, "draws": draws, "five folds advised": found.count(5) / draws})
            print(rows[-1], flush=True)
    return rows


def noise(draws: int) -> list[dict[str, object]]:
    """Return how often the regret is within its limit where the best of ten candidates varies more than the others.

    It leads by a half or a quarter of its standard deviation. With adaptive J, a candidate that was dropped may be
    better by the margin, as verdicts state it.
    """
    rows = []
    for ratio, lead, j in itertools.product((1, 3, 10), (0.5, 0.25), (2, 3, 4, 8)):
        sds, truth = np.r_[np.ones(9), ratio], np.r_[np.zeros(9), lead * ratio]
        rng = np.random.default_rng([ratio, j])
        fixed, raced, cost = [], [], []
        for _ in range(draws):
            partitions = truth + sds * rng.standard_normal((j, 10))
            fixed.append(truth.max() - truth[pick_best(partitions)] <= limit(partitions))
            scores, fits, left, margin, reached = adaptive(partitions)
            stated = margin if reached else limit(scores)
            raced.append(truth.max() - truth[pick_best(scores)] <= (stated if len(left) == 10 else max(stated, margin)))
            cost.append(fits / partitions.size)
        rows.append({
            "noise ratio": ratio, "lead": lead, "j": j, "draws": draws, "fixed within limit": float(np.mean(fixed)),
            "adaptive within limit": float(np.mean(raced)), "fits": float(np.mean(cost)),
        })  # fmt: skip
        print(rows[-1], flush=True)
    return rows


def study(grids: dict[str, Grid], draws: int, pool: int = 40, pools: int = 100) -> list[dict[str, object]]:
    """Return what a study of J-fold re-tunings from a pool finds, over what tuning on new partitions does."""
    rows = []
    for name, grid in grids.items():
        truth = grid.mean(0)
        for j in (1, 4, 8):
            rng = np.random.default_rng([j, draws])
            new = retune(grid, j, repeats=max(draws, 4000), seed=j)
            real = np.array([(truth.max() - truth[new.picks]).mean(), new.sd_estimate, new.shares(len(truth)).max()])
            found = []
            for number in range(pools):
                own = grid[rng.choice(len(grid), pool, replace=False)]
                again = retune(own, j, repeats=draws, seed=number)
                means = own.mean(0)
                shares = again.shares(len(truth))
                found.append([(means.max() - means[again.picks]).mean(), again.sd_estimate, shares.max()])
            ratios = np.mean(found, axis=0) / real
            rows.append({
                "grid": name, "j": j, "pool": pool, "pools": pools, "true regret": real[0], "regret": ratios[0],
                "regret between pools": float(np.std([row[0] for row in found]) / real[0]), "sd": ratios[1],
                "share": ratios[2],
            })  # fmt: skip
            print(rows[-1], flush=True)
    return rows


def limit(scores: Grid) -> float:
    return bound_regret(measure_standing(scores), level=LEVEL, seed=0, draws=POSTERIOR).regret


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--grids", type=Path, default=FILE)
    parser.add_argument("--only", choices=["race", "judge", "advise", "noise", "study"])
    options = parser.parse_args()
    if options.only == "noise":
        record("tune_rules", noise(options.draws))
        return
    with np.load(options.grids, allow_pickle=False) as file:
        grids = {name: file[key] for name, key in GRIDS.items()}
        more_folds = {name: file[GRIDS[name].replace("_5_folds", "_10_folds")] for name in ("POS", "Reuters", "IMDB")}
    rows: list[dict[str, object]] = []
    if options.only in (None, "race"):
        rows += race(grids, options.draws)
    if options.only in (None, "judge"):
        rows += judge(grids, options.draws, part=False)
        rows += judge(grids, options.draws, part=True)
    if options.only in (None, "advise"):
        rows += advise(grids, more_folds, options.draws)
    if options.only in (None, "study"):
        rows += study(grids, options.draws)
    record("tune_rules", rows)


if __name__ == "__main__":
    main()
