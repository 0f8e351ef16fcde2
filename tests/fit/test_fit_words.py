"""What a fit says in ten seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from holdsup import LmmFit, fit_lmm, read_result

ITEMS, RUNS = 12, 4


@pytest.fixture(scope="module")
def table() -> dict[str, list[Any]]:
    rng = np.random.default_rng(1)
    item, run = np.meshgrid(np.arange(ITEMS), np.arange(2 * RUNS))
    item, run = item.ravel(), run.ravel()
    system = np.where(run < RUNS, "A", "B")
    noise = rng.normal(0, 0.1, ITEMS)[item] + rng.normal(0, 0.02, 2 * RUNS)[run] + rng.normal(0, 0.05, len(item))
    return {
        "system": system.tolist(),
        "item": item.tolist(),
        "run": run.tolist(),
        "length": (item % 5).tolist(),
        "f1": (0.7 + 0.05 * (system == "B") + noise).tolist(),
        "score": (0.7 - 0.05 * (system == "B") + noise).tolist(),
    }


def test_two_levels_are_compared_in_words_and_the_numbers_are_those_of_the_effect(table: dict[str, list[Any]]) -> None:
    fit = fit_lmm("f1 ~ system + (1 | item) + (1 | run)", table)
    effect = fit.fixed[1]
    assert (fit.pair.variable, fit.pair.level, fit.pair.reference) == ("system", "B", "A")  # type: ignore[union-attr]
    assert fit.state is None
    assert fit.headline == (
        f"system B is {effect.estimate:.3f} above A in f1 (95% CI {effect.low:.3f} to {effect.high:.3f}, "
        f"p {'< .001' if effect.p < 0.001 else f'= {effect.p:.3f}'.replace('0.', '.')})."
    )
    lower = fit_lmm("score ~ system + (1 | item) + (1 | run)", table)
    assert lower.headline.startswith(f"system B scores {-lower.fixed[1].estimate:.3f} below A (95% CI ")


@pytest.mark.parametrize(
    ("formula", "headline"),
    [
        ("f1 ~ 1 + (1 | item)", "The mean is "),
        ("f1 ~ length + (1 | item)", "The effect of length is "),
        ("f1 ~ 0 + system + (1 | item)", "2 of 2 effects differ from zero (p at most .05)."),
        ("f1 ~ factor(item) + (1 | run)", " of 11 effects differ from zero (p at most .05)."),
    ],
)
def test_other_models_are_said_in_one_sentence(formula: str, headline: str, table: dict[str, list[Any]]) -> None:
    fit = fit_lmm(formula, table)
    assert fit.pair is None
    assert headline in fit.headline
    assert len(fit.headline.split()) <= 25


@pytest.mark.parametrize("formula", ["f1 ~ system + (1 | item)", "f1 ~ system * factor(item) + (system || run)"])
def test_the_short_answer_fits_a_screen(formula: str, table: dict[str, list[Any]]) -> None:
    fit = fit_lmm(formula, table)
    lines = str(fit).splitlines()
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines[:-1])
    assert ("14 more: --full" in lines) == (len(fit.fixed) > 10)


def test_cautions_have_codes_and_stand_at_their_tables(table: dict[str, list[Any]]) -> None:
    twice = {**table, "twice": [2 * x for x in table["length"]], "none": [i % 3 for i in range(len(table["f1"]))]}
    fit = fit_lmm("f1 ~ length + twice + (1 | item) + (1 | none)", twice)
    places = {caution.code: caution.about for caution in fit.cautions}
    assert places["dropped-columns"] == "table:fixed"
    assert places.get("singular-fit", "table:random") == "table:random"
    assert [table.name for table in fit.tables()] == ["fixed", "random"]


def test_a_difference_that_is_not_clear_may_be_chance(table: dict[str, list[Any]]) -> None:
    half = ["odd" if i % 2 else "even" for i in range(len(table["f1"]))]
    fit = fit_lmm("f1 ~ half + (1 | item)", {**table, "half": half})
    assert fit.fixed[1].p > 0.05
    assert " even in f1, which could be chance (95% CI " in fit.headline


def test_a_saved_fit_says_the_same(table: dict[str, list[Any]], tmp_path: Any) -> None:
    fit = fit_lmm("f1 ~ system + (1 | item)", table)
    fit.write_json(tmp_path / "fit.json")
    restored = read_result(tmp_path / "fit.json")
    assert isinstance(restored, LmmFit)
    assert str(restored) == str(fit)


def test_names_of_300_letters_leave_the_short_answer_short() -> None:
    rows = [(s, i, 0.1 * i + (s == "B" * 300) + (i * 7 % 5) / 10) for s in ("A" * 300, "B" * 300) for i in range(9)] * 2
    long = "x" * 300
    table = {
        long: [s for s, _, _ in rows],
        f"item{long}": [f"{long}{i}" for _, i, _ in rows],
        "score": [y + n % 7 / 50 for n, (_, _, y) in enumerate(rows)],
    }
    said = fit_lmm(f"score ~ {long} + (1|item{long})", table).answer().text(width=40)
    *lines, signature = said.splitlines()
    assert len(lines) <= 32
    assert max(map(len, lines)) <= 40
    assert long in signature
