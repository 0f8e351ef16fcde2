"""`holdsup tune`: train candidates on partition after partition of a corpus, and see how much of the pick is luck."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdsup.cli.options import GroupedCommand
from holdsup.cli.output import Output, name_file, output_options, print_tables
from holdsup.errors import SpecError

if TYPE_CHECKING:
    from holdsup.results import Result
    from holdsup.studies import Spec


@click.command(
    "tune",
    cls=GroupedCommand,
    groups={"Question": "advise status dry-run", "Store and cluster": "retry-failed store dask"},
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
@click.argument("spec")
@click.option("--advise", is_flag=True, help="Which J and K are best for the budget? Tune nothing.")
@click.option("--status", is_flag=True, help="Show how far the work is; run nothing.")
@click.option("--dry-run", is_flag=True, help="Show what would be imported and run; do neither.")
@click.option("--retry-failed", is_flag=True, help="Try again what failed before.")
@click.option("--store", callback=name_file, metavar="FILE", help="Keep results in FILE, not in the spec's store.")
@click.option("--dask", metavar="ADDRESS", help="Run on a Dask cluster: tcp://host:port, or local.")
@output_options
def command(
    spec: str,
    advise: bool,
    status: bool,
    dry_run: bool,
    retry_failed: bool,
    store: Path | None,
    dask: str | None,
    shown: Output,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
) -> None:
    """Is the pick safe from the luck of the partition?

    SPEC is a TOML file: a corpus, a system, a metric, J partitions of K folds, and the values to try for each
    parameter. Every candidate is trained on the same partitions; the answer says which to take, and how much
    better another could be. A spec runs code: trust it as you would a script. Nothing is trained twice, also
    after a crash. The seed is the spec's; --seed changes nothing.
    """
    from holdsup.studies import read_spec

    asked = read_spec(spec)
    if asked.kind != "tune":
        raise SpecError(f"{asked.file.name} is of the kind {asked.kind!r}: use holdsup {asked.kind} {spec}")
    read = [spec, *(str(source.path) for source in asked.data.values())]
    shown.refuse_to_overwrite(read, store or asked.store)
    if dry_run:
        _show_preview(asked)
        return
    from holdsup.studies.tuning import advise_tuning_spec, read_tuning_status, run_tuning_spec

    if status:
        shown.emit(read_tuning_status(asked, store=store))
        return
    from holdsup.cli.bar import show_progress
    from holdsup.cli.executors import open_executor

    with open_executor(jobs, dask) as executor, show_progress(quiet=quiet) as progress:
        found: Result
        if advise:
            found = advise_tuning_spec(
                asked, store=store, executor=executor, progress=progress, retry_failed=retry_failed
            )
        else:
            found = run_tuning_spec(
                asked, store=store, executor=executor, progress=progress, retry_failed=retry_failed, level=level
            )
    shown.emit(found)


def _show_preview(spec: Spec) -> None:
    from holdsup.studies.specs import preview_spec

    preview = preview_spec(spec)
    print_tables(preview.sentence, preview.tables)
