"""Comparisons along a property of the items: published numbers, refusals, and the same cells everywhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pytest

import holdsup
from holdsup.errors import ColumnError, ResultError, ScoresError
from holdsup.numerics.differences import compare_new_runs
from holdsup.plots import find_panels
from holdsup.plots.interaction import plot_conditional
from holdsup.verdict import Comparison

ITEMS, RUNS = 120, 4


def table(
    *, gain: float = 0.004, systems: str = "AB", runs: int = RUNS, seed: int = 1, shift: float = 0.0, times: float = 1.0
) -> dict[str, Any]:
    """Scores of systems whose lead over A grows with ease; genres go round."""
    rng = np.random.default_rng(seed)
    ease, item = rng.normal(60, 15, ITEMS), rng.normal(0, 0.1, ITEMS)
    columns: dict[str, list[Any]] = {name: [] for name in ("system", "seed", "item", "score", "ease", "genre")}
    for number, system in enumerate(systems):
        own = item + rng.normal(0, 0.02, ITEMS)
        for run in range(runs):
            score = 0.5 + own + gain * number * (ease - 60) + rng.normal(0, 0.01) + rng.normal(0, 0.05, ITEMS)
            columns["system"] += [system] * ITEMS
            columns["seed"] += [run] * ITEMS
            columns["item"] += [f"i{i}" for i in range(ITEMS)]
            columns["score"] += list(times * score + shift)
            columns["ease"] += list(ease)
            columns["genre"] += [("news", "prose", "verse")[i % 3] for i in range(ITEMS)]
    return columns


def compare(data: Any, by: Any, **asked: Any) -> Comparison:
    return holdsup.compare_systems(data, by=by, **asked)


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare(table(), ("ease", "genre"))


def translations(folder: Path) -> pa.Table:
    data = arrow_csv.read_csv(folder / "hagmann_statnlp/data_ter.csv.gz")
    length = data["src_length"].to_numpy()
    classes = np.where(length <= 15, "short", np.where(length > 55, "very long", "typical"))
    return data.append_column("length_class", pa.array(classes))


# Interaction: printed by the authors' code; the other three by lme4 1.1-31, bobyqa, rhoend 1e-12.
@pytest.mark.parametrize(
    ("by", "joint", "interaction", "df"),
    [("length_class", 66.524306, 32.434795, (6, 4)), ("src_length", 36.052745, 1.963234, (4, 2))],
)
def test_the_papers_tests_are_those_of_its_code(
    real_data: Path, by: str, joint: float, interaction: float, df: tuple[int, int]
) -> None:
    paper = compare(
        translations(real_data), by, score="ter", item="sentence_id", facets="replication", lower_is_better=True
    ).paper
    assert paper is not None
    (given,) = paper.conditional
    assert (given.df, given.interaction_df) == df
    assert given.statistic == pytest.approx(joint, abs=2e-5)
    assert given.interaction_statistic == pytest.approx(interaction, abs=2e-5)


def test_our_likelihood_ratio_allows_for_the_items_of_a_system(real_data: Path) -> None:
    (given,) = compare(
        translations(real_data), "length_class", score="ter", item="sentence_id", facets="replication",
        claim="these-runs",
    ).conditional  # fmt: skip
    assert given.model == "score ~ system * length_class + (1 | item) + (1 | system:item)"
    assert given.interaction.statistic == pytest.approx(16.558568, abs=2e-5)  # lme4 1.1-31
    assert given.sizes == (465, 563, 13)


def test_a_lead_that_depends_on_a_number_is_found_with_its_range(found: Comparison) -> None:
    ease = found.conditional[0]
    pair = ease.differences[0]
    assert ease.interaction.p < 0.01
    assert pair.slope == pytest.approx(0.004 if pair.left == "B" else -0.004, abs=3 * (pair.se or 0))
    assert {where.better for where in ease.significant_where} == {"A", "B"}
    for where in ease.significant_where:
        values = np.array(table()["ease"][:ITEMS])
        assert where.low is not None
        assert where.high is not None
        inside = int(((values >= where.low - 1e-6) & (values <= where.high + 1e-6)).sum())
        assert (where.items, where.percent) == (inside, pytest.approx(100 * inside / ITEMS))
    assert any("the lead depends on ease" in said for _, said in found.answer().foot)


def test_slopes_are_those_of_least_squares(found: Comparison) -> None:
    data = {name: np.array(column) for name, column in table().items()}
    for trend in found.conditional[0].slopes:
        mine = data["system"] == trend.system
        slope, constant = np.polyfit(data["ease"][mine], data["score"][mine], 1)
        assert trend.slope == pytest.approx(slope, rel=1e-9)
        assert trend.line.value[0] == pytest.approx(constant + slope * trend.line.at[0], rel=1e-9)
        assert trend.line.low[0] < trend.line.value[0] < trend.line.high[0]


def test_differences_in_classes_have_bonferronis_limits(found: Comparison) -> None:
    genre, data = found.conditional[1], table()
    score = np.array(data["score"]).reshape(2, RUNS, ITEMS)
    pair = genre.differences[0]
    left, right = (score["AB".index(name)].T for name in (pair.left, pair.right))
    for place in range(3):
        wanted = compare_new_runs(left[place::3], right[place::3], level=1 - 0.05 / 3)
        assert pair.line.low[place] == pytest.approx(wanted.low, rel=1e-8)
        assert pair.line.high[place] == pytest.approx(wanted.high, rel=1e-8)


def test_a_property_that_does_not_matter_is_not_said_to() -> None:
    given = compare(table(gain=0.0, seed=5), "ease")
    assert given.conditional[0].interaction.p > 0.05
    assert any("no evidence that the lead depends on ease (p = " in said for _, said in given.answer().foot)


def test_given_another_property_that_carries_it_an_interaction_fades() -> None:
    data = table()
    rng = np.random.default_rng(2)
    copy = np.tile(np.array(data["ease"][:ITEMS]) + rng.normal(0, 8, ITEMS), 2 * RUNS)
    both = compare({**data, "shadow": copy}, ["ease", "shadow"]).conditional
    assert both[1].interaction.p < 0.01
    assert both[1].given_others is not None
    assert both[1].given_others.p > 0.05
    assert both[0].given_others is not None
    assert both[0].given_others.p < 0.01


def test_three_systems_pay_for_three_pairs() -> None:
    three = compare(table(systems="ABC"), "ease").conditional[0]
    assert len(three.differences) == 3
    assert three.interaction.p == pytest.approx(3 * min(pair.p_interaction for pair in three.differences))
    assert "Holm" in three.interaction.p_method


def test_one_run_each_claims_these_runs_by_working_and_hotelling() -> None:
    given = compare(table(runs=1), "ease").conditional[0]
    assert (given.claim, given.limits) == ("these-runs", "Working and Hotelling's band")


def test_the_unit_of_scores_and_property_changes_no_verdict(found: Comparison) -> None:
    data = table(times=100.0, shift=1e6)
    data["ease"] = list(10 * np.array(data["ease"]) - 5)
    scaled, plain = compare(data, "ease").conditional[0], found.conditional[0]
    assert scaled.interaction.p == pytest.approx(plain.interaction.p, rel=1e-5)
    assert scaled.joint.p == pytest.approx(plain.joint.p, rel=1e-5)
    for a, b in zip(scaled.significant_where, plain.significant_where, strict=True):
        assert a.low == pytest.approx(10 * (b.low or 0) - 5, rel=1e-5)
        assert (a.better, a.items) == (b.better, b.items)


def test_lower_is_better_changes_only_who_is_better(found: Comparison) -> None:
    lower = compare(table(), "ease", lower_is_better=True).conditional[0]
    for a, b in zip(lower.significant_where, found.conditional[0].significant_where, strict=True):
        assert (a.low, a.high) == (b.low, b.high)
        assert a.better != b.better


def test_a_class_whose_differences_are_all_equal_has_no_limits() -> None:
    right = {"A": [0, 1, 1, 0, 0, 0, 1, 0, 1, 1], "B": [1, 1, 0, 1, 0, 1, 1, 0, 1, 1]}
    genre = ["x", "y", "y", "x", "y", "x", "y", "y", "y", "y"]  # B is right, A wrong, on every x
    rows = [(s, i, r, genre[i]) for s in right for i, r in enumerate(right[s])]
    data = dict(zip(("system", "item", "score", "genre"), zip(*rows, strict=True), strict=True))
    given = compare({name: list(column) for name, column in data.items()}, "genre")
    line = given.conditional[0].differences[0].line
    assert np.isnan(line.low[0])
    assert not np.isnan(line.low[1])
    assert all(where.level != "x" for where in given.conditional[0].significant_where)
    assert "No CI where all differences are equal" in given.page().text()


def test_items_without_a_value_are_counted_and_left_out() -> None:
    data = table()
    data["ease"] = [
        None if item in ("i3", "i7") else value for item, value in zip(data["item"], data["ease"], strict=True)
    ]
    given = compare(pa.table(data), "ease")
    assert (given.conditional[0].items, given.conditional[0].without) == (ITEMS - 2, 2)
    assert any("ease: 2 items without a value" in warning.lower() for warning in given.warnings)
    assert given.contrasts[0].items == ITEMS


def with_column(**columns: Any) -> dict[str, Any]:
    return {**table(), **columns}


ROWS = 2 * RUNS * ITEMS


@pytest.mark.parametrize(
    ("data", "by", "says"),
    [
        (table(), "esae", "no column 'esae'"),
        (with_column(d=[1.0] * ROWS), "d", "--by d: it is '1' for every item"),
        (with_column(d=["x"] * ROWS), "d", "--by d: it is 'x' for every item"),
        (with_column(d=list(range(ROWS))), "d", "has two values"),
        (with_column(d=[0.0] * (ROWS // 2) + [1.0] * (ROWS // 2)), "d", r"item 'i\d+' has two values, .* \(. and .\)"),
        (with_column(d=[None] * ROWS), "d", "no item has a value"),
        (with_column(d=[f"g{i % ITEMS}" for i in range(ROWS)]), "d", "it has 120 classes"),
        (with_column(d=["rare" if i % ITEMS == 0 else "x" for i in range(ROWS)]), "d", "class 'rare' has one item of"),
        (with_column(twice=[2 * e for e in table()["ease"]]), ("ease", "twice"), "say the same"),
        (with_column(dataset=[f"d{i % ITEMS % 2}" for i in range(ROWS)]), "ease", "2 datasets"),
    ],
)  # fmt: skip
def test_what_is_no_property_is_refused_in_one_line(data: dict[str, Any], by: Any, says: str) -> None:
    with pytest.raises((ScoresError, ColumnError), match=says) as refused:
        compare(pa.table(data), by)
    assert "\n" not in str(refused.value)


def test_scores_without_items_have_no_properties() -> None:
    data = {"system": ["A", "A", "B", "B"], "seed": [1, 2, 1, 2], "score": [1.0, 2.0, 3.0, 4.0], "d": [1, 2, 3, 4]}
    with pytest.raises(ScoresError, match="no column of items"):
        compare(data, "d")


def test_a_saved_comparison_comes_back_whole(found: Comparison, tmp_path: Path) -> None:
    found.write_json(tmp_path / "found.json")
    assert holdsup.read_result(tmp_path / "found.json") == found


def test_a_comparison_that_was_asked_nothing_of_properties_says_nothing_of_them() -> None:
    plain = holdsup.compare_systems(table())
    assert plain.conditional == ()
    assert plain.paper is not None
    assert plain.paper.conditional == ()
    assert len(plain.tables()) == 3


def test_the_command_line_takes_several_properties(run: Callable[..., Any], tmp_path: Path) -> None:
    arrow_csv.write_csv(pa.table(table()), tmp_path / "scores.csv")
    done = run("compare", tmp_path / "scores.csv", "--by", "ease,genre", "--format", "json")
    assert done.code == 0
    told = json.loads(done.out)
    assert [each["property"] for each in told["conditional"]] == ["ease", "genre"]
    assert [each["property"] for each in told["paper"]["conditional"]] == ["ease", "genre"]
    assert told["conditional"][0]["given_others"]["p"] < 0.05
    shown = run("compare", tmp_path / "scores.csv", "--by", "ease", "--by", "genre", "--full")
    assert "By ease: where differences hold" in shown.out
    assert "By genre: differences" in shown.out
    refused = run("compare", tmp_path / "scores.csv", "--by", "seed")
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)


def test_a_computed_property_can_be_asked_for(run: Callable[..., Any], tmp_path: Path) -> None:
    data = table()
    texts = {f"i{i}": " ".join(["word"] * (1 + i % 9)) for i in range(ITEMS)}
    data["source"] = [texts[item] for item in data["item"]]
    arrow_csv.write_csv(pa.table(data), tmp_path / "scores.csv")
    done = run("compare", tmp_path / "scores.csv", "--by", "words", "--property", "words=length(source)", "--full")
    assert done.code == 0
    assert "By words: tests (new-runs)" in done.out


def test_the_picture_of_a_comparison_has_a_panel_for_each_property(found: Comparison, tmp_path: Path) -> None:
    drawn = {panel.name: panel.draw().axes[0] for panel in find_panels(found)}
    assert [drawn[f"property-{place}"].get_xlabel() for place in (1, 2)] == ["ease", "genre"]
    assert [line.get_label() for line in drawn["property-1"].get_lines()] == ["A", "B"]
    assert len(drawn["property-1"].collections) >= 2  # bands
    assert not any(panel.name.startswith("property") for panel in find_panels(holdsup.compare_systems(table())))


def test_the_command_line_draws_the_lines_along_a_property(run: Callable[..., Any], tmp_path: Path) -> None:
    arrow_csv.write_csv(pa.table(table()), tmp_path / "scores.csv")
    drawn = run(
        "compare", tmp_path / "scores.csv", "--by", "ease", "--plot", tmp_path / "by.svg", "--figure", "property-1"
    )
    plain = run("compare", tmp_path / "scores.csv", "--plot", tmp_path / "plain.svg")
    assert (drawn.code, plain.code) == (0, 0)
    assert (tmp_path / "by.svg").stat().st_size > 1.5 * (tmp_path / "plain.svg").stat().st_size


def test_holm_is_over_properties(found: Comparison) -> None:
    """With two tests the smaller p is doubled, and the larger is no smaller than that."""
    for kind in ("joint", "interaction", "given_others"):
        tests = sorted((getattr(each, kind) for each in found.conditional), key=lambda test: test.p)
        assert tests[0].p_adjusted == pytest.approx(min(1, 2 * tests[0].p))
        assert tests[1].p_adjusted == pytest.approx(max(tests[1].p, tests[0].p_adjusted))
    alone = compare(table(), "ease").conditional[0].interaction
    assert alone.p_adjusted == alone.p == pytest.approx(found.conditional[0].interaction.p)
    assert "p adjusted" in found.tables()[3].columns
    assert "p adjusted" not in compare(table(), "ease").tables()[3].columns


def test_the_likelihood_ratio_of_a_model_without_settings_is_left_out() -> None:
    data = table(runs=6)
    rate = ["high" if seed % 2 else "low" for seed in data["seed"]]
    given = compare({**data, "rate": rate}, "ease", facets=["rate", "seed"])
    assert given.conditional[0].model is None
    assert given.conditional[0].interaction.p_chi2 is None
    assert any("runs differ in settings" in warning for warning in given.warnings)


@pytest.mark.parametrize(
    ("name", "role"), [("item", "item"), ("system", "system"), ("score", "score"), ("seed", "facet")]
)
def test_what_is_no_property_is_named_as_what_it_is(name: str, role: str) -> None:
    with pytest.raises(ColumnError if role != "facet" else ScoresError, match=name) as raised:
        compare(table(), name)
    assert "\n" not in str(raised.value)
    with pytest.raises(ScoresError, match=f"--by {name}: this column holds the {role}"):
        compare(holdsup.read_scores(table()), name)


def test_asking_by_document_says_that_documents_are_no_clusters() -> None:
    data = table()
    data["doc"] = [f"d{int(item[1:]) // 10}" for item in data["item"]]
    told = compare(data, "doc")
    assert any("Items of one doc count as independent" in warning for warning in told.warnings)
    assert told.contrasts == holdsup.compare_systems(data, cluster="-").contrasts


def test_the_picture_shows_a_line_for_each_system_and_the_ranges(found: Comparison) -> None:
    (ax,) = plot_conditional(found, "ease").axes
    assert [line.get_label() for line in ax.get_lines()] == ["A", "B"]
    strips = [c for c in ax.collections if type(c).__name__ == "PolyCollection" and len(c.get_paths()) == 1]
    assert len(strips) >= len(found.conditional[0].significant_where)
    (ax,) = plot_conditional(found, "genre").axes
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["news", "prose", "verse"]
    with pytest.raises(ResultError, match="nothing was asked about 'length'"):
        plot_conditional(found, "length")


def test_a_property_whose_name_holds_an_equals_sign_may_be_named_twice() -> None:
    columns = table()
    columns["ease=high"] = columns.pop("ease")
    named = compare(columns, ["ease=high"], properties=["ease=high"])
    assert named.conditional == compare(columns, ["ease=high"]).conditional
    assert {each.property for each in named.conditional} == {"ease=high"}
