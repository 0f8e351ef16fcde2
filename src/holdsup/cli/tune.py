"""`holdsup tune`: train candidates on partition after partition of a corpus, and see how much of the choice is luck."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdsup.cli.output import emit, name_file, output_options, print_tables, refuse_to_overwrite
from holdsup.errors import SpecError

if TYPE_CHECKING:
    from holdsup.results import Result
    from holdsup.studies import Spec

__all__ = ["command"]


@click.command(
    "tune",
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
      k = 5                                             # adaptive, margin; stratify = true for classes
      [systems.svm]
      estimator = "mine:make_pipeline"
      [candidates]
      svc__C = [0.1, 1, 10]
      [budget]
      fits = 500                                        # may be left out

    \b
    Examples:
      holdsup tune tune.toml --dry-run                  what would be imported and executed
      holdsup tune tune.toml --advise                   J and K for the budget, from the first partitions
      holdsup tune tune.toml --jobs 4 --plot tune.svg   again after a crash: it goes on
      holdsup tune tune.toml --status
      holdsup tune tune.toml --dask tcp://10.0.0.5:8786""",
)
@click.argument("spec")
@click.option("--dry-run", is_flag=True, help="Say what would be imported and executed; import and run nothing.")
@click.option("--status", is_flag=True, help="Say how far the work is; run nothing.")
@click.option(
    "--advise",
    is_flag=True,
    help="Say which J and K the budget is best spent on, from two partitions of some K; tune nothing.",
)
@click.option("--retry-failed", is_flag=True, help="Try again what failed before.")
@click.option("--store", callback=name_file, metavar="FILE", help="Keep results in FILE instead of the spec's store.")
@click.option(
    "--dask", metavar="ADDRESS", help="Run on a Dask cluster: tcp://host:port, or local for one on this machine."
)
@output_options
def command(
    spec: str,
    dry_run: bool,
    status: bool,
    advise: bool,
    retry_failed: bool,
    store: Path | None,
    dask: str | None,
    style: str,
    output: Path | None,
    picture: Path | None,
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
) -> None:
    """Are the tuned hyper-parameters an accident of the partition?

    SPEC is a TOML file: a corpus, a system, a metric, J partitions of K folds, and the values that each
    parameter may have. Every candidate is trained on the same partitions, and the answer says which one to
    take, and how probable it is that another partition would say otherwise. A spec is code: run it only
    as you would run a script. Nothing is trained twice: the same command goes on after a crash, and a
    larger J adds to the partitions that there are. The seed is the spec's: --seed is accepted as
    everywhere, and changes nothing.
    """
    from holdsup.studies import read_spec

    asked = read_spec(spec)
    if asked.kind != "tune":
        raise SpecError(f"{asked.file.name} is of the kind {asked.kind!r}: use holdsup {asked.kind} {spec}")
    read = [spec, *(str(source.path) for source in asked.data.values())]
    refuse_to_overwrite(read, output, picture, store or asked.store)
    if dry_run:
        _show_preview(asked)
        return
    from holdsup.studies.tuning import advise_tuning_spec, read_tuning_status, run_tuning_spec

    if status:
        emit(read_tuning_status(asked, store=store), style=style, output=output, picture=picture)
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
    emit(found, style=style, output=output, picture=picture)


def _show_preview(spec: Spec) -> None:
    from holdsup.studies.specs import preview_spec

    preview = preview_spec(spec)
    print_tables(preview.sentence, preview.tables)
