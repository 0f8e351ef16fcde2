"""`holdsup run`: train every system of a spec on every split of its data, and lose nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from holdsup.cli.executors import LOCAL, open_executor
from holdsup.cli.output import Output, name_file, output_options, print_tables
from holdsup.errors import MetricError, RunError, SpecError

if TYPE_CHECKING:
    from holdsup.experiment import Plan, RunReport
    from holdsup.studies import Spec


@click.command(
    "run",
    epilog="""\b
    Examples:
      holdsup run run.toml --dry-run                    what would be imported and executed
      holdsup run run.toml --jobs 4                     again after a crash: it goes on
      holdsup run run.toml --status
      holdsup run run.toml --export scores.parquet      then: holdsup compare scores.parquet
      holdsup run run.toml --export f1.csv --metric f1,average=macro
      holdsup run run.toml --dask tcp://10.0.0.5:8786
      holdsup run run.toml --rescue new.db              when the store is damaged""",
)
@click.argument("spec")
@click.option("--dry-run", is_flag=True, help="Say what would be imported and executed; import and run nothing.")
@click.option("--status", is_flag=True, help="Say how far the work is; run nothing.")
@click.option("--retry-failed", is_flag=True, help="Try again what failed before.")
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Times that a failing task is tried again.",
)
@click.option(
    "--export",
    callback=name_file,
    metavar="FILE",
    help="Write the scores that the store holds to FILE.parquet or FILE.csv, for compare and variance; run nothing.",
)
@click.option(
    "--metric", metavar="NAME", help="Export by another metric, such as f1,average=macro; nothing is trained."
)
@click.option(
    "--per",
    type=click.Choice(["item", "run"]),
    help="Export a row per item or per run; by default as the metric allows.",
)
@click.option("--store", callback=name_file, metavar="FILE", help="Keep results in FILE instead of the spec's store.")
@click.option(
    "--rescue",
    callback=name_file,
    metavar="NEW.db",
    help="Copy every sound row of a damaged store to NEW.db; run nothing. For the store of a contest or a tuning, too.",
)
@click.option(
    "--dask", metavar="ADDRESS", help=f"Run on a Dask cluster: tcp://host:port, or {LOCAL} for one on this machine."
)
@output_options
def command(
    spec: str,
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
    seed: int,
    level: float,
    jobs: int,
    quiet: bool,
) -> None:
    """Train and test what a spec asks for, once each, however often the run is stopped.

    SPEC is a TOML file: datasets, systems (Python functions, scikit-learn estimators, programs), splits,
    facets such as seeds. A spec is code: run it only as you would run a script. Tasks run in processes of
    their own, --jobs at a time. What a task gives is on the disk, with its predictions, a tenth of a second
    after it is done; the same command goes on after a crash, and several may share one store. A task that
    fails or crashes is recorded with its error, and the rest goes on; the exit code is then 1. Seeds are the
    spec's: --seed and --level are accepted as everywhere, and change nothing.
    """
    from holdsup.studies import make_plan, read_spec

    _require_one_part(
        {"--dry-run": dry_run, "--status": status, "--export": export, "--rescue": rescue},
        of_export={"--metric": metric, "--per": per},
        of_running={"--retry-failed": retry_failed, "--retries": retries, "--dask": dask},
    )
    asked = read_spec(spec)
    place = store or asked.store
    if rescue is not None:
        _rescue(place, rescue)
        return
    if asked.kind != "run":
        raise SpecError(f"{asked.file.name} is of the kind {asked.kind!r}: use holdsup {asked.kind} {spec}")
    shown.refuse_to_overwrite([spec, *(str(source.path) for source in asked.data.values())], export, place)
    if dry_run:
        _show_preview(asked)
        return
    plan = make_plan(asked)
    if export is not None:
        report = _export(plan, place, export, _parse_metric(metric, asked.metric), per)
    elif status:
        from holdsup.experiment import read_status

        report = read_status(plan, place)
    else:
        report = _run(plan, place, jobs, dask, retries, retry_failed, quiet)
    shown.emit(report)
    failed = report.statuses["failed"]
    if failed and export is None and not status:
        raise RunError(
            f"{_count_failed(failed, len(plan.tasks))}. When the cause is gone, run the same with --retry-failed"
        )


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
        raise click.UsageError(f"{' and '.join(asked)} are different things to do: ask for one at a time.")
    if exporting and "--export" not in asked:
        raise click.UsageError(
            f"{' and '.join(exporting)} without --export would change nothing: give --export FILE, too."
        )
    if running and asked:
        raise click.UsageError(f"{asked[0]} runs nothing: leave out {' and '.join(running)}.")


def _show_preview(spec: Spec) -> None:
    from holdsup.studies.specs import preview_spec

    preview = preview_spec(spec)
    print_tables(preview.sentence, preview.tables)


def _rescue(damaged: Path, fresh: Path) -> None:
    from holdsup.experiment import rescue_store
    from holdsup.experiment.report import list_damage
    from holdsup.rendering.numbers import format_counted

    lost = rescue_store(damaged, fresh)
    rows = sum(entry.row > 0 for entry in lost)
    unknown = "".join(f" {entry.reason[:1].upper()}{entry.reason[1:]}." for entry in lost if entry.place == "file")
    saved = "" if unknown and not rows else f"; {format_counted(rows, 'row')} could not be saved"
    print_tables(
        f"{fresh} holds every sound row of {damaged.name}{saved}.{unknown} Put it in the place of the store, or give "
        "it with --store, and run the same again.",
        [list_damage(lost)] if lost else [],
    )


def _run(
    plan: Plan, store: Path, jobs: int, dask: str | None, retries: int, retry_failed: bool, quiet: bool
) -> RunReport:
    from holdsup.cli.bar import show_progress
    from holdsup.experiment import run_plan

    with open_executor(jobs, dask) as executor, show_progress(quiet=quiet) as progress:
        return run_plan(plan, store, executor, progress, retries=retries, retry_failed=retry_failed)


def _export(
    plan: Plan, store: Path, path: Path, metric: Mapping[str, Any], per: Literal["item", "run"] | None
) -> RunReport:
    from holdsup.experiment import Store, export_scores, read_status, write_scores
    from holdsup.experiment.export import check_ending
    from holdsup.rendering.numbers import format_counted

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
