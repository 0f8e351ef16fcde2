"""Other results that a reproduction compares: sets of scores, labels, findings."""

from __future__ import annotations

import json
import math
from typing import Any

import jsonschema
import numpy as np
import pytest
from scipy import stats

from holdsup.data import belz2022
from holdsup.errors import ColumnError, MeasurementError
from holdsup.results import read_result, schema_of
from holdsup.verdict import agree_on_labels, compare_findings, compare_score_sets

OBSERVERS = {  # Krippendorff (2011): "." where an observer gave no value
    "A": "1 2 3 3 2 1 4 1 2 . . .",
    "B": "1 2 3 3 2 2 4 1 2 5 . 3",
    "C": ". 3 3 3 2 3 4 2 2 5 1 .",
    "D": "1 2 3 3 2 4 4 1 2 5 1 .",
}
LABELS = [
    {"rater": who, "item": i, "label": value}
    for who, values in OBSERVERS.items()
    for i, value in enumerate(values.split())
    if value != "."
]


def scored(**studies: list[float | None]) -> list[dict[str, Any]]:
    return [
        {"study": study, "item": f"i{i}", "score": value}
        for study, values in studies.items()
        for i, value in enumerate(values)
        if value is not None
    ]


def test_sets_of_scores_are_compared_with_the_original_item_by_item() -> None:
    rng = np.random.default_rng(1)
    original = rng.normal(3, 1, 20)
    again, other = original + rng.normal(0.2, 0.5, 20), rng.normal(3, 1, 20)
    found = compare_score_sets(scored(first=list(original), again=list(again), other=list(other)))
    assert found.original == "first"
    assert [s.reproduction for s in found.sets] == ["again", "other"]
    for one, values in zip(found.sets, (again, other), strict=True):
        assert one.pearson == pytest.approx(stats.pearsonr(original, values).statistic)
        assert one.spearman == pytest.approx(stats.spearmanr(original, values).statistic)
        assert one.rmse == pytest.approx(math.sqrt(((original - values) ** 2).mean()))
        assert one.bias == pytest.approx((values - original).mean())
    assert [caution.code for caution in found.cautions] == ["original-assumed"]


def test_items_that_one_of_two_lacks_are_left_out_of_their_comparison() -> None:
    found = compare_score_sets(scored(a=[1, 2, 3, None], b=[2, None, 4, 9], c=[1, 2, 3, 4]), original="a")
    assert [s.items for s in found.sets] == [2, 3]
    assert found.warnings == ()
    assert found.sets[0].bias == 1


