"""Items of right and wrong: how hard they are, how well they tell systems apart, which tell nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup.errors import ScoresError
from holdsup.results import read_result


def outcomes(*, systems: int = 6, items: int = 80, runs: int = 2, wrong_key: int = 7) -> dict[str, Any]:
    """Systems that differ in ability; items that differ in difficulty, one of which has a wrong key."""
    g = np.random.RandomState(3)
    s, i, r = (axis.ravel() for axis in np.indices((systems, items, runs)))
    ability, easy = np.linspace(-1.5, 1.5, systems), 1.2 * g.standard_normal(items)
    easy[:2], easy[2:4], easy[wrong_key] = 30.0, -30.0, 0.0
    eta = ability[s] * np.where(i == wrong_key, -2.5, 1.0) + easy[i]
    y = (g.random_sample(len(s)) < 1 / (1 + np.exp(-eta))).astype(float)
    return {"system": [f"s{k}" for k in s], "item": [f"q{k:02d}" for k in i], "seed": r.tolist(), "score": y.tolist()}


def test_discrimination_is_the_correlation_with_the_mean_on_the_other_items() -> None:
    table = outcomes()
    y = np.array(table["score"]).reshape(6, 80, 2).transpose(1, 0, 2).reshape(80, 12)
    rated = {each.item: each for each in holdsup.rate_items(table)}
    assert list(rated) == [f"q{i:02d}" for i in range(80)]
    for i in range(80):
        each, rest = rated[f"q{i:02d}"], np.delete(y, i, axis=0).mean(axis=0)
        assert (each.right, each.outcomes) == (pytest.approx(y[i].mean()), 12)
        if 0 < y[i].mean() < 1:
            assert each.discrimination == pytest.approx(np.corrcoef(y[i], rest)[0, 1], abs=1e-12)
        else:
            assert each.discrimination is None
    assert (
        min((e for e in rated.values() if e.discrimination is not None), key=lambda e: e.discrimination).item == "q07"
    )


def test_difficulty_is_that_of_the_logistic_mixed_model() -> None:
    table = outcomes()
    rated = holdsup.rate_items(table)
    fit = holdsup.fit_glmm("score ~ system + (1 | item) + (1 | system:item)", table)
    effects = next(e for e in holdsup.fit.random_effects(fit) if e.group == "item")
    told = {level[0]: -value for level, value in zip(effects.levels, effects.values[:, 0], strict=True)}
    assert [each.difficulty for each in rated] == pytest.approx([told[each.item] for each in rated], abs=1e-3)
    shares = [each.right for each in rated]
    assert np.corrcoef(shares, [each.difficulty for each in rated])[0, 1] < -0.95


def test_missing_cells_leave_the_others_as_they_are() -> None:
    table = outcomes()
    kept = [k for k in range(len(table["score"])) if not (table["item"][k] == "q20" and table["system"][k] == "s0")]
    fewer = {name: [values[k] for k in kept] for name, values in table.items()}
    whole, part = ({e.item: e for e in holdsup.rate_items(t)} for t in (table, fewer))
    assert part["q20"].outcomes == 10
    assert part["q30"].discrimination == pytest.approx(whole["q30"].discrimination, abs=0.05)


def test_compare_and_variance_name_the_items_that_tell_nothing(tmp_path: Any) -> None:
    table = outcomes()
    for found in (holdsup.compare_systems(table), holdsup.decompose_variance(table)):
        (dead,) = found.dead
        assert {"q00", "q01"} <= set(dead.right_items)
        assert {"q02", "q03"} <= set(dead.wrong_items)
        assert (dead.items, dead.always_right) == (80, len(dead.right_items))
        shown = next(t for t in found.tables() if t.name == "dead")
        assert "Always wrong: q02, q03" in " ".join(shown.notes)
        found.write_json(tmp_path / "found.json")
        assert read_result(tmp_path / "found.json").to_dict() == found.to_dict()
    notable = next(t for t in found.tables() if t.name == "items")
    assert "q07" in [row[0] for row in notable.rows]
    assert "wrong key" in " ".join(notable.notes)


def test_items_of_other_scores_and_of_one_system_are_not_rated() -> None:
    table = outcomes()
    for change in ({"score": [0.9 * y for y in table["score"]]}, {"system": ["A"] * len(table["score"])}):
        data = {**table, **change}
        if "system" in change:
            data["seed"] = list(range(12)) * 80
            data["item"] = [f"q{k // 12:02d}" for k in range(960)]
        with pytest.raises(ScoresError, match="items are rated where several systems are right"):
            holdsup.rate_items(data)
