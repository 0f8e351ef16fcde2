"""Assessments of reproductions: the paper's numbers, what agrees, what explains, refusals, renderings, cards."""

from __future__ import annotations

import importlib.util
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import numpy as np
import pytest

import holdsup
from holdsup.data import belz2022, belz2022_groups, belz2022_table
from holdsup.errors import MeasurementError, ResultError, ScoresError
from holdsup.measurements import Measurement
from holdsup.results import schema_of
from holdsup.verdict import assess_repeatability, assess_reproduction, make_cards, write_card
from holdsup.verdict.reproduction.groups import Group, sort_conditions
from holdsup.verdict.reproduction.spread import spread_within

Run = Callable[..., Any]


def measured(
    values: list[float], measurand: str = "F1", name: str = "tagger", **conditions: list[str]
) -> list[dict[str, Any]]:
    """Measurements of one object, with a list of values for each condition."""
    return [
        {"object": name, "measurand": measurand, "value": value, **{k: v[i] for k, v in conditions.items() if v[i]}}
        for i, value in enumerate(values)
    ]


def codes(found: holdsup.Reproduction) -> list[str]:
    return [caution.code for caution in found.cautions]


@pytest.fixture(scope="module")
def paper() -> holdsup.Reproduction:
    return assess_reproduction(belz2022())


