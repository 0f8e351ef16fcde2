"""The six questions of `holdsup demo` in the order in which they are told, their tales, and the page that holds all.

Three are about simulated evaluations, whose truth is what was simulated; three about real data: published measurements,
and the wines that come with scikit-learn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import ttest_rel

from holdsup.data import belz2022, belz2022_table, simulate_scores
from holdsup.report import Entry, write_report
from holdsup.results import Result
from holdsup.studies import run_contest
from holdsup.studies.tuning import JKSearchCV
from holdsup.verdict import assess_reproduction, compare_systems, decompose_variance
from holdsup.verdict.ranking import rank_systems

TITLE = "Six results that do not hold up"
INTRODUCTION = (
    "Train the same system with another seed, reword the prompt, split the data again: the score moves, "
    "although the system is the same. A gap between two systems means something only if it is larger than that.",
    "Here are six common mistakes, each on data whose truth is known. holdsup was not told the truth.",
)

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

# What is called true of the wines: BlockedCV(m=3, repeats=300, seed=999) and JKSearchCV(j=200, seed=1000) say so.
SPLITS = 100
GRID = {"svc__C": [0.3, 1, 3, 10, 30], "svc__gamma": [0.003, 0.01, 0.03, 0.1]}
PARTITIONS, FOLDS = 8, 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Tale:
    """Data whose truth is known, the usual reading that is wrong about it, and the answer."""

    data: str  # what was measured
    seeming: str  # what the usual reading of these data says
    truth: str  # what is true of them
    result: Result  # what holdsup says
    lesson: str  # what to do about it


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """A question, the command that answers it, and a function that tells its tale; the same seed tells the same."""

    command: str
    text: str
    tell: Callable[[int], Tale]


def write_page(tales: Mapping[Chapter, Tale], path: Path) -> None:
    """Write the tales as one HTML page."""
    entries = [
        Entry(
            result=tale.result,
            heading=question.text,
            gist=tale.lesson,
            notes=(("The data", tale.data), ("It seems", tale.seeming), ("In truth", tale.truth)),
        )
        for question, tale in tales.items()
    ]
    write_report(entries, path, title=TITLE, introduction=INTRODUCTION, tales=True)


def tell_compare(seed: int) -> Tale:
    """Tell of two systems that are equally good, and of runs that make either look better."""
    scores = simulate_scores(EQUAL, items=ITEMS, runs=RUNS, seed=seed)
    runs = scores["score"].to_numpy().reshape(2, RUNS, ITEMS)
    pairs = [ttest_rel(new, old) for old, new in product(*runs)]
    found = [np.sign(pair.statistic) for pair in pairs if pair.pvalue < SIGNIFICANT]
    return Tale(
        data=f"Two simulated systems answer the same {ITEMS:,} items, {RUNS} runs each.",
        seeming=f"{len(found)} of {len(pairs)} pairs of runs differ significantly (paired t-test): "
        f"{found.count(1.0)} say new is better, {found.count(-1.0)} say baseline is.",
        truth="Both have the same true mean, 0.700. The seed alone moves a run by 0.01.",
        result=compare_systems(scores, seed=seed),
        lesson="No number of items tells you about the next run. Train each system several times.",
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
    *most, last = (f"{value:.3f}" for value in first)
    return Tale(
        data=f"One simulated assistant, {PROBLEMS} questions, {PROMPTS} prompts, {SEEDS} seeds each.",
        seeming=f"With one prompt, {SEEDS} seeds give {', '.join(most)} and {last}: within {np.ptp(first):.3f} of each "
        f"other. Across all prompts, the mean ranges from {others.min():.3f} to {others.max():.3f}.",
        truth=f"Only {PHI:.0%} of the variance is between questions. The SD is {SD_PROMPT:.2f} between prompts, "
        f"{SD_SEED:.3f} between seeds.",
        result=decompose_variance(table, facets=["prompt", "seed"]),
        lesson="Vary what others would do differently, here the prompt, before you believe a score.",
    )


def tell_rank(seed: int) -> Tale:
    """Tell of a leaderboard that is led by a system which skipped what is hard."""
    table = _leaderboard(np.random.default_rng(seed))
    names, score = table["system"].to_numpy(zero_copy_only=False), table["score"].to_numpy()
    means = sorted(((score[names == name].mean(), name) for name in TRUE_MEANS), reverse=True)
    board = ", ".join(f"{name} {mean:.3f}" for mean, name in means)
    return Tale(
        data=f"Four simulated systems on {DATASETS} datasets, three learning rates, {REPEATS} seeds each.",
        seeming=f"Averaging all scores gives {board}.",
        truth=f"B skipped the {HARDEST} hardest datasets and the worst learning rate. On equal terms A leads by "
        f"{TRUE_MEANS['A'] - TRUE_MEANS['B']:.3f}.",
        result=rank_systems(table, seed=seed, nested_runs=True),
        lesson="Compare systems on the same datasets and settings, or adjust for what differs.",
    )


def tell_qra(seed: int) -> Tale:
    """Tell of two results: one that looks badly reproduced and is not, and one the other way round."""
    printed = {(row.object, row.measurand): row for row in belz2022_table()}
    bleu, f1 = printed["NTS-w2v_def", "BLEU"], printed["mult-dom+", "wF1"]
    return Tale(
        data="116 measurements of 18 published results, made by the authors and by others (Belz et al. 2022).",
        seeming=f"The SD is {bleu.sd:.1f} points for the BLEU of NTS-w2v_def and {f1.sd:.2f} for the F1 of mult-dom+: "
        "F1 looks far more reproducible.",
        truth=f"BLEU is near 90 and F1 below 1. Relative to the mean (CV*), the spread is {bleu.cv:.1f}% for BLEU and "
        f"{f1.cv:.1f}% for F1.",
        result=assess_reproduction(belz2022(), seed=seed),
        lesson="Compare the spread with the size of the values, not in points.",
    )


def tell_contest(seed: int) -> Tale:
    """Tell of two classifiers that a split of the corpus puts in either order."""
    from sklearn.datasets import load_wine
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    inputs, targets = load_wine(return_X_y=True)
    systems = {"discriminant": LinearDiscriminantAnalysis(), "svm": _machine()}
    gaps = _gaps(systems, inputs, targets, seed)
    ahead, behind = int((gaps > 0).sum()), int((gaps < 0).sum())
    return Tale(
        data="Two classifiers on the 178 wines of scikit-learn.",
        seeming=f"One 80/20 split has a winner, by up to {100 * np.abs(gaps).max():.1f} points. Of {SPLITS} "
        f"such splits, {ahead} favour discriminant, {behind} favour svm and {SPLITS - ahead - behind} tie.",
        truth="Over 300 partitions svm leads on 53% and discriminant on 47%, by less than 0.001.",
        result=run_contest(systems, (inputs, targets), "accuracy", seed=seed),
        lesson="Split many times, and count how often the same system wins.",
    )


def tell_tune(seed: int) -> Tale:
    """Tell of settings that are best on one partition and not on the next."""
    from sklearn.datasets import load_wine

    search = JKSearchCV(_machine(), GRID, scoring="accuracy", j=PARTITIONS, k=FOLDS, seed=seed)
    found = search.fit(*load_wine(return_X_y=True)).tuning_
    scores = np.array([candidate.scores for candidate in found.candidates])
    picked = Counter(found.candidates[place].name for place in scores.argmax(axis=0))  # of equals the first
    tally = "; ".join(f"{name} ({count} times)" if count > 1 else name for name, count in picked.most_common())
    return Tale(
        data="A support vector machine on the same wines, 20 settings to choose from.",
        seeming=f"One partition into {FOLDS} folds has one winner; {PARTITIONS} have {len(picked)}: {tally}.",
        truth="Over 200 partitions, C=0.3 and C=1 with gamma=0.03 are best. A single partition finds the first "
        "of them 39% of the time.",
        result=found,
        lesson="Average over several partitions, and say which other settings are as good.",
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


def _gaps(systems: dict[str, Any], inputs: np.ndarray, targets: np.ndarray, seed: int) -> np.ndarray:
    """Return the accuracy of the first system minus that of the second on splits of 80 to 20."""
    from sklearn.model_selection import ShuffleSplit

    accuracy = [
        [system.fit(inputs[train], targets[train]).score(inputs[test], targets[test]) for system in systems.values()]
        for train, test in ShuffleSplit(SPLITS, test_size=0.2, random_state=seed).split(inputs)
    ]
    return -np.diff(accuracy).ravel()


def _machine() -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return make_pipeline(StandardScaler(), SVC())


QUESTIONS = (
    Chapter(command="compare", text="Is the new system better, or is it the seed?", tell=tell_compare),
    Chapter(command="variance", text="Is this score reliable?", tell=tell_variance),
    Chapter(command="rank", text="Is one system best, although B skipped the hard datasets?", tell=tell_rank),
    Chapter(command="qra", text="Was F1 reproduced more closely than BLEU?", tell=tell_qra),
    Chapter(command="contest", text="Would another split name the same winner?", tell=tell_contest),
    Chapter(command="tune", text="Is the tuned setting safe from luck?", tell=tell_tune),
)
