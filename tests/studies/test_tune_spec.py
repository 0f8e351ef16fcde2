"""Specs of kind "tune": read, refused, run, and run again with more partitions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from holdsup import JKFold, SpecError, TuningError, read_spec
from holdsup.experiment import ProcessExecutor
from holdsup.numerics.tuning_plans import AdaptiveSchedule
from holdsup.studies.tuning import advise_tuning_spec, read_tuning_status, run_tuning_spec

NEIGHBOURS = (1, 15, 60)
SPEC = """
holdsup = 1
kind = "tune"
seed = 3
store = "tune.db"

[data.iris]
path = "iris.jsonl"
input = "sizes"
target = "kind"
group = "pair"

[metric]
name = "accuracy"

[splits]
name = "jkfold"
j = 2
k = 3

[systems.neighbours]
call = "systems:train_neighbours"

[candidates]
n_neighbors = [1, 15, 60]
"""
SYSTEMS = """
def train_neighbours(inputs, targets, *, seed, n_neighbors):
    from sklearn.neighbors import KNeighborsClassifier

    with open("trained.log", "a") as log:
        print(n_neighbors, seed, file=log)
    return KNeighborsClassifier(n_neighbors).fit(inputs, targets).predict
"""
DESIGN = """
holdsup = 1
kind = "tune"
[data.conll]
path = "train.jsonl"
input = "tokens"
target = "tags"
[metric]
name = "chunk_f1"
scheme = "iob2"
[splits]
name = "jkfold"
j = 4
k = 5
adaptive = true
[systems.svm]
estimator = "systems:make_pipeline"
[candidates]
"svc__C" = [0.1, 1, 10]
[budget]
fits = 500
"""


@pytest.fixture
def tune(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three numbers of neighbours on iris, whose items come in pairs; every training is noted in trained.log."""
    X, y = load_iris(return_X_y=True)
    rows = ({"sizes": x, "kind": int(c), "pair": i // 2} for i, (x, c) in enumerate(zip(X.tolist(), y, strict=True)))
    (tmp_path / "iris.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "systems.py").write_text(SYSTEMS)
    (tmp_path / "tune.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)  # where systems note their trainings
    return tmp_path / "tune.toml"


def edit(spec: Path, old: str, new: str) -> None:
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))


def count_trained(spec: Path) -> int:
    log = spec.with_name("trained.log")
    return len(log.read_text().splitlines()) if log.exists() else 0


def score_directly(j: int) -> np.ndarray:
    """Return what scikit-learn alone makes of the same splits, shape (partitions, candidates)."""
    X, y = load_iris(return_X_y=True)
    cv = JKFold(j=j, k=3, seed=3)
    scores = [
        cross_val_score(KNeighborsClassifier(n), X, y, cv=cv, groups=np.arange(len(y)) // 2, scoring="accuracy")
        for n in NEIGHBOURS
    ]
    return np.reshape(scores, (3, j, 3)).mean(axis=2).T


def test_the_spec_of_the_design_is_read(tmp_path: Path) -> None:
    (tmp_path / "tune.toml").write_text(DESIGN)
    spec = read_spec(tmp_path / "tune.toml")
    assert dict(spec.facets) == {"svc__C": (0.1, 1, 10)}
    assert dict(spec.splits) == {"name": "jkfold", "j": 4, "k": 5}
    assert dict(spec.tuning) == {"adaptive": True, "fits": 500}


def test_scores_are_those_of_scikit_learn_on_the_same_splits(tune: Path) -> None:
    found = run_tuning_spec(tune)
    expected = score_directly(2)
    np.testing.assert_allclose(np.array([row.scores for row in found.candidates]).T, expected, rtol=1e-12)
    assert found.pick.params == {"n_neighbors": NEIGHBOURS[expected.mean(axis=0).argmax()]}
    assert (found.partitions, found.fits, found.metric) == (2, 18, "accuracy")


def test_a_larger_j_trains_only_what_is_new(tune: Path) -> None:
    run_tuning_spec(tune)
    assert count_trained(tune) == 2 * 3 * 3
    edit(tune, "j = 2", "j = 4")
    found = run_tuning_spec(tune)
    assert count_trained(tune) == 4 * 3 * 3
    assert run_tuning_spec(tune) == found
    edit(tune, "j = 4", "j = 3")
    assert run_tuning_spec(tune).partitions == 3
    assert count_trained(tune) == 4 * 3 * 3
    np.testing.assert_allclose(np.array([row.scores for row in found.candidates]).T, score_directly(4), rtol=1e-12)


def test_another_metric_and_another_candidate_train_only_what_is_new(tune: Path) -> None:
    best = run_tuning_spec(tune).best
    edit(tune, 'name = "accuracy"', 'name = "losses:miss"\nlower_is_better = true')
    tune.with_name("losses.py").write_text(
        "def miss(known, predicted):\n    return sum(a != b for a, b in zip(known, predicted)) / len(known)\n"
    )
    found = run_tuning_spec(tune)
    assert count_trained(tune) == 18
    assert (found.best, found.higher_is_better) == (best, False)
    np.testing.assert_allclose([row.mean for row in found.candidates], 1 - score_directly(2).mean(axis=0))
    edit(tune, "[1, 15, 60]", "[1, 15, 60, 30]")
    assert len(run_tuning_spec(tune).candidates) == 4
    assert count_trained(tune) == 18 + 6


def test_adaptive_j_drops_candidates_and_stays_within_the_budget(tune: Path) -> None:
    edit(tune, "j = 2", "j = 8\nadaptive = true\nmargin = 0.005")
    tune.write_text(tune.read_text() + "\n[budget]\nfits = 50\n")
    found = run_tuning_spec(tune)
    assert found.fits == count_trained(tune) <= 50
    assert found.candidates[2].status == "dropped"  # sixty neighbours are far too many
    assert found.candidates[2].partitions < found.partitions
    expected = score_directly(found.partitions)
    for row, column in zip(found.candidates, expected.T, strict=True):
        np.testing.assert_allclose(row.scores[: row.partitions], column[: row.partitions], rtol=1e-12)
    assert run_tuning_spec(tune).to_dict() == found.to_dict()
    assert count_trained(tune) == found.fits


@pytest.mark.parametrize("more", ["", "\nadaptive = true\nmargin = 0.0"])
def test_partitions_that_are_copies_are_not_trained(tune: Path, more: str) -> None:
    data = tune.parent / "iris.jsonl"
    rows = [json.loads(line) for line in data.read_text().splitlines()]
    data.write_text("\n".join(json.dumps({**row, "pair": f"third {at % 3}"}) for at, row in enumerate(rows)))
    edit(tune, "j = 2", f"j = 5{more}")
    found = run_tuning_spec(tune)
    assert (found.partitions, found.copies, found.fits) == (1, 4, 9)  # three groups have one deal into three folds
    status = read_tuning_status(tune).statuses
    assert (status["done"], status["waiting"]) == (9, 0)
    assert any("4 of 5 partitions are copies" in warning for warning in found.warnings)


def test_the_status_of_an_adaptive_tuning_counts_what_is_known_to_be_needed(tune: Path) -> None:
    run_tuning_spec(tune)
    edit(tune, "j = 2", "j = 8\nadaptive = true\nmargin = 0.0")
    before = read_tuning_status(tune).statuses
    left = AdaptiveSchedule(candidates=3, k=3, margin=0.0, most=8).next(score_directly(2))
    assert (before["done"], before["waiting"]) == (18, 3 * len(left))  # the third partition alone
    found = run_tuning_spec(tune)
    after = read_tuning_status(tune)
    assert (after.statuses["done"], after.statuses["waiting"]) == (found.fits, 0)


def test_a_candidate_that_fails_on_one_fold_is_recorded_and_not_ranked(tune: Path) -> None:
    systems = tune.with_name("systems.py")
    look = "    if (n_neighbors, seed) == (1, 7):\n        open('light').close()\n"
    systems.write_text(SYSTEMS.replace("    with open", f"{look}    with open"))
    found = run_tuning_spec(tune)
    assert [(f.candidate, f.partition, f.fold) for f in found.failures] == [(0, 1, 1)]
    assert "FileNotFoundError" in found.failures[0].error
    assert found.candidates[0].status == "failed"
    assert np.isnan(found.candidates[0].mean)
    assert found.pick.params == {"n_neighbors": 15}
    (failed,) = [each for each in found.cautions if each.code == "failed-candidate"]
    assert failed.message.startswith("n_neighbors=1 failed 1 of 6 fits and is not judged")
    assert run_tuning_spec(tune).failures == found.failures
    assert count_trained(tune) == 17
    Path("light").touch()
    again = run_tuning_spec(tune, retry_failed=True)
    assert (again.failures, count_trained(tune)) == ((), 18)
    np.testing.assert_allclose(np.array([row.scores for row in again.candidates]).T, score_directly(2), rtol=1e-12)


def test_what_makes_all_candidates_fail_is_told_after_one_partition(tune: Path) -> None:
    systems = tune.with_name("systems.py")
    systems.write_text(SYSTEMS.replace("    return", "    raise OSError('no disk')\n    return"))
    with pytest.raises(
        TuningError, match=r"^tune.toml: all 3 candidates failed; n_neighbors=1 on fold 1 of partition 1: "
    ):
        run_tuning_spec(tune)
    assert count_trained(tune) == 9


def test_candidates_that_score_alike_and_a_grid_of_one_are_said_to_be_such(tune: Path) -> None:
    edit(tune, "n_neighbors = [1, 15, 60]", "n_neighbors = [1]\nother = [1, 2]")
    systems = tune.with_name("systems.py")
    systems.write_text(SYSTEMS.replace("n_neighbors):", "n_neighbors, other=0):"))
    assert "All 2 candidates have the same accuracy" in run_tuning_spec(tune).verdict
    edit(tune, "other = [1, 2]", "other = [1]")
    assert "is the only candidate, so nothing was tuned" in run_tuning_spec(tune).verdict


def test_advice_trains_two_partitions_of_each_k_and_the_tuning_goes_on_from_there(tune: Path) -> None:
    tune.write_text(tune.read_text() + "\n[budget]\nfits = 100\n")
    advice = advise_tuning_spec(tune)
    assert {plan.k for plan in advice.plans} == {3, 5}  # ten folds would take 60 fits more, beyond the budget
    assert all(plan.fits <= 100 for plan in advice.plans)
    assert count_trained(tune) == 2 * 3 * (3 + 5)
    run_tuning_spec(tune)
    assert count_trained(tune) == 2 * 3 * (3 + 5)


def test_advice_that_the_budget_does_not_pay_for_is_refused(tune: Path) -> None:
    tune.write_text(tune.read_text() + "\n[budget]\nfits = 17\n")
    with pytest.raises(
        SpecError, match=r"\[budget\]: advice takes two partitions, 18 fits with K=3, but the budget is 17"
    ):
        advise_tuning_spec(tune)
    assert count_trained(tune) == 0


@pytest.mark.slow
def test_processes_give_the_same_tuning(tune: Path) -> None:
    alone = run_tuning_spec(tune, store=tune.with_name("alone.db"))
    executor = ProcessExecutor(2)
    try:
        assert run_tuning_spec(tune, executor=executor) == alone
    finally:
        executor.shutdown()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('name = "jkfold"', 'name = "kfold"', r"\[splits\]: name is 'kfold': a tuning needs name ="),
        ("k = 3", "k = 3\nadaptive = 1", r"\[splits\]: adaptive is 1; it must be true or false"),
        ("k = 3", "k = 3\nmargin = 0.1", r"\[splits\]: margin needs adaptive = true"),
        ("k = 3", "k = 3\nadaptive = true\nmargin = -1", r"\[splits\]: margin is -1; it must be a difference"),
        ("k = 3", "k = 3\nadaptiv = true", r"\[splits\]: 'adaptiv' is not a key here; .*Did you mean 'adaptive'"),
        ("k = 3", "K = 3", r"\[splits\]: 'K' is not a key here; the keys are .*'k', 'j', 'adaptive', 'margin'"),
        (
            '"accuracy"',
            '["accuracy", "mae"]',
            r"\[metric\]: name is \['accuracy', 'mae'\]; it must be a name, of one metric",
        ),
        ("[candidates]", "[budget]\n[candidates]", r"\[budget\]: fits is missing"),
        ("[candidates]", "[facets]\na = [1]\n[candidates]", r"'facets' is not a key here"),
        ("n_neighbors = [1, 15, 60]", "", r"\[candidates\]: there are no candidates"),
        ("n_neighbors = [1, 15, 60]", "n_neighbors = 1", r"n_neighbors is 1; it must be a list"),
        ("[1, 15, 60]", "[1, 1]", r"which has a value more than once"),
        ("n_neighbors =", "seed =", r"'seed' cannot name a parameter"),
        ("[candidates]\nn_neighbors = [1, 15, 60]", "", r"candidates is missing"),
        (
            "[candidates]",
            '[systems.two]\ncall = "systems:b"\n[candidates]',
            r"a tuning is of one system on one corpus, but there are 2 \[systems.X\] and 1 \[data.X\]",
        ),
    ],
)
def test_a_spec_that_makes_no_sense_is_refused_when_it_is_read(tune: Path, old: str, new: str, message: str) -> None:
    edit(tune, old, new)
    with pytest.raises(SpecError, match=message):
        read_spec(tune)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k = 3", "k = 2", r"\[splits\]: k is 2: with fewer than 3 folds"),
        ("k = 3", "k = 80", r"\[splits\]: iris cannot be split: .* only 75 groups"),
        ("[candidates]", "[budget]\nfits = 17\n[candidates]", r"\[budget\]: the budget is 17 fits, .* take 18"),
        ("n_neighbors =", "neighbors =", r"\[systems\]: systems:train_neighbours cannot be used"),
        ('call = "systems:train_neighbours"', 'command = ["true"]', r"command lacks"),
    ],
)
def test_a_tuning_that_cannot_work_is_refused_before_anything_is_trained(
    tune: Path, old: str, new: str, message: str
) -> None:
    edit(tune, old, new)
    with pytest.raises(SpecError, match=message):
        run_tuning_spec(tune)
    assert count_trained(tune) == 0


