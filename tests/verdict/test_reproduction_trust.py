"""Assessments of odd tables: nothing is hidden, nothing is taken for what it is not, and many take seconds, not minutes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import holdsup
from holdsup.errors import MeasurementError, ScoresError
from holdsup.rendering import Table
from holdsup.verdict import (
    LabelAgreement,
    agree_on_labels,
    assess_repeatability,
    assess_reproduction,
    compare_findings,
    make_cards,
    write_card,
)
from holdsup.verdict.reproduction import records, spread
from holdsup.verdict.reproduction.records import MOST_CROSSED
from holdsup.verdict.reproduction.spread import MOST_CONDITIONS, MOST_OBJECTS


def measured(values: list[Any], name: str = "tagger", **conditions: list[str]) -> list[dict[str, Any]]:
    """Measurements of one object, with a list of values for each condition."""
    return [
        {"object": name, "measurand": "F1", "value": value, **{k: v[i] for k, v in conditions.items()}}
        for i, value in enumerate(values)
    ]


def test_the_rows_that_a_frame_once_had_are_no_condition() -> None:
    frame = pd.DataFrame(measured([30, 9, 31, 32], code=["x"] * 4))
    (one,) = assess_reproduction(frame[frame.value > 9]).assessments
    assert (one.repeatability, one.differing, one.agreeing) == (True, (), ("code",))


@pytest.mark.parametrize("scale", [1e-200, 1e200, 1e307])
def test_sizes_beyond_what_squares_can_hold_change_no_ratio(scale: float) -> None:
    values, code = [1.0, 1.2, 3.0, 3.1, 2.0], ["A", "A", "B", "B", "C"]
    plain = assess_reproduction(measured(values, code=code))
    scaled = assess_reproduction(measured([value * scale for value in values], code=code))
    assert scaled.assessments[0].cv == pytest.approx(plain.assessments[0].cv, rel=1e-12)
    assert scaled.spread[0].explained == pytest.approx(plain.spread[0].explained, rel=1e-9)
    assert scaled.spread[0].chance == plain.spread[0].chance
    assert "CV*" in str(scaled)


def test_the_mixed_model_takes_values_of_any_size() -> None:
    values = np.random.default_rng(1).normal(10, 1, 12)
    teams = [f"t{i % 4}" for i in range(12)]
    (plain,) = assess_reproduction(measured(list(values), performed_by=teams)).models
    (huge,) = assess_reproduction(measured(list(values * 1e306), performed_by=teams)).models
    assert huge.components[-1].cv == pytest.approx(plain.components[-1].cv, rel=1e-9)


def test_copies_and_words_for_nothing_are_said_beside_the_answer() -> None:
    rows = measured([30, 30, 31], code=["a", "a", "N/A"], performed_by=["x", "x", "y"])
    found = assess_reproduction(rows)
    said = {caution.code: caution for caution in found.cautions}
    assert said["repeated"].count == 1
    assert "'N/A'" in said["words-for-nothing"].message
    (one,) = found.assessments
    assert one.differing == ("performed_by",)
    assert "code" in one.not_reported


def test_a_condition_that_differs_among_those_who_report_it_is_not_reported_for_all() -> None:
    found = assess_reproduction(measured([30, 31, 33], code=["a", "", "b"], performed_by=["p"] * 3))
    (one,) = found.assessments
    assert (one.differing, one.not_reported[0]) == (("code",), "code")
    said = next(caution for caution in found.cautions if caution.code == "not-reported")
    assert ("code," in said.message, said.about) == (True, "table:conditions")


def test_values_without_spread_are_not_said_to_have_one() -> None:
    same = assess_reproduction(measured([5, 5, 5], code=["a"] * 3)).assessments[0]
    other = assess_reproduction(measured([5, 5, 5], code=["a", "b", "c"])).assessments[0]
    open_ = assess_reproduction(measured([5, 5, 5])).assessments[0]
    for one in (same, other, open_):
        assert "spread" not in one.align_next
    assert other.align_next == "Nothing to align: the values agree despite different code."


@pytest.mark.parametrize(("unit", "top"), [("percent", 100.0), ("proportion", 1.0)])
def test_the_next_value_ends_where_shares_end(unit: str, top: float) -> None:
    rows = [{**row, "unit": unit} for row in measured([0.9 * top, 0.98 * top])]
    assert assess_reproduction(rows).assessments[0].next_high == top
    bare = [{**row, "unit": "points"} for row in rows]
    assert assess_reproduction(bare).assessments[0].next_high > top


def test_percentages_above_a_hundred_have_no_end() -> None:
    rows = [{**row, "unit": "percent"} for row in measured([140, 150])]
    assert assess_reproduction(rows).assessments[0].next_high > 150


def test_conditions_that_divide_alike_go_together() -> None:
    code = ["A", "A", "B", "B"]
    (one,) = assess_reproduction(measured([1.0, 1.2, 3.0, 3.1], code=code, test_set=code)).assessments
    assert one.align_next.startswith("Align code and test set first: they explain")


def test_an_unknown_condition_is_not_selected_by() -> None:
    with pytest.raises(MeasurementError, match=r"there is no condition 'foo' .* 'code'"):
        assess_reproduction(measured([1, 2], code=["a", "b"]), where={"foo": "1"})


def test_the_card_carries_notes_and_cautions(tmp_path: Path) -> None:
    rows = measured(["91 %", 0.905, "88 %"], code=["a", "?", "b"], performed_by=["x", "y", "z"])
    found = assess_reproduction(rows)
    (tmp_path / "found.json").write_text(found.to_json(), encoding="utf-8")
    restored = holdsup.read_result(tmp_path / "found.json")
    assert isinstance(restored, holdsup.Reproduction)
    for each in (found, restored):
        (card,) = make_cards(each)
        assert any("0.905 as 90.5 %" in caution for caution in card.cautions)
        assert set(card.cautions) == set(found.warnings)


def test_each_card_has_only_its_own_notes() -> None:
    rows = [*measured(["91 %", 0.905]), *measured([50.0, 51.0], name="parser")]
    cards = make_cards(assess_reproduction(rows))
    said = [any("0.905 as 90.5 %" in caution for caution in card.cautions) for card in cards]
    assert sorted(said) == [False, True]


def test_a_latex_card_names_the_package_that_it_needs(tmp_path: Path) -> None:
    write_card(assess_reproduction(measured([1, 2])), tmp_path / "card.tex")
    first = (tmp_path / "card.tex").read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("%")
    assert "booktabs" in first


def test_numbers_of_an_html_card_stand_flush_right(tmp_path: Path) -> None:
    write_card(assess_reproduction(measured([1, 2], code=["a", "b"])), tmp_path / "card.html")
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert "td.number { text-align: right;" in page
    assert '<td class="number">' in page


def test_an_html_card_is_light_and_dark_and_breaks_words_that_are_longer_than_a_column(tmp_path: Path) -> None:
    write_card(assess_reproduction(measured([1, 2], name="x" * 200)), tmp_path / "card.html")
    page = (tmp_path / "card.html").read_text(encoding="utf-8")
    assert "color-scheme: light dark;" in page
    assert f'<td class="long">{"x" * 200}</td>' in page
    assert ".holdsup .long { overflow-wrap: anywhere; }" in page


def _findings(*rows: tuple[str, str, float], measurand: str = "F1") -> list[dict[str, Any]]:
    return [{"object": o, "measurand": measurand, "value": v, "performed_by": study} for study, o, v in rows]


def test_measurements_in_no_comparison_of_findings_are_counted() -> None:
    compared = _findings(("a", "X", 1), ("a", "Y", 2), ("a", "only a", 3), ("b", "X", 2), ("b", "Y", 1))
    lone = _findings(("a", "X", 1), ("b", "X", 2), measurand="BLEU")
    found = compare_findings([*compared, *lone])
    assert (found.rows.planned, found.rows.used, sum(found.rows.reasons.values())) == (7, 4, 3)
    (assumed,) = found.cautions
    assert (assumed.code, "a (F1)" in assumed.message) == ("original-assumed", True)
    assert "in 1 reproduction." in found.headline


def furthest(found: LabelAgreement) -> tuple[Any, ...]:
    (table,) = found.answer().parts
    assert isinstance(table, Table)
    return table.rows[0][:2]


def test_the_farthest_studies_are_those_by_the_scale_of_the_labels() -> None:
    """b never gives a's label but is always near; c gives it half the time and is far away otherwise."""
    labels = {"a": [1, 2, 3, 4, 5, 6], "b": [2, 3, 4, 5, 6, 7], "c": [1, 9, 3, 0, 5, 0]}
    rows = [{"study": s, "item": i, "label": str(v)} for s, own in labels.items() for i, v in enumerate(own)]
    found = agree_on_labels(rows, scale="interval")
    worst = min(found.pairs, key=lambda pair: pair.alpha)
    assert (worst.left, worst.right) != ("a", "b")
    assert furthest(found) == (worst.left, worst.right)
    assert furthest(agree_on_labels(rows)) == ("a", "b")


