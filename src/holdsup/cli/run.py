"""`holdsup run`: train every system of a spec on every split of its data, and lose nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from holdsup.cli.options import GroupedCommand
from holdsup.cli.output import Output, name_file, output_options, print_tables, show_progress
from holdsup.cli.specs import open_executor, open_spec, show_preview, spec_options
from holdsup.errors import MetricError, RunError

if TYPE_CHECKING:
    from holdsup.experiment import Plan, RunReport


@click.command(
    "run",
    cls=GroupedCommand,
    groups={
        "Instead of running": "dry-run status export metric per rescue",
        "Tasks and store": "retry-failed retries store dask",
    },
    epilog="""\b
    Examples:
      holdsup run run.toml --dry-run                    what would be imported and run
      holdsup run run.toml --jobs 4                     the same again resumes after a crash
      holdsup run run.toml --status
      holdsup run run.toml --export scores.parquet      then: holdsup compare scores.parquet
      holdsup run run.toml --export f1.csv --metric f1,average=macro
      holdsup run run.toml --dask tcp://10.0.0.5:8786
      holdsup run run.toml --rescue new.db              if the store is damaged""",
)
@spec_options
@click.option("--status", is_flag=True, help="Show the progress so far.")
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    show_default=True,
    help="Retry a failing task N times.",
)
@click.option("--export", callback=name_file, metavar="FILE", help="Write the stored scores: FILE.parquet or FILE.csv.")
@click.option("--metric", metavar="NAME", help="Export another metric: f1,average=macro.")
@click.option(
    "--per",
    type=click.Choice(["item", "run"]),
    metavar="WHAT",
    help="Export a row per item or run [item if the metric allows].",
)
@click.option(
    "--rescue", callback=name_file, metavar="NEW.db", help="Copy the sound rows of a damaged store to NEW.db."
)
@output_options
def command(
    path: str,
    dry_run: bool,
    status: bool,
    retry_failed: bool,
    retries: int,
    export: Path | None,
    metric: str | None,
    per: Literal["item", "run"] | None,
    store: Path | None,
    rescue: Path | None,
    dask: str | None,
    shown: Output,
    jobs: int,
    **_: Any,
) -> None:
    """Train and test every system in a spec, each task once.

    SPEC is a TOML file: datasets, systems (Python functions, scikit-learn estimators, programs), splits, and
    facets such as seeds. A spec runs code: trust it only as you would a script. Tasks run in separate
    processes, --jobs at a time. A finished task is on disk within a tenth of a second, predictions included.
    After a crash, the same command resumes; several can share one store. A task that fails is recorded with its
    error, the others continue, and the exit code is 1. Seeds come from the spec: --seed and --level have no
    effect.
    """
    _require_one_part(
        {"--dry-run": dry_run, "--status": status, "--export": export, "--rescue": rescue},
        of_export={"--metric": metric, "--per": per},
        of_running={"--retry-failed": retry_failed, "--retries": retries, "--dask": dask},
    )
    from holdsup.studies import make_plan, read_spec

    if rescue is not None:
        _rescue(store or read_spec(path).store, rescue)
        return
    spec = open_spec(path, "run", shown, store, export)
    if dry_run:
        from holdsup.studies.specs import preview_spec

        show_preview(preview_spec(spec))
        return
    from holdsup.experiment import read_status, run_plan

    plan, place = make_plan(spec), store or spec.store
    if export is not None:
        report = _export(plan, place, export, _parse_metric(metric, spec.metric), per)
    elif status:
        report = read_status(plan, place)
    else:
        with open_executor(jobs, dask) as executor, show_progress(quiet=shown.quiet) as progress:
            report = run_plan(plan, place, executor, progress, retries=retries, retry_failed=retry_failed)
    shown.emit(report)
    failed = report.statuses["failed"]
    if failed and export is None and not status:
        raise RunError(f"{_count_failed(failed, len(plan.tasks))}. Fix the cause, then add --retry-failed")


def _count_failed(failed: int, tasks: int) -> str:
    if failed == tasks:
        return f"all {tasks:,} tasks failed" if tasks > 1 else "the one task failed"
    return f"{failed:,} of {tasks:,} tasks failed; the others are done"


def _require_one_part(
    parts: Mapping[str, object], of_export: Mapping[str, object], of_running: Mapping[str, object]
) -> None:
    """Refuse options that would be passed over."""
    asked, exporting, running = (
        [name for name, value in group.items() if value] for group in (parts, of_export, of_running)
    )
    if len(asked) > 1:
        raise click.UsageError(f"{' and '.join(asked)} exclude each other: give one.")
    if exporting and "--export" not in asked:
        raise click.UsageError(f"{' and '.join(exporting)} needs --export FILE: it says what is exported.")
    if running and asked:
        raise click.UsageError(f"{asked[0]} runs nothing: leave out {' and '.join(running)}.")


def _rescue(damaged: Path, fresh: Path) -> None:
    from holdsup.experiment import rescue_store
    from holdsup.experiment.report import list_damage
    from holdsup.rendering.numbers import format_counted

    lost = rescue_store(damaged, fresh)
    rows = sum(entry.row > 0 for entry in lost)
    unknown = "".join(f" {entry.reason[:1].upper()}{entry.reason[1:]}." for entry in lost if entry.place == "file")
    saved = "" if unknown and not rows else f"; {format_counted(rows, 'row')} could not be saved"
    print_tables(
        f"{fresh} holds every sound row of {damaged.name}{saved}.{unknown} Replace the store with it, or name "
        "it with --store, and run the same command again.",
        [list_damage(lost)] if lost else [],
    )


def _export(
    plan: Plan, store: Path, path: Path, metric: Mapping[str, Any], per: Literal["item", "run"] | None
) -> RunReport:
    from holdsup.experiment import Store, export_scores, read_status
    from holdsup.rendering.numbers import format_counted
    from holdsup.scores.writing import check_ending, write_scores

    check_ending(path)
    with Store(store, writing=False) as opened:
        opened.require_sound()
        table = export_scores(plan, opened, metric=metric, per=per)
        write_scores(table, path)
        click.echo(f"{format_counted(table.num_rows, 'row')} written to {path}", err=True)
        return read_status(plan, opened)


def _parse_metric(given: str | None, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return the name and options in "f1,average=macro"; the spec's own metric keeps its options."""
    from holdsup.metrics.catalogue import read_metric

    if given is None or given == own["name"]:
        return dict(own)
    try:
        return read_metric(given)
    except MetricError as error:
        raise click.BadParameter(f"{error}.", param_hint="--metric") from error
