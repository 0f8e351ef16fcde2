"""Scores that repeat a run and an item in a decomposition, and what its lines and its signature name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import holdsup
from holdsup.errors import ScoresError


def repeated(times: int = 3, *, items: int = 40, seeds: int = 4, systems: str = "A") -> pd.DataFrame:
    """Return scores of items by seeds, each asked for several times under another prompt."""
    rng = np.random.default_rng(2)
    frames = []
    for system in systems:
        item, seed, prompt = (axis.ravel() for axis in np.indices((items, seeds, times)))
        score = rng.normal(0, 0.2, items)[item] + rng.normal(0, 0.05, seeds)[seed] + rng.normal(0, 0.1, len(item))
        frames.append(pd.DataFrame({"system": system, "item": item, "seed": seed, "prompt": prompt, "score": score}))
    return pd.concat(frames)


def test_repeated_scores_are_said_with_the_column_that_tells_them_apart() -> None:
    frame = repeated()
    (line,) = [w for w in holdsup.decompose_variance(frame).warnings if "repeat" in w]
    assert line.startswith("320 scores repeat a run and an item and count separately")
    assert "prompt tells them apart: give --facets seed --replicates prompt if it only repeats runs" in line
    assert "or --facets seed,prompt if it is a setting" in line
    assert not any("repeat" in w for w in holdsup.decompose_variance(repeated(1)).warnings)


def test_a_comparison_is_refused_where_every_item_has_scores_that_a_column_tells_apart() -> None:
    frame = repeated(systems="AB").assign(
        dev_score=lambda f: f.prompt / 7, output=lambda f: np.arange(len(f)).astype(str)
    )
    with pytest.raises(ScoresError, match=r"every item of 'A' has 3 scores or more in each run, and 'prompt' tells"):
        holdsup.compare_systems(frame)
    ways = (
        r"give --facets seed --replicates prompt if it only repeats runs, .* or --facets seed,prompt if it is a setting"
    )
    with pytest.raises(ScoresError, match=ways):
        holdsup.compare_systems(frame)
    assert holdsup.compare_systems(frame, facets=["seed", "prompt"]).systems[0].runs == 12


def test_folds_are_not_offered_as_a_column_that_has_a_last_one() -> None:
    with pytest.raises(ScoresError, match="'fold' tells them apart") as refused:
        holdsup.compare_systems(repeated(systems="AB").rename(columns={"prompt": "fold"}))
    assert "--last" not in str(refused.value)


@pytest.mark.parametrize(("names", "chosen"), [(("dev", "eval"), "eval"), (("Train", "val", "Test-2"), "Test-2")])
def test_one_part_of_the_data_is_offered_before_an_average_of_all(names: tuple[str, ...], chosen: str) -> None:
    frame = repeated(len(names), systems="AB")
    frame["split"] = np.array(names)[frame.pop("prompt")]
    with pytest.raises(ScoresError, match=f"give --where split={chosen} to use one part of the data alone, --facets"):
        holdsup.compare_systems(frame)
    frame = frame[frame["item"] == 0].drop(columns="item")
    lines = " ".join(holdsup.compare_systems(frame).warnings)
    assert f"split tells them apart: give --where split={chosen} to use one of them alone, --facets" in lines


def test_a_suggested_name_is_quoted_for_the_shell() -> None:
    frame = repeated(systems="AB").rename(columns={"prompt": "Prompt #"})
    with pytest.raises(
        ScoresError, match=r"give --facets seed --replicates 'Prompt #' if .* or --facets 'seed,Prompt #'"
    ):
        holdsup.compare_systems(frame)


@pytest.mark.parametrize("name", ["Latency (ms)", "tokens"])
def test_a_measurement_is_not_offered_as_what_tells_runs_apart(name: str) -> None:
    """It has fewer values than half of the rows, so that these repeat, and more than an item has scores."""
    frame = repeated(systems="AB")
    frame[name] = np.random.default_rng(1).integers(150, 250, len(frame)).astype(float)
    assert 50 < frame[name].nunique() < len(frame) / 2
    with pytest.raises(ScoresError, match=r"and 'prompt' tells them apart"):
        holdsup.compare_systems(frame)


def test_raters_who_are_numbered_may_tell_scores_apart_though_they_are_many() -> None:
    frame = repeated(systems="AB").drop(columns="prompt")
    frame["by"] = np.random.default_rng(1).permutation(np.arange(len(frame)) % 80)
    with pytest.raises(ScoresError, match=r"and 'by' tells them apart"):
        holdsup.compare_systems(frame)


@pytest.mark.parametrize("outcome", ["dev_score", "loss", "reason"])
def test_duplicates_in_which_no_column_but_an_outcome_differs_are_averaged_and_said(outcome: str) -> None:
    frame = repeated(2, systems="AB").assign(**{outcome: lambda f: f.prompt / 7}).drop(columns="prompt")
    (line,) = [w for w in holdsup.compare_systems(frame, score="score").warnings if "repeat" in w]
    assert line.startswith(
        "320 scores repeat a run and an item and were averaged. Name the columns that tell them apart"
    )


def test_repeats_that_no_column_tells_apart_are_said_as_well() -> None:
    frame = repeated(2).drop(columns="prompt")
    (line,) = [w for w in holdsup.decompose_variance(frame).warnings if "repeat" in w]
    assert "Name the columns that tell them apart" in line


def test_the_standard_error_now_is_that_of_all_scores() -> None:
    """By the closed form: an item's average is over seeds, and over its scores at each."""
    found = holdsup.decompose_variance(repeated(3))
    variances = {c.name: c.variance for c in found.components}
    now = next(plan for plan in found.study if plan.current)
    assert (now.counts, now.repeats) == ({"seed": 4}, pytest.approx(3))
    error = variances["seed"] / 4 + variances["Residual"] / (4 * 3)
    assert now.se == pytest.approx(np.sqrt(error))
    assert now.se_mean == pytest.approx(
        np.sqrt(variances["item"] / 40 + variances["seed"] / 4 + variances["Residual"] / (4 * 3 * 40))
    )


