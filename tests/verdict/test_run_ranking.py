"""One number over the runs of many tasks: rliable's numbers with intervals for either claim, refused in one line."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup.errors import HoldsupError

TD = Path(__file__).parents[3] / "shared" / "data" / "shapes" / "td.csv.gz"


def make_runs(
    gains: dict[str, float], *, tasks: int = 20, runs: int = 3, spread: float = 0.05, seed: int = 1
) -> dict[str, list[Any]]:
    """Return normalised returns of systems whose gain differs from task to task."""
    rng = np.random.default_rng(seed)
    hard = rng.uniform(0.2, 0.8, tasks)
    cells = list(itertools.product(gains, range(tasks), range(runs)))
    own = {system: gain + 0.05 * rng.standard_normal(tasks) for system, gain in gains.items()}
    return {
        "agent": [s for s, _, _ in cells], "task": [f"task {t}" for _, t, _ in cells], "seed": [r for _, _, r in cells],
        "score": [float(hard[t] + own[s][t] + spread * rng.standard_normal()) for s, t, _ in cells],
    }  # fmt: skip


@pytest.mark.skipif(not TD.exists(), reason="the TD-MPC2 results lie beside the clone, and are not there")
def test_td_mpc2s_numbers_are_those_of_rliable() -> None:
    found = holdsup.rank_runs(str(TD))  # by rliable 1.2.0
    values = {s.name: s.estimate for s in found.systems}
    iqm = {"tdmpc2": 0.97582628, "tdmpc": 0.90334744, "sac": 0.71321603, "dreamerv3": 0.48192436}
    assert values == pytest.approx(iqm, abs=1e-7)
    assert found.state == "yes"
    gap = holdsup.rank_runs(str(TD), estimate="optimality-gap", claim="these-datasets")
    assert gap.systems[0].estimate == pytest.approx(0.09470385, abs=1e-7)
    assert gap.lower_is_better
    (profile,) = (p for p in found.profiles if p.system == "tdmpc")
    at = max(i for i, threshold in enumerate(profile.thresholds) if threshold <= 0.9)
    assert profile.thresholds[at] == 0.9
    assert profile.shares[at] == pytest.approx(0.47435897)


def test_the_best_of_clearly_different_systems_is_told_and_the_claim_named() -> None:
    found = holdsup.rank_runs(make_runs({"old": 0.0, "new": 0.3, "other": 0.01}))
    assert found.state == "yes"
    assert found.systems[0].name == "new"
    assert found.headline.startswith("new is best by IQM, 0.")
    assert len(found.headline.split()) <= 25
    assert "new tasks like these 20 (3 runs each)" in dict(found.answer().foot)["holds for"]
    these = holdsup.rank_runs(make_runs({"old": 0.0, "new": 0.3}), claim="these-datasets")
    assert these.answer().question == "Is new better than old on these 20 tasks?"


def test_systems_that_are_equal_on_average_may_differ_on_these_tasks_alone() -> None:
    runs = make_runs({"A": 0.0, "B": 0.0}, runs=10, spread=0.001, seed=4)
    new, these = (holdsup.rank_runs(runs, claim=claim) for claim in ("new-datasets", "these-datasets"))
    assert new.state == "unclear"
    assert these.state == "yes"
    assert new.rivals_elsewhere == ()
    assert these.rivals_elsewhere != ()
    assert these.systems[0].low_these > new.systems[0].low_new


def test_intervals_of_a_mean_are_those_of_a_t_test_of_task_means() -> None:
    from scipy import stats

    runs = make_runs({"A": 0.0, "B": 0.1})
    found = holdsup.rank_runs(runs, estimate="mean")
    table = np.array(runs["score"]).reshape(2, 20, 3).mean(axis=2)
    (pair,) = found.contrasts
    test = stats.ttest_rel(table[1], table[0])
    assert pair.p == pytest.approx(test.pvalue, rel=1e-9)
    assert (pair.low, pair.high) == pytest.approx(tuple(test.confidence_interval()), rel=1e-9)


def test_lower_scores_can_be_better() -> None:
    runs = make_runs({"A": 0.0, "B": 0.3})
    up, down = holdsup.rank_runs(runs), holdsup.rank_runs(runs, lower_is_better=True)
    assert up.systems[0].name == "B"
    assert down.systems[0].name == "A"
    assert down.contrasts[0].difference == pytest.approx(up.contrasts[0].difference)
    assert down.state == "yes"


def test_tasks_that_a_system_lacks_are_left_out_and_counted() -> None:
    runs = make_runs({"A": 0.0, "B": 0.1})
    kept = [i for i in range(120) if not (runs["agent"][i] == "A" and runs["task"][i] == "task 3")]
    found = holdsup.rank_runs({name: [column[i] for i in kept] for name, column in runs.items()})
    assert found.datasets == 19
    assert found.rows.used == 114
    assert found.rows.reasons == {"a dataset that not all systems have": 3}
    assert "datasets-left-out" in {each.code for each in found.cautions}


def test_unnormalised_scores_are_named() -> None:
    runs = make_runs({"A": 0.0, "B": 0.1})
    runs["score"] = [s * (1000 if t == "task 1" else 1) for s, t in zip(runs["score"], runs["task"], strict=True)]
    assert "not-normalised" in {each.code for each in holdsup.rank_runs(runs).cautions}
    assert "not-normalised" not in {each.code for each in holdsup.rank_runs(make_runs({"A": 0, "B": 0})).cautions}


def test_single_runs_can_only_be_about_new_tasks() -> None:
    runs = make_runs({"A": 0.0, "B": 0.3}, runs=1)
    found = holdsup.rank_runs(runs)
    assert found.state == "yes"
    assert "single runs can't say" in dict(found.answer().foot)["otherwise"]
    assert holdsup.RunRanking.from_dict(found.to_dict()).page().text() == found.page().text()
    with pytest.raises(HoldsupError, match="two runs or more"):
        holdsup.rank_runs(runs, claim="these-datasets")


def test_bad_tables_and_options_get_one_line() -> None:
    runs = make_runs({"A": 0.0, "B": 0.3})
    with pytest.raises(HoldsupError, match="estimate is 'median': it can be iqm"):
        holdsup.rank_runs(runs, estimate="median")
    with pytest.raises(HoldsupError, match="claim is 'new-runs'"):
        holdsup.rank_runs(runs, claim="new-runs")
    with pytest.raises(HoldsupError, match="only one system"):
        holdsup.rank_runs(make_runs({"A": 0.0}))
    with pytest.raises(HoldsupError, match="no column says which"):
        holdsup.rank_runs({name: column for name, column in runs.items() if name != "task"})
    with pytest.raises(HoldsupError, match="several scores on one dataset"):
        holdsup.rank_runs({name: column * 2 for name, column in runs.items()})
    with pytest.raises(HoldsupError, match="higher is better"):
        holdsup.rank_runs(runs, estimate="optimality-gap", lower_is_better=True)


def test_the_command_says_the_same_and_draws_profiles(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from holdsup.cli.rank import command

    runs, file, picture = make_runs({"A": 0.0, "B": 0.3}), tmp_path / "runs.csv", tmp_path / "profile.svg"
    file.write_text("\n".join([",".join(runs), *(",".join(map(str, row)) for row in zip(*runs.values(), strict=True))]))
    asked = [str(file), "--estimate", "iqm", "--claim", "these-datasets", "--plot", str(picture), "--figure", "profile"]
    said = CliRunner().invoke(command, asked).output
    found = holdsup.rank_runs(str(file), claim="these-datasets")
    assert " ".join(found.headline.split()) in " ".join(said.split())
    assert "share of runs above it" in picture.read_text()
    assert found.asked.command() == (
        "holdsup rank DATA --score score --system agent --dataset task --facets seed --estimate iqm --claim these-datasets"
    )
    refused = CliRunner().invoke(command, [str(file), "--estimate", "iqm", "--contribution", "x"])
    assert refused.exit_code == 2
    assert "has no meaning for --estimate" in refused.output
    refused = CliRunner().invoke(command, [str(file), "--claim", "these-datasets"])
    assert "has no meaning for means of scores" in refused.output
