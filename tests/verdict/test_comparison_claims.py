"""Every number of a comparison names the claim it is made for, and keeps to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from holdsup import Comparison, compare_systems, read_result, simulate_scores
from holdsup.numerics.differences import compare_shared_seeds, compare_these_runs
from holdsup.plots.interaction import plot_conditional
from holdsup.rendering.markup import render_latex
from holdsup.rendering.text import render_text


def simulated(runs: dict[str, int], *, items: int = 30, seed: int = 4) -> pd.DataFrame:
    """Return scores of systems with so many runs each."""
    truth = {name: 0.70 + number / 50 for number, name in enumerate(runs)}
    frame = simulate_scores(truth, items=items, runs=max(runs.values()), seed=seed).to_pandas()
    return frame[frame.seed <= frame.system.astype(str).map(runs)]


def grid(frame: pd.DataFrame, system: str) -> np.ndarray:
    mine = frame[frame.system == system]
    return mine.pivot(index="item", columns="seed", values="score").to_numpy()


@pytest.fixture(scope="module")
def unequal() -> Comparison:
    """A and B have four runs, C has one."""
    return compare_systems(simulated({"A": 4, "B": 4, "C": 1}))


def test_each_pair_and_each_system_has_the_claim_that_its_runs_carry(unequal: Comparison) -> None:
    claims = {frozenset((c.left, c.right)): c.claim for c in unequal.contrasts}
    assert claims == {frozenset("AB"): "new-runs", frozenset("AC"): "these-runs", frozenset("BC"): "these-runs"}
    assert {s.name: s.claim for s in unequal.systems} == {"A": "new-runs", "B": "new-runs", "C": "these-runs"}


def test_claims_that_differ_stand_in_the_tables_and_in_the_verdict(unequal: Comparison) -> None:
    systems, differences, *_ = unequal.tables()
    for table, column in ((systems, 1), (differences, 1)):
        assert table.columns[column] == "claim"
    assert "these-runs" not in systems.title
    assert "not new runs, settings or datasets (for 1 of 3 pairs new runs, too)" in unequal.verdict


def test_the_test_of_all_systems_says_that_pairs_have_claims_of_their_own(unequal: Comparison) -> None:
    (shown,) = [table for table in unequal.tables() if table.title == "All systems at once"]
    assert "p-values, each for its own claim" in unequal.test.p_method
    assert unequal.test.model is None
    assert "No likelihood ratio by holdsup: pairs carry different claims, and a model has one." in shown.notes
    assert not any("likelihood" in cells[0] for cells in shown.cells())


def test_one_claim_is_named_once() -> None:
    found = compare_systems(simulated({"A": 3, "B": 3, "C": 3}))
    assert all("claim" not in table.columns for table in found.tables())
    assert "(new-runs)" in found.tables()[0].title
    assert "pairs:" not in found.verdict


@pytest.mark.parametrize("asked", [None, "new-runs", "these-runs"])
def test_a_mean_has_the_limits_of_the_claim_beside_it(asked: str | None) -> None:
    """Also where the other system has one run, and no pair carries new-runs."""
    frame = simulated({"A": 4, "C": 1})
    for mean in compare_systems(frame, claim=asked).systems:
        scores = grid(frame, mean.name)
        wanted = "new-runs" if mean.name == "A" and asked != "these-runs" else "these-runs"
        rule = compare_shared_seeds if wanted == "new-runs" else compare_these_runs
        found = rule(scores, np.zeros_like(scores))
        assert mean.claim == wanted
        assert (mean.se, mean.low, mean.high) == pytest.approx((found.se, found.low, found.high))


@pytest.mark.parametrize(("asked", "signed"), [(None, "auto"), ("these-runs", "these-runs"), ("new-runs", "new-runs")])
def test_the_signature_has_the_claim_that_was_asked_for(asked: str | None, signed: str) -> None:
    assert f"|claim:{signed}|" in compare_systems(simulated({"A": 2, "B": 1}), claim=asked).signature


def test_only_systems_that_lack_runs_are_to_be_trained() -> None:
    assert compare_systems(simulated({"A": 4, "C": 1})).next[-1] == "two or more runs of C"
    assert compare_systems(simulated({"A": 1, "C": 1})).next[-1] == "two or more runs of each system"


def test_more_runs_are_counted_for_each_system_from_what_it_has() -> None:
    frame = simulated({"A": 2, "B": 5}, items=60, seed=3)
    advice = compare_systems(frame).next[0]
    more = int(advice.partition(" more run")[0])
    first, second = advice.partition("(")[2].partition(" in all)")[0].split(" and ")
    assert {int(first) - more, int(second) - more} == {2, 5}


def test_more_settings_are_asked_of_the_system_that_has_some() -> None:
    frame = simulated({"A": 6, "B": 2}, seed=6)
    frame["rate"] = np.where((frame.system == "A") & (frame.seed > 3), "high", "low")
    frame.loc[(frame.system == "A") & (frame.seed > 3), "score"] += 0.1
    (advice,) = compare_systems(frame, facets=["rate", "seed"], claim="new-settings").next
    assert advice.startswith("more settings of A,")


def test_a_range_that_claims_less_than_the_verdict_says_so() -> None:
    frame = simulated({"A": 6, "B": 6}, seed=6)
    frame["rate"] = np.where(frame.seed > 3, "high", "low")
    frame["length"] = frame["item"] % 7
    asked = {"facets": ["rate", "seed"], "by": "length"}
    line = "Results along length cover new runs, not new settings."
    assert line in compare_systems(frame, claim="new-settings", **asked).warnings
    assert line not in compare_systems(frame, claim="new-runs", **asked).warnings


def test_no_range_is_told_where_the_adjusted_p_is_too_large() -> None:
    """Among ten properties that say nothing, one that would pass alone does not."""
    frame = simulated({"A": 1, "B": 1}, items=80, seed=1)
    rng = np.random.default_rng(0)
    names = [f"p{i}" for i in range(10)]
    for name in names:
        frame[name] = rng.normal(size=81)[frame["item"]]
    lead = 0.012 * rng.normal(size=81)[frame["item"]]
    frame["mine"] = lead
    frame.loc[frame.system == "B", "score"] -= frame.score[frame.system == "B"].mean()
    frame.loc[frame.system == "A", "score"] -= frame.score[frame.system == "A"].mean()
    frame.loc[frame.system == "B", "score"] += 2.2 * lead[frame.system == "B"]
    (alone,) = compare_systems(frame, by="mine").conditional
    assert alone.joint.p <= 0.05
    assert alone.significant_where
    found = compare_systems(frame, by=["mine", *names])
    mine = found.conditional[0]
    assert mine.joint.p == pytest.approx(alone.joint.p)
    assert mine.joint.p_adjusted > 0.05
    assert not mine.significant_where
    assert "is better from" not in str(found)
    assert "Where differences hold is shown only if the adjusted p" in " ".join(found.page().text().split())


def test_a_class_whose_spread_is_not_measured_has_a_difference_but_no_limits() -> None:
    rng = np.random.default_rng(8)
    base = rng.normal(0.6, 0.1, 30)
    rows = [(s, k, i, "xyz"[i % 3], round(base[i] + m + rng.normal(0, 0.04), 4))
            for s, m in (("A", 0.0), ("B", 0.05)) for k in range(2) for i in range(21)]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["system", "seed", "item", "genre", "score"])
    seen = 0
    for _ in range(12):  # which class it is depends on luck
        place = rng.permutation(21)
        frame["genre"] = ["xyz"[place[i] % 3] for i in frame["item"]]
        line = compare_systems(frame, by="genre").conditional[0].differences[0].line
        widths = [high - low for low, high in zip(line.low, line.high, strict=True)]
        assert all(width < 1000 for width in widths if np.isfinite(width))
        seen += int(np.isinf(widths).sum())
        means = frame.groupby(["genre", "system"]).score.mean().unstack()
        sign = 1 if compare_systems(frame).contrasts[0].left == "B" else -1
        assert line.value == pytest.approx(tuple(sign * (means["B"] - means["A"])))
    assert seen


def test_a_difference_is_shown_with_two_digits_however_wide_its_limits_are() -> None:
    frame = simulated({"A": 2, "B": 2}, items=24, seed=5)
    frame["genre"] = frame["item"].map(lambda i: "xyz"[i % 3])
    found = compare_systems(frame, by="genre")
    table = found.tables()[-1]
    for cells, value in zip(table.cells(), found.conditional[0].differences[0].line.value, strict=True):
        assert float(cells[2]) == pytest.approx(value, rel=0.05)
    assert render_text(table)


def test_datasets_asked_about_as_classes_stay_datasets() -> None:
    parts = [simulated({"A": 2, "B": 2}, items=6, seed=s).assign(dataset=f"d{s}") for s in range(3)]
    frame = pd.concat(parts).assign(item=lambda f: f.dataset + "-" + f["item"].astype(str))
    found, plain = compare_systems(frame, by="dataset"), compare_systems(frame)
    assert (found.contrasts, found.datasets) == (plain.contrasts, 3)
    assert found.conditional[0].classes == ("d0", "d1", "d2")
    assert compare_systems(frame, by="dataset", dataset="-").conditional[0].classes == ("d0", "d1", "d2")


def test_along_a_property_too_each_row_has_its_claim() -> None:
    frame = simulated({"A": 4, "B": 4, "C": 1})
    frame["length"] = frame["item"] % 7
    found = compare_systems(frame, by="length")
    (given,) = found.conditional
    claims = {frozenset((c.left, c.right)): c.claim for c in found.contrasts}
    assert {frozenset((d.left, d.right)): d.claim for d in given.differences} == claims
    assert {s.system: s.claim for s in given.slopes} == {"A": "new-runs", "B": "new-runs", "C": "these-runs"}
    assert "p-values, each for its own claim" in given.joint.p_method
    assert given.model is None
    (slopes,) = [table for table in found.tables() if "change of the score" in table.title]
    assert slopes.columns[1] == "claim"


def test_a_picture_names_no_pair_that_differs_nowhere() -> None:
    frame = simulated({"A": 3, "B": 3})
    frame["length"] = frame["item"] % 7
    noise = np.random.default_rng(1).normal(0, 0.01, 90)
    frame.loc[frame.system == "B", "score"] = frame.score[frame.system == "A"].to_numpy() + noise
    found = compare_systems(frame, by="length")
    assert not found.conditional[0].significant_where
    (ax,) = plot_conditional(found, "length").axes
    assert not ax.texts
    frame.loc[frame.system == "B", "score"] += 1
    apart = compare_systems(frame, by="length")
    (ax,) = plot_conditional(apart, "length").axes
    assert [text.get_text() for text in ax.texts] == ["B - A"]


def test_a_row_that_belongs_to_the_one_above_is_indented_in_latex() -> None:
    found = compare_systems(simulated({"A": 3, "B": 3}))
    (tests,) = [table for table in found.tables() if table.title == "All systems at once"]
    assert "\\quad its likelihood ratio &" in render_latex(tests)


def test_two_runs_that_are_alike_by_luck_still_have_an_interval() -> None:
    """They vary no less than items do: CIs on a few hundredths of a degree of freedom were 150 digits long."""
    frame = simulate_scores({s: 0.7 + i / 100 for i, s in enumerate("ABCDE")}, items=12, runs=2, seed=1).to_pandas()
    found = compare_systems(frame)
    assert all(0 < c.high - c.low < 10 for c in found.contrasts)
    shown = found.tables()[1]
    assert max(len(cell) for cells in shown.cells() for cell in cells) < 30


def test_what_has_no_limits_is_shown_alike_when_it_is_read_again(tmp_path: Path) -> None:
    frame = simulate_scores({s: 0.7 + i / 100 for i, s in enumerate("ABCDE")}, items=12, runs=2, seed=1).to_pandas()
    frame["length"], frame["genre"] = frame["item"] * 7 % 12, frame["item"].map(lambda i: "xyz"[i % 3])
    found = compare_systems(frame, by=["length", "genre"])
    assert "-inf" not in str(found)
    (tmp_path / "found.json").write_text(found.to_json())
    assert str(read_result(tmp_path / "found.json")) == str(found)


def test_no_likelihood_ratio_is_fitted_to_thousands_of_patterns_of_missing_scores() -> None:
    rng = np.random.default_rng(1)
    rows = [(s, k, i) for s in "AB" for k in range(6) for i in range(2000)]
    frame = pd.DataFrame(rows, columns=["system", "seed", "item"]).assign(score=rng.normal(size=len(rows)))
    found = compare_systems(frame[rng.random(len(frame)) > 0.4])
    assert found.test.note == "scores are missing in more than 1,000 different patterns"
    assert compare_systems(frame).test.note == ""