def test_an_unknown_parameter_of_an_estimator_is_named(tune: Path) -> None:
    edit(tune, 'call = "systems:train_neighbours"', 'estimator = "systems:make"')
    edit(tune, "n_neighbors", "kneighborsclassifier__neighbors")
    tune.with_name("systems.py").write_text(
        "from sklearn.neighbors import KNeighborsClassifier\nfrom sklearn.pipeline import make_pipeline\n\n\n"
        "def make():\n    return make_pipeline(KNeighborsClassifier())\n"
    )
    with pytest.raises(TuningError, match=r"all 3 candidates failed; .*Invalid parameter 'neighbors'"):
        run_tuning_spec(tune)


def test_a_metric_that_gives_several_numbers_is_named(tune: Path) -> None:
    edit(tune, 'name = "accuracy"', 'name = "sklearn.metrics:recall_score"\naverage = "macro"')
    assert run_tuning_spec(tune).fits == 18
    edit(tune, 'sklearn.metrics:recall_score"\naverage = "macro"', 'sklearn.metrics:confusion_matrix"')
    with pytest.raises(TuningError, match=r"confusion_matrix must give one number"):
        run_tuning_spec(tune)


def test_another_kind_of_spec_is_no_tuning(tune: Path) -> None:
    edit(tune, 'kind = "tune"', 'kind = "run"')
    edit(tune, "[candidates]", "[facets]")
    with pytest.raises(SpecError, match=r"tune.toml has kind = 'run': a tuning needs kind = \"tune\""):
        run_tuning_spec(tune)


def test_options_of_splits_that_stand_in_the_budget_are_sent_there(tune: Path) -> None:
    edit(tune, "[candidates]", "[budget]\nfits = 100\nadaptive = true\n[candidates]")
    with pytest.raises(SpecError, match=r"'adaptive' is not a key here: put it in \[splits\]"):
        read_spec(tune)


@pytest.mark.slow  # starts processes
def test_the_signature_names_corpus_groups_splits_and_the_system(tune: Path) -> None:
    found = run_tuning_spec(tune)
    assert found.grouped
    assert "|groups:pair|" in found.signature
    assert "splitter:JKFold(k=3, j=2, seed=3)" in found.signature
    assert "system:neighbours=systems:train_neighbours#" in found.signature
    edit(tune, 'group = "pair"\n', "")
    other = run_tuning_spec(tune)
    assert not other.grouped
    corpora = [part for one in (found, other) for part in one.signature.split("|") if part.startswith("corpus:")]
    assert len(set(corpora)) == 2