@pytest.fixture(scope="module")
def replication(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("belz", root / "replications/belz.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_numbers_of_the_paper_come_out_to_the_printed_digits(replication: ModuleType) -> None:
    rows = replication.published()
    assert len(rows) == 18 * 5 + 8
    off = [row for row in rows if not replication.agrees(*row[1:])]
    assert not off
    assert [row[2] for row in rows if "4.1" in row[0]] == [0.838, 0, 1.314, 0, 2.154, 3.11, 6.598, 4.05]


def test_the_replication_would_notice_a_wrong_digit(replication: ModuleType) -> None:
    assert replication.agrees(3, 14.633, 14.63332)
    assert not replication.agrees(3, 14.633, 14.6336)


def test_rounded_inputs_do_not_give_the_papers_clarity() -> None:
    rounded = assess_reproduction(measured([5.64 - 1, 6.30 - 1])).assessments[0]
    published = next(row for row in belz2022_table() if row.measurand == "Clarity")
    assert abs(rounded.cv - published.cv) > 0.04


def test_assessments_come_in_the_order_of_cv(paper: holdsup.Reproduction) -> None:
    cvs = [a.cv for a in paper.assessments]
    assert len(cvs) == 18
    assert cvs == sorted(cvs)
    assert (paper.assessments[0].object, paper.assessments[-1].object) == ("NTS_def", "mult-dom+")


def test_each_of_the_papers_results_is_placed_among_them(paper: holdsup.Reproduction) -> None:
    assert [a.more_reproducible_than for a in paper.assessments] == list(range(17, -1, -1))
    assert {a.of for a in paper.assessments} == {18}


def test_the_papers_own_analysis_of_the_same_outputs_is_among_the_spreads(paper: holdsup.Reproduction) -> None:
    found = {
        (row.object, row.measurand): {group.values: (group.n, group.cv) for group in row.groups}
        for row in paper.spread
        if row.conditions == ("compile_training",)
    }
    same = ("Nisioi et al.",)
    assert found["NTS_def", "BLEU"][same] == (4, pytest.approx(0.838, abs=0.0005))
    assert found["NTS-w2v_def", "BLEU"][same] == (3, pytest.approx(1.314, abs=0.0005))
    assert found["NTS_def", "SARI"][same] == (3, 0)


def test_conditions_that_differ_are_named(paper: holdsup.Reproduction) -> None:
    found = {(a.object, a.measurand): a for a in paper.assessments}
    assert found["PASS", "Fluency"].differing == ("implementation", "procedure", "performed_by")
    assert found["NTS_def", "SARI"].differing == ("compile_training", "performed_by")
    assert not any(a.repeatability for a in paper.assessments)
    assert all(name in paper.page().text() for name in ("compile training", "performed by"))


def test_it_is_repeatability_when_all_conditions_agree() -> None:
    found = assess_reproduction(measured([0.8, 0.9], code=["A", "A"], performed_by=["me", "me"])).assessments[0]
    assert found.repeatability is True
    assert found.agreeing == ("code", "performed_by")
    assert "procedure" in found.not_reported


def test_without_conditions_nobody_can_tell_which_it_is() -> None:
    found = assess_reproduction(measured([0.8, 0.9]))
    assert found.assessments[0].repeatability is None
    assert "no-conditions" in codes(found)
    assert "Report the conditions" in found.assessments[0].align_next


def test_a_condition_that_some_leave_open_neither_agrees_nor_differs() -> None:
    rows = measured([0.8, 0.9, 0.7], code=["A", "A", ""], performed_by=["me", "you", "you"])
    found = assess_reproduction(rows)
    (one,) = found.assessments
    assert one.differing == ("performed_by",)
    assert "code" in one.not_reported
    code = next(row for row in found.conditions if row.condition == "code")
    assert (code.agrees, code.values, code.same_as_first) == (None, ("A", "A", None), (True, True, None))


def test_free_conditions_count_like_the_standard_ones() -> None:
    found = assess_reproduction(measured([0.8, 0.9], seed=["1", "2"], code=["A", "A"])).assessments[0]
    assert found.differing == ("seed",)
    assert found.repeatability is False


def test_explained_is_the_adjusted_share_between_groups_and_chance_counts_divisions() -> None:
    values, code = [1.0, 1.2, 3.0, 3.1], ["A", "A", "B", "B"]
    found = assess_reproduction(measured(values, code=code, performed_by=list("abcd")))
    row = next(row for row in found.spread if row.conditions == ("code",))
    within = (2 * 0.1**2 + 2 * 0.05**2) / 2
    total = np.var(values, ddof=1)
    assert row.explained == pytest.approx(100 * (1 - within / total))
    assert row.cv_within == pytest.approx(100 * math.sqrt(within) / np.mean(values) / (math.sqrt(math.pi) / 2))  # c4(3)
    assert row.chance == pytest.approx(1 / 3)  # four values fall into two pairs in three ways
    assert not any(row.conditions == ("performed_by",) for row in found.spread)  # each alone: says nothing


def test_conditions_that_divide_alike_are_reported_as_one() -> None:
    code = ["A", "A", "B", "B"]
    found = assess_reproduction(measured([1.0, 1.2, 3.0, 3.1], code=code, test_set=[c.lower() for c in code]))
    (row,) = found.spread
    assert (row.conditions, row.same_groups) == (("code",), ("test_set",))
    assert "code and test set first" in found.assessments[0].align_next


def test_chance_from_draws_is_near_the_exact_share() -> None:
    rng = np.random.default_rng(1)
    code = ["A"] * 4 + ["B"] * 4
    values = [*rng.normal(1, 0.1, 4), *rng.normal(1.15, 0.1, 4)]
    group = Group(holdsup.read_measurements(measured(values, code=code)))
    (row,) = spread_within(group, sort_conditions(group), seed=3)
    x = np.array(values)
    gaps = [abs(x[list(c)].mean() - np.delete(x, list(c)).mean()) for c in _quadruples()]
    exact = np.mean(np.array(gaps) >= abs(x[:4].mean() - x[4:].mean()) - 1e-12)
    assert row.chance == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 1999))


def _quadruples() -> list[tuple[int, ...]]:
    import itertools

    return list(itertools.combinations(range(8), 4))


def test_two_measurements_are_never_over_read() -> None:
    found = assess_reproduction(measured([0.8, 0.9], code=["A", "B"], performed_by=["me", "you"]))
    assert found.spread == ()
    assert "two-measurements" in codes(found)
    assert "can't tell which condition matters" in found.assessments[0].align_next


