"""`holdsup contest`: train systems on partition after partition of a corpus, and see if they all say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from holdsup.cli.options import GroupedCommand
from holdsup.cli.output import Output, name_file, output_options, show_progress
from holdsup.cli.specs import open_executor, open_spec, show_preview, spec_options


@click.command(
    "contest",
    cls=GroupedCommand,
    groups={
        "Question": "threshold sequential learning-curve",
        "Spec and store": "dry-run retry-failed store export dask",
    },
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
@spec_options
@click.option(
    "--threshold",
    type=click.FloatRange(0.5, 1, min_open=True, max_open=True),
    metavar="P",
    help="Reproducibility that counts as yes [0.8].",
)
@click.option("--sequential", is_flag=True, help="Stop training once the answer is settled.")
@click.option("--learning-curve", is_flag=True, help="Does the winner on half the corpus also win on more?")
@click.option("--export", callback=name_file, metavar="FILE", help="Also write the scores: FILE.parquet or FILE.csv.")
@output_options
def command(
    path: str,
    dry_run: bool,
    store: Path | None,
    export: Path | None,
    dask: str | None,
    shown: Output,
    seed: int,
    jobs: int,
    **asked: Any,
) -> None:
    """Would another split of the corpus say the same?

    SPEC is a TOML file: a corpus, two or more systems, a metric, splits. The corpus is split again and again,
    every system is trained on the same splits, and the answer says how often the same one wins. A spec runs
    code: trust it only as you would a script. Nothing is trained twice, even after a crash. The seed is the
    one in the spec; --seed has no effect.
    """
    spec = open_spec(path, "contest", shown, store, export)
    from holdsup.studies.contests.running import preview_contest, run_contest_spec

    if dry_run:
        show_preview(preview_contest(spec))
        return
    with open_executor(jobs, dask) as executor, show_progress(quiet=shown.quiet) as progress:
        contest = run_contest_spec(spec, store=store, export=export, executor=executor, progress=progress, **asked)
    shown.emit(contest)
