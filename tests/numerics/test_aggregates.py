"""Aggregates over tasks and runs: rliable's numbers, scipy, closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from holdsup.numerics.aggregates import ESTIMATES, aggregate, share_above
from holdsup.numerics.layout import Floats, Ints

# Of two systems on 13 tasks with 5 runs, by rliable 1.2.0: IQM, mean, optimality gap; shares above .2, .5 and 1.
RLIABLE = [
    ((0.6153846153846153, 0.6153846153846154, 0.4106508875739645), (0.8153846153846154, 0.6, 0.18461538461538463)),
    ((0.5734265734265733, 0.5881656804733728, 0.43431952662721884), (0.8307692307692308, 0.5538461538461539, 0.13846153846153847)),
]  # fmt: skip


def simulated(system: int) -> tuple[Floats, Ints]:
    task, run = np.meshgrid(np.arange(13), np.arange(5), indexing="ij")
    scores = (7 * system + 11 * task + 5 * run + system * task * run) % 17 / 13
    return scores.ravel(), task.ravel()


@pytest.mark.parametrize("system", [0, 1])
def test_numbers_are_those_of_rliable(system: int) -> None:
    scores, tasks = simulated(system)
    aggregates, shares = RLIABLE[system]
    assert [aggregate(scores, tasks, name).value for name in ESTIMATES] == pytest.approx(aggregates, abs=1e-12)
    assert [share_above(scores, tasks, at).value for at in (0.2, 0.5, 1.0)] == pytest.approx(shares, abs=1e-12)


@pytest.mark.parametrize(("tasks", "runs"), [(2, 1), (3, 3), (7, 2), (26, 3), (10, 10)])
def test_the_iqm_is_scipys_trimmed_mean(tasks: int, runs: int) -> None:
    scores = np.random.default_rng(tasks).lognormal(size=tasks * runs)
    found = aggregate(scores, np.repeat(np.arange(tasks), runs), "iqm")
    assert found.value == pytest.approx(stats.trim_mean(scores, 0.25), rel=1e-12)


def test_limits_of_a_mean_are_those_of_a_stratified_sample_and_of_task_means() -> None:
    scores, tasks = simulated(1)
    table = scores.reshape(13, 5)
    found = aggregate(scores, tasks, "mean")
    assert found.runs_variance == pytest.approx((table.var(axis=1, ddof=1) / 5).sum() / 13**2)
    assert found.by_task == pytest.approx(table.mean(axis=1))


def test_tasks_weigh_the_same_whatever_their_number_of_runs() -> None:
    scores, tasks = np.array([0.0, 1.0, 1.0, 1.0]), np.array([0, 1, 1, 1])
    assert aggregate(scores, tasks, "mean").value == 0.5
    assert share_above(scores, tasks, 0.5).value == 0.5
    even = aggregate(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 0, 1, 1]), "iqm")
    doubled = aggregate(np.array([0.1, 0.2, 0.3, 0.3, 0.4, 0.4]), np.array([0, 0, 1, 1, 1, 1]), "iqm")
    assert even.value == pytest.approx(0.25)
    assert 0.2 <= doubled.value <= 0.3


def test_single_runs_have_no_variance_between_runs() -> None:
    assert np.isnan(aggregate(np.array([0.1, 0.2]), np.array([0, 1]), "iqm").runs_variance)


def test_influence_of_the_iqm_is_what_a_shifted_run_moves() -> None:
    scores, tasks = simulated(1)
    rng = np.random.default_rng(1)
    scores = scores + 1e-3 * rng.standard_normal(len(scores))  # no ties
    found = aggregate(scores, tasks, "iqm")
    inner = np.argsort(scores)[len(scores) // 2]
    moved = scores.copy()
    moved[inner] += 1e-5
    shift = aggregate(moved, tasks, "iqm").value - found.value
    change = aggregate(moved, tasks, "iqm").by_task.mean() - found.by_task.mean()
    assert shift == pytest.approx(change, rel=1e-6)