def test_who_measured_cannot_be_aligned() -> None:
    only = assess_reproduction(measured([0.8, 0.9, 0.7], performed_by=["a", "b", "b"], code=["A"] * 3)).assessments[0]
    assert only.align_next.startswith("Find out what the labs did differently: no other")
    values, who = [1.0, 1.1, 3.0, 3.1, 2.0], ["a", "a", "b", "b", "c"]
    both = assess_reproduction(measured(values, performed_by=who, code=["A", "B", "A", "B", "A"])).assessments[0]
    assert re.match(r"Find out what the labs did differently: >?\d+% of the variance is between labs", both.align_next)


def test_the_mixed_model_recovers_a_condition_that_moves_every_object() -> None:
    rng = np.random.default_rng(7)
    teams = [f"team {i}" for i in range(8)]
    effect = rng.normal(0, 5, 8)
    rows = [
        {
            "object": f"s{o}",
            "measurand": "F1",
            "value": 50 * (1 + (effect[t] + rng.normal(0, 1)) / 100),
            "performed_by": teams[t],
        }
        for o in range(6)
        for t in range(8)
    ]
    (model,) = assess_reproduction(rows).models
    team, residual = model.components
    assert (model.n, model.objects, team.condition, team.levels) == (48, 6, "performed_by", 8)
    # Balanced two-way layout: expected mean squares in closed form.
    y = np.array([row["value"] for row in rows]).reshape(6, 8)
    y = 100 * y / y.mean(axis=1, keepdims=True)
    left = y - y.mean(axis=0) - y.mean(axis=1, keepdims=True) + y.mean()
    error = (left**2).sum() / (5 * 7)
    between = 6 * y.mean(axis=0).var(ddof=1)
    assert residual.cv == pytest.approx(math.sqrt(error), rel=1e-4)
    assert team.cv == pytest.approx(math.sqrt((between - error) / 6), rel=1e-4)
    assert team.low < team.cv < team.high


def test_names_of_conditions_never_become_part_of_a_formula() -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"object": "x", "measurand": "F1", "value": float(v), "conditions": {"a ` + (b": f"t{i % 4}"}}
        for i, v in enumerate(rng.normal(10, 1, 12))
    ]
    (model,) = assess_reproduction(rows).models
    assert model.components[0].condition == "a ` + (b"
    assert model.components[0].levels == 4


def test_equal_values_have_no_model() -> None:
    found = assess_reproduction(measured([0.5] * 12, performed_by=[f"t{i % 4}" for i in range(12)]))
    assert found.models == ()


def test_there_is_no_model_of_few_measurements(paper: holdsup.Reproduction) -> None:
    assert assess_reproduction(measured([0.8, 0.9, 0.7], code=["A", "B", "C"])).models == ()
    assert [(model.measurand, model.n) for model in paper.models] == [("BLEU", 13), ("wF1", 88)]


def test_percentages_and_proportions_are_the_same_quantity() -> None:
    mixed = [
        {"object": "x", "measurand": "acc", "value": v, "performed_by": p} for v, p in (("91 %", "a"), (0.97, "b"))
    ]
    plain = measured([91.0, 97.0])
    one, other = assess_reproduction(mixed), assess_reproduction(plain)
    assert one.assessments[0].cv == pytest.approx(other.assessments[0].cv)
    assert "converted" in codes(one)


def test_the_shift_is_what_makes_scales_comparable() -> None:
    on_seven = [{**row, "scale_minimum": 1} for row in measured([5.36, 6.14])]
    assert assess_reproduction(on_seven).assessments[0].cv == pytest.approx(16.372, abs=0.0005)
    assert assess_reproduction(measured([5.36, 6.14])).assessments[0].cv < 14


