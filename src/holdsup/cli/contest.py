"""`holdsup contest`: train systems on partition after partition of a corpus, and see if they all say the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdsup.cli.options import GroupedCommand
from holdsup.cli.output import Output, name_file, output_options, print_tables
from holdsup.errors import SpecError

if TYPE_CHECKING:
    from holdsup.studies import Spec


@click.command(
    "contest",
    cls=GroupedCommand,
    groups={"Question": "threshold sequential learning-curve", "Spec and store": "dry-run retry-failed store export"},
    epilog="""\b
    A spec:
      holdsup = 1
      kind = "contest"
      [data.reviews]
      path = "reviews.csv"
      input = "text"
      target = "label"
      [metric]
      name = "accuracy"
      [systems.bayes]
      estimator = "sklearn.naive_bayes:MultinomialNB"
      [systems.mine]
      call = "mine:train"      # train(inputs, targets, *, seed) returns predict(inputs)
      [contest]
      repeats = 20             # also: estimator, margin, conclusion, correction, target

    \b
    Examples:
      holdsup contest contest.toml --dry-run
      holdsup contest contest.toml --jobs 4 --plot contest.svg""",
)
@click.argument("spec")
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    metavar="P",
    help="Reproducibility that counts as yes [0.8].",
)
@click.option("--sequential", is_flag=True, help="Stop training as soon as the answer is safe.")
@click.option("--learning-curve", is_flag=True, help="Does the winner at half of the corpus also win near all of it?")
@click.option("--dry-run", is_flag=True, help="Show what would be imported and run; do neither.")
@click.option("--retry-failed", is_flag=True, help="Try again what failed before.")
@click.option("--store", callback=name_file, metavar="FILE", help="Keep results in FILE, not in the spec's store.")
@click.option(
    "--export", callback=name_file, metavar="FILE", help="Write the scores to FILE.parquet or FILE.csv, for compare."
)
@output_options
def command(
    spec: str,
    threshold: float | None,
    sequential: bool,
    learning_curve: bool,
    dry_run: bool,
    retry_failed: bool,
    store: Path | None,
    export: Path | None,
    shown: Output,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
) -> None:
    """Would another split of the corpus say the same?

    SPEC is a TOML file: a corpus, two systems or more, a metric, splits. The corpus is split again and again,
    every system is trained on the same splits, and the answer says how often the same one wins. A spec runs
    code: trust it as you would a script. Nothing is trained twice, also after a crash. The seed is the spec's;
    --seed changes nothing.
    """
    from holdsup.studies import read_spec, run_contest_spec

    asked = read_spec(spec)
    if asked.kind != "contest":
        raise SpecError(f"{asked.file.name} is of the kind {asked.kind!r}: use holdsup {asked.kind} {spec}")
    read = [spec, *(str(source.path) for source in asked.data.values())]
    shown.refuse_to_overwrite(read, export, store or asked.store)
    if dry_run:
        _show_preview(asked)
        return
    from holdsup.cli.bar import show_progress
    from holdsup.cli.executors import open_executor

    with open_executor(jobs, None) as executor, show_progress(quiet=quiet) as progress:
        contest = run_contest_spec(
            asked, store=store, executor=executor, progress=progress, sequential=sequential,
            learning_curve=learning_curve, export=export, retry_failed=retry_failed, level=level,
            threshold=threshold,
        )  # fmt: skip
    shown.emit(contest)


def _show_preview(spec: Spec) -> None:
    from holdsup.studies.contests.running import preview_contest

    preview = preview_contest(spec)
    print_tables(preview.sentence, preview.tables)
