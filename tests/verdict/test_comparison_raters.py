"""Systems rated by people or judges: adjusted for who rated what, for these raters or new ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup import compare_systems, decompose_variance, plan_evaluation, rank_systems, read_result, read_scores
from holdsup.errors import ScoresError

Assign = Callable[[str, int], str]


def rated(assign: Assign, systems: str = "AB", *, items: int = 40, lead: float = 0.5, seed: int = 1) -> pd.DataFrame:
    """Return ratings of each item by the raters that `assign` names, a letter each."""
    rng = np.random.default_rng(seed)
    item, severity = rng.normal(0, 1, items), dict(zip("pqrst", rng.normal(0, 0.6, 5), strict=True))
    rows = [
        (system, f"i{i}", who, lead * place + item[i] + severity[who] + rng.normal(0, 0.7))
        for place, system in enumerate(systems) for i in range(items) for who in assign(system, i)
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["system", "item", "rater", "score"])


def everyone(system: str, item: int) -> str:
    return "pqrs"


def codes(found: Any) -> set[str]:
    return {each.code for each in found.cautions}


def test_four_raters_of_everything_speak_of_new_raters_and_of_these_beside() -> None:
    found = compare_systems(rated(everyone))
    only = found.contrasts[0]
    assert (found.claim, only.claim, only.rule) == ("new-raters", "new-raters", "raters")
    (other,) = found.raters[0].other
    assert (other.claim, other.raters) == ("these-raters", 4)
    assert other.difference == pytest.approx(only.difference)  # in a complete table both are the plain one
    assert other.high - other.low < only.high - only.low
    text = str(found)
    assert "new raters like these 4, new items; not new runs or settings" in text
    assert "for these raters" in text
    assert "ICC" in text


def test_raters_who_rate_unevenly_are_adjusted_for_and_the_raw_difference_is_not_the_answer() -> None:
    # The harsh rater has most of B, though B is better: raw means hide it.
    def harsh(system: str, item: int) -> str:
        return "q" if (item % 5 > 0) == (system == "B") else "pr"[item % 2]

    frame = rated(harsh, items=200, lead=0.5)
    frame.loc[frame.rater == "q", "score"] -= 4
    raw = frame.groupby("system").score.mean()
    found = compare_systems(frame, claim="these-raters")
    assert raw["B"] < raw["A"]
    assert found.contrasts[0].left == "B"
    assert found.contrasts[0].low < 0.5 < found.contrasts[0].high
    effects = {each.name: each.effect for each in found.raters[0].raters}
    assert min(effects, key=lambda name: effects[name]) == "q"
    assert sum(effects.values()) == pytest.approx(0)


def test_two_raters_are_these_raters_and_the_answer_says_why() -> None:
    found = compare_systems(rated(lambda s, i: "pq"))
    assert found.claim == "these-raters"
    assert any("2 raters in common say too little about new ones" in each for each in found.warnings)
    assert "these 2 raters, new items; not new raters, runs or settings" in str(found)
    asked = compare_systems(rated(everyone), claim="these-raters")
    assert asked.claim == "these-raters"
    assert "these-raters" not in codes(asked)  # it was asked for
    assert asked.raters[0].other[0].claim == "new-raters"


def test_one_rater_is_no_facet_and_is_said_once() -> None:
    found = compare_systems(rated(lambda s, i: "p"))
    assert found.claim == "these-runs"
    assert [each.message for each in found.cautions if each.code == "one-rater"] == [
        "All scores are by one rater, p: the answer is about how p scores."
    ]
    assert compare_systems(rated(lambda s, i: "p"), rater="-").contrasts[0].p == found.contrasts[0].p


def test_a_rater_per_system_is_refused_with_what_to_do() -> None:
    with pytest.raises(ScoresError, match=r"no rater rated two systems.*have some rate several systems"):
        compare_systems(rated(lambda s, i: "p" if s == "A" else "q"))
    with pytest.raises(ScoresError, match="no rater rated both 'C' and another system"):
        compare_systems(rated(lambda s, i: "s" if s == "C" else "pqr", "ABC"))


def test_a_rater_of_one_system_only_says_nothing_of_differences_and_is_named() -> None:
    frame = rated(lambda s, i: "pqrt" if s == "A" else "pqr")
    found = compare_systems(frame)
    assert any(each.startswith("t rated one system only: its 40 scores") for each in found.warnings) or any(
        each.code == "rater-of-one-system" and each.message.startswith("t rated one") for each in found.cautions
    )
    moved = frame.copy()
    moved.loc[moved.rater == "t", "score"] += 5
    assert compare_systems(moved).contrasts[0].difference == pytest.approx(found.contrasts[0].difference, abs=1e-2)


def test_questions_that_are_not_adjusted_for_raters_are_refused() -> None:
    frame = rated(everyone).assign(length=lambda f: f.item.str[1:].astype(int))
    with pytest.raises(ScoresError, match=r"--by: not together with a column of raters \(rater\)"):
        compare_systems(frame, by="length")
    with pytest.raises(ScoresError, match="new-raters needs items rated by several raters"):
        compare_systems(rated(lambda s, i: "p"), claim="new-raters")
    with pytest.raises(ScoresError, match="only compare, variance and rank adjust for raters"):
        plan_evaluation(frame, detect=0.1, rater="rater")


def test_a_claim_about_runs_is_not_made_and_the_answer_says_so() -> None:
    found = compare_systems(rated(everyone), claim="new-runs")
    assert found.claim == "new-raters"
    assert "less-claimed" in codes(found)


def test_without_items_raters_are_what_systems_are_scored_on() -> None:
    frame = rated(everyone).groupby(["system", "rater"], as_index=False).score.mean()
    found = compare_systems(frame)
    assert found.contrasts[0].df == 3
    assert found.contrasts[0].rule == "paired-t"


def test_a_margin_and_several_systems_go_through_the_same_test() -> None:
    frame = rated(everyone, "ABC", items=60)
    found = compare_systems(frame, margin=0.1)
    assert found.contrasts[0].equivalence is not None
    assert len(found.contrasts) == len(found.raters[0].other) == 3
    assert found.state == "yes"
    narrow = next(c for c in found.contrasts if {c.left, c.right} == {"B", "C"})
    assert narrow.equivalence is not None
    assert narrow.equivalence.p_beyond <= 0.05


def test_a_result_is_restored_whole_and_its_signature_redoes_it(tmp_path: Path) -> None:
    frame = rated(everyone)
    found = compare_systems(frame)
    (tmp_path / "found.json").write_text(found.to_json())
    assert read_result(tmp_path / "found.json").to_dict() == found.to_dict()
    assert "rater:rater" in found.signature
    other = frame.assign(rater=frame.rater.str.replace("p", "z"))
    assert compare_systems(other).signature != found.signature
    assert compare_systems(other).contrasts[0].p == pytest.approx(found.contrasts[0].p)


def test_columns_are_found_by_their_names_and_not_taken_where_they_have_another_role() -> None:
    frame = rated(everyone)
    for name in ("annotator", "judge", "rater_id", "Annotator ID"):
        assert read_scores(frame.rename(columns={"rater": name})).roles.rater == name
    assert read_scores(frame, facets=["rater"]).roles.rater is None
    assert read_scores(frame, rater="-").roles.rater is None


def test_rows_without_a_rater_are_counted() -> None:
    frame = rated(everyone)
    frame.loc[[3, 5], "rater"] = None
    assert compare_systems(frame).rows.reasons == {"no rater": 2}


def test_variance_and_rank_take_raters_as_a_facet_that_systems_share() -> None:
    frame = rated(everyone, "ABC", items=30)
    found = decompose_variance(frame[frame.system == "A"])
    assert [each.name for each in found.components] == ["item", "rater", "Residual"]
    declared = decompose_variance(frame[frame.system == "A"], facets="rater", replicates="rater", shared="rater")
    assert [c.variance for c in declared.components] == [c.variance for c in found.components]
    frame["dataset"] = "d" + (frame.item.str[1:].astype(int) % 5).astype(str)
    frame["item"] = frame.dataset + frame.item
    ranked = rank_systems(frame, folds=0)
    assert [each.name for each in ranked.treatments] == ["rater"]


def test_ted_talks_are_adjusted_as_lme4_adjusts_them(real_data: Path) -> None:
    # R 4.2, lme4 1.1-31: Nemo - Facebook-AI is -1.085 raw, -0.79250 by lmer(mqm ~ system + rater + (1 | item)),
    # -0.79479 with (1 | rater) and -0.75799 with (1 | system:rater) as well, whose variances are .3086 and .0738.
    file = real_data / "shapes" / "ted.csv.gz"
    these = compare_systems(file, claim="these-raters", baseline="Facebook-AI", cluster="-")
    new = compare_systems(file, baseline="Facebook-AI", cluster="-")
    one, other = (next(c for c in found.contrasts if c.left == "Nemo") for found in (these, new))
    assert one.difference == pytest.approx(-0.79250, abs=5e-5)
    assert other.difference == pytest.approx(-0.75799, abs=0.005)
    assert new.raters[0].percent == pytest.approx(100 * 0.30861 / 7.18275, rel=1e-3)
    assert new.raters[0].percent_interaction == pytest.approx(100 * 0.073796 / 7.18275, rel=1e-2)
    assert (one.claim, other.claim) == ("these-raters", "new-raters")


def test_a_report_cites_what_the_method_is_from() -> None:
    from holdsup.report.references import REFERENCES

    method = compare_systems(rated(everyone)).describe_method()
    assert "bell2002" in method.citations
    assert set(method.citations) <= set(REFERENCES)


@pytest.mark.parametrize("more", [{"average": "micro"}, {"baseline": "2.5"}])
def test_what_an_adjusted_difference_does_not_heed_is_refused(more: dict[str, str]) -> None:
    table = rated(everyone)
    with pytest.raises(ScoresError, match="not together with a column of raters"):
        compare_systems(table, **more)
    table["human"] = table.score
    with pytest.raises(ScoresError, match="not together with --human"):
        compare_systems(table.drop(columns="rater").drop_duplicates(["system", "item"]), human="human", **more)


def test_new_raters_are_like_those_who_rated_both() -> None:
    table = rated(everyone)
    alone = table[(table.system == "A") & (table.rater == table.rater.iloc[0])].assign(rater="r9")
    found = compare_systems(pd.concat([table, alone]))
    assert found.claim == "new-raters"
    assert f"new raters like these {table.rater.nunique()}" in found.answer().text()