def test_values_that_may_be_ratings_are_cautioned_about_with_both_numbers() -> None:
    said = "Counted from 0, CV* is 13.525; from 1, it is 16.372."
    rows = measured([5.36, 6.14])
    assert any(said in warning for warning in assess_reproduction(rows).warnings)
    objects = [Measurement(object="x", measurand="m", value=value, source=str(value)) for value in (5.36, 6.14)]
    assert any(said in warning for warning in assess_reproduction(objects).warnings)
    for stated in (
        assess_reproduction([{**row, "scale_minimum": 0} for row in rows]),
        assess_reproduction(rows, scale_minimum=0),
        assess_reproduction([{**row, "unit": "percent"} for row in rows]),
        assess_reproduction(measured([0.96, 6.14])),
        assess_reproduction(measured([1.0, 1.0, 1.0])),
    ):
        assert not {"scale-minimum", "scale-guessed"} & {*codes(stated)}
    assert assess_reproduction(rows, scale_minimum=1).assessments[0].cv == pytest.approx(16.372, abs=0.0005)


def test_many_whole_numbers_from_1_to_7_are_ratings_and_the_answer_says_so(tmp_path: Path) -> None:
    ratings = [3, 5, 4, 4, 5, 7, 6, 5, 4, 6]
    rows = [row | {"source": str(i)} for i, row in enumerate(measured(ratings))]
    found = assess_reproduction(rows)
    stated = assess_reproduction([{**row, "scale_minimum": 1} for row in rows])
    assert found.assessments == stated.assessments
    assert [m.scale_from for m in found.measurements] == ["guess"] * 10
    assert codes(found).count("scale-guessed") == 1
    assert not {"scale-minimum", "scale-guessed"} & {*codes(stated)}
    assert assess_reproduction(rows, scale_minimum=0).assessments[0].cv < found.assessments[0].cv
    write_card(found, tmp_path / "card.md")
    assert "read as ratings" in (tmp_path / "card.md").read_text()
    for other in ([*ratings[:9], 6.5], [*ratings[:9], 8], ratings[:9], [0, *ratings], [2, 3] * 5):
        apart = assess_reproduction([row | {"source": str(i)} for i, row in enumerate(measured(other))])
        assert "scale-guessed" not in codes(apart)


def test_the_values_of_another_object_tell_whether_a_measurand_is_rated() -> None:
    ratings = [row | {"source": str(i)} for i, row in enumerate(measured([3, 5, 4, 4, 5, 7, 6, 5, 4, 6]))]
    beyond = measured([20, 30], name="parser")
    assert {m.scale_minimum for m in assess_reproduction([*ratings, *beyond]).measurements} == {0.0}
    within = measured([2, 3], name="parser")
    assert {m.scale_minimum for m in assess_reproduction([*ratings, *within]).measurements} == {1.0}


