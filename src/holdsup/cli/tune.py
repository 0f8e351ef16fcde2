"""`holdsup tune`: train candidates on partition after partition of a corpus, and see how much of the pick is luck."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holdsup.cli.options import GroupedCommand
from holdsup.cli.output import Output, output_options, show_progress
from holdsup.cli.specs import open_executor, open_spec, show_preview, spec_options

if TYPE_CHECKING:
    from holdsup.results import Result


@click.command(
    "tune",
    cls=GroupedCommand,
    groups={"Question": "advise status", "Spec and store": "dry-run retry-failed store dask"},
    epilog="""\b
    A spec:
      holdsup = 1
      kind = "tune"
      [data.reviews]
      path = "reviews.csv"
      input = "text"
      target = "label"
      [metric]
      name = "accuracy"
      [splits]
      name = "jkfold"
      j = 4
      k = 5                    # also: adaptive, margin; stratify = true for classes
      [systems.svm]
      estimator = "mine:make_pipeline"
      [candidates]
      svc__C = [0.1, 1, 10]
      [budget]
      fits = 500               # optional

    \b
    Examples:
      holdsup tune tune.toml --advise
      holdsup tune tune.toml --jobs 4 --plot tune.svg""",
)
@spec_options
@click.option("--advise", is_flag=True, help="Which J and K suit the budget best? Tune nothing.")
@click.option("--status", is_flag=True, help="Show the progress so far; run nothing.")
@output_options
def command(
    path: str,
    advise: bool,
    status: bool,
    dry_run: bool,
    retry_failed: bool,
    store: Path | None,
    dask: str | None,
    shown: Output,
    level: float,
    jobs: int,
    **_: Any,
) -> None:
    """Is the pick safe from the luck of the partition?

    SPEC is a TOML file: a corpus, a system, a metric, J partitions of K folds, and the values to try for each
    parameter. Every candidate is trained on the same partitions; the answer says which to take, and how much
    better another could be. A spec runs code: trust it only as you would a script. Nothing is trained twice,
    even after a crash. The seed is the one in the spec; --seed has no effect.
    """
    spec = open_spec(path, "tune", shown, store)
    if dry_run:
        from holdsup.studies.specs import preview_spec

        show_preview(preview_spec(spec))
        return
    from holdsup.studies.tuning import advise_tuning_spec, read_tuning_status, run_tuning_spec

    if status:
        shown.emit(read_tuning_status(spec, store=store))
        return
    with open_executor(jobs, dask) as executor, show_progress(quiet=shown.quiet) as progress:
        running: Any = {"store": store, "executor": executor, "progress": progress, "retry_failed": retry_failed}
        found: Result = advise_tuning_spec(spec, **running) if advise else run_tuning_spec(spec, level=level, **running)
    shown.emit(found)