def test_labels_that_some_did_not_give_are_left_out_in_a_whole_sentence() -> None:
    rows = [{"study": s, "item": i, "label": "xy"[i % 2]} for s in "abc" for i in range(4) if (s, i) != ("c", 3)]
    (said,) = agree_on_labels(rows).cautions
    assert (said.code, said.count, said.severity) == ("items-incomplete", 1, "note")


def test_scores_below_the_minimum_of_the_scale_say_which_option_to_give() -> None:
    rows = [{"system": "A", "seed": seed, "item": i, "score": -0.2} for seed in (1, 2) for i in range(3)]
    with pytest.raises(ScoresError, match="--scale-minimum"):
        assess_repeatability(rows)


def test_scores_that_are_ratings_count_from_1_in_each_metric_of_its_own() -> None:
    """Their means are not whole: single scores tell."""
    rng = np.random.default_rng(1)
    rows = [
        {"system": "A", "seed": seed, "item": i, "metric": metric, "score": score}
        for seed in (1, 2, 3)
        for i in range(8)
        for metric, score in (("fluency", int(rng.integers(2, 6))), ("errors", int(rng.integers(0, 5))))
    ]
    found = assess_repeatability(rows)
    assert {(m.measurand, m.scale_minimum) for m in found.measurements} == {("fluency", 1.0), ("errors", 0.0)}
    assert [caution.message[:9] for caution in found.cautions if caution.code == "scale-guessed"] == ["'fluency'"]
    asked = assess_repeatability(rows, scale_minimum=0)
    assert {m.scale_minimum for m in asked.measurements} == {0.0}
    assert not {"scale-minimum", "scale-guessed"} & {caution.code for caution in asked.cautions}
    assert "scale_minimum:0" in asked.signature
    halves = [{**row, "score": row["score"] + 0.5} for row in rows if row["metric"] == "fluency"]
    assert "scale-minimum" in [caution.code for caution in assess_repeatability(halves).cautions]


