"""How cost grows: what the benchmark measures, fits, prints and draws."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow.parquet as pq
import pytest


@pytest.fixture
def benchmarks(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = root / "benchmarks"
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def growth(benchmarks: Path) -> ModuleType:
    return importlib.import_module("growth")


@pytest.fixture
def curves(benchmarks: Path) -> ModuleType:
    return importlib.import_module("curves")


@pytest.fixture
def sweeps(benchmarks: Path) -> ModuleType:
    return importlib.import_module("sweeps")


def results(folder: Path, *runs: list[dict[str, object]]) -> Path:
    file = folder / "results.jsonl"
    file.write_text("".join(json.dumps({"rows": rows}) + "\n" for rows in runs), encoding="utf-8")
    return file


def measured(size: float, cpu: float, who: str = "holdsup", answer: float = 5.0) -> dict[str, object]:
    return {"sweep": "items", "who": who, "size": size, "cpu": cpu, "peak_mb": 100.0, "answer": answer}


def test_the_exponent_of_a_power_is_that_power(curves: ModuleType) -> None:
    sizes = [10.0, 30, 100, 300, 1000]
    found = curves.exponent(sizes, [7 * size**1.7 for size in sizes])
    np.testing.assert_allclose([found.value, found.low, found.high], 1.7)
    assert found.start == 100


def test_the_exponent_is_that_of_the_upper_half_and_its_range_shows_a_bend(curves: ModuleType) -> None:
    costs = [5, 5, 5, 10, 80]  # constant, then linear, then cubic
    found = curves.exponent([1, 2, 4, 8, 16], costs)
    assert (found.low, found.high) == pytest.approx((1, 3))
    assert found.value == pytest.approx(2)


def test_a_tool_stops_after_a_fit_beyond_its_budget(growth: ModuleType, sweeps: ModuleType, tmp_path: Path) -> None:
    point = sweeps.SWEEPS["items"].points[0]
    after = growth.attempt("holdsup", point, tmp_path / "never read", {"cpu": 61.0}, budget=60)
    assert after == {"stopped": "after 61 s"}
    assert growth.attempt("holdsup", point, tmp_path / "never read", after, budget=60) == after


def test_a_failure_is_a_reason_to_stop_and_no_time(growth: ModuleType, sweeps: ModuleType, tmp_path: Path) -> None:
    found = growth.attempt("holdsup", sweeps.SWEEPS["items"].points[0], tmp_path / "none.parquet", {}, budget=60)
    assert "cpu" not in found
    assert "none.parquet" in found["stopped"]


def test_of_several_runs_a_tools_last_one_counts(curves: ModuleType, tmp_path: Path) -> None:
    both = [measured(100, 1), measured(300, 3), measured(100, 9, "lme4"), measured(300, 27, "lme4")]
    ours, theirs = curves.load(results(tmp_path, both, [measured(100, 0.5), measured(300, 0.7)]))
    assert (ours.of("cpu"), theirs.of("cpu")) == ([0.5, 0.7], [9, 27])


def test_a_worse_optimum_and_a_reason_to_stop_are_printed(curves: ModuleType, tmp_path: Path) -> None:
    stop = {"sweep": "items", "who": "lme4", "size": 1000, "stopped": "after 99 s"}
    theirs = [measured(100, 9, "lme4"), measured(300, 99, "lme4", answer=7.5), stop]
    found = curves.load(results(tmp_path, [measured(100, 1), measured(300, 3), measured(1000, 10), *theirs]))
    assert [row[2] for row in curves.cost_table(found).rows] == ["9", "99", "stopped"]
    rows = curves.growth_table(found).rows
    assert [row[-2:] for row in rows] == [("as the best", ""), ("2.5 above", "after 99 s")]


def test_a_table_has_the_rows_and_levels_asked_for_less_the_share_missing(sweeps: ModuleType, tmp_path: Path) -> None:
    evaluation = sweeps.Evaluation(items=500, seeds=4, raters=30, facets=2, repeats=3)
    rows = sweeps.write_parquet(evaluation, tmp_path / "a.parquet")
    table = pq.read_table(tmp_path / "a.parquet")
    assert rows == evaluation.cells == table.num_rows == 500 * 2 * 4 * 3
    assert table.column_names == [*evaluation.factors, "y"]
    counts = {name: len(table[name].unique()) for name in evaluation.factors}
    assert counts == {"item": 500, "system": 2, "seed": 4, "rater": 30, "f00": counts["f00"], "f01": counts["f01"]}
    left = sweeps.write_parquet(replace(evaluation, missing=0.3), tmp_path / "b.parquet")
    assert abs(left / rows - 0.7) < 4 * np.sqrt(0.3 * 0.7 / rows)


def test_csv_holds_what_parquet_holds(sweeps: ModuleType, tmp_path: Path) -> None:
    import pyarrow.csv as csv

    sweeps.write_parquet(sweeps.Evaluation(items=20, seeds=2), tmp_path / "a.parquet")
    sweeps.write_csv(tmp_path / "a.parquet", tmp_path / "a.csv")
    text, table = csv.read_csv(tmp_path / "a.csv"), pq.read_table(tmp_path / "a.parquet")
    assert text.to_pydict() == table.to_pydict()


def test_the_page_shows_the_results_that_are_kept(benchmarks: Path, curves: ModuleType, root: Path) -> None:
    pictures = importlib.import_module("pictures")
    page = (root / "docs" / "growth.md").read_text(encoding="utf-8")
    kept = curves.load(benchmarks / "results" / "growth.jsonl")
    swept = dict.fromkeys(curve.sweep for curve in kept)
    assert list(swept) == list(importlib.import_module("sweeps").SWEEPS)
    for sweep in swept:
        assert f"<!-- {sweep} -->\n```text\n{pictures.printed(kept, sweep)}\n```\n" in page
        assert (root / "docs" / "figures" / f"growth-{sweep}.svg").stat().st_size < 100_000


def test_figures_are_the_same_bytes_each_time(benchmarks: Path, curves: ModuleType, root: Path, tmp_path: Path) -> None:
    pictures = importlib.import_module("pictures")
    kept = curves.load(benchmarks / "results" / "growth.jsonl")
    drawn = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        shutil.copy(root / "docs" / "growth.md", tmp_path / name)
        pictures.write_documents([curve for curve in kept if curve.sweep == "missing"], tmp_path / name)
        drawn.append((tmp_path / name / "figures" / "growth-missing.svg").read_bytes())
    assert drawn[0] == drawn[1]
    assert drawn[0].startswith(b"<?xml")


def test_each_line_is_drawn_through_the_measurements(benchmarks: Path, curves: ModuleType, tmp_path: Path) -> None:
    pictures = importlib.import_module("pictures")
    found = curves.load(results(tmp_path, [measured(100, 1), measured(300, 3), measured(100, 9, "lme4")]))
    time, memory = pictures.draw(found).axes
    assert [line.get_xydata().tolist() for line in time.lines] == [[[100, 1], [300, 3]], [[100, 9]]]
    assert [text.get_text() for text in time.texts] == ["holdsup", "lme4"]
    assert [line.get_ydata().tolist() for line in memory.lines] == [[100, 100], [100]]


@pytest.mark.slow
def test_a_quick_run_measures_every_sweep(benchmarks: Path, curves: ModuleType, tmp_path: Path) -> None:
    output = tmp_path / "quick.jsonl"
    command = [
        sys.executable,
        str(benchmarks / "growth.py"),
        "--quick",
        "--tools",
        "holdsup,file",
        "--output",
        str(output),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = curves.load(output)
    who = [(curve.sweep, curve.tool) for curve in found]
    assert who == [("rows", "holdsup"), ("rows", "file")] + [
        (sweep, "holdsup") for sweep in ("items", "second", "components", "missing")
    ]
    for curve in found:
        assert curve.stopped is None
        assert len(curve.points) == 2
        assert min(curve.of("cpu")) > 0
    assert found[0].of("answer") == pytest.approx(found[1].of("answer"), rel=1e-12)  # a frame and a file: one table
    assert done.stdout.count("time ~ size^") == 4


def test_an_unknown_tool_is_refused_in_a_line(growth: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        growth.main(["--tools", "holdsup,stan"])
    assert "stan is not one of holdsup, file, mixedlm, lme4" in capsys.readouterr().err
