"""Right and wrong on the scale of log-odds, and items that tell no systems apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup.results import read_result


def outcomes(accuracy: float, sd: float = 1.5, systems: int = 2, items: int = 400, runs: int = 5) -> dict[str, Any]:
    state = np.random.RandomState(7)
    s, i, r = np.indices((systems, items, runs)).reshape(3, -1)
    log_odds = accuracy + sd * state.standard_normal(items)[i]
    y = state.random_sample(len(s)) < 1 / (1 + np.exp(-log_odds))
    return {
        "system": [f"s{k}" for k in s], "item": [f"q{k:03d}" for k in i], "seed": [f"r{k}" for k in r],
        "score": y.astype(float),
    }  # fmt: skip


@pytest.mark.parametrize("accuracy", [0.0, 2.5])
def test_phi_on_log_odds_does_not_depend_on_the_accuracy(accuracy: float) -> None:
    found = holdsup.decompose_variance(outcomes(accuracy))
    truth = 1.5**2 / (1.5**2 + np.pi**2 / 3)
    assert [each.phi for each in found.latent] == pytest.approx([truth, truth], abs=0.08)
    assert [each.sd["item"] for each in found.latent] == pytest.approx([1.5, 1.5], abs=0.3)
    assert all(each.converged for each in found.latent)


def test_items_that_all_systems_have_right_or_wrong_are_counted() -> None:
    table = outcomes(1.0)
    found = holdsup.decompose_variance(table).dead[0]
    right = {item: [] for item in table["item"]}
    for item, score in zip(table["item"], table["score"], strict=True):
        right[item].append(score)
    assert found.items == 400
    assert found.always_right == sum(all(scores) for scores in right.values()) > 0
    assert found.always_wrong == sum(not any(scores) for scores in right.values()) > 0


def test_the_tables_are_in_the_full_answer_and_restored(tmp_path: Any) -> None:
    found = holdsup.decompose_variance(outcomes(1.0))
    found.write_json(tmp_path / "variance.json")
    restored = read_result(tmp_path / "variance.json")
    assert restored.to_dict() == found.to_dict()
    assert {"latent", "dead"} <= {table.name for table in restored.tables()}


def test_scores_between_have_no_latent_scale() -> None:
    table = outcomes(1.0)
    table["score"] = table["score"] * 0.9 + 0.05
    found = holdsup.decompose_variance(table)
    assert (found.latent, found.dead) == ((), ())


def test_a_system_without_a_logistic_fit_has_a_note_that_says_why() -> None:
    table = outcomes(1.0, runs=4)
    state = np.random.RandomState(1)
    sure = dict(zip(sorted(set(table["item"])), state.randint(0, 2, 400), strict=True))
    noise = state.random_sample(len(table["item"])) < 0.01
    table["score"] = (
        np.array([sure[i] for i in table["item"]], float) * ~noise
        + (1.0 - np.array([sure[i] for i in table["item"]])) * noise
    )
    found = holdsup.decompose_variance(table)
    assert not found.latent
    (note, *_) = [c for c in found.cautions if c.code == "no-latent-scale"]
    assert note.severity == "note"
    assert "always right or always wrong" in note.message
