"""Skewed scores, collapsed and lopsided runs: what the tests of `compare` do there, and how often the answer says so.

python benchmarks/skewness.py [tables]   tables a row: 20,000 by default (two minutes of CPU)
"""

from __future__ import annotations

import sys

import numpy as np
from scipy import special

from holdsup.numerics import families
from holdsup.numerics.decisions import decide_all
from holdsup.numerics.differences import choose_tests
from holdsup.numerics.outliers import is_skewed, l_skewness, outlying_run
from holdsup.numerics.spread import find_clusters, measure_arm, measure_spread
from holdsup.verdict.comparison.trust import BY_RUNS, WEAK
from together import measure_pairs

TABLES = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
ITEMS, DRAWS, CHUNK = (15, 30, 100, 500), 399, 250
RNG = np.random.default_rng(1)
LIKERT, TOP = (0.1, 0.2, 0.3, 0.25, 0.15), (0.02, 0.03, 0.05, 0.2, 0.7)
# Item differences whose mean is zero: those of a skewed system and a steady one first, then ordinary ones.
SKEWED = {
    "lognormal 2": lambda s: RNG.lognormal(0, 2, s) - np.exp(2),
    "lognormal 1.5": lambda s: RNG.lognormal(0, 1.5, s) - np.exp(1.125),
    "lognormal 1.25": lambda s: RNG.lognormal(0, 1.25, s) - np.exp(1.25**2 / 2),
    "lognormal 1": lambda s: RNG.lognormal(0, 1, s) - np.exp(0.5),
    "Pareto 2.5": lambda s: RNG.pareto(2.5, s) - 1 / 1.5,
    "Pareto 3.5": lambda s: RNG.pareto(3.5, s) - 1 / 2.5,
    "gamma 0.1": lambda s: RNG.gamma(0.1, 1, s) - 0.1,
    "gamma 0.35": lambda s: RNG.gamma(0.35, 1, s) - 0.35,
    "gamma 0.2": lambda s: RNG.gamma(0.2, 1, s) - 0.2,
    "chi-square 1": lambda s: RNG.chisquare(1, s) - 1,
    "exponential": lambda s: RNG.exponential(1, s) - 1,
}
ORDINARY = {
    "normal": RNG.standard_normal,
    "beta 8 2": lambda s: RNG.beta(8, 2, s) - RNG.beta(8, 2, s),
    "beta .5 .5": lambda s: RNG.beta(0.5, 0.5, s) - RNG.beta(0.5, 0.5, s),
    "Likert 1 to 5": lambda s: RNG.choice(5, s, p=LIKERT) - RNG.choice(5, s, p=LIKERT) + 0.0,
    "Likert, 70% fives": lambda s: RNG.choice(5, s, p=TOP) - RNG.choice(5, s, p=TOP) + 0.0,
    "t on 3 df": lambda s: RNG.standard_t(3, s),
    "lognormal 1.5, both": lambda s: RNG.lognormal(0, 1.5, s) - RNG.lognormal(0, 1.5, s),
}


def test_means(x: np.ndarray) -> dict[str, np.ndarray]:
    """Return p of a mean of zero by each method, for each row."""
    n, mean, sd = x.shape[1], x.mean(1), x.std(1, ddof=1)
    sd = np.where(sd > 0, sd, 1.0)
    w, skew = mean / sd, ((x - mean[:, None]) ** 3).mean(1) / sd**3
    modified = w + skew * w**2 / 3 + skew / (6 * n)  # Johnson (1978): not monotone in the mean, so it has no interval
    cubic = modified + skew**2 * w**3 / 27  # Hall (1992)
    found = {name: 2 * special.stdtr(n - 1, -np.sqrt(n) * np.abs(t))
             for name, t in (("t", w), ("Johnson", modified), ("Hall", cubic))}  # fmt: skip
    return found | {"bootstrap-t": bootstrap(x - mean[:, None], np.sqrt(n) * w)}


