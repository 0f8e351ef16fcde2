"""What `run`, `contest` and `tune` share: options, the spec, its preview, and what runs the tasks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdsup.cli.options import F, add_options
from holdsup.cli.output import Output, name_file, print_tables
from holdsup.errors import SpecError

if TYPE_CHECKING:
    from holdsup.studies import Spec
    from holdsup.studies.specs import Preview

LOCAL = "local"  # instead of an address: a Dask cluster on this machine


def spec_options(command: F) -> F:
    """Add the spec, and the options that say where its tasks run and where results are kept."""
    return add_options(
        command,
        [
            click.argument("path", metavar="SPEC"),
            click.option("--dry-run", is_flag=True, help="Show what would be imported and run; do neither."),
            click.option("--retry-failed", is_flag=True, help="Run again what failed before."),
            click.option(
                "--store", callback=name_file, metavar="FILE", help="Keep results here, not in the spec's store."
            ),
            click.option("--dask", metavar="ADDRESS", help=f"Run on a Dask cluster: tcp://host:port, or {LOCAL}."),
        ],
    )


def open_spec(path: str, kind: str, shown: Output, store: Path | None, export: Path | None = None) -> Spec:
    """Return a spec of one kind; refuse to write over what it reads."""
    from holdsup.studies import read_spec

    spec = read_spec(path)
    if spec.kind != kind:
        raise SpecError(f"{spec.file.name} has kind = {spec.kind!r}: use holdsup {spec.kind} {path}")
    read = [path, *(str(source.path) for source in spec.data.values())]
    shown.refuse_to_overwrite(read, export, store or spec.store)
    return spec


def show_preview(preview: Preview) -> None:
    """Print what a spec would import and run."""
    print_tables(preview.sentence, preview.tables)


@contextmanager
def open_executor(jobs: int, dask: str | None) -> Iterator[Executor]:
    """Give what runs tasks: processes of this machine, or a Dask cluster.

    A single job gets a process of its own, too: a system that crashes must not take the run with it.
    """
    from holdsup.experiment import ProcessExecutor, dask_executor

    if dask is not None:
        with dask_executor(None if dask == LOCAL else dask, workers=jobs if jobs > 1 else None) as executor:
            yield executor
        return
    processes = ProcessExecutor(jobs)
    try:
        yield processes
    finally:
        processes.shutdown(cancel_futures=True)
