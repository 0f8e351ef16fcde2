"""Human labels of some items beside a judge's scores of all: `human=`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from holdsup import compare_systems, read_result
from holdsup.errors import ColumnError, ScoresError


def judged(
    *, items: int = 400, labels: int = 80, lead: float = 0.3, favour: float = 1.0, seed: int = 1
) -> pd.DataFrame:
    """Return scores of a judge who favours B by `favour`, and human labels of a random sample of the items."""
    rng = np.random.default_rng(seed)
    hard, chosen = rng.normal(0, 1, items), rng.choice(items, labels, replace=False)
    frames = []
    for place, system in enumerate("AB"):
        human = hard + lead * place + rng.normal(0, 0.6, items)
        score = human + favour * place + rng.normal(0, 0.4, items)
        label = np.where(np.isin(np.arange(items), chosen), human, np.nan)
        frames.append(pd.DataFrame({"system": system, "item": range(items), "score": score, "human": label}))
    return pd.concat(frames, ignore_index=True)


def codes(found: Any) -> set[str]:
    return {each.code for each in found.cautions}


def test_the_judge_narrows_the_interval_and_its_bias_is_gone() -> None:
    found = compare_systems(judged(), human="human")
    only, beside = found.contrasts[0], found.human[0]
    assert only.low < 0.3 < only.high
    assert beside.judge > 1.2
    assert only.high - only.low < 0.8 * (beside.high_alone - beside.low_alone)
    assert (beside.labels, beside.items, only.df, only.rule) == (80, 400, 78, "judge-corrected")
    text = " ".join(str(found).split())
    assert "judge narrows the interval from" in text
    assert "80 labels of 400 items" in text


def test_labels_alone_are_the_paired_t_test() -> None:
    frame = judged()
    wide = frame.dropna().pivot(index="item", columns="system", values="human")
    beside = compare_systems(frame, human="human").human[0]
    test = stats.ttest_rel(wide.B, wide.A)
    low, high = test.confidence_interval()
    assert (beside.alone, beside.low_alone, beside.high_alone) == pytest.approx(
        (wide.B.mean() - wide.A.mean(), low, high)
    )


def test_weights_correct_a_sample_that_was_not_drawn_evenly() -> None:
    rng = np.random.default_rng(4)
    frame = judged(items=2000, labels=2000, favour=0.0, lead=0.0)
    frame["human"] += np.where(frame.system == "B", frame.item / 1000 - 1, 0)  # B leads on late items, which are drawn
    chance = np.linspace(0.01, 0.19, 2000)
    frame["human"] = frame.human.where((rng.random(2000) < chance)[frame["item"]])
    frame["weight"] = 1 / chance[frame["item"]]
    weighted = compare_systems(frame, human="human", human_weight="weight").contrasts[0]
    plain = compare_systems(frame, human="human").contrasts[0]
    size = {"B": 1, "A": -1}
    assert size[weighted.left] * weighted.low < 0 < size[weighted.left] * weighted.high or weighted.p > 0.05
    assert plain.p < 1e-6


def test_what_cannot_be_corrected_is_refused_in_one_line() -> None:
    frame = judged()
    with pytest.raises(ScoresError, match="'B' has no labels, and a difference needs those of both"):
        compare_systems(frame.assign(human=frame.human.where(frame.system == "A")), human="human")
    few = set(frame.item[frame.human.notna()].unique()[:6])
    with pytest.raises(ScoresError, match="6 items have labels of both 'B' and 'A', and at least 10 are needed"):
        compare_systems(frame.assign(human=frame.human.where(frame["item"].isin(few))), human="human")
    with pytest.raises(ColumnError, match=r"no column 'humans'.*Did you mean 'human'"):
        compare_systems(frame, human="humans")
    with pytest.raises(ScoresError, match="--human item: this column holds the item"):
        compare_systems(frame, human="item")
    words = frame.assign(human=frame.human.map(lambda v: "good" if v == v else None))
    with pytest.raises(ScoresError, match="it holds 'good', and numbers are needed"):
        compare_systems(words, human="human")
    with pytest.raises(ScoresError, match="--best: not together with --human"):
        compare_systems(frame.assign(dev=1.0), human="human", best="dev")
    with pytest.raises(ScoresError, match="--human-weight: it weighs human labels"):
        compare_systems(frame, human_weight="score")
    with pytest.raises(ScoresError, match="each labelled item needs a weight above zero"):
        compare_systems(frame.assign(w=0.0), human="human", human_weight="w")


def test_labels_on_another_scale_and_labels_that_are_no_sample_are_said() -> None:
    frame = judged()
    assert not {"labels-on-another-scale", "labels-not-random"} & codes(compare_systems(frame, human="human"))
    tens = compare_systems(frame.assign(score=frame.score * 10), human="human")
    assert "labels-on-another-scale" in codes(tens)
    assert tens.contrasts[0].difference == pytest.approx(compare_systems(frame, human="human").contrasts[0].difference)
    easy = frame.groupby("item").score.mean().nlargest(100).index
    picked = frame.assign(human=np.where(frame["item"].isin(easy), frame.score, np.nan))
    assert "labels-not-random" in codes(compare_systems(picked, human="human"))


def test_several_judges_are_averaged_and_the_answer_says_so() -> None:
    frame = judged()
    both = pd.concat([frame.assign(judge="x"), frame.assign(judge="y", score=frame.score + 1)])
    found = compare_systems(both, human="human")
    assert "judges-averaged" in codes(found)
    assert found.contrasts[0].difference == pytest.approx(compare_systems(frame, human="human").contrasts[0].difference)


def test_labels_are_part_of_the_digest_and_the_result_is_restored_whole(tmp_path: Path) -> None:
    frame = judged()
    found = compare_systems(frame, human="human", margin=0.05)
    assert found.signature != compare_systems(frame.assign(human=-frame.human), human="human", margin=0.05).signature
    assert "human:human" in found.signature
    (tmp_path / "found.json").write_text(found.to_json())
    assert read_result(tmp_path / "found.json").to_dict() == found.to_dict()


def test_a_report_cites_what_the_method_is_from() -> None:
    from holdsup.report.references import REFERENCES

    method = compare_systems(judged(), human="human").describe_method()
    assert "angelopoulos2023" in method.citations
    assert set(method.citations) <= set(REFERENCES)