def test_the_next_value_is_in_the_unit_of_the_values_and_not_below_the_scale() -> None:
    rows = [{**row, "scale_minimum": 1} for row in measured([5.36, 6.14])]
    found = assess_reproduction(rows).assessments[0]
    assert found.next_low == 1
    assert found.next_high > 6.14


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (measured([0.8]), "tagger F1 has one measurement"),
        ([*measured([0.8]), *measured([0.7], name="parser")], "never pooled"),
        ([*measured([0.8]), *measured([0.7], measurand="BLEU")], "never pooled"),
        (measured([0.0, 0.0]), "is zero once the scale starts at zero"),
        ([{**row, "scale_minimum": 1} for row in measured([1, 1])], "is zero once the scale starts at zero"),
        ([{**row, "scale_minimum": 1} for row in measured([0.5, 2])], "below the minimum"),
        (measured([0.8, math.nan]), "value"),
        (measured([0.8, math.inf]), "finite|number|value"),
    ],
)
def test_what_cannot_be_assessed_is_refused_in_one_line(rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(MeasurementError, match=message) as refused:
        assess_reproduction(rows)
    assert "\n" not in str(refused.value)


def test_a_level_beyond_one_is_refused() -> None:
    with pytest.raises(MeasurementError, match="between 0 and 1"):
        assess_reproduction(measured([0.8, 0.9]), level=95)


def test_what_is_left_out_beside_others_is_counted_and_named() -> None:
    rows = [*measured([0.8, 0.9]), *measured([0.7], name="alone"), *measured([0, 0, 0], name="nothing")]
    found = assess_reproduction(rows)
    assert [a.object for a in found.assessments] == ["tagger"]
    assert (found.rows.planned, found.rows.used, sum(found.rows.reasons.values())) == (6, 2, 4)
    said = {caution.code: caution.message for caution in found.cautions}
    assert ("alone F1" in said["single"], "nothing F1" in said["zero-mean"]) == (True, True)


def test_where_keeps_what_was_asked_for_and_counts_the_rest() -> None:
    found = assess_reproduction(
        belz2022(), where={"measurand": "SARI", "performed_by": ["Belz et al.", "Nisioi et al."]}
    )
    assert [(a.object, a.n) for a in found.assessments] == [("NTS_def", 3), ("NTS-w2v_def", 3)]
    assert found.rows.used + sum(found.rows.reasons.values()) == 116
    with pytest.raises(MeasurementError, match="no measurement has object 'nobody'"):
        assess_reproduction(belz2022(), where={"object": "nobody"})


def test_the_order_of_measurements_changes_nothing_but_the_first() -> None:
    rows = measured([0.8, 0.9, 0.7], performed_by=["a", "b", "b"])
    one, other = assess_reproduction(rows), assess_reproduction(rows[::-1])
    assert one.signature == other.signature
    assert one.assessments[0].cv == pytest.approx(other.assessments[0].cv, rel=1e-12)
    assert [row.explained for row in one.spread] == pytest.approx([row.explained for row in other.spread])


def test_equal_values_are_not_taken_for_proof() -> None:
    found = assess_reproduction(measured([0.8, 0.8, 0.8], performed_by=["a", "b", "c"]))
    assert found.assessments[0].cv == 0
    assert "no-spread" in codes(found)


def test_the_json_is_restored_and_fits_its_schema(paper: holdsup.Reproduction, tmp_path: Path) -> None:
    plain = paper.to_dict()
    jsonschema.validate(json.loads(paper.to_json()), schema_of(holdsup.Reproduction))
    assert {"object", "measurand", "n", "mean", "sd", "sd_low", "sd_high", "cv", "repeatability"} <= set(
        plain["assessments"][0]
    )
    paper.write_json(tmp_path / "found.json")
    restored = holdsup.read_result(tmp_path / "found.json")
    assert restored.to_dict() == plain
    assert len(paper.to_frame("assessments")) == 18
    assert len(paper.to_frame("conditions")) == 18 * 7


def test_objects_measured_under_the_same_conditions_share_a_matrix(paper: holdsup.Reproduction) -> None:
    matrices = [table for table in paper.tables() if table.title.startswith("Conditions of measurement")]
    assert len(matrices) == 6
    essays = next(table for table in matrices if "8 more" in table.title)
    assert len(essays.rows) == 8
    assert essays.columns == ("measurement", "code", "compile training", "implementation", "performed by")


@pytest.mark.parametrize("ending", ["html", "md", "tex"])
def test_the_card_says_it_all_and_survives_saving(ending: str, tmp_path: Path) -> None:
    found = assess_reproduction(belz2022(), where={"object": "PASS"})
    write_card(found, tmp_path / f"card.{ending}")
    found.write_json(tmp_path / "found.json")
    restored = holdsup.read_result(tmp_path / "found.json")
    assert isinstance(restored, holdsup.Reproduction)
    write_card(restored, tmp_path / f"again.{ending}")
    card = (tmp_path / f"card.{ending}").read_text(encoding="utf-8")
    assert card == (tmp_path / f"again.{ending}").read_text(encoding="utf-8")
    for word in ("PASS", "Fluency", "16.372", "5.36", "6.14", "what changed", "what to align next", "Mille et al."):
        assert word in card, word
    if ending == "html":
        assert "default-src 'none'" in card
        assert card.count("<section") == 3
        assert "<details" not in card  # an appendix is printed: nothing is folded


def test_a_card_cannot_be_made_to_run_code(tmp_path: Path) -> None:
    rows = measured([0.8, 0.9], name="<script>alert(1)</script>", performed_by=["<b>a", "$x_1$ & %"])
    found = assess_reproduction(rows)
    write_card(found, tmp_path / "card.html")
    assert "<script>" not in (tmp_path / "card.html").read_text(encoding="utf-8")
    write_card(found, tmp_path / "card.tex")
    assert r"\$x\_1\$ \& \%" in (tmp_path / "card.tex").read_text(encoding="utf-8")


def test_nearly_the_same_is_set_by_latex(tmp_path: Path) -> None:
    write_card(assess_reproduction(belz2022(), where={"object": "NTS_def"}), tmp_path / "card.tex")
    card = (tmp_path / "card.tex").read_text(encoding="utf-8")
    assert r"$\approx$Nisioi et al." in card
    assert "≈" not in card


def test_a_card_of_another_format_is_refused(paper: holdsup.Reproduction, tmp_path: Path) -> None:
    assert len(make_cards(paper)) == 18
    with pytest.raises(ResultError, match=r"must end in '\.html', '\.md', '\.tex'"):
        write_card(paper, tmp_path / "card.docx")


def test_runs_of_a_table_of_scores_are_assessed_for_repeatability() -> None:
    table = holdsup.simulate_scores({"A": 0.7, "B": 0.6}, items=30, runs=4, seed=2)
    found = assess_repeatability(table)
    frame = table.to_pandas()
    means = frame.groupby(["system", "seed"], observed=True)["score"].mean()
    for one in found.assessments:
        own = means[one.object]
        assert (one.n, one.repeatability) == (4, True)
        assert one.mean == pytest.approx(own.mean())
        assert one.measurand == "score"
        assert one.sd == pytest.approx(own.std() / 0.9213177)  # c4(4)
    assert found.rows.used == len(frame)


def test_a_table_with_one_run_a_system_has_no_repeatability() -> None:
    table = holdsup.simulate_scores({"A": 0.7, "B": 0.6}, items=5, runs=1, seed=2)
    with pytest.raises(ScoresError, match=r"no system of .* has two runs"):
        assess_repeatability(table)


def test_settings_of_runs_are_conditions_that_differ() -> None:
    rows = [
        {
            "system": "A",
            "learning_rate": rate,
            "seed": seed,
            "item": item,
            "score": 0.5 + rate + 0.01 * seed + 0.001 * item,
        }
        for rate in (0.1, 0.2)
        for seed in (1, 2)
        for item in range(5)
    ]
    (one,) = assess_repeatability(rows, facets=["learning_rate", "seed"]).assessments
    assert (one.n, one.repeatability, one.differing) == (4, False, ("learning_rate",))


def test_sub_cases_of_hans_over_a_hundred_seeds(replication: ModuleType, real_data: Path) -> None:
    found = replication.hans(real_data / "feather_berts")
    rows = (real_data / "feather_berts" / replication.FILE).read_text(encoding="utf-8-sig").splitlines()
    head = rows[0].split(",")
    runs = np.array([row.split(",")[1:] for row in rows[1:] if row.startswith("Run ")], float)
    assert (len(found.assessments), len(runs)) == (30, 100)
    assert all(a.n == 100 and a.repeatability for a in found.assessments)
    for one in found.assessments:
        values = runs[:, head.index(one.measurand) - 1]
        # s/mean in percent times 1 + 1/(4n) over c4(100), which is 1 - 1/(4n) to seven digits
        expected = 100 * values.std(ddof=1) / values.mean() * (1 + 1 / 400) / 0.9974780
        assert one.cv == pytest.approx(expected, rel=1e-6)


def test_groups_of_section_4_1_cover_what_the_paper_compares() -> None:
    assert [len(group.measurements) for group in belz2022_groups()] == [4, 3, 3, 2, 3, 3, 3, 3]