def test_unequal_repeats_count_as_their_harmonic_mean() -> None:
    frame = repeated(2)
    frame = frame[(frame["item"] % 2 == 0) | (frame.prompt == 0)]  # half of the items twice, half once
    assert holdsup.decompose_variance(frame).study[0].repeats == pytest.approx(1 / (0.5 / 2 + 0.5))


def test_a_signature_names_all_that_was_asked_for() -> None:
    frame = repeated(1, systems="AB").rename(columns={"score": "f1"})
    frame["text"] = [f"some words {'more ' * (i % 5)}" for i in frame["item"]]
    found = holdsup.decompose_variance(
        frame, properties=["long=length(text)"], by="long", levels={"seed": [3, 10]}, where={"system": "A"}
    )
    for part in ("score:f1", "system:system", "item:item", "facets:seed", "properties:long=length(text)",
                 "where:system=A", "by:long", "levels:seed=3/10", "method:reml"):  # fmt: skip
        assert f"|{part}|" in found.signature


def test_a_measurement_is_no_facet_where_settings_have_the_same_seeds() -> None:
    """Three rates by three seeds: seeds repeat, the score on development data does not."""
    rng = np.random.default_rng(5)
    item, rate, seed = (axis.ravel() for axis in np.indices((12, 3, 3)))
    table = {
        "system": ["A"] * 108, "item": item, "rate": rate, "seed": seed, "dev": rng.normal(size=(3, 3))[rate, seed],
        "score": rng.normal(size=108),
    }  # fmt: skip
    with pytest.raises(ScoresError, match="--facets dev: 'dev' differs in every run"):
        holdsup.decompose_variance(table, facets=["seed", "dev"])
    assert len(holdsup.decompose_variance(table, facets=["seed", "rate"]).components) == 4
    one_seed = {name: np.asarray(column)[seed == 1] for name, column in table.items()}
    assert holdsup.decompose_variance(one_seed, facets=["seed", "rate"]).components[1].name == "rate"


def test_a_line_about_one_of_several_metrics_names_it() -> None:
    frame = pd.concat([repeated(1, systems="AB").assign(metric=metric) for metric in ("bleu", "chrf")])
    found = holdsup.decompose_variance(frame)
    (few,) = [caution for caution in found.cautions if caution.code == "few-levels"]
    assert (few.count, few.about) == (4, "table:components")
    assert all("(bleu): three more runs" in line or "(chrf): three more runs" in line for line in found.next)
    assert all(name in str(found) for name in ("A (bleu)", "A (chrf)", "B (bleu)", "B (chrf)"))


def test_rows_are_not_chosen_by_the_score() -> None:
    with pytest.raises(ScoresError, match=r"--where score: this column holds the score, and rows can.t be chosen by"):
        holdsup.decompose_variance(repeated(), where={"score": "0.5"})


def test_a_column_that_may_be_the_systems_is_no_noise() -> None:
    frame = repeated(systems="AB").rename(columns={"system": "contestant"}).query("prompt == 0").drop(columns="prompt")
    with pytest.raises(
        ScoresError, match="'contestant' tells them apart: give --system contestant if it names the sys"
    ):
        holdsup.decompose_variance(frame)
    assert len(holdsup.decompose_variance(frame, system="contestant").systems) == 2
    alone = frame[frame.contestant == "A"]
    assert len(holdsup.decompose_variance(alone).systems) == 1  # nothing is told apart: one system, as ever


def test_raters_are_not_called_runs() -> None:
    frame = repeated(systems="AB").rename(columns={"prompt": "rater"}).query("seed == 0").drop(columns="seed")
    (holds,) = (said for label, said in holdsup.decompose_variance(frame, replicates="rater").answer().foot[:1])
    assert "in new raters;" in str(holds)
    compared = holdsup.compare_systems(frame, replicates="rater")
    assert "3 raters" in str(compared)
    assert "runs" not in str(compared).partition("more:")[0]