def test_many_objects_and_conditions_have_no_model_and_say_so() -> None:
    rng = np.random.default_rng(0)
    objects = [
        row
        for o in range(MOST_OBJECTS + 1)
        for row in measured(list(rng.normal(50, 3, 4)), name=f"s{o}", performed_by=list("abca"))
    ]
    many = assess_reproduction(objects)
    wide = {f"c{i}": [str(v) for v in rng.integers(0, 3, 60)] for i in range(MOST_CONDITIONS + 1)}
    one = assess_reproduction(measured(list(rng.normal(50, 3, 60)), **wide))
    for found in (many, one):
        assert found.models == ()
        (said,) = [caution for caution in found.cautions if caution.code == "no-model"]
        assert ("it takes up to" in said.message, said.about) == (True, "table:models")
    fewer = [row for row in objects if row["object"] != "s0"]
    assert len(assess_reproduction(fewer).models) == 1


def test_of_many_conditions_the_best_are_tried_two_by_two() -> None:
    rng = np.random.default_rng(2)
    names = [f"c{i}" for i in range(MOST_CROSSED + 5)]
    wide = {name: [str(v) for v in rng.integers(0, 3, 60)] for name in names}
    found = assess_reproduction(measured(list(rng.normal(50, 3, 60)), **wide))
    alone = [row.conditions[0] for row in found.spread if len(row.conditions) == 1]
    assert sorted(alone) == sorted(names)
    crossed = {name for row in found.spread if len(row.conditions) == 2 for name in row.conditions}
    assert crossed == set(alone[:MOST_CROSSED])
    assert "conditions-not-crossed" in [caution.code for caution in found.cautions]
    assert "c2, c3 and 13 more" in str(found)


def test_orders_of_values_are_all_there_are() -> None:
    orders = spread._orders(np.array([1.0, 2.0, 4.0, 8.0]), 0)
    assert orders.shape == (4, 24)
    assert len({tuple(column) for column in orders.T}) == 24
    drawn = spread._orders(np.arange(9.0), 0)
    assert (np.sort(drawn, axis=0) == np.arange(9.0)[:, None]).all()


def test_work_per_object_does_not_grow_with_the_number_of_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked at, not timed: every row of the result is sorted once, whatever the number of assessments."""
    rng = np.random.default_rng(0)
    rows = [row for o in range(60) for row in measured(list(rng.normal(50, 3, 3)), name=f"s{o}", code=list("aab"))]
    found = assess_reproduction(rows)
    looked = 0
    own = records.sort_rows

    def counted(given: Any) -> Any:
        nonlocal looked
        given = list(given)
        looked += len(given)
        return own(given)

    monkeypatch.setattr(records, "sort_rows", counted)
    assert len(make_cards(found)) == 60
    assert looked == len(found.measurements) + len(found.conditions) + len(found.spread)


def test_progress_is_told_for_each_object() -> None:
    told: list[tuple[int, int | None]] = []
    rows = [row for o in range(5) for row in measured([1.0, 2.0], name=f"s{o}")]
    assess_reproduction(rows, progress=lambda done, total, label: told.append((done, total)))
    assert told[:5] == [(i, 5) for i in range(5)]


def test_lower_limits_above_zero_are_shown_above_zero() -> None:
    found = assess_reproduction(measured([50.0, 50.107]))
    tables: tuple[Table, ...] = found.tables()
    low = found.assessments[0].sd_low_chi2
    shown = tables[1].cells()[0][4]
    assert low == pytest.approx(0.107 / math.sqrt(2) / math.sqrt(stats.chi2.ppf(0.975, 1)))
    assert float(shown.split(" to ")[0]) == pytest.approx(low, rel=0.05)
