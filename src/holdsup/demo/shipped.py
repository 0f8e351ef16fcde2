"""Three questions on real data: published measurements, and the wines that come with scikit-learn."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from holdsup.data import belz2022, belz2022_table
from holdsup.demo.tales import Tale
from holdsup.studies import run_contest
from holdsup.studies.tuning import JKSearchCV
from holdsup.verdict import assess_reproduction

__all__ = ["tell_contest", "tell_qra", "tell_tune"]

# What is called true of the wines: BlockedCV(m=3, repeats=300, seed=999) and JKSearchCV(j=200, seed=1000) say so.
SPLITS = 100
GRID = {"svc__C": [0.3, 1, 3, 10, 30], "svc__gamma": [0.003, 0.01, 0.03, 0.1]}
PARTITIONS, FOLDS = 8, 5


def tell_qra(seed: int) -> Tale:
    """Tell of two results: one that looks badly reproduced and is not, and one the other way round."""
    printed = {(row.object, row.measurand): row for row in belz2022_table()}
    bleu, f1 = printed["NTS-w2v_def", "BLEU"], printed["mult-dom+", "wF1"]
    return Tale(
        data="116 measurements of 18 published results, made by the authors and by others (Belz et al. 2022).",
        seeming=f"In points, the BLEU of NTS-w2v_def was hard to reproduce: {bleu.n} measurements with a standard "
        f"deviation of {bleu.sd:.1f}. The F1 of mult-dom+ was not: {f1.n} measurements, {f1.sd:.2f}.",
        truth="It is the other way round: BLEU is near 90 and F1 below 1, and points do not compare. In percent of the "
        f"mean, which is CV*, the paper prints {bleu.cv:.3f} for the BLEU of NTS-w2v_def and {f1.cv:.3f} for the "
        "weighted F1 of mult-dom+.",
        result=assess_reproduction(belz2022(), seed=seed),
        lesson="Whether a result was reproduced is no matter of yes or no, nor of points: how far measurements lie "
        "apart must be seen against how large they are, how many there are, and what was done otherwise.",
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
        data="Two classifiers of scikit-learn learn to tell the three kinds of its 178 wines apart.",
        seeming=f"One split into 80% training and 20% test data is drawn by lot, and so is what it says: of {SPLITS} "
        f"such splits {ahead} put discriminant ahead, {behind} svm, by up to {100 * np.abs(gaps).max():.1f} points; "
        f"{SPLITS - ahead - behind} are ties.",
        truth="They are as good as each other. That is what many more partitions say: of 300, svm is ahead on 53% and "
        "discriminant on 47%, on average by less than 0.001.",
        result=run_contest(systems, (inputs, targets), "accuracy", seed=seed),
        lesson="Of systems this close, one split of the data draws the winner by lot. Split again and again, train "
        "both on the same splits, and count how often the same one wins.",
    )


def tell_tune(seed: int) -> Tale:
    """Tell of settings that are best on one partition and not on the next."""
    from sklearn.datasets import load_wine

    search = JKSearchCV(_machine(), GRID, scoring="accuracy", j=PARTITIONS, k=FOLDS, seed=seed)
    found = search.fit(*load_wine(return_X_y=True)).tuning_
    scores = np.array([candidate.scores for candidate in found.candidates])
    picked = Counter(found.candidates[place].name for place in scores.argmax(axis=0))  # of equals the first
    return Tale(
        data="A support vector machine on the same wines, with 20 settings to choose from.",
        seeming=f"One partition into {FOLDS} folds, as GridSearchCV has it, names one winner. The {PARTITIONS} "
        f"partitions tried here name {len(picked)}: {_tally(picked)}.",
        truth="C=0.3, gamma=0.03 and C=1, gamma=0.03 are the best (mean accuracy .9873 and .9871): that is what 200 "
        "partitions say. A single partition finds the first of them 39% of the time.",
        result=found,
        lesson="The winner of a search may owe it to the partition, and then what is built on it cannot be had again. "
        "Average over several partitions, and say which other settings are as good.",
    )


def _gaps(systems: dict[str, Any], inputs: np.ndarray, targets: np.ndarray, seed: int) -> np.ndarray:
    """Return the accuracy of the first system minus that of the second on splits of 80 to 20."""
    from sklearn.model_selection import ShuffleSplit

    gaps = []
    for train, test in ShuffleSplit(SPLITS, test_size=0.2, random_state=seed).split(inputs):
        first, second = (
            system.fit(inputs[train], targets[train]).score(inputs[test], targets[test]) for system in systems.values()
        )
        gaps.append(first - second)
    return np.array(gaps)


def _tally(picked: Counter[str]) -> str:
    return "; ".join(f"{name} ({count} times)" if count > 1 else name for name, count in picked.most_common())


def _machine() -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return make_pipeline(StandardScaler(), SVC())
