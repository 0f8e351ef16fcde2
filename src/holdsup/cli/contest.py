"""`holdsup contest`: train systems on partition after partition of a corpus, and see whether the conclusion stands."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdsup.cli.output import emit, name_file, output_options, print_tables, refuse_to_overwrite
from holdsup.errors import SpecError

if TYPE_CHECKING:
    from holdsup.studies import Spec

__all__ = ["command"]


@click.command(
    "contest",
    epilog="""\b
    Estimators of a difference, of which the average decides unless [contest] names another one:
      averaged   mean over the folds of a partition: the systems as they are trained; tests are of it
      holdout    the first split of a partition alone
      vote       majorities of instances, each trained on half of the corpus, on items that they did not see
      mixture    the larger of vote and averaged, as published: it leans to the system named first
      symmetric  the one of these two that is larger in absolute value

    \b
    A spec:
      holdsup = 1
      kind = "contest"
      [data.reviews]
      path = "reviews.csv"
      input = "text"
      target = "label"
      group = "author"                                  # may be left out: keeps groups on one side of a split
      [metric]
      name = "accuracy"
      [systems.bayes]
      estimator = "sklearn.naive_bayes:MultinomialNB"
      [systems.mine]
      call = "mine:train"                               # train(inputs, targets, *, seed) returns predict(inputs)
      [contest]
      repeats = 20                                      # estimator, margin, conclusion, correction, target

    \b
    repeats of [contest] is how often the corpus is partitioned anew. A partition is all folds of blocked or kfold, and
    all repeats of repeated_holdout. blocked takes repeats in [splits] instead, with the same meaning.

    \b
    Examples:
      holdsup contest contest.toml --dry-run            what would be imported and executed
      holdsup contest contest.toml --jobs 4 --plot contest.svg
      holdsup contest contest.toml --sequential         stop as soon as the verdict is safe
      holdsup contest contest.toml --learning-curve     is the sign at half that at all of the corpus?
      holdsup contest contest.toml --export scores.parquet""",
)
@click.argument("spec")
@click.option("--dry-run", is_flag=True, help="Say what would be imported and executed; import and run nothing.")
@click.option("--sequential", is_flag=True, help="Stop as soon as the verdict is safe, before all repeats are trained.")
@click.option(
    "--learning-curve",
    is_flag=True,
    help="Train on other sizes, too: is the sign at half of the corpus that near all of it?",
)
@click.option(
    "--export",
    callback=name_file,
    metavar="FILE",
    help="Write the scores to FILE.parquet or FILE.csv, for compare and variance: splits of one corpus, not new runs. "
    "Both need a metric with a score for each item, such as accuracy; of macro F1 there is one for each split alone.",
)
@click.option("--retry-failed", is_flag=True, help="Try again what failed before.")
@click.option("--store", callback=name_file, metavar="FILE", help="Keep results in FILE instead of the spec's store.")
@output_options
def command(
    spec: str,
    dry_run: bool,
    sequential: bool,
    learning_curve: bool,
    export: Path | None,
    retry_failed: bool,
    store: Path | None,
    style: str,
    output: Path | None,
    picture: Path | None,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
) -> None:
    """Would the conclusion survive another split of the corpus?

    SPEC is a TOML file: a corpus, two systems or more, a metric, splits. The corpus is partitioned again
    and again, every system is trained on the same splits, and the answer says how often the same one
    wins. A spec is code: run it only as you would run a script. Nothing is trained twice: the same command
    goes on after a crash, and more repeats add to those that there are. The seed is the spec's: --seed
    is accepted as everywhere, and changes nothing.
    """
    from holdsup.studies import read_spec, run_contest_spec

    asked = read_spec(spec)
    if asked.kind != "contest":
        raise SpecError(f"{asked.file.name} is of the kind {asked.kind!r}: use holdsup {asked.kind} {spec}")
    read = [spec, *(str(source.path) for source in asked.data.values())]
    refuse_to_overwrite(read, output, export, picture, store or asked.store)
    if dry_run:
        _show_preview(asked)
        return
    from holdsup.cli.bar import show_progress
    from holdsup.cli.executors import open_executor

    with open_executor(jobs, None) as executor, show_progress(quiet=quiet) as progress:
        contest = run_contest_spec(
            asked, store=store, executor=executor, progress=progress, sequential=sequential,
            learning_curve=learning_curve, export=export, retry_failed=retry_failed, level=level,
        )  # fmt: skip
    emit(contest, style=style, output=output, picture=picture)


def _show_preview(spec: Spec) -> None:
    from holdsup.studies.contests.previews import preview_contest

    preview = preview_contest(spec)
    print_tables(preview.sentence, preview.tables)