def test_the_original_can_be_named_and_must_be_there() -> None:
    rows = scored(a=[1, 2, 3], b=[1, 2, 4])
    assert compare_score_sets(rows, original="b").sets[0].bias == pytest.approx(-1 / 3)
    with pytest.raises(MeasurementError, match="no study 'z'"):
        compare_score_sets(rows, original="z")


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (scored(a=[1, 2]), MeasurementError, "1 study with values"),
        (scored(a=[1, None], b=[None, 2]), MeasurementError, "share 0 scored items"),
        ([*scored(a=[1, 2], b=[1, 2]), {"study": "a", "item": "i0", "score": 3}], MeasurementError, "several values"),
        ([{"who": "a", "item": 1, "score": 2}], ColumnError, "--study COL"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused(rows: list[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        compare_score_sets(rows)


@pytest.mark.parametrize(("scale", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_a_table_is_krippendorffs(scale: str, alpha: float) -> None:
    found = agree_on_labels(LABELS, scale=scale)
    assert found.alpha == pytest.approx(alpha, abs=0.0005)
    assert (found.studies, found.items, found.complete) == (4, 11, 8)  # item 12 has one label


def test_kappa_uses_the_items_that_everyone_labelled() -> None:
    found = agree_on_labels([row for row in LABELS if row["rater"] in "AB"])
    both = [(a, b) for a, b in zip(OBSERVERS["A"].split(), OBSERVERS["B"].split(), strict=True) if "." not in (a, b)]
    assert found.complete == len(both) == 9
    agreement = np.mean([a == b for a, b in both])
    counts = {label: sum(pair.count(label) for pair in both) / 18 for label in "1234"}
    by_chance = sum(share**2 for share in counts.values())
    assert found.kappa == pytest.approx((agreement - by_chance) / (1 - by_chance))
    assert found.pairs[0].percent == pytest.approx(100 * agreement)


def test_labels_that_are_words_have_no_interval_scale() -> None:
    rows = [{"study": s, "item": i, "label": "yes" if i else "no"} for s in "ab" for i in range(2)]
    assert agree_on_labels(rows).alpha == 1
    with pytest.raises(MeasurementError, match="needs labels that are numbers, and one is 'no'"):
        agree_on_labels(rows, scale="interval")
    with pytest.raises(MeasurementError, match="scale is 'ratio'"):
        agree_on_labels(rows, scale="ratio")


def test_items_labelled_once_by_everybody_cannot_be_compared() -> None:
    rows = [{"study": s, "item": f"{s}{i}", "label": "x"} for s in "ab" for i in range(2)]
    with pytest.raises(MeasurementError, match="no item has two labels"):
        agree_on_labels(rows)


def test_findings_count_pairs_in_the_same_order_the_opposite_and_tied() -> None:
    values = {
        "first": {"A": 4, "B": 3, "C": 2, "D": 2},
        "again": {"A": 3, "B": 4, "C": 1, "D": 1},
        "third": {"A": 1, "B": 1, "C": 2},
    }
    rows = [
        {"object": name, "measurand": "F1", "value": value, "performed_by": study}
        for study, one in values.items()
        for name, value in one.items()
    ]
    again, third = compare_findings(rows, original="first").sets
    assert (again.conclusions, again.upheld, again.flipped, again.tied) == (6, 5, 1, 0)
    assert (third.conclusions, third.upheld, third.flipped, third.tied) == (3, 0, 2, 1)
    flips = compare_findings(rows).flips
    assert {(f.reproduction, f.left, f.right) for f in flips} == {
        ("again", "A", "B"), ("third", "A", "B"), ("third", "A", "C"), ("third", "B", "C"),
    }  # fmt: skip


def test_findings_of_the_papers_essay_scorers_are_counted_by_hand() -> None:
    found = compare_findings(belz2022(), where={"measurand": "wF1"})
    table: dict[str, dict[str, float]] = {}
    for one in belz2022():
        if one.measurand == "wF1":
            table.setdefault(one.source, {})[one.object] = one.value
    first, *others = table.values()
    names = list(first)
    for one, values in zip(found.sets, others, strict=True):
        pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
        upheld = sum(np.sign(first[a] - first[b]) == np.sign(values[a] - values[b]) for a, b in pairs)
        assert (one.conclusions, one.upheld) == (55, upheld)
    assert len(found.flips) == sum(s.conclusions - s.upheld for s in found.sets)


def test_findings_need_studies_and_shared_objects() -> None:
    bare = [{"object": o, "measurand": "F1", "value": v} for o, v in (("A", 1), ("B", 2), ("A", 2))]
    with pytest.raises(MeasurementError, match="has neither source nor performed_by"):
        compare_findings(bare)
    alone = [{**row, "performed_by": f"p{i}"} for i, row in enumerate(bare)]
    with pytest.raises(MeasurementError, match="no finding to compare"):
        compare_findings(alone)
    with pytest.raises(MeasurementError, match="no study 'nobody'"):
        compare_findings(alone, original="nobody")


@pytest.mark.parametrize(
    "found",
    [
        compare_score_sets(scored(a=[1, 2, 3], b=[1, 2, 4])),
        agree_on_labels(LABELS),
        compare_findings(belz2022()),
    ],
    ids=lambda found: found.kind,
)
def test_each_kind_fits_its_schema_and_is_restored(found: Any, tmp_path: Any) -> None:
    jsonschema.validate(json.loads(found.to_json()), schema_of(type(found)))
    found.write_json(tmp_path / "found.json")
    assert read_result(tmp_path / "found.json").to_dict() == found.to_dict()
    assert found.headline in " ".join(str(found).split())
