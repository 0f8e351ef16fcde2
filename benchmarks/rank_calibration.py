"""How often does `rank` find a difference, a leader or a variance where there is none?

    python benchmarks/rank_calibration.py [--cells base,missing] [--simulations 2000] [--seed 1] [--jobs 2]
        [--parts contrasts,uneven,leaders,terms]

Simulated tables with the truth known (`rank_cells.py`). Contrasts: pair by pair from the differences between datasets,
pooled over all systems by Satterthwaite's t, and the larger p of both. Uneven: the rule of the library beside those of
`rank_rules.py` where settings or losses are spread unevenly, so that scores are adjusted before they are compared.
Leaders: what share of draws the first of equal
systems gets, systems fixed and systems random. Terms: a variance that is zero, tested by the simulated null, by
ranova's chi-square and by the equal mixture of chi-squares.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from calibration import wilson
from holdsup import read_scores
from holdsup.fit import refit
from holdsup.fit.likelihood import reduce_terms
from holdsup.numerics.distributions import adjust_holm
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from holdsup.verdict.ranking.contrasts import contrast_systems
from holdsup.verdict.ranking.fits import RankFits, fit_form
from holdsup.verdict.ranking.forms import make_default
from holdsup.verdict.ranking.means import rank_means
from holdsup.verdict.ranking.table import lay_out_runs
from holdsup.verdict.ranking.terms import simulate_term
from measuring import record
from rank_cells import CELLS, LEADER_CELLS, TERM_CELLS, UNEVEN_CELLS, Cell, Sample, simulate
from rank_rules import LEAST_DATASETS, OLD_RULES, try_old_rules

ALPHA = 0.05
MOST = 0.06  # what a rule may reject at most
RULES = ("by dataset", "pooled", "larger p")
WIDTH = 200
Row = dict[str, object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="", help="parts of the names of cells, comma-separated; all if empty")
    parser.add_argument("--parts", default="contrasts,uneven,leaders,terms")
    parser.add_argument("--simulations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows: list[Row] = []
    with ProcessPoolExecutor(options.jobs) as pool:
        for part in options.parts.split(","):
            cells, measure, tabulate = PARTS[part]
            wanted = [cell for cell in cells if any(word in cell.name for word in options.cells.split(","))]
            found = list(pool.map(measure, wanted, itertools.repeat(options)))
            print(render_text(tabulate(found), width=WIDTH), flush=True)
            rows.extend({"part": part, **row} for row in found)
    record("rank_calibration", [{"seed": options.seed, **row} for row in rows])


def measure_contrasts(cell: Cell, options: argparse.Namespace) -> Row:
    """Return, of each rule, false positives over all pairs and at the worst one, any after Holm, and power."""
    row: Row = {"cell": cell.name, "simulations": options.simulations}
    names = [f"s{i}" for i in range(cell.systems)]
    pairs = list(itertools.combinations(names, 2))
    for state, gap, count in (("null", 0.0, options.simulations), ("effect", cell.effect, options.simulations // 4)):
        p = {rule: np.empty((count, len(pairs))) for rule in RULES}
        for i, fits in enumerate(fit_all(cell, generator(options, cell, state), count, gap)):
            found = {frozenset((c.left, c.right)): c for c in contrast_systems(fits, level=0.95, lower_is_better=False)}
            for k, pair in enumerate(pairs):
                both = found[frozenset(pair)].p, found[frozenset(pair)].pooled_p
                for rule, value in zip(RULES, (*both, max(both)), strict=True):
                    p[rule][i, k] = value
        for rule in RULES:
            single = (p[rule] < ALPHA).mean(axis=0)
            adjusted = np.array([adjust_holm(each) for each in np.log10(p[rule])]) < np.log10(ALPHA)
            if state == "null":
                low, high = wilson(single.mean() * count, count)  # pairs of one table are not independent
                row |= {f"{rule}: rate": float(single.mean()), f"{rule}: low": low, f"{rule}: high": high}
                row |= {f"{rule}: worst": float(single.max()), f"{rule}: any": float(adjusted.any(axis=1).mean())}
            else:
                row[f"{rule}: power"] = float(single[: cell.systems - 1].mean())
    return row


def measure_uneven(cell: Cell, options: argparse.Namespace) -> Row:
    """Return false positives of pairs with datasets enough and of pairs apart, any after Holm, and coverage."""
    pairs = list(itertools.combinations([f"s{i}" for i in range(cell.systems)], 2))
    count = options.simulations // cell.designs * cell.designs
    p, old = np.empty((count, len(pairs))), np.empty((count, len(OLD_RULES), len(pairs)))
    apart, held = np.empty((count, len(pairs)), bool), np.empty((count, len(pairs)), bool)
    for i, fits in enumerate(fit_all(cell, generator(options, cell, "null"), count, 0.0)):
        found = {frozenset((c.left, c.right)): c for c in contrast_systems(fits, level=0.95, lower_is_better=False)}
        contrasts = [found[frozenset(pair)] for pair in pairs]
        p[i], old[i] = [c.p for c in contrasts], try_old_rules(fits)
        apart[i] = [c.datasets < LEAST_DATASETS for c in contrasts]
        held[i] = [c.low <= 0 <= c.high for c in contrasts]
    row: Row = {"cell": cell.name, "simulations": count, "apart": float(apart.mean())}
    for rule, values in (("by dataset", p), *zip(OLD_RULES, old.transpose(1, 0, 2), strict=True)):
        found_any = np.array([adjust_holm(each) for each in np.log10(values)]).min(axis=1) < np.log10(ALPHA)
        row |= rate(f"{rule}: rate", values < ALPHA, ~apart) | rate(f"{rule}: apart", values < ALPHA, apart)
        row |= rate(f"{rule}: any", found_any[:, None], np.ones((count, 1), bool))
        row[f"{rule}: worst"] = float((values < ALPHA).mean(axis=0).max())
    return row | rate("coverage", held, np.ones_like(held))


def rate(name: str, hits: npt.NDArray[np.bool_], asked: npt.NDArray[np.bool_]) -> Row:
    """Return a rate with Monte Carlo limits, by tables that have what is asked: pairs of one are not independent."""
    tables = int(asked.any(axis=1).sum())
    if not tables:
        return {name: None}
    value = float(hits[asked].mean())
    low, high = wilson(value * tables, tables)
    return {name: value, f"{name}, low": low, f"{name}, high": high}


def measure_leaders(cell: Cell, options: argparse.Namespace) -> Row:
    """Return the share of draws of the leader of equal systems, fixed and random, and how often it is above .95."""
    count = options.simulations // 4
    shares = np.empty((count, 2))
    for i, fits in enumerate(fit_all(cell, generator(options, cell, "leader"), count, 0.0, variances=True)):
        contrasts = contrast_systems(fits, level=0.95, lower_is_better=False)
        leader = rank_means(fits, contrasts, level=0.95, seed=i, lower_is_better=False)[0]
        shares[i] = leader.p_best, leader.p_best_shrunken
    row: Row = {"cell": cell.name, "simulations": count}
    for name, share in zip(("fixed", "random"), shares.T, strict=True):
        row |= {f"{name}: mean": float(share.mean()), f"{name}: above .95": float((share > 0.95).mean())}
    return row


def measure_terms(cell: Cell, options: argparse.Namespace) -> Row:
    """Return how often the variance that is zero is found, by each null."""
    count = options.simulations // 4
    p = np.empty((count, 3))
    for i, fits in enumerate(fit_all(cell, generator(options, cell, "term"), count, 0.0, variances=True)):
        found = next(reduction for reduction in reduce_terms(fits.variances) if reduction.test.group == cell.zero)
        test = found.test.test
        drawn = simulate_term(fits.variances, found, seed=i)
        p[i] = (1 + np.sum(drawn >= test.statistic)) / (1 + len(drawn)), test.p_chi2, test.p
    rates = dict(zip(("simulated", "ranova", "mixture"), (p < ALPHA).mean(axis=0).tolist(), strict=True))
    return {"cell": cell.name, "term": cell.zero, "simulations": count, **rates}


def generator(options: argparse.Namespace, cell: Cell, state: str) -> np.random.Generator:
    """Return a stream of random numbers of its own for each cell and state."""
    return np.random.default_rng([options.seed, *cell.name.encode(), *state.encode()])


def fit_all(
    cell: Cell, rng: np.random.Generator, count: int, gap: float, *, variances: bool = False
) -> Iterator[RankFits]:
    """Yield the fits of `count` simulated tables; the fit with random systems is theirs only where it is asked for."""
    for _ in range(cell.designs):
        sample = simulate(cell, rng, count // cell.designs, gap)
        first = fit_first(sample)
        for score in sample.scores:
            fits = replace(first, runs=replace(first.runs, score=score), means=refit(first.means, score))
            yield replace(fits, variances=refit(first.variances, score)) if variances else fits


def fit_first(sample: Sample) -> RankFits:
    """Return the fits of the first table, as `rank_systems` makes them."""
    scores = read_scores(sample.table.append_column("score", [sample.scores[0]]))
    runs = lay_out_runs(scores, ["seed", "rate"], (), nested_runs=True)
    assert np.array_equal(runs.score, sample.scores[0])  # rows in the same order: other responses can be put in
    return fit_form(make_default(runs, treat={}), runs, level=0.95)


def percent(value: object) -> str:
    return f"{100 * float(str(value)):.1f}"


def show_contrasts(rows: list[Row]) -> Table:
    """Return rates by cell and rule; a star where false positives are above 6%."""
    shown = {"rate": "false positives", "worst": "worst pair", "any": "any, Holm", "power": "power"}
    places = [(key, rule) for key in shown for rule in (RULES if key in ("rate", "power") else RULES[:2])]
    body = []
    for row in rows:
        values = [float(str(row[f"{rule}: {key}"])) for key, rule in places]
        stars = ["*" if key == "rate" and value > MOST else "" for (key, _), value in zip(places, values, strict=True)]
        body.append((str(row["cell"]), *(percent(v) + star for v, star in zip(values, stars, strict=True))))
    columns = ("cell", *(f"{shown[key]}: {rule}" if rule == RULES[0] else rule for key, rule in places))
    notes = ("False positives: mean over pairs. Worst pair: the highest of them, which chance raises.",)
    return Table(title="Contrasts, % at 5%", columns=columns, rows=tuple(body), notes=notes)


def show_uneven(rows: list[Row]) -> Table:
    """Return rates by cell; a star where the lower limit of the library's false positives is above 6%."""
    columns = {
        "by dataset: rate": "false positives", "by dataset: apart": "pairs apart", "by dataset: any": "any, Holm",
        "coverage": "coverage", **{f"{rule}: rate": rule for rule in OLD_RULES}, "pooled: apart": "pooled, apart",
        "with the sum: any": "any, with the sum",
    }  # fmt: skip
    body = tuple((str(row["cell"]), *(with_limits(row, key) for key in columns)) for row in rows)
    notes = (
        "Pairs apart: those that share fewer than three datasets, the others in the column before.",
        "In brackets 95% Monte Carlo limits. Coverage: of the limits of single pairs.",
    )
    return Table(title="Uneven tables, % at 5%", columns=("cell", *columns.values()), rows=body, notes=notes)


