"""The skeleton of a table shows what the table shows, and statistics of parts are those of the whole."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from holdsup.columns.typed import hold_table
from holdsup.design import survey
from holdsup.design.batchrows import BatchColumns
from holdsup.design.grammar import parse_formula
from holdsup.design.survey import NewCombinations, NewDifference, Survey
from holdsup.design.transforms import Statistics, summarize


@pytest.mark.parametrize("largest", [2**26, 8])
@given(rows=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9)), max_size=60), cut=st.integers(0, 60))
def test_first_rows_of_combinations_are_found_once(rows: list[tuple[int, int]], cut: int, largest: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(survey, "LARGEST_TABLE", largest)
        known = NewCombinations(["a", "b"])
        shown: list[tuple[int, int]] = []
        numbers: dict[tuple[int, int], int] = {}
        for piece in (rows[:cut], rows[cut:]):
            labels = {"a": np.array([r[0] for r in piece], int), "b": np.array([r[1] for r in piece], int)}
            new = known.add(labels)
            assert [piece[i] for i in new] == [r for i, r in enumerate(piece) if r not in shown and r not in piece[:i]]
            shown.extend(piece[i] for i in new)
            for row, number in zip(piece, known.number(labels).tolist(), strict=True):
                assert numbers.setdefault(row, number) == number
        assert known.count == len(set(rows)) == len(set(numbers.values()))


@given(rows=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30), cut=st.integers(0, 30))
def test_groups_that_differ_are_told_apart(rows: list[tuple[int, int]], cut: int) -> None:
    difference = NewDifference()
    for piece in (rows[:cut], rows[cut:]):
        codes = np.array(piece, int).reshape(-1, 2)
        difference.add(codes[:, 0], codes[:, 1])
    pairs = set(rows)
    one_to_one = len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
    assert difference.found is not one_to_one


@given(
    values=st.lists(st.integers(-(10**6), 10**6).map(lambda i: i / 1000), min_size=2, max_size=40), cut=st.integers(0, 40),
    size=st.sampled_from([1.0, 1e-200, 1e200]), far=st.sampled_from([0.0, 1e9]),
)  # fmt: skip
def test_statistics_of_parts_are_those_of_the_whole(values: list[float], cut: int, size: float, far: float) -> None:
    x = np.array(values) + far
    parts = summarize(size * x[:cut]).plus(summarize(size * x[cut:]))
    assert (parts.n, parts.low, parts.high) == (len(x), (size * x).min(), (size * x).max())
    near = 1e-13 * np.abs(x).max()
    assert parts.mean / size == pytest.approx(x.mean(), abs=near)
    assert parts.spread / size == pytest.approx(x.std(), rel=1e-9, abs=near)
    assert parts.deviation / size == pytest.approx(x.std(ddof=1), rel=1e-9, abs=2 * near)


def test_statistics_follow_a_change_of_variable() -> None:
    x = np.array([1.0, 4.0, 9.0])
    found, wanted = summarize(x).moved(2.0, 4.0), summarize((x - 2) / 4)
    assert found == Statistics(3, *(pytest.approx(v) for v in (wanted.mean, wanted.spread, wanted.low, wanted.high)))
    assert summarize(x).size_about(2.0) == pytest.approx(np.sqrt(np.mean((x - 2) ** 2)))


def test_merged_surveys_are_the_survey_of_all_rows() -> None:
    rng = np.random.default_rng(5)
    n = 400
    table = pa.table(
        {
            "g": rng.integers(0, 30, n),
            "h": np.array(list("pqr"))[rng.integers(0, 3, n)],
            "x": rng.normal(size=n),
            "y": rng.normal(size=n),
        }
    )
    whole = hold_table("whole", "", table)
    plan = BatchColumns.of(parse_formula("y ~ exp(x) + (1 | g) + (1 | g:h)"), [whole], None)
    one, merged = Survey(plan), Survey(plan)
    one.add(one.prepare(whole))
    for start in range(0, n, 90):
        part = Survey(plan)
        part.add(hold_table("part", "", table.slice(start, 90)))
        merged.add_part(part.part())
    (left, rows, _), (right, again, _) = one.finish(), merged.finish()
    assert rows == again
    assert len(right.numbers["y"].values) < n / 2

    def combinations(found):
        return {
            tuple(pair) for pair in zip(*([c.names[i] for i in c.codes] for c in found.labels.values()), strict=True)
        }

    assert (
        combinations(left)
        == combinations(right)
        == set(zip(map(str, table["g"].to_pylist()), table["h"].to_pylist(), strict=True))
    )
    for factor, statistics in one.statistics().items():
        other = merged.statistics()[factor]
        assert (other.mean, other.spread) == pytest.approx((statistics.mean, statistics.spread), rel=1e-12)
