"""Variance components and reliability: closed forms, published numbers, refusals, renderings."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import numpy as np
import pandas as pd
import pytest
from scipy import stats

import holdsup
from holdsup.columns.crossing import cross
from holdsup.errors import ColumnError, FitError, ScoresError
from holdsup.fit import bootstrap_fit, fit_lmm, profile_share
from holdsup.results import schema_of
from holdsup.verdict.variance import reliability as reliability_module
from holdsup.verdict.variance.fits import Term, _is_dependent
from holdsup.verdict.variance.reliability import name_band, reaches

Run = Callable[..., Any]


def crossed(items: int, raters: int, occasions: int, seed: int, **sd: float) -> tuple[np.ndarray, dict[str, Any]]:
    """Scores of every rater on every item at every occasion, as an array and as a table."""
    rng = np.random.default_rng(seed)
    shape = (items, raters, occasions)
    y = rng.normal(0, sd.get("residual", 1.0), shape)
    y += rng.normal(0, sd.get("item", 1.0), (items, 1, 1))
    y += rng.normal(0, sd.get("rater", 0.5), (1, raters, 1))
    y += rng.normal(0, sd.get("occasion", 0.5), (1, 1, occasions))
    y += rng.normal(0, sd.get("item_rater", 0.0), (items, raters, 1))
    item, rater, occasion = (axis.ravel() for axis in np.indices(shape))
    table = {
        "item": [f"i{i}" for i in item],
        "rater": [f"r{r}" for r in rater],
        "occasion": [f"o{o}" for o in occasion],
    }
    return y, {**table, "system": ["A"] * y.size, "score": y.ravel()}


def shares(found: holdsup.Decomposition, system: str = "A") -> dict[str, float]:
    return {c.name: c.percent for c in found.components if c.system == system}


def variances(found: holdsup.Decomposition, system: str = "A") -> dict[str, float]:
    return {c.name: c.variance for c in found.components if c.system == system}


def test_components_of_a_crossed_design_equal_the_anova_estimators() -> None:
    y, table = crossed(30, 6, 4, seed=5, item_rater=0.7)
    found = variances(holdsup.decompose_variance(table, facets=["rater", "occasion"], interactions="item:rater"))
    i, r, o = y.shape
    grand = y.mean()
    by = {"i": y.mean((1, 2)), "r": y.mean((0, 2)), "o": y.mean((0, 1)), "ir": y.mean(2)}
    ms_i = r * o * ((by["i"] - grand) ** 2).sum() / (i - 1)
    ms_r = i * o * ((by["r"] - grand) ** 2).sum() / (r - 1)
    ms_o = i * r * ((by["o"] - grand) ** 2).sum() / (o - 1)
    ss_ir = o * ((by["ir"] - by["i"][:, None] - by["r"] + grand) ** 2).sum()
    ms_ir = ss_ir / ((i - 1) * (r - 1))
    left = y - by["ir"][:, :, None] - by["o"] + grand
    ms_e = (left**2).sum() / (y.size - i * r - o + 1)
    expected = {
        "item": (ms_i - ms_ir) / (r * o),
        "rater": (ms_r - ms_ir) / (i * o),
        "occasion": (ms_o - ms_e) / (i * r),
        "item:rater": (ms_ir - ms_e) / o,
        "Residual": ms_e,
    }
    assert min(expected.values()) > 0  # else REML and ANOVA differ
    assert found == pytest.approx(expected, rel=1e-5)


def test_shares_add_up_and_phi_is_the_share_of_the_items() -> None:
    _, table = crossed(25, 4, 3, seed=1)
    found = holdsup.decompose_variance(table, facets=["rater", "occasion"])
    assert sum(shares(found).values()) == pytest.approx(100)
    assert found.reliability is not None
    assert found.reliability.phi == pytest.approx(shares(found)["item"] / 100)
    assert found.reliability.low < found.reliability.phi < found.reliability.high
    for component in found.components:
        assert component.low <= component.variance <= component.high


def test_multiplying_and_shifting_the_scores_changes_no_share() -> None:
    _, table = crossed(25, 4, 3, seed=1)
    moved = {**table, "score": 1e6 + 100 * np.asarray(table["score"])}
    here, there = (holdsup.decompose_variance(t, facets=["rater", "occasion"]) for t in (table, moved))
    assert shares(there) == pytest.approx(shares(here), rel=1e-4)
    assert here.reliability is not None
    assert there.reliability is not None
    assert (there.reliability.low, there.reliability.high) == pytest.approx(
        (here.reliability.low, here.reliability.high), rel=1e-3
    )


def test_phi_limits_of_one_way_scores_are_near_the_exact_ones() -> None:
    rng = np.random.default_rng(2)
    items, k = 80, 4
    y = rng.normal(0, 1, (items, 1)) + rng.normal(0, 0.8, (items, k))
    table = {"item": np.repeat(np.arange(items), k).astype(str), "score": y.ravel(), "system": ["A"] * y.size}
    found = profile_share(fit_lmm("score ~ 1 + (1 | item)", table), "item")
    stretched = holdsup.decompose_variance(table, facets="-").reliability
    assert stretched is not None
    ratio = k * y.mean(1).var(ddof=1) / y.var(axis=1, ddof=1).mean()
    df = (items - 1, items * (k - 1))
    low, high = ((q - 1) / (q + k - 1) for q in (ratio / stats.f.ppf(p, *df) for p in (0.975, 0.025)))
    assert found.estimate == pytest.approx((ratio - 1) / (ratio + k - 1), rel=1e-5)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.01)
    assert stretched.phi == pytest.approx(found.estimate, rel=1e-5)
    assert stretched.low <= found.low + 1e-9 < found.high <= stretched.high + 1e-9 < found.high + 0.05


@pytest.mark.slow
def test_phi_limits_cover_with_three_levels() -> None:
    truth, tables, covered = 1 / (1 + 0.49 + 0.49), 100, 0
    rng = np.random.default_rng(11)
    for _ in range(tables):
        y = rng.normal(0, 1, (40, 1)) + rng.normal(0, 0.7, (1, 3)) + rng.normal(0, 0.7, (40, 3))
        item, facet = (axis.ravel().astype(str) for axis in np.indices(y.shape))
        fit = fit_lmm("y ~ 1 + (1 | item) + (1 | facet)", {"y": y.ravel(), "item": item, "facet": facet})
        found = profile_share(fit, "item")
        covered += found.low <= truth <= found.high
    assert 89 <= covered < 100  # at 95% there are fewer than 89 once in 230 times


def test_the_share_of_no_group_of_the_fit_is_refused() -> None:
    fit = fit_lmm("score ~ 1 + (1 | item)", holdsup.simulate_scores({"A": 0.7}, items=9, runs=3))
    assert profile_share(fit, "item").estimate == pytest.approx(bootstrap_fit(fit, 2).share("item").estimate)
    with pytest.raises(FitError, match="the fit has no group 'seed'; it has 'item'"):
        profile_share(fit, "seed")


def test_a_component_of_zero_is_zero_with_an_upper_limit() -> None:
    rng = np.random.default_rng(0)
    y = rng.normal(0, 1, (40, 1)) + rng.normal(0, 1, (40, 4))
    y -= y.mean(axis=0)  # all seeds have the same mean
    item, seed = (axis.ravel() for axis in np.indices(y.shape))
    found = holdsup.decompose_variance({"item": item, "seed": seed, "score": y.ravel(), "system": ["A"] * y.size})
    seeds = next(c for c in found.components if c.name == "seed")
    assert (seeds.variance, seeds.percent, seeds.low) == (0, 0, 0)
    assert 0 < seeds.high < 0.2
    assert "0%" in found.tables()[0].cells()[1]


def test_where_the_profile_cannot_be_followed_the_bootstrap_gives_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ValueError("f(a) and f(b) must have different signs")

    monkeypatch.setattr(reliability_module, "profile_intervals", refuse)
    monkeypatch.setattr("holdsup.verdict.variance.question.DRAWS", 50)
    _, table = crossed(20, 4, 3, seed=1)
    found = holdsup.decompose_variance(table, facets=["rater", "occasion"], seed=3)
    assert found.seed == 3
    assert "draws:50|seed:3" in found.signature
    assert {c.method for c in found.components} == {"parametric bootstrap"}
    assert found.reliability is not None
    assert 0 < found.reliability.low < found.reliability.phi < found.reliability.high < 1


@pytest.mark.parametrize(
    ("low", "high", "band"),
    [(0.1, 0.4, "poor"), (0.62, 0.81, "moderate to good"), (0.2, 0.95, "poor to excellent"), (0.91, 1.0, "excellent")],
)
def test_bands_are_read_off_the_limits(low: float, high: float, band: str) -> None:
    assert name_band(low, high) == band
    assert reaches(low, high) == ("yes" if low >= 0.8 else "no" if high < 0.8 else "unsure")


# What cannot be told apart


def test_a_facet_with_one_level_is_left_out_by_name() -> None:
    _, table = crossed(20, 4, 1, seed=1)
    found = holdsup.decompose_variance(table, facets=["rater", "occasion"])
    assert [c.name for c in found.components] == ["item", "rater", "Residual"]
    assert any("occasion is left out. It has one level" in warning for warning in found.warnings)


def test_facets_that_change_together_are_one() -> None:
    _, table = crossed(20, 4, 3, seed=1)
    twin = [f"also {rater}" for rater in table["rater"]]
    found = holdsup.decompose_variance({**table, "twin": twin}, facets=["rater", "twin"])
    alone = holdsup.decompose_variance(table, facets=["rater"])
    assert shares(found) == pytest.approx(shares(alone), rel=1e-9)
    assert any("twin is left out. It groups the scores exactly as rater does" in w for w in found.warnings)


def runs_of(partitions: dict[str, str], items: int = 30) -> dict[str, Any]:
    """Scores by chance, of as many runs as the words have letters; facet by facet, the level of each run."""
    runs = len(next(iter(partitions.values())))
    score = np.random.default_rng(4).normal(size=runs * items)
    table: dict[str, Any] = {"item": np.tile(np.arange(items), runs), "system": ["A"] * len(score), "score": score}
    return table | {name: np.repeat(list(levels), items) for name, levels in partitions.items()}


def test_more_facets_than_runs_can_tell_apart_are_left_out() -> None:
    table = runs_of({"a": "xxy", "b": "xyy", "c": "xyx"})  # three runs have two degrees of freedom
    found = holdsup.decompose_variance(table, facets=["a", "b", "c"])
    assert [c.name for c in found.components] == ["item", "a", "b", "Residual"]
    assert any("c is left out. There are too few runs to separate its variance from" in w for w in found.warnings)


def test_a_facet_whose_covariance_is_made_of_the_others_is_left_out() -> None:
    """The three ways to pair four runs and the runs themselves: twice the last and a constant is the sum of the others."""
    partitions = {"a": "xxyy", "b": "xyxy", "c": "xyyx", "run_": "wxyz"}
    matrices = [np.equal.outer(list(p), list(p)).astype(float) for p in partitions.values()]
    centred = [m - m.mean(0) - m.mean(1)[:, None] + m.mean() for m in matrices]
    assert np.linalg.matrix_rank(np.array([m.ravel() for m in centred])) == 3
    atoms = {name: np.repeat([ord(letter) for letter in p], 5) for name, p in partitions.items()}
    atoms = {"item": np.tile(np.arange(5), 4), **atoms}
    assert not _is_dependent(_term("c", atoms), [_term(name, atoms) for name in ("item", "a", "b")])
    assert _is_dependent(_term("run_", atoms), [_term(name, atoms) for name in ("item", "a", "b", "c")])


def _term(name: str, atoms: dict[str, Any]) -> Term:
    return Term(name, (name,), cross(atoms[name]))


def test_an_interaction_with_one_score_a_level_is_the_residual() -> None:
    found = holdsup.decompose_variance(
        holdsup.simulate_scores({"A": 0.7}, items=30, runs=3), interactions=["item:seed"]
    )
    assert [c.name for c in found.components] == ["item", "seed", "Residual"]
    assert any("item:seed is left out" in w and "noise" in w for w in found.warnings)


def test_a_system_with_one_run_is_left_out_and_the_others_are_not() -> None:
    two, one = (holdsup.simulate_scores({name: 0.7}, items=30, runs=runs) for name, runs in (("A", 3), ("B", 1)))
    rows = two.cast(one.schema).to_pylist() + one.to_pylist()
    found = holdsup.decompose_variance(rows)
    assert [s.system for s in found.systems] == ["A"]
    assert any(w.startswith("B is left out: with one score per item") for w in found.warnings)
    assert (found.rows.planned, found.rows.used) == (120, 90)
    assert found.rows.reasons == {"a system that is left out": 30}
    with pytest.raises(ScoresError, match=r"no variance to decompose in the scores of 'B': with one score per item"):
        holdsup.decompose_variance(rows, where={"system": "B"})


def test_equal_scores_have_no_variance() -> None:
    table = {"item": ["1", "1", "2", "2"], "seed": ["1", "2", "1", "2"], "score": [0.5] * 4, "system": ["A"] * 4}
    with pytest.raises(ScoresError, match=r"all scores equal 0\.5"):
        holdsup.decompose_variance(table)


def test_scores_that_items_and_facets_give_exactly_are_left_out_in_the_users_words() -> None:
    item, seed = (axis.ravel() for axis in np.indices((9, 3)))
    copies = {"item": item, "seed": seed, "score": item / 10, "system": ["A"] * 27}
    with pytest.raises(
        ScoresError, match="in the scores of 'A': item and seed fit every score exactly; check whether runs are copies"
    ):
        holdsup.decompose_variance(copies)
    rng = np.random.default_rng(0)
    both = {name: [*column, *column] for name, column in copies.items()}
    both |= {"system": ["A"] * 27 + ["B"] * 27, "score": [*item / 10, *rng.normal(size=27)]}
    found = holdsup.decompose_variance(both)
    assert ([s.system for s in found.systems], found.rows.used) == (["B"], 27)
    assert any(c.message == "A is left out: item and seed fit every score exactly." for c in found.cautions)


FALSE_FACETS = {
    "genre": "--facets genre: every item has one value of 'genre', so it is a property .* use --by genre or --dataset genre",
    "length": "--facets length: every item has one value of 'length', so it is a property",
    "dev": "--facets dev: 'dev' differs in every run, whatever 'seed' is",
}


@pytest.mark.parametrize("asked", FALSE_FACETS)
@pytest.mark.parametrize("beside", [[], ["seed"]])
def test_what_is_no_source_of_variation_between_runs_is_no_facet(asked: str, beside: list[str]) -> None:
    item, seed = (axis.ravel() for axis in np.indices((12, 4)))
    rng = np.random.default_rng(0)
    table = {
        "item": item, "seed": seed, "score": rng.normal(size=48), "system": ["A"] * 48, "length": 0.5 + item % 7,
        "genre": [("news", "web")[i % 2] for i in item], "dev": rng.normal(size=4)[seed],
    }  # fmt: skip
    if asked == "dev" and not beside:  # then it stands for the runs
        assert holdsup.decompose_variance(table, facets=[asked]).components[1].name == "dev"
        return
    with pytest.raises(ScoresError, match=FALSE_FACETS[asked]):
        holdsup.decompose_variance(table, facets=[*beside, asked])


@pytest.mark.parametrize("cluster", [{}, {"doc": [f"d{i % 3}" for i in range(9)] * 3}])
def test_items_are_no_facet(cluster: dict[str, list[str]]) -> None:
    table = {"item": [*range(9)] * 3, "seed": [0] * 9 + [1] * 9 + [2] * 9, "score": range(27), "system": ["A"] * 27}
    with pytest.raises(
        ColumnError, match=r"'item' is asked for as a facet, but by its name it is the column of the item"
    ):
        holdsup.decompose_variance(table | cluster, facets="item")


def test_one_score_a_run_without_items_says_what_is_lacking() -> None:
    runs = {"system": ["A", "A", "A", "B", "B"], "seed": [1, 2, 3, 1, 2], "accuracy": [0.7, 0.8, 0.75, 0.6, 0.65]}
    with pytest.raises(ScoresError, match=r"'A', 'B': there are no items, and with one score per run, .* with --item"):
        holdsup.decompose_variance(runs, facets=["seed"])


def test_a_facet_with_gaps_is_refused() -> None:
    table = {"item": ["1", "1", "2", "2"], "lr": ["1", None, "1", "2"], "score": [0.5, 1, 2, 3.0], "system": ["A"] * 4}
    with pytest.raises(ScoresError, match="1 of 'A''s 4 scores have no lr"):
        holdsup.decompose_variance(table, facets=["lr"])


@pytest.mark.parametrize("asked", ["item", "item:nobody", "rater:rater", "rater:"])
def test_interactions_join_what_is_there(asked: str) -> None:
    _, table = crossed(5, 3, 2, seed=1)
    if asked == "item":
        asked = "item:item"
    with pytest.raises(ScoresError, match="is not an interaction: join two or more of 'item', 'rater', 'occasion'"):
        holdsup.decompose_variance(table, facets=["rater", "occasion"], interactions=[asked])


def test_scores_without_items_have_components_but_no_reliability() -> None:
    rng = np.random.default_rng(3)
    lr, seed = (axis.ravel() for axis in np.indices((6, 5)))
    table = {"lr": lr, "seed": seed, "accuracy": rng.normal(0, 1, 6)[lr] + rng.normal(0, 0.3, 30), "system": ["A"] * 30}
    found = holdsup.decompose_variance(table, facets=["lr", "seed"])
    assert [c.name for c in found.components] == ["lr", "seed", "Residual"]
    assert (found.reliability, found.study) == (None, ())
    assert "there is no reliability" in found.headline
    assert found.state is None


# Choosing rows


def test_rows_that_are_not_asked_for_are_counted() -> None:
    table = holdsup.simulate_scores({"A": 0.7, "B": 0.6}, items=20, runs=3)
    found = holdsup.decompose_variance(table, where={"system": "B", "seed": ["1", "2"]})
    assert (found.rows.planned, found.rows.used) == (120, 40)
    assert found.rows.reasons == {"another system than B": 60, "another seed than 1 or 2": 20}
    assert "where:system=B,seed=1/2" in found.signature


def test_rows_that_are_not_there_are_refused() -> None:
    table = holdsup.simulate_scores({"A": 0.7, "B": 0.6}, items=20, runs=3)
    with pytest.raises(ScoresError, match="no row has system=C: 'system' has 'A', 'B'"):
        holdsup.decompose_variance(table, where={"system": "C"})
    with pytest.raises(ColumnError, match=r"no column 'sytem'.*Did you mean 'system'"):
        holdsup.decompose_variance(table, where={"sytem": "A"})


# Published numbers


@pytest.fixture(scope="module")
def replication(root: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("hagmann_variance", root / "replications/hagmann_variance.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("case", range(5))
def test_published_shares_come_out_again(replication: ModuleType, real_data: Path, case: int) -> None:
    file, arguments, system, _, expected, tolerance = replication.CASES[case]
    found = holdsup.decompose_variance(real_data / f"hagmann_statnlp/{file}.csv.gz", **arguments)
    obtained = replication.shares(found, system)
    assert {name: obtained[name] for name in expected} == pytest.approx(expected, abs=tolerance)
    assert set(expected) == set(obtained)


# Renderings


def test_a_decomposition_survives_its_json(tmp_path: Path) -> None:
    found = holdsup.decompose_variance(holdsup.simulate_scores({"A": 0.7, "B": 0.6}, items=30, runs=3))
    found.write_json(tmp_path / "v.json")
    assert holdsup.read_result(tmp_path / "v.json") == found
    plain = json.loads((tmp_path / "v.json").read_text())
    jsonschema.validate(plain, schema_of(holdsup.Decomposition))
    assert {"name", "variance", "percent", "low", "high"} <= set(plain["components"][0])
    assert {"phi", "low", "high", "band"} <= set(plain["reliability"])
    assert {"counts", "phi", "se"} <= set(plain["study"][0])


def test_the_command_line_gives_the_same_numbers(run: Run, tmp_path: Path) -> None:
    _, table = crossed(20, 4, 3, seed=1)
    file = tmp_path / "ratings.jsonl"
    keys = list(table)
    rows = zip(*table.values(), strict=True)
    file.write_text("\n".join(json.dumps(dict(zip(keys, row, strict=True))) for row in rows))
    asked = ["--facets", "rater,occasion", "--interactions", "item:rater", "--levels", "rater=2,7", "--quiet"]
    done = run("variance", file, *asked, "--format", "json")
    assert done.code == 0, done.err
    plain = json.loads(done.out)
    found = holdsup.decompose_variance(
        table, facets=["rater", "occasion"], interactions=["item:rater"], levels={"rater": [2, 7]}
    )
    assert [c["percent"] for c in plain["components"]] == pytest.approx([c.percent for c in found.components], rel=1e-9)
    assert [plan["counts"]["rater"] for plan in plain["study"]] == [4, 2, 7]


@pytest.mark.parametrize(
    ("options", "code", "line"),
    [
        (["--where", "system"], 2, "'system' is not of the form system=A."),
        (["--levels", "seed=none"], 2, "'none' is not whole numbers such as 3,5."),
        (["--levels", "lr=3"], 1, "there is no facet 'lr' to plan levels of: choose from 'seed'"),
        (["--where", "system=Z"], 1, "no row has system=Z: 'system' has 'A'"),
        (["--by", "length"], 1, "no column 'length'"),
        (["--interactions", "seed:lr"], 1, "'seed:lr' is not an interaction: join two or more of 'item', 'seed'"),
        (["--interactions", "seed"], 1, "'seed' is not an interaction: join two or more of 'item', 'seed'"),
    ],
)
def test_bad_requests_get_one_line(run: Run, tmp_path: Path, options: list[str], code: int, line: str) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(
        "system,seed,item,score\n" + "".join(f"A,{s},{i},{s * i % 5}\n" for s in range(3) for i in range(9))
    )
    done = run("variance", file, "--quiet", *options)
    assert done.code == code
    assert line in " ".join(done.err.split())
    assert code == 2 or len(done.err.strip().splitlines()) == 1


@pytest.mark.filterwarnings("error")
def test_a_table_of_four_scores_is_refused_without_a_complaint_of_the_profile(
    capfd: pytest.CaptureFixture[str],
) -> None:
    frame = pd.DataFrame(
        [
            ("S0", "d0", 0.01, 53.03739008036389),
            ("S0", "d2", 0.01, 1.074928022329176),
            ("S0", "d1", 0.1, 1.5149503448550097),
            ("S0", "d1", 0.01, 2.705281454637914),
        ],
        columns=["system", "dataset", "learning_rate", "score"],
    )
    with pytest.raises(ScoresError, match="nothing for noise"):
        holdsup.decompose_variance(frame)
    assert capfd.readouterr() == ("", "")


def test_levels_that_would_give_any_scores_exactly_leave_nothing_to_decompose() -> None:
    rows = [("d0", 1, 2.0), ("d0", 2, 1.0), ("d1", 1, 3.0), ("d1", 3, 5.0)]
    table = [{"system": "A", "dataset": dataset, "seed": seed, "score": score} for dataset, seed, score in rows]
    with pytest.raises(ScoresError, match="dataset and seed have as many levels as there are scores"):
        holdsup.decompose_variance(table)


def test_uneven_items_do_not_stretch_what_a_facet_with_few_levels_leaves_open() -> None:
    # 128 datasets x 5 seeds whose names recur, each dataset as noisy as it is; a share of .01% is of the seeds.
    rng = np.random.default_rng(1)
    accuracy = rng.beta(4, 1, 128)
    noise = 0.03 * np.exp(rng.normal(size=128)) * np.sqrt(accuracy * (1 - accuracy))
    dataset, seed = (axis.ravel() for axis in np.indices((128, 5)))
    score = accuracy[dataset] + rng.normal(0, noise[dataset]) + 0.001 * seed
    table = pd.DataFrame({"system": ["A"] * 640, "dataset": dataset.astype(str), "seed": seed, "accuracy": score})
    crossed, nested = (holdsup.decompose_variance(table, nested_runs=each).reliability for each in (False, True))
    assert crossed is not None
    assert nested is not None
    assert (crossed.low, crossed.high) == pytest.approx((nested.low, nested.high), abs=0.01)
    assert crossed.low > 0.8
