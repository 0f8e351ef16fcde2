"""Three questions on simulated evaluations: the truth is what was simulated."""

from __future__ import annotations

from itertools import product

import numpy as np
import pyarrow as pa
from scipy.stats import ttest_rel

from holdsup.data import simulate_scores
from holdsup.demo.tales import Tale
from holdsup.verdict import compare_systems, decompose_variance
from holdsup.verdict.ranking import rank_systems

__all__ = ["tell_compare", "tell_rank", "tell_variance"]

SIGNIFICANT = 0.05

ITEMS, RUNS = 2000, 5
EQUAL = {"baseline": 0.70, "new": 0.70}

PROMPTS, SEEDS, PROBLEMS = 10, 3, 300
SD_ITEM, SD_PROMPT, SD_SEED, SD_RESIDUAL = 0.10, 0.05, 0.004, 0.06
PHI = SD_ITEM**2 / (SD_ITEM**2 + SD_PROMPT**2 + SD_SEED**2 + SD_RESIDUAL**2)

TRUE_MEANS = {"A": 0.700, "B": 0.665, "C": 0.640, "D": 0.615}
DATASETS, HARDEST, REPEATS = 12, 4, 3
RATES = {"1e-5": 0.0, "3e-5": 0.03, "1e-4": 0.06}  # what each learning rate adds, to every system alike
SD_DATASET, SD_INTERACTION, SD_RUN = 0.12, 0.01, 0.01


def tell_compare(seed: int) -> Tale:
    """Tell of two systems that are equally good, and of runs that make either look better."""
    scores = simulate_scores(EQUAL, items=ITEMS, runs=RUNS, seed=seed)
    runs = scores["score"].to_numpy().reshape(2, RUNS, ITEMS)
    pairs = [ttest_rel(new, old) for old, new in product(*runs)]
    found = [np.sign(pair.statistic) for pair in pairs if pair.pvalue < SIGNIFICANT]
    return Tale(
        data=f"Two simulated systems, baseline and new, answer the same {ITEMS:,} items. Each was trained {RUNS} "
        "times, every time with another random seed.",
        seeming="Who trains each system once has one pair of runs, and takes what it says for the answer: of the "
        f"{len(pairs)} pairs of runs, {len(found)} differ significantly (paired t-test over the items, p < .05), "
        f"{found.count(1.0)} of them in favour of new, {found.count(-1.0)} in favour of baseline.",
        truth="Neither is better: both were made with the true mean 0.700. What differs is the seed, which moves the "
        "mean of a run by 0.01 (standard deviation).",
        result=compare_systems(scores, seed=seed),
        lesson="Many items make the score of one run precise; they say nothing about the next run. A gap that another "
        "seed can make or undo is no gap between systems. Train each several times, and compare with all of the runs.",
    )


def tell_variance(seed: int) -> Tale:
    """Tell of scores that three seeds repeat closely, and another prompt does not."""
    rng = np.random.default_rng(seed)
    prompt, repeat, item = (axis.ravel() for axis in np.indices((PROMPTS, SEEDS, PROBLEMS)))
    effects = (rng.normal(0, SD_ITEM, PROBLEMS)[item], rng.normal(0, SD_PROMPT, PROMPTS)[prompt])
    score = 0.7 + sum(effects) + rng.normal(0, SD_SEED, SEEDS)[repeat] + rng.normal(0, SD_RESIDUAL, len(item))
    names = np.array([f"prompt {number:02d}" for number in range(1, PROMPTS + 1)])
    system = ["assistant"] * len(item)
    table = pa.table({"system": system, "prompt": names[prompt], "seed": repeat + 1, "item": item + 1, "score": score})
    means = score.reshape(PROMPTS, SEEDS, PROBLEMS).mean(axis=2)
    first, others = means[0], means.mean(axis=1)
    return Tale(
        data=f"One simulated assistant answers {PROBLEMS} questions, with {PROMPTS} ways to prompt it and {SEEDS} "
        "seeds for each.",
        seeming=f"With one prompt, {SEEDS} seeds give {_listed(first)}: a score that repeats to within "
        f"{np.ptp(first):.3f}, as sure as a score can be. But the mean of the {SEEDS} seeds goes from "
        f"{others.min():.3f} with one prompt to {others.max():.3f} with another.",
        truth="Only a part of what makes single scores differ is about the questions: phi, their share of the "
        f"variance, is {PHI:.2f}. The standard deviation is {SD_ITEM:.2f} between questions, {SD_PROMPT:.2f} "
        f"between prompts, {SD_SEED:.3f} between seeds, and {SD_RESIDUAL:.2f} by chance.",
        result=decompose_variance(table, facets=["prompt", "seed"]),
        lesson="To repeat what hardly matters proves nothing about what does. Vary what others would do otherwise, the "
        "prompt here, before a score is believed: another prompt may move it more than systems differ.",
    )


def tell_rank(seed: int) -> Tale:
    """Tell of a leaderboard that is led by a system which skipped what is hard."""
    table = _leaderboard(np.random.default_rng(seed))
    names, score = table["system"].to_numpy(zero_copy_only=False), table["score"].to_numpy()
    means = sorted(((score[names == name].mean(), name) for name in TRUE_MEANS), reverse=True)
    return Tale(
        data=f"Four simulated systems on {DATASETS} datasets, with three learning rates and {REPEATS} seeds each. But "
        f"B was never run on the {HARDEST} hardest datasets, nor with the learning rate that is worst for every "
        "system.",
        seeming=f"The average of all scores, which leaderboards show, says: {_board(means)}.",
        truth=f"The true order is {', '.join(TRUE_MEANS)}: A is better than B by "
        f"{TRUE_MEANS['A'] - TRUE_MEANS['B']:.3f}.",
        result=rank_systems(table, seed=seed, nested_runs=True),
        lesson="An average over whatever a system was run on rewards who leaves out what is hard. Systems have to be "
        "compared on the same datasets with the same settings, or what differs has to be taken out first.",
    )


def _leaderboard(rng: np.random.Generator) -> pa.Table:
    """Return the scores of runs; dataset 1 is the hardest."""
    of_dataset = np.sort(rng.normal(0, SD_DATASET, DATASETS))
    interaction = rng.normal(0, SD_INTERACTION, (len(TRUE_MEANS), DATASETS))
    worst = next(iter(RATES))
    rows = [
        {
            "system": system,
            "dataset": f"task {dataset + 1:02d}",
            "learning_rate": rate,
            "seed": repeat + 1,
            "score": mean + of_dataset[dataset] + interaction[place, dataset] + RATES[rate] + rng.normal(0, SD_RUN),
        }
        for place, (system, mean) in enumerate(TRUE_MEANS.items())
        for dataset, rate, repeat in product(range(DATASETS), RATES, range(REPEATS))
        if system != "B" or (dataset >= HARDEST and rate != worst)
    ]
    return pa.Table.from_pylist(rows)


def _board(means: list[tuple[float, str]]) -> str:
    return ", ".join(f"{name} {mean:.3f}" for mean, name in means)


def _listed(values: np.ndarray) -> str:
    *most, last = (f"{value:.3f}" for value in values)
    return f"{', '.join(most)} and {last}"
