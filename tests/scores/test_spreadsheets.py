"""Tables saved from spreadsheets: blank rows and rows that sum up others; and what scikit-learn saves of a search."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import holdsup
from holdsup.errors import ColumnError

SHEET = """Run,Accuracy,Notes
Run 0,0.81,
Run 1,0.84,tuned
Run 2,0.80,
Minimum,0.80,
Maximum,0.84,
MEAN,0.8167,
Standard Deviation,0.0208,
,,
 ,,
,,
"""


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    (tmp_path / "sheet.csv").write_text(SHEET.replace(" ,,\n", ",,\n"))
    return tmp_path / "sheet.csv"


def test_blank_rows_and_summaries_of_a_sheet_are_no_runs_and_are_counted(sheet: Path) -> None:
    scores = holdsup.read_scores(str(sheet))
    assert (len(scores), scores.run.count, scores.planned) == (3, 3, 10)
    audit = holdsup.audit_scores(str(sheet))
    assert "duplicates" not in {finding.code for finding in audit.findings}
    assert audit.rows.sentence() == "3 of 10 rows used (3 with nothing in them, 4 with a summary of other rows)."
    assert "3 blank rows are left out." in audit.warnings
    (line,) = (line for line in audit.warnings if "sum up other rows" in line)
    assert line.startswith("4 rows with Run 'MEAN', 'Maximum', 'Minimum', 'Standard Deviation' are left out")


def test_a_table_without_such_rows_is_signed_as_one_with_them(sheet: Path) -> None:
    signed = holdsup.audit_scores(str(sheet)).signature
    sheet.write_text("".join(line for line in SHEET.splitlines(keepends=True) if line.startswith("Run")))
    assert holdsup.audit_scores(str(sheet)).signature == signed


def test_seeds_called_mean_or_sd_are_left_out_of_every_question(run: Callable[..., object], tmp_path: Path) -> None:
    rows = [f"{s},{d},{seed},{0.5 + i * 0.1 + j * 0.05 + k * 0.01}" for i, s in enumerate("AB")
            for j, d in enumerate("uvw") for k, seed in enumerate("123")]  # fmt: skip
    summed = [f"{s},{d},{seed},0.5" for s in "AB" for d in "uvw" for seed in ("Mean", "SD")]
    (tmp_path / "t.csv").write_text("\n".join(["system,dataset,seed,score", *rows, *summed, ",,,"]) + "\n")
    compared, ranked = (ask(str(tmp_path / "t.csv")) for ask in (holdsup.compare_systems, holdsup.rank_systems))
    for found in (compared, ranked):
        assert found.rows.reasons == {"nothing in them": 1, "a summary of other rows": 12}
        assert (found.rows.planned, found.rows.used) == (31, 18)
        assert "12 rows with seed 'Mean', 'SD' are left out: they sum up other rows." in found.warnings


def test_a_wide_table_counts_what_is_left_out_in_each_of_its_columns(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("seed,A,B\n1,0.5,0.6\n2,0.4,0.7\n3,0.6,0.8\nAverage,0.5,0.7\n,,\n")
    scores = holdsup.read_scores(str(tmp_path / "w.csv"), wide={"system": ["A", "B"]})
    assert (len(scores), scores.planned) == (6, 10)


@pytest.mark.parametrize("named", ["Mean", "max"])
def test_a_system_called_mean_is_one_unless_its_scores_are_the_mean(named: str) -> None:
    rng = np.random.default_rng(1)
    columns = {
        "system": [*"AAAABBBB", *[named] * 4],
        "item": [1, 2, 3, 4] * 3,
        "score": rng.random(12).round(3).tolist(),
    }
    assert named in holdsup.read_scores(columns).system.names
    of_two = np.reshape(columns["score"][:8], (2, 4))
    columns["score"][8:] = (of_two.mean(axis=0) if named == "Mean" else of_two.max(axis=0)).round(3).tolist()
    scores = holdsup.read_scores(columns)
    assert scores.system.names == ("A", "B")
    assert scores.left_out == {"a summary of other rows": 4}


def test_runs_that_are_all_called_so_are_runs() -> None:
    columns = {"run": ["mean", "max", "median"] * 2, "system": [*"AAABBB"], "score": [0.1, 0.2, 0.3, 0.4, 0.5, 0.7]}
    assert holdsup.read_scores(columns).run.count == 6


def test_a_blank_line_of_a_file_of_one_score_a_line_is_a_missing_score(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("0.5\n\n0.7\n0.8\n")
    scores = holdsup.read_scores([str(tmp_path / "a.txt"), str(tmp_path / "b.txt")])
    assert (len(scores), int(scores.usable.sum()), scores.left_out) == (8, 6, {})


SEARCH = {
    "mean_fit_time": [0.1, 0.2], "std_fit_time": [0.01, 0.02], "mean_score_time": [0.3, 0.4],
    "std_score_time": [0.01, 0.02], "param_C": [1, 10], "split0_test_score": [0.7, 0.8], "split1_test_score": [0.9, 0.8],
    "mean_test_score": [0.8, 0.8], "std_test_score": [0.1, 0.0], "rank_test_score": [1, 1],
}  # fmt: skip


def test_the_score_of_a_search_is_its_mean_test_score_and_no_time_spread_or_rank() -> None:
    assert holdsup.read_scores(SEARCH).roles.score == "mean_test_score"
    several = {name.replace("test_score", f"test_{m}"): v for m in ("accuracy", "f1") for name, v in SEARCH.items()}
    with pytest.raises(ColumnError, match=r"^'mean_test_accuracy', 'mean_test_f1' in .* all look like scores"):
        holdsup.read_scores(several)
    times = {name: values for name, values in SEARCH.items() if "time" in name}
    with pytest.raises(ColumnError, match="is named like a score"):
        holdsup.read_scores(times)