def with_limits(row: Row, key: str) -> str:
    """Return a rate of the library's rule with its limits, one of another rule without, "-" where there is none."""
    if row[key] is None:
        return "-"
    if not key.startswith(("by dataset", "coverage")):
        return percent(row[key])
    low, high = row[f"{key}, low"], row[f"{key}, high"]
    star = "*" if key != "coverage" and float(str(low)) > MOST else ""
    return f"{percent(row[key])} [{percent(low)}, {percent(high)}]{star}"


def show_leaders(rows: list[Row]) -> Table:
    """Return what the leader of equal systems is said to be."""
    keys = ("fixed: mean", "fixed: above .95", "random: mean", "random: above .95")
    body = tuple((str(row["cell"]), *(percent(row[key]) for key in keys)) for row in rows)
    return Table(
        title="The leader of equal systems: share of draws in which it is best, %", columns=("cell", *keys), rows=body
    )


def show_terms(rows: list[Row]) -> Table:
    """Return how often a variance of zero is found."""
    keys = ("simulated", "ranova", "mixture")
    body = tuple((str(row["cell"]), str(row["term"]), *(percent(row[key]) for key in keys)) for row in rows)
    return Table(title="A variance of zero: found at 5%, %", columns=("cell", "term", *keys), rows=body)


PARTS: dict[str, tuple[tuple[Cell, ...], Callable[..., Row], Callable[[list[Row]], Table]]] = {
    "contrasts": (CELLS, measure_contrasts, show_contrasts),
    "uneven": (UNEVEN_CELLS, measure_uneven, show_uneven),
    "leaders": (LEADER_CELLS, measure_leaders, show_leaders),
    "terms": (TERM_CELLS, measure_terms, show_terms),
}

if __name__ == "__main__":
    main()
