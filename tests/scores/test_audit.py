"""The audit finds planted faults of every kind, and nothing in a clean table."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings, strategies as st

import holdsup
from holdsup.errors import ScoresError


def clean(**changes: Any) -> dict[str, list[Any]]:
    """Return a faultless table: 2 systems x 3 seeds x 4 items, as lists that a test can spoil."""
    table = holdsup.simulate_scores({"A": 0.5, "B": 0.6}, items=4, runs=3, seed=1)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    columns.update(changes)
    return columns


def without(columns: dict[str, list[Any]], *rows: int) -> dict[str, list[Any]]:
    return {name: [v for i, v in enumerate(values) if i not in rows] for name, values in columns.items()}


def found(data: Any, **options: Any) -> dict[str, Any]:
    return {finding.code: finding for finding in holdsup.audit_scores(data, **options).findings}


def test_a_clean_table_has_no_findings() -> None:
    audit = holdsup.audit_scores(clean(), score_range=(0, 1))
    assert audit.findings == ()
    assert "No problems found" in audit.verdict
    assert audit.rows.planned == audit.rows.used == 24


def table_of_items(items: int = 20) -> dict[str, list[Any]]:
    """Return 2 systems x 3 seeds x some items, scores between 20 and 80 with one decimal."""
    table = holdsup.simulate_scores({"A": 50.0, "B": 51.0}, items=items, runs=3, sd_item=8.0, seed=1)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    columns["score"] = [round(min(max(score, 20.0), 80.0), 1) for score in columns["score"]]
    return columns


@pytest.mark.parametrize("code", [-1, -9, -999, 999])
def test_a_number_that_stands_for_missing_scores_is_found(code: int) -> None:
    columns = table_of_items()
    assert "missing-codes" not in found(columns)
    for row in (3, 50, 77):
        columns["score"][row] = code
    finding = found(columns)["missing-codes"]
    assert (finding.count, finding.severity) == (3, "warning")
    assert finding.message.startswith(f"3 scores are {code}, and all others from ")
    columns["score"][3] = columns["score"][50] = 50.0
    assert "missing-codes" not in found(columns)  # a single one is an outlier


@pytest.mark.parametrize("scores", [[-1, 0, 1], [-1, -0.5, 0, 0.2, 0.4, 0.6, 1], [9, 8, 7, 6, 5, 4]])
def test_a_score_that_belongs_to_the_scale_is_no_code(scores: list[float]) -> None:
    columns = table_of_items()
    columns["score"] = [scores[i % len(scores)] for i in range(len(columns["score"]))]
    assert "missing-codes" not in found(columns)


@pytest.mark.parametrize(("name", "total"), [("AVERAGE", False), ("Mean", False), ("overall", False), ("Total", True)])
def test_a_row_that_sums_up_a_run_is_no_item(name: str, total: bool) -> None:
    columns = table_of_items()
    columns["item"] = [str(item) for item in columns["item"]]
    for system in "AB":
        for seed in (1, 2, 3):
            runs = zip(columns["system"], columns["seed"], columns["score"], strict=True)
            own = [score for *run, score in runs if run == [system, seed]]
            assert len(own) == 20
            value = math.fsum(own) if total else round(math.fsum(own) / len(own), 2)
            for column, cell in {"system": system, "seed": seed, "item": name, "score": value}.items():
                columns[column].append(cell)
    if name == "overall":  # it may be anything
        finding = found(columns)["summary-rows"]
        assert (finding.count, finding.severity) == (6, "warning")
    else:
        scores = holdsup.read_scores(columns)
        assert scores.left_out == {"a summary of other rows": 6}
        assert f"6 rows with item {name!r} are left out: they sum up other rows." in [
            note.message for note in scores.notes
        ]
    columns["score"][-6:] = [score + 1 for score in columns["score"][-6:]]
    assert "summary-rows" not in found(columns)  # an item that is merely called so
    assert name in holdsup.read_scores(columns).item.names


def test_a_facet_with_one_run_a_level_is_said_to_repeat_nothing() -> None:
    columns = clean()
    columns["Which one"] = columns.pop("seed")
    finding = found(columns, facets=["Which one"])["no-repeats"]
    assert "If Which one only repeats training, as a seed does, give --replicates 'Which one'." in finding.advice
    assert "no-repeats" not in found(columns, replicates=["Which one"])
    assert "no-repeats" not in found(columns, run="Which one")


def test_repeated_rows_are_found_with_examples_and_conflicts_counted() -> None:
    columns = clean()
    for name in columns:
        columns[name] = [*columns[name], columns[name][0], columns[name][5]]
    columns["score"][-1] += 0.1
    finding = found(columns)["duplicates"]
    assert finding.count == 2
    assert "1 with another score" in finding.message
    assert finding.examples == ("run A/seed=1, item 1", "run A/seed=2, item 2")
    assert finding.severity == "error"


def test_the_column_that_tells_repeated_rows_apart_is_named() -> None:
    columns = clean()
    twice = {name: values * 2 for name, values in columns.items()}
    twice["prompt"] = ["low"] * 24 + ["high"] * 24
    twice["beam"] = [1] * 24 + [5] * 24
    assert "--replicates prompt,beam" in found(twice)["told-apart"].advice
    assert "duplicates" not in found(twice)
    assert "told-apart" not in found(twice, facets=["seed", "prompt"])


def test_missing_cells_are_counted_within_dataset_and_metric() -> None:
    finding = found(without(clean(), 0, 1))["missing-cells"]
    assert finding.count == 2
    assert finding.message == "2 rows are missing (of 24: every item in every run)."
    assert finding.examples == ("2 items of run A/seed=1",)
    two = clean()
    both = {name: values * 2 for name, values in two.items()} | {"dataset": ["d1"] * 24 + ["d2"] * 24}
    assert found(both) == {}
    assert found(without(both, 30))["missing-cells"].examples == ("1 item of dataset d2, run A/seed=2",)


def test_items_of_one_system_only_are_found() -> None:
    columns = clean()
    columns["item"] = [
        f"x{i}" if s == "A" and i == 4 else str(i) for s, i in zip(columns["system"], columns["item"], strict=True)
    ]
    finding = found(columns)["items-of-one-system"]
    assert (finding.count, finding.severity) == (2, "warning")
    assert "item x4" in finding.examples[1]


def test_items_that_no_two_systems_share_are_an_error() -> None:
    columns = clean()
    columns["item"] = [f"{s}{i}" for s, i in zip(columns["system"], columns["item"], strict=True)]
    assert found(columns)["items-of-one-system"].severity == "error"


@pytest.mark.parametrize(
    ("value", "code"),
    [(None, "missing-scores"), (math.nan, "nan-scores"), (math.inf, "infinite-scores"), (-math.inf, "infinite-scores")],
)
def test_scores_that_are_no_numbers_are_found_by_kind(value: float | None, code: str) -> None:
    scores = [value if i in (3, 7) else 0.5 + i / 100 for i in range(24)]
    audit = holdsup.audit_scores(pa.table(clean(score=pa.array(scores, from_pandas=False))))
    assert [f.count for f in audit.findings if f.code == code] == [2]
    assert audit.rows.used == 22
    assert sum(audit.rows.reasons.values()) == 2


@pytest.mark.parametrize("token", ["", "NA", "None", "null", "N/A"])
def test_tokens_for_no_score_in_a_csv_are_missing_scores(token: str, tmp_path: Path) -> None:
    file = tmp_path / "s.csv"
    file.write_text(f"system,item,score\nA,1,0.5\nB,1,0.25\nA,2,{token}\nB,2,nan\n")
    codes = found(file)
    assert codes["missing-scores"].examples == ("run A, item 2",)
    assert codes["nan-scores"].examples == ("run B, item 2",)


def test_constant_scores_are_an_error() -> None:
    assert found(clean(score=[0.5] * 24))["constant-scores"].severity == "error"


def test_a_run_with_one_score_everywhere_is_found() -> None:
    scores = clean()["score"]
    finding = found(clean(score=[0.0] * 4 + scores[4:]))["constant-runs"]
    assert finding.examples == ("system A, run A/seed=1: 0",)


def test_columns_with_one_level_are_noted() -> None:
    assert "language" in found(clean(language=["en"] * 24))["one-level"].message
    assert "epochs" in found(clean(epochs=[3] * 24))["one-level"].message


def test_a_facet_that_changes_only_with_the_system_is_confounded() -> None:
    columns = clean()
    columns["lr"] = ["0.1" if s == "A" else "0.2" for s in columns["system"]]
    finding = found(columns, facets=["seed", "lr"])["confounded"]
    assert finding.message == "System and facet 'lr' always change together."
    assert finding.examples == ("A with 0.1", "B with 0.2")


def test_two_facets_that_change_together_are_confounded() -> None:
    columns = clean()
    columns["lr"] = [f"lr{seed}" for seed in columns["seed"]]
    message = found(columns, facets=["seed", "lr"])["confounded"].message
    assert message == "Facet 'seed' and facet 'lr' always change together."


def test_systems_with_a_single_run_are_found() -> None:
    finding = found(without(clean(), *range(4, 12)))["single-run"]
    assert finding.examples == ("system A",)
    assert finding.message == "1 of 2 systems has only one run."


def test_scores_outside_the_declared_range_are_found() -> None:
    finding = found(clean(score=[1.5, *clean()["score"][1:]]), score_range=(0, 1))["out-of-range"]
    assert finding.examples == ("run A/seed=1, item 1: 1.5",)


def test_a_run_on_another_scale_is_found() -> None:
    scores = clean()["score"]
    finding = found(clean(score=[s * 100 if i < 4 else s for i, s in enumerate(scores)]))["different-scales"]
    assert finding.examples[0].startswith("run A/seed=1")


def test_labels_that_look_alike_are_found() -> None:
    columns = clean()
    columns["system"][0] = "a "
    assert found(columns)["lookalike-labels"].message == "The system labels 'A' and 'a ' may mean the same."


def test_rows_without_a_label_are_found() -> None:
    columns = clean()
    columns["system"][0], columns["item"][5] = None, None
    audit = holdsup.audit_scores(columns)
    assert {f.message for f in audit.findings if f.code == "unlabelled-rows"} == {
        "1 row has no system.",
        "1 row has no item.",
    }
    assert audit.rows.reasons == {"no system": 1, "no item": 1}


def test_a_system_that_lacks_a_dataset_is_found() -> None:
    columns = clean()
    both = {name: values * 2 for name, values in columns.items()} | {"dataset": ["d1"] * 24 + ["d2"] * 24}
    finding = found(without(both, *range(36, 48)))["systems-without-dataset"]
    assert finding.examples == ("system B, dataset d2",)


def test_an_item_column_that_names_the_dataset_is_found() -> None:
    columns = {
        "system": ["A", "A", "B", "B"],
        "task": ["t1", "t2"] * 2,
        "id": ["u1", "u2"] * 2,
        "score": [1.0, 2.0, 3.0, 4.5],
    }
    assert "item-names-dataset" in found(columns)
    assert "item-names-dataset" not in found(columns, item="-")


def test_a_table_without_a_usable_score_says_so() -> None:
    assert "no-scores" in found(clean(score=[None] * 24))


def test_a_range_the_wrong_way_round_is_refused() -> None:
    with pytest.raises(ScoresError, match="must be below"):
        holdsup.audit_scores(clean(), score_range=(1, 0))


def test_every_finding_says_what_it_does_and_what_to_do() -> None:
    columns = clean(score=[None, math.nan, math.inf, 100.0, *[0.5] * 20], extra=list(range(24)), one=["x"] * 24)
    columns = {name: [*values, values[3]] for name, values in without(columns, 12, 13).items()}
    audit = holdsup.audit_scores(columns, score_range=(0, 1))
    assert len(audit.findings) >= 7
    for finding in audit.findings:
        assert finding.effect.endswith(".")
        assert finding.advice
        assert finding.count >= 1
        assert len(finding.examples) <= 3


@given(st.permutations(range(24)))
@settings(max_examples=25)
def test_the_order_of_rows_changes_no_finding(order: list[int]) -> None:
    columns = clean()
    columns["score"][3] = None
    columns = {name: [*values, values[7]] for name, values in columns.items()}
    shuffled = {name: [values[i] for i in [24, *order]] for name, values in columns.items()}

    def said(data: Any) -> list[tuple[str, int]]:
        return [(f.code, f.count) for f in holdsup.audit_scores(data).findings]

    assert said(shuffled) == said(columns)


@given(st.floats(1e-6, 1e6), st.floats(-1e6, 1e6))
@settings(max_examples=25)
def test_shift_and_scale_of_the_scores_change_no_finding_about_the_design(scale: float, shift: float) -> None:
    columns = without(clean(), 5)
    moved = columns | {"score": [s * scale + shift for s in columns["score"]]}
    design = {"missing-cells", "duplicates", "single-run", "confounded", "constant-scores", "constant-runs"}
    assert design & set(found(moved)) == design & set(found(columns))


def test_wmt_human_judgements_are_read_and_audited(real_data: Path) -> None:
    audit = holdsup.audit_scores(real_data / "wmt_mqm/mqm_newstest2020_ende.avg_seg_scores.tsv.gz")
    assert (len(audit.systems), audit.rows.planned, audit.rows.used) == (10, 14180, 14180)
    assert audit.roles == {"score": "mqm_avg_score", "system": "system", "item": "seg_id"}
    assert [f.code for f in audit.findings] == ["single-run"]


def test_the_automl_benchmark_is_read_and_its_faults_found(real_data: Path) -> None:
    audit = holdsup.audit_scores(str(real_data / "automlbenchmark/results_*.csv"))
    codes = {f.code: f for f in audit.findings}
    assert (len(audit.systems), audit.rows.planned) == (8, 8434)
    assert codes["missing-scores"].count == 588
    assert codes["item-names-dataset"].count == 39
    assert codes["systems-without-dataset"].count == 39
    assert "file" in codes["duplicates"].advice
    told_apart = found(str(real_data / "automlbenchmark/results_*.csv"), item="-", facets=["fold", "file"])
    assert "duplicates" not in told_apart


def test_a_large_table_is_audited_right() -> None:
    """A table too large for the dense path of `cross` gives the counts that NumPy gives."""
    rng = np.random.default_rng(0)
    item, seed = rng.integers(0, 10**6, 5000), rng.integers(0, 10**6, 5000)
    columns = {"system": ["A"] * 5000, "item": item, "seed": seed, "score": rng.normal(size=5000)}
    columns = {name: np.concatenate([values, values[:10]]) for name, values in columns.items()}
    assert found(columns)["duplicates"].count == 10 + 5000 - len(np.unique(np.stack([item, seed]), axis=1).T)


def test_a_failure_is_given_the_worst_score_whichever_way_is_better() -> None:
    table = {"system": ["A", "B", "A", "B"], "item": [1, 1, 2, 2], "wer": [0.1, 0.2, None, 0.3]}
    advice = {
        lower: {f.code: f.advice for f in holdsup.audit_scores(table, lower_is_better=lower).findings}["missing-scores"]
        for lower in (False, True)
    }
    assert advice[False].endswith("give it the worst score there is (0 for an accuracy).")
    assert advice[True].endswith("give it the highest score there is.")


@pytest.mark.parametrize(
    ("scores", "state", "headline"),
    [
        (clean()["score"], "yes", "No problems found."),
        ([None, *clean()["score"][1:]], "unclear", "Usable with care: 1 row has no score."),
        ([math.nan, *clean()["score"][1:]], "no", "Fix this first: 1 row has a score that is NaN."),
    ],
)
def test_the_state_is_that_of_the_gravest_fault(scores: list[float | None], state: str, headline: str) -> None:
    audit = holdsup.audit_scores(clean(score=scores))
    assert (audit.state, audit.headline) == (state, headline)


def test_the_short_answer_fits_a_screen_whatever_the_table_holds() -> None:
    columns = clean(score=[None, math.nan, math.inf, 100.0, *[0.5] * 20], extra=list(range(24)))
    columns |= {f"column {i}": ["x"] * 24 for i in range(40)}
    audit = holdsup.audit_scores(columns, score_range=(0, 1))
    assert len(str(audit).splitlines()) <= 24
    assert all(
        finding.message.endswith(".") and finding.message[0] == finding.message[0].upper() for finding in audit.findings
    )
