"""Systems whose runs don't vary by declaration, and new runs on these datasets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from holdsup import compare_systems, read_result
from holdsup.cli import main
from holdsup.errors import ScoresError
from holdsup.numerics.differences import compare_new_runs, compare_run_scores
from holdsup.numerics.these_datasets import compare_runs_on_datasets

Rows = dict[str, list[object]]


def make_rows(
    systems: dict[str, tuple[float, int]],
    *,
    datasets: int = 1,
    items: int = 20,
    nested: bool = False,
    run_sd: float = 0.02,
    seed: int = 1,
) -> Rows:
    """Return scores of systems, each with a mean and a number of runs."""
    rng = np.random.default_rng(seed)
    rows: Rows = {name: [] for name in ("dataset", "system", "seed", "item", "score")}
    runs = {name: rng.normal(0, run_sd, count) for name, (_, count) in systems.items()}
    for dataset in range(datasets):
        hard = rng.normal(0, 0.1, items)
        for name, (mean, count) in systems.items():
            own, shift = hard + rng.normal(0, 0.03, items), rng.normal(0, 0.03)
            for run in range(count):
                for item in range(items):
                    score = mean + shift + own[item] + (runs[name][run] + rng.normal(0, 0.05) if count > 1 else 0.0)
                    label = f"{dataset}_{run}" if nested else run
                    values = (f"d{dataset}", name, label, f"{dataset}_{item}", score)
                    for column, value in zip(rows.values(), values, strict=True):
                        column.append(value)
    if datasets == 1:
        del rows["dataset"]
    return rows


TWO = {"new": (0.8, 3), "greedy": (0.7, 1)}


def test_the_variance_of_a_difference_from_a_deterministic_system_is_that_of_the_others_runs_and_of_items() -> None:
    rng = np.random.default_rng(2)
    item, run = rng.normal(0, 0.1, (30, 1)), rng.normal(0, 0.03, (1, 4))
    fixed = rng.normal(0, 0.1, (30, 1))
    found = compare_new_runs(item + run, fixed, deterministic=True)
    assert found.se**2 == pytest.approx(run.var(ddof=1) / 4 + (item - fixed).var(ddof=1) / 30)
    assert found.run_variance == (pytest.approx(run.var(ddof=1)),)
    mirrored = compare_new_runs(fixed, item + run, deterministic=True)
    assert (mirrored.estimate, mirrored.low) == (pytest.approx(-found.estimate), pytest.approx(-found.high))


def test_without_items_it_is_the_one_sample_t_test() -> None:
    scores = [27.1, 27.9, 27.4, 27.2]
    found = compare_run_scores(scores, [26.0], deterministic=True)
    assert found.p == pytest.approx(stats.ttest_1samp(scores, 26.0).pvalue)


def test_one_run_of_a_deterministic_system_is_enough_for_new_runs() -> None:
    rows = make_rows(TWO)
    undeclared, declared = compare_systems(rows), compare_systems(rows, deterministic="greedy")
    assert (undeclared.claim, declared.claim) == ("these-runs", "new-runs")
    assert declared.contrasts[0].p > undeclared.contrasts[0].p
    assert [s.deterministic for s in declared.ordered(None)] == [False, True]
    assert "deterministic:greedy" in declared.signature
    assert ", deterministic" in next(line for line in str(declared).splitlines() if line.startswith("greedy"))
    assert not any(c.code == "one-run-each" for c in declared.cautions)


def test_its_mean_has_the_ci_over_new_items() -> None:
    rows = make_rows(TWO)
    plain, declared = compare_systems(rows), compare_systems(rows, deterministic=["greedy"])
    ends = [next((s.low, s.high) for s in found.systems if s.name == "greedy") for found in (plain, declared)]
    assert ends[0] == pytest.approx(ends[1])


def test_copies_of_a_run_are_one_run_of_a_system_that_is_declared(tmp_path: Path) -> None:
    rows = make_rows(TWO)
    copied = {name: [*values] for name, values in rows.items()}
    for at in [i for i, name in enumerate(rows["system"]) if name == "greedy"]:
        for name, values in copied.items():
            values.append(7 if name == "seed" else rows[name][at])
    found = compare_systems(copied)
    advice = next(c.advice for c in found.cautions if c.code == "copied-runs")
    assert "--deterministic greedy" in advice
    declared = compare_systems(copied, deterministic=["greedy"])
    assert not any(c.code == "copied-runs" for c in declared.cautions)
    assert declared.contrasts[0].p == pytest.approx(compare_systems(rows, deterministic=["greedy"]).contrasts[0].p)
    file = tmp_path / "found.json"
    file.write_text(json.dumps(declared.to_dict()), encoding="utf-8")
    assert read_result(file).to_dict() == declared.to_dict()  # records with NaN in them equal nothing


@pytest.mark.parametrize(
    ("names", "why"), [(["new"], "its 3 runs differ"), (["none"], "'none' is not one of the systems")]
)
def test_what_is_not_deterministic_is_refused(names: Sequence[str], why: str) -> None:
    with pytest.raises(ScoresError, match=why):
        compare_systems(make_rows(TWO), deterministic=names)


def test_the_program_takes_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "scores.csv"
    rows = make_rows(TWO)
    lines = [",".join(rows), *(",".join(map(str, row)) for row in zip(*rows.values(), strict=True))]
    file.write_text("\n".join(lines), encoding="utf-8")
    for name, code in (("greedy", 0), ("new", 1)):
        with pytest.raises(SystemExit) as ended:
            main(["compare", str(file), "--deterministic", name])
        assert ended.value.code == code
    printed = capsys.readouterr()
    assert "holds for  new runs" in printed.out
    assert printed.err.count("\n") == 1


def test_others_share_their_run_variances_without_it() -> None:
    systems = {"a": (0.70, 3), "b": (0.72, 3), "c": (0.74, 3), "d": (0.71, 3), "greedy": (0.6, 1)}
    found = compare_systems(make_rows(systems), deterministic=["greedy"])
    assert {c.adjusted_by for c in found.contrasts} == {"single-step max-t"}
    alone = compare_systems(make_rows(systems), deterministic=["greedy"], baseline="greedy")
    assert {c.claim for c in (*found.contrasts, *alone.contrasts)} == {"new-runs"}
    for c in found.contrasts:
        assert (c.p_adjusted <= 0.05) == (c.low_simultaneous > 0 or c.high_simultaneous < 0)


def test_two_deterministic_systems_differ_over_new_items_alone() -> None:
    rows = make_rows({"x": (0.7, 1), "y": (0.72, 1), "z": (0.75, 3)})
    found = compare_systems(rows, deterministic=["x", "y"])
    claims = {frozenset((c.left, c.right)): c.claim for c in found.contrasts}
    assert claims[frozenset("xy")] == "these-runs"
    assert claims[frozenset("xz")] == claims[frozenset("yz")] == "new-runs"


def test_differences_along_a_property_and_advice_know_it() -> None:
    rows = make_rows({"new": (0.705, 3), "greedy": (0.7, 1)}, items=40)
    length = [float(str(item).partition("_")[2]) for item in rows["item"]]
    found = compare_systems({**rows, "length": length}, deterministic=["greedy"], by=["length"])
    assert found.conditional[0].differences[0].claim == "new-runs"
    assert not any("of each" in said for said in found.next)


@pytest.mark.parametrize("nested", [False, True])
def test_new_runs_on_these_datasets_say_more_than_these_runs_and_less_than_new_datasets(nested: bool) -> None:
    rows = make_rows({"a": (0.75, 4), "b": (0.7, 4)}, datasets=6, nested=nested)
    widths = {}
    for claim in ("these-runs", "these-datasets", "new-runs"):
        found = compare_systems(rows, claim=claim).contrasts[0]
        assert found.claim == claim
        widths[claim] = found.high - found.low
    assert widths["these-runs"] < widths["these-datasets"] < widths["new-runs"]
    words = str(compare_systems(rows, claim="these-datasets"))
    assert "new runs, new items of these 6 datasets" in " ".join(words.split())


def test_without_items_runs_vary_by_their_means_over_these_datasets() -> None:
    rng = np.random.default_rng(5)
    table = {"a": rng.normal(0.7, 0.1, (4, 8)), "b": rng.normal(0.6, 0.1, (4, 8))}
    rows: Rows = {name: [] for name in ("system", "seed", "dataset", "score")}
    for name, scores in table.items():
        for (run, dataset), score in np.ndenumerate(scores):
            for column, value in zip(rows.values(), (name, run, f"d{dataset}", score), strict=True):
                column.append(value)
    found = compare_systems(rows, claim="these-datasets").contrasts[0]
    a, b = (table[name].mean(axis=1) for name in "ab")
    assert found.claim == "these-datasets"
    assert found.se == pytest.approx(np.sqrt(a.var(ddof=1) / 4 + b.var(ddof=1) / 4))
    assert found.difference == pytest.approx(a.mean() - b.mean())


def test_a_run_that_lacks_one_of_these_datasets_is_refused() -> None:
    scores = np.random.default_rng(6).normal(size=(8, 3))
    scores[:4, 0] = np.nan
    with pytest.raises(ValueError, match="not scored on all of these datasets"):
        compare_runs_on_datasets(scores, scores + 1, np.repeat([0, 1], 4))


def test_on_one_dataset_the_claim_is_new_runs() -> None:
    found = compare_systems(make_rows({"a": (0.75, 4), "b": (0.7, 4)}), claim="these-datasets")
    assert found.claim == "new-runs"
    assert any(c.code == "less-claimed" and "one dataset" in c.message for c in found.cautions)


def test_deterministic_systems_on_these_datasets() -> None:
    rows = make_rows({"a": (0.75, 4), "greedy": (0.7, 1)}, datasets=4)
    found = compare_systems(rows, claim="these-datasets", deterministic=["greedy"])
    assert found.contrasts[0].claim == "these-datasets"
    assert all(np.isfinite([s.low, s.high]).all() for s in found.systems)


def test_a_deterministic_system_is_compared_over_new_datasets() -> None:
    rng = np.random.default_rng(3)
    cells = [(s, r, d, i) for s in "AB" for r in range(3) for d in range(4) for i in range(20)]
    rows: Rows = dict(zip(("system", "seed", "dataset", "item"), map(list, zip(*cells, strict=True)), strict=True))
    rows["item"] = [f"{d}/{i}" for _, _, d, i in cells]
    rows["score"] = [0.5 if s == "B" else 0.6 + 0.1 * d + rng.normal(0, 0.1) for s, _, d, _ in cells]
    found = compare_systems(rows, deterministic="B").contrasts[0]
    assert found.difference == pytest.approx(np.mean(np.array(rows["score"][:240], float)) - 0.5)
    assert found.claim == "new-runs"
    assert found.low < found.difference < found.high