def bootstrap(centred: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return the equal-tailed p of the bootstrap-t over items."""
    n = centred.shape[1]
    weights = RNG.multinomial(n, np.full(n, 1 / n), DRAWS).T / n
    p = []
    for at in range(0, len(t), CHUNK):
        y, own = centred[at : at + CHUNK], t[at : at + CHUNK, None]
        means = y @ weights
        drawn = means * np.sqrt((n - 1) / np.maximum(y**2 @ weights - means**2, 1e-300))
        tails = [((drawn <= own).sum(1) + 1) / (DRAWS + 1), ((drawn >= own).sum(1) + 1) / (DRAWS + 1)]
        p.append(np.minimum(1, 2 * np.minimum(*tails)))
    return np.concatenate(p)


def show_skewed() -> None:
    print(f"{'differences':<20} items  L-skewness     t  Johnson  Hall  bootstrap-t  cautioned  of false positives")
    for name, draw in SKEWED.items():
        for n in ITEMS:
            x = draw((TABLES, n))
            p, said = test_means(x), is_skewed(x)
            rates = [100 * (each <= 0.05).mean() for each in p.values()]
            print(f"{name:<20}{n:>6}{np.median(l_skewness(x)):>12.2f}{rates[0]:>6.1f}{rates[1]:>9.1f}{rates[2]:>6.1f}"
                  f"{rates[3]:>13.1f}{100 * said.mean():>11.1f}{100 * said[p['t'] <= 0.05].mean():>20.1f}")  # fmt: skip


def show_ordinary() -> None:
    print(f"\n{'differences':<20} items     t  cautioned")
    for name, draw in ORDINARY.items():
        for n in (10, *ITEMS):
            x = draw((TABLES, n))
            sd = x.std(1, ddof=1)
            p = 2 * special.stdtr(n - 1, -np.sqrt(n) * np.abs(x.mean(1)) / np.where(sd > 0, sd, 1.0))
            print(f"{name:<20}{n:>6}{100 * (p <= 0.05).mean():>6.1f}{100 * is_skewed(x).mean():>11.1f}")


def show_collapses(size: float, chance: float, items: int = 100) -> None:
    """Print the coverage of intervals for new runs where runs of one system collapse by chance."""
    print(f"\none run in {1 / chance:.0f} collapses by {size}" if chance else "\nno run collapses")
    print("runs  coverage  one collapsed  none did  cautioned  of tables with one that did")
    none = find_clusters(None, items)
    for runs in (3, 4, 5, 10):
        shape = (TABLES // 4, items, runs)
        item = RNG.normal(0, 0.096, shape[:2])[..., None]
        scores = [item + RNG.normal(0, 0.03, (*shape[:2], 1)) + RNG.normal(0, 0.011, (shape[0], 1, runs))
                  + RNG.normal(0, 0.068, shape) for _ in range(2)]  # fmt: skip
        fallen = RNG.random((shape[0], runs)) < chance
        scores[0] -= size * fallen[:, None]
        arms = [measure_arm(each, None, none) for each in scores]
        spread = measure_spread(arms, arms[0].items - arms[1].items, none)
        found = decide_all(spread.estimate, choose_tests([spread], new_runs=True), 1.0, 0.95)
        covers, some = (found.low <= -size * chance) & (-size * chance <= found.high), fallen.any(1)
        said = np.array([[outlying_run(table, systems=2) is not None for table in each] for each in scores]).any(0)
        rates = [100 * each.mean() if len(each) else np.nan
                 for each in (covers, covers[some], covers[~some], said, said[fallen.sum(1) == 1])]  # fmt: skip
        print(f"{runs:>4}{rates[0]:>10.1f}{rates[1]:>15.1f}{rates[2]:>10.1f}{rates[3]:>11.1f}{rates[4]:>28.1f}")


def draw_runs(runs: tuple[int, ...], sds: tuple[float, ...], lopsided: bool, tables: int) -> list[np.ndarray]:
    """Return scores of systems without a difference, on 100 items; run effects normal or exponential."""
    shapes = [(tables, 100, count) for count in runs]
    effects = [RNG.exponential(1, s) - 1 if lopsided else RNG.normal(0, 1, s) for s in ((tables, 1, k) for k in runs)]
    return [RNG.normal(0, 0.03, (tables, 100, 1)) + RNG.normal(0, 0.068, shape) + sd * own
            for shape, sd, own in zip(shapes, sds, effects, strict=True)]  # fmt: skip


def say_evidence(scores: list[np.ndarray], effect: float = 0.0) -> list[float]:
    """Return how often two systems are told apart, in percent, and with which caution; one with one run is certain."""
    count, none = scores[0].shape[2], find_clusters(None, 100)
    certain = scores[1].shape[2] == 1
    arms = [measure_arm(each, None, none) for each in ([scores[0] - scores[1]] if certain else scores)]
    spread = measure_spread(arms, arms[0].items - sum(arm.items for arm in arms[1:]), none)
    found = decide_all(spread.estimate + effect, choose_tests([spread], new_runs=True), 1.0, 0.95)
    share = sum(arm.run_variance for arm in arms) / count / found.se_limits**2
    told = found.p <= 0.05
    weak = told & (found.p >= WEAK * 0.05)
    lopsided = weak & (share > BY_RUNS)
    return [100 * each.mean() for each in (told, lopsided, told & ~lopsided, weak & ~lopsided)]


def show_lopsided() -> None:
    print("\nexponential run effects, of the first system times as large as the others' (.011)")
    print("runs  times  told apart  cautioned: lopsided  told without")
    tables = TABLES // 4
    for runs in (3, 5, 10, 20):
        for times in (1, 3, 6, 20, np.inf):
            design = ((runs, 1), (0.066, 0.0)) if times == np.inf else ((runs,) * 2, (0.011 * times, 0.011))
            told, lopsided, without, _ = say_evidence(draw_runs(*design, True, tables))
            print(f"{runs:>4}{times:>7}{told:>12.1f}{lopsided:>21.1f}{without:>14.1f}")
    print("\nany pair of several systems, the first 6 times as loud\nsystems  runs  told apart  with p below .01")
    families.DRAWS = 2_000
    for systems, runs in ((3, 3), (3, 5), (5, 3), (5, 5)):
        pairs = measure_pairs(
            draw_runs((runs,) * systems, (0.066, *[0.011] * (systems - 1)), True, tables // 4), None, two_valued=False
        )
        rates = [100 * pairs.reject(np.zeros(len(pairs.left)), alpha).any(-1).mean() for alpha in (0.05, WEAK * 0.05)]
        print(f"{systems:>7}{runs:>6}{rates[0]:>12.1f}{rates[1]:>19.1f}")
    print("\nnormal run effects, equal\nruns   sd  difference  told apart  cautioned: lopsided  weak evidence")
    for runs in (3, 5, 10):
        for sd in (0.0, 0.011, 0.05):
            scores = draw_runs((runs,) * 2, (sd,) * 2, False, tables)
            for effect in (0.0, 0.03):
                told, lopsided, _, weak = say_evidence(scores, effect)
                print(f"{runs:>4}{sd:>6}{effect:>10}{told:>12.1f}{lopsided:>21.1f}{weak:>15.1f}")


if __name__ == "__main__":
    show_skewed()
    show_ordinary()
    for size, chance in ((0.3, 0.1), (0.1, 0.1), (0.0, 0.0)):
        show_collapses(size, chance)
    show_lopsided()
