"""A table read in batches gives the fit of the same table in memory, without ever being held."""

from __future__ import annotations

import gc
import gzip
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import holdsup.fit as questions
from holdsup.columns import batches, limits
from holdsup.errors import ColumnError, FitError, FormulaError, NotNested, ReadError
from holdsup.fit import LmmFit, fit_lmm, likelihood_ratio_test
from holdsup.numerics import summation
from holdsup.numerics.moments import Moments

ITEMS, ROWS = 120, 4_800
CASES = {
    "crossed": ("y ~ system * x + (1 | item) + (1 | seed)", None),
    "nested": ("y ~ system + (1 | item) + (1 | system:item) + (1 | system:seed)", None),
    "slopes": ("y ~ year + kind + (1 + x | item) + (1 | seed)", None),
    "weighted": ("y ~ log(x) + scale(year) + (1 | item:kind)", "w"),
    "fixed only": ("y ~ system * kind + year", None),
    "no intercept": ("y ~ 0 + system + center(year) + (1 | item)", None),
    "dependent columns": ("y ~ kind + copy + year + copy:year + (1 | item)", None),
    "function of the response": ("exp(y) ~ system + (1 | item)", None),
    "truths": ("y ~ good + (1 | item)", None),
}


@pytest.fixture(scope="module")
def table() -> pa.Table:
    """Scores with gaps of all sorts, rows in no order."""
    rng = np.random.default_rng(7)
    item, seed, system = rng.integers(0, ITEMS, ROWS), rng.integers(0, 8, ROWS), rng.integers(0, 2, ROWS)
    x, kind = rng.uniform(1, 3, ROWS), rng.integers(0, 3, ROWS)
    effects = rng.normal(size=(ITEMS, 2))[item, system] + rng.normal(size=ITEMS)[item] * (1 + x)
    y = 0.2 * system + effects + 0.5 * rng.normal(size=8)[seed] + 0.1 * kind + rng.normal(size=ROWS)
    y[[3, 77]], x[10] = np.nan, np.inf
    system_names = np.array(["A", "B"], object)[system]
    system_names[20] = None
    return pa.table(
        {
            "item": pa.array(1000 - 7 * item.astype(np.int32)),
            "seed": seed,
            "system": system_names,
            "kind": np.array(["u", "v", "w"])[kind],
            "copy": np.array(["p", "q", "q"])[kind],
            "year": 2000 + rng.normal(0, 2, ROWS),
            "good": np.array(["true", "FALSE", "NA"])[rng.choice(3, ROWS, p=[0.5, 0.45, 0.05])],
            "x": x,
            "y": y,
            "w": rng.choice([0.0, 0.5, 1.0, 2.0], ROWS, p=[0.01, 0.3, 0.39, 0.3]),
        }
    )


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that can be read in batches is, in small ones."""
    monkeypatch.setattr(limits, "MOST_IN_MEMORY", 0)
    monkeypatch.setattr(batches, "BATCH", 1_000)
    monkeypatch.setattr(batches, "GROUP", 900)


def as_file(table: pa.Table, folder: Path) -> Path:
    pq.write_table(table, folder / "scores.parquet", row_group_size=700)
    return folder / "scores.parquet"


def as_iterator(table: pa.Table, folder: Path) -> Iterator[pa.RecordBatch]:
    return iter(table.to_batches(max_chunksize=333))


SOURCES = {"file": as_file, "iterator": as_iterator}


STOP = 1e-6  # relative: a search ends where another step would gain nothing, on a flat bottom of this width


def assert_same_fit(found: LmmFit, wanted: LmmFit) -> None:
    assert not found.model().design.holds_rows
    assert wanted.model().design.holds_rows
    assert_same_moments(found.model().engine.moments, wanted.model().engine.moments)
    for part in ("formula", "n", "npar", "converged", "singular", "dropped", "levels", "rows", "warnings", "verdict"):
        assert getattr(found, part) == getattr(wanted, part), part
    assert found.signature == wanted.signature
    assert found.criterion == pytest.approx(wanted.criterion, rel=1e-9)
    for mine, theirs in zip(found.fixed, wanted.fixed, strict=True):
        assert mine.name == theirs.name
        assert mine.estimate == pytest.approx(theirs.estimate, rel=1e-9, abs=STOP * theirs.se)
        assert (mine.se, mine.df) == pytest.approx((theirs.se, theirs.df), rel=STOP)
    for one, other in zip(found.random, wanted.random, strict=True):
        assert (one.group, one.term) == (other.group, other.term)
        assert one.sd == pytest.approx(other.sd, rel=STOP)


def assert_same_moments(found: Moments, wanted: Moments) -> None:
    """The fit is a function of these alone."""
    assert found.log_weights == pytest.approx(wanted.log_weights, rel=1e-12)
    rows = [
        m.B if isinstance(m.B, np.ndarray) else np.stack([b.toarray() for b in m.B], axis=1) for m in (found, wanted)
    ]
    for mine, theirs in ((found.A, wanted.A), (found.C, wanted.C), rows):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-12 * max(1.0, np.abs(theirs).max(initial=0.0)))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("case", CASES)
def test_batches_give_the_fit_of_the_table_in_memory(case: str, source: str, table: pa.Table, tmp_path: Path) -> None:
    formula, weights = CASES[case]
    wanted = fit_lmm(formula, table, weights=weights)
    assert wanted.rows.used < ROWS  # gaps are counted alike
    assert_same_fit(fit_lmm(formula, SOURCES[source](table, tmp_path), weights=weights), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_compiled_loops_give_the_same_fit(
    case: str, table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(summation, "WORTH_COMPILING", 0)
    monkeypatch.setattr(summation, "FEW_LEVELS", 0)
    formula, weights = CASES[case]
    assert_same_fit(
        fit_lmm(formula, as_file(table, tmp_path), weights=weights), fit_lmm(formula, table, weights=weights)
    )


def test_sorted_rows_give_the_same_fit(table: pa.Table, tmp_path: Path) -> None:
    formula, _ = CASES["nested"]
    ordered = table.sort_by("item")
    assert_same_fit(fit_lmm(formula, as_file(ordered, tmp_path)), fit_lmm(formula, ordered))


def test_long_sparse_rows_give_the_same_fit(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 900, 5_000), rng.integers(0, 400, 5_000)
    y = rng.normal(size=900)[a] + rng.normal(size=400)[b] + rng.normal(size=5_000)
    crossed = pa.table({"a": a, "b": [f"b{i}" for i in b], "y": y})
    found = fit_lmm("y ~ 1 + (1 | a) + (1 | b)", as_file(crossed, tmp_path))
    assert isinstance(found.model().engine.moments.B, tuple)
    assert_same_fit(found, fit_lmm("y ~ 1 + (1 | a) + (1 | b)", crossed))


def test_files_of_a_folder_are_one_table(table: pa.Table, tmp_path: Path) -> None:
    pq.write_table(table.slice(0, 2_000), tmp_path / "a.parquet")
    second = table.slice(2_000).select(list(reversed(table.column_names)))  # another order
    pq.write_table(second, tmp_path / "b.parquet")
    formula, _ = CASES["crossed"]
    assert_same_fit(fit_lmm(formula, tmp_path), fit_lmm(formula, table))


def test_a_packed_file_is_read_in_batches_too(table: pa.Table, tmp_path: Path) -> None:
    packed = tmp_path / "scores.parquet.gz"
    packed.write_bytes(gzip.compress(as_file(table, tmp_path).read_bytes()))
    assert_same_fit(fit_lmm("y ~ x + (1 | item)", packed), fit_lmm("y ~ x + (1 | item)", table))


def test_what_a_fit_holds_is_bounded_by_levels(table: pa.Table, tmp_path: Path) -> None:
    fit = fit_lmm("y ~ system + (1 | item)", as_file(pa.concat_tables([table] * 5), tmp_path))
    assert fit.n > 20_000
    assert len(fit.model().design.sample.response) <= ITEMS + 2


@pytest.fixture(scope="module")
def pair(table: pa.Table) -> tuple[LmmFit, LmmFit]:
    """The fit from batches and the one in memory."""
    formula = "y ~ system * x + (1 | item) + (1 | system:item) + (1 | seed)"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "MOST_IN_MEMORY", 0)
        return fit_lmm(formula, iter(table.to_batches(max_chunksize=500))), fit_lmm(formula, table)


def test_random_effects_are_the_same(pair: tuple[LmmFit, LmmFit]) -> None:
    for mine, theirs in zip(*(questions.random_effects(fit) for fit in pair), strict=True):
        place = {level: i for i, level in enumerate(mine.levels)}
        order = [place[level] for level in theirs.levels]
        np.testing.assert_allclose(mine.values[order], theirs.values, rtol=STOP, atol=STOP)
        np.testing.assert_allclose(mine.sd[order], theirs.sd, rtol=STOP)


def test_contrasts_means_and_profiles_are_the_same(pair: tuple[LmmFit, LmmFit]) -> None:
    for ask in (
        lambda fit: questions.contrast(fit, {"systemB": 1, "systemB:x": 2}).low,
        lambda fit: questions.joint_test(fit).statistic,
        lambda fit: [mean.estimate for mean in questions.marginal_means(fit, "system")],
        lambda fit: [interval.high for interval in questions.profile_intervals(fit)],
    ):
        assert ask(pair[0]) == pytest.approx(ask(pair[1]), rel=STOP)


def test_predictions_are_the_same(pair: tuple[LmmFit, LmmFit], table: pa.Table) -> None:
    mine, theirs = (questions.predict(fit, table.slice(0, 200)) for fit in pair)
    assert mine.rows == theirs.rows
    np.testing.assert_allclose(mine.values, theirs.values, rtol=STOP)


def test_estimable_means_are_told_without_rows(table: pa.Table, tmp_path: Path) -> None:
    crossing = table.filter(
        pa.compute.or_(pa.compute.not_equal(table["kind"], "u"), pa.compute.equal(table["system"], "A"))
    )
    formula = "y ~ system * kind + (1 | item)"
    found, wanted = fit_lmm(formula, as_file(crossing, tmp_path)), fit_lmm(formula, crossing)
    assert wanted.dropped == found.dropped != ()
    means = [[m.estimate for m in questions.marginal_means(fit, "system")] for fit in (found, wanted)]
    assert np.isnan(means[1]).any()
    np.testing.assert_allclose(means[0], means[1], rtol=STOP)


@pytest.mark.parametrize(
    "ask",
    [
        questions.fitted_values, questions.residuals, questions.simulate, questions.r_squared,
        questions.intraclass_correlations, lambda fit: questions.refit(fit, np.zeros(fit.n)),
    ],
)  # fmt: skip
def test_what_needs_rows_is_refused_in_one_line(ask: Callable[[LmmFit], Any], pair: tuple[LmmFit, LmmFit]) -> None:
    with pytest.raises(FitError, match=r"^this fit was made from batches and holds no rows: .*$"):
        ask(pair[0])


def test_likelihood_ratio_tests_are_the_same(pair: tuple[LmmFit, LmmFit], table: pa.Table, tmp_path: Path) -> None:
    formula = "y ~ system + (1 | item) + (1 | system:item) + (1 | seed)"
    complete = table.filter(pa.compute.is_finite(table["x"]))
    wanted = likelihood_ratio_test(fit_lmm(formula, complete), pair[1])
    assert wanted.method == "ml"
    small = fit_lmm(formula, as_file(complete, tmp_path))
    for large in pair:  # a fit in memory may be compared with one from batches
        found = likelihood_ratio_test(small, large)
        assert (found.df, found.statistic) == (wanted.df, pytest.approx(wanted.statistic, abs=1e-7))


def test_random_terms_are_tested_from_sums(pair: tuple[LmmFit, LmmFit]) -> None:
    found, wanted = (questions.random_term_tests(fit) for fit in pair)
    assert [each.term for each in found] == [each.term for each in wanted]
    statistics = [[each.test.statistic for each in tests] for tests in (found, wanted)]
    assert len(statistics[0]) > 1
    np.testing.assert_allclose(statistics[0], statistics[1], atol=1e-6)


def test_the_bootstrap_needs_no_rows(pair: tuple[LmmFit, LmmFit]) -> None:
    found, wanted = (questions.bootstrap_fit(fit, 50, seed=1).table().rows for fit in pair)
    for mine, theirs in zip(found, wanted, strict=True):
        assert mine[0] == theirs[0]
        assert mine[2].value == pytest.approx(theirs[2].value, rel=1e-5)  # type: ignore[union-attr]


def test_other_data_are_not_compared(pair: tuple[LmmFit, LmmFit], table: pa.Table) -> None:
    moved = table.set_column(table.column_names.index("y"), "y", pa.compute.multiply(table["y"], 1.001))
    other = fit_lmm("y ~ system * x + (1 | item)", iter(moved.to_batches()))
    with pytest.raises(NotNested, match="different responses"):
        likelihood_ratio_test(other, pair[0])


def pieces(*frames: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return iter(frames)


def scores(n: int = 40, start: int = 0, **changed: Any) -> dict[str, Any]:
    rng = np.random.default_rng(start)
    item = np.arange(start, start + n) % 50 % 10
    return {"item": item, "x": rng.integers(0, 9, n), "y": rng.normal(size=n) + item, **changed}


def assert_like_memory(formula: str, *frames: dict[str, Any]) -> LmmFit:
    joined = {name: [v for f in frames for v in f.get(name, [None] * len(f["y"]))] for name in frames[0]}
    found = fit_lmm(formula, pieces(*frames))
    assert_same_fit(found, fit_lmm(formula, joined))
    return found


def test_batches_may_bring_new_levels_and_other_types() -> None:
    first = scores()
    floats = scores(start=40, x=np.linspace(0, 8, 40))
    text = scores(start=80, item=[f"i{i % 7}" for i in range(40)])
    swapped = dict(reversed(scores(start=120).items()))
    gaps = scores(start=160, item=[float(i) if i % 3 else None for i in range(40)])
    found = assert_like_memory("y ~ x + (1 | item)", first, floats, text, swapped, gaps)
    assert found.levels["item"] > 17  # 3 and 3.0 are one level, i3 is another
    assert found.rows.reasons == {"no item": 14}


def test_empty_batches_and_batches_without_a_column_are_no_trouble() -> None:
    empty = {name: values[:0] for name, values in scores().items()}
    assert_like_memory("y ~ x + (1 | item)", empty, scores(), empty, scores(start=40), scores(start=80, x=[None] * 40))
    lacking = scores(start=80)
    del lacking["x"]
    assert assert_like_memory("y ~ x + (1 | item)", scores(), scores(start=40), lacking).rows.reasons == {"no x": 40}


def test_declared_orders_are_kept() -> None:
    def frame(start: int, categories: list[str]) -> pd.DataFrame:
        plain = scores(start=start)
        kind = pd.Categorical([categories[i % len(categories)] for i in range(40)], categories=categories)
        return pd.DataFrame({**plain, "kind": kind})

    frames = [frame(0, ["low", "high"]), frame(40, ["low", "mid", "high"]), frame(80, ["low", "mid", "high"])]
    found = fit_lmm("y ~ kind + (1 | item)", iter(frames))
    assert_same_fit(found, fit_lmm("y ~ kind + (1 | item)", [pa.Table.from_pandas(f) for f in frames]))
    assert [e.name for e in found.fixed] == ["(Intercept)", "kindmid", "kindhigh"]


def test_a_level_of_incomplete_rows_only_is_none() -> None:
    rare = scores(start=40, item=[99] * 40, y=[float("nan")] * 40)
    assert assert_like_memory("y ~ x + (1 | item)", scores(), rare, scores(start=80)).levels == {"item": 10}


def test_text_among_numbers_names_the_batch() -> None:
    bad = scores(start=40, y=["0.5"] * 39 + ["oops"])
    with pytest.raises(
        ColumnError, match=r"^row 40 of batch 2 has 'oops' in column 'y', which must hold numbers\. .*$"
    ):
        fit_lmm("y ~ x + (1 | item)", pieces(scores(), bad))


def test_no_batches_at_all_is_one_clear_line() -> None:
    with pytest.raises(ReadError, match="the list_iterator given held no batches"):
        fit_lmm("y ~ x", iter([]))


def test_a_batch_that_is_no_table_is_one_clear_line() -> None:
    with pytest.raises(ReadError, match="an object of type int is not a table"):
        fit_lmm("y ~ x", iter([scores(), 5]))


def test_a_column_that_no_batch_has_is_named() -> None:
    with pytest.raises(ColumnError, match=r"no column 'z' in the 2 batches given; it has 'item', 'x', 'y'"):
        fit_lmm("y ~ z", pieces(scores(), scores()))


def test_undefined_values_are_counted_over_all_batches() -> None:
    frames = [scores(x=[-1.0, *[2.0] * 39]), scores(start=40, x=[0.0] * 40), scores(start=80)]
    joined = {name: np.concatenate([f[name] for f in frames]) for name in frames[0]}
    for data in (joined, pieces(*frames)):
        with pytest.raises(FormulaError, match=r"log\(x\) is not defined in 4\d rows, such as x = -1"):
            fit_lmm("y ~ log(x) + (1 | item)", data)


def test_polynomials_are_refused() -> None:
    with pytest.raises(FormulaError, match=r"poly\(x, 2\) is learnt from all rows at once"):
        fit_lmm("y ~ poly(x, 2) + (1 | item)", pieces(scores(), scores(start=40)))


def test_groups_are_told_apart_by_any_row() -> None:
    alike = scores(start=40, other=[f"o{i}" for i in scores(start=40)["item"]])
    same = scores(other=[f"o{i}" for i in scores()["item"]])
    with pytest.raises(FormulaError, match="put the same rows together"):
        fit_lmm("y ~ 1 + (1 | item) + (1 | other)", pieces(same, alike))
    alike["other"][17] = "o1" if alike["item"][17] != 1 else "o2"  # one row in the last batch tells them apart
    fit = fit_lmm("y ~ 1 + (1 | item) + (1 | other)", pieces(same, alike))
    assert fit.levels == {"item": 10, "other": 10}


def test_a_file_that_ends_early_is_one_clear_line(table: pa.Table, tmp_path: Path) -> None:
    whole = as_file(table, tmp_path).read_bytes()
    (tmp_path / "scores.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ReadError, match="is a damaged Parquet file"):
        fit_lmm("y ~ x", tmp_path / "scores.parquet")


def test_damage_within_a_file_is_one_clear_line(table: pa.Table, tmp_path: Path) -> None:
    pq.write_table(table, tmp_path / "scores.parquet", row_group_size=700, write_page_checksum=True)
    damaged = bytearray((tmp_path / "scores.parquet").read_bytes())
    damaged[len(damaged) // 2 : len(damaged) // 2 + 64] = bytes(64)
    (tmp_path / "scores.parquet").write_bytes(damaged)
    with pytest.raises(ReadError, match="is a damaged Parquet file"):
        fit_lmm("y ~ system * x + year + w + (1 | item) + (1 | seed) + (1 | kind)", tmp_path / "scores.parquet")


def test_temporary_files_are_gone_afterwards(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    fit_lmm("y ~ x + (1 | item)", pieces(scores(), scores(start=40)))

    def failing() -> Iterator[dict[str, Any]]:
        yield scores()
        raise RuntimeError("the generator's own trouble")

    with pytest.raises(RuntimeError, match="own trouble"):
        fit_lmm("y ~ x + (1 | item)", failing())
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_few_rows_are_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_IN_MEMORY", 80)
    assert fit_lmm("y ~ x + (1 | item)", pieces(scores(), scores(start=40))).model().design.holds_rows
    assert not fit_lmm("y ~ x + (1 | item)", pieces(scores(), scores(41, 40))).model().design.holds_rows


def test_progress_counts_rows(table: pa.Table, tmp_path: Path) -> None:
    said: list[tuple[int, int | None, str]] = []
    fit_lmm("y ~ x + (1 | item)", as_file(table, tmp_path), progress=lambda *now: said.append(now))
    for label in ("surveying rows", "adding up rows"):
        counts = [(done, total) for done, total, about in said if about == label]
        assert counts[0] == (0, ROWS)
        assert counts[-1] == (ROWS, ROWS)
        assert counts == sorted(counts)


def test_the_command_line_fits_a_large_file(table: pa.Table, tmp_path: Path, run: Callable[..., Any]) -> None:
    done = run("fit", "y ~ system + (1 | item)", as_file(table, tmp_path))
    assert done.code == 0
    assert f"rows       {ROWS - 3:,} of {ROWS:,} rows used (2 with no y, 1 with no system)." in done.out


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, 2, 3, 4], ["1", "hello", "3", "4"], "'x' holds numbers in batch 1 and labels in batch 2"),
        (["a", "b", "a", "b"], [1, 2, 3, 4], "'x' holds labels in batch 1 and numbers in batch 2"),
    ],
)
def test_a_column_that_changes_its_kind_is_named(first: list[Any], second: list[Any], message: str) -> None:
    frames = [{"y": [1.0, 2.0, 3.0, 5.0], "x": x, "g": [1, 1, 2, 2]} for x in (first, second)]
    with pytest.raises(ColumnError, match=message):
        fit_lmm("y ~ x + (1 | g)", iter(frames))


def test_numbers_written_as_text_in_one_batch_are_numbers() -> None:
    frames = [{"y": [1.0, 2.0, 3.0, 5.0], "x": x, "g": [1, 1, 2, 2]} for x in ([1, 2, 3, 4], ["2", "3", "4", "5.5"])]
    assert [e.name for e in fit_lmm("y ~ x + (1 | g)", iter(frames)).fixed] == ["(Intercept)", "x"]


def test_a_path_among_batches_is_named() -> None:
    with pytest.raises(ReadError, match="batch 1 is a path"):
        fit_lmm("y ~ 1", iter(["scores.parquet"]))
