"""The pictures of a contest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from holdsup.errors import ResultError
from holdsup.metrics import make_metric
from holdsup.plots import find_panels, plot
from holdsup.plots.contest import plot_estimators, plot_learning_curve, plot_stability
from holdsup.splits import BlockedCV
from holdsup.verdict.contest import Contest, Partition, Trained, judge_contest

CURVE = {"$A_1$": {20: [0.6, 0.61], 36: [0.7, 0.72]}, "_B": {20: [0.5, 0.52], 36: [0.6, 0.6]}}


def contest(number: int, *, with_curve: bool = False) -> Contest:
    targets = [i % 2 for i in range(40)]
    partitions = []
    for seed in range(number):
        rng = np.random.default_rng(seed)
        trained: dict[str, list[Trained]] = {"$A_1$": [], "_B": []}
        for place, split in enumerate(BlockedCV(m=3, seed=seed).split(targets)):
            for system, accuracy in (("$A_1$", 0.8), ("_B", 0.7)):
                right = rng.random(20) < accuracy
                said = [targets[i] if ok else 1 - targets[i] for i, ok in zip(split.test, right, strict=True)]
                one = Trained(repetition=place // 2 + 1, fold=place % 2 + 1, test=split.test, predictions=said)
                trained[system].append(one)
        partitions.append(Partition(strategy="blocked", trained={name: tuple(own) for name, own in trained.items()}))
    return judge_contest(partitions, targets, make_metric("accuracy"), learning_curve=CURVE if with_curve else None)


@pytest.fixture(scope="module")
def many() -> Contest:
    return contest(20, with_curve=True)


def test_dots_and_boxes_show_the_values_of_each_estimator(many: Contest) -> None:
    (ax,) = plot_estimators(many).axes
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [tuple(line.get_ydata()) for line in dots] == [row.values for row in many.estimators]  # type: ignore[arg-type]
    medians = [line.get_ydata()[0] for line in ax.lines if line.get_linewidth() == 2]  # type: ignore[index]
    assert medians == pytest.approx([np.median(row.values) for row in many.estimators])
    assert ax.get_xticklabels()[3].get_text() == "blocked, mixture (Xue et al. 2023), 6"
    assert "above 0:\n\\$A_1\\$ better" in ax.get_ylabel()


def test_reproducibility_stands_above_signal_to_noise(many: Contest) -> None:
    (ax,) = plot_stability(many).axes
    dots = [(line.get_xdata()[0], line.get_ydata()[0]) for line in ax.lines if line.get_marker() == "o"]  # type: ignore[index]
    assert dots == [(row.snr, row.reproducibility) for row in many.estimators]
    curves = {line.get_label(): line for line in ax.lines}
    snr, bound = (np.asarray(values) for values in curves["bound, eq. 3"].get_data())
    assert bound == pytest.approx(snr**2 / (1 + snr**2))


def test_the_learning_curve_shows_mean_scores(many: Contest) -> None:
    (ax,) = plot_learning_curve(many).axes
    means = [list(container.lines[0].get_ydata()) for container in ax.containers]  # type: ignore[attr-defined]
    assert means == [pytest.approx([0.605, 0.71]), pytest.approx([0.51, 0.6])]
    assert ax.get_legend() is not None
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [r"\$A_1\$", " _B"]  # type: ignore[union-attr]


def test_the_figure_has_all_there_is_and_goes_on_the_axes_given(many: Contest) -> None:
    assert [panel.name for panel in find_panels(many)] == ["estimators", "reproducibility", "learning-curve"]
    assert [panel.name for panel in find_panels(contest(1))] == ["estimators"]
    figure = Figure()
    assert plot(many, ax=figure.add_subplot()) is figure
    assert len(figure.axes) == 1


def test_what_is_not_there_is_not_drawn() -> None:
    one = contest(1)
    with pytest.raises(ResultError, match="20 re-partitions"):
        plot_stability(one)
    with pytest.raises(ResultError, match="no learning curve"):
        plot_learning_curve(one)


def test_the_same_contest_gives_the_same_picture(many: Contest, tmp_path: Path) -> None:
    for name in "ab":
        plot(many).savefig(tmp_path / f"{name}.png")
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
