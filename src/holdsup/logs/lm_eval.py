"""Logs of lm-evaluation-harness: results of a run, and beside them a file of samples for each task.

A file of samples does not name the model: it is joined to its results by folder, task, and the time in both names (in
versions before 0.4.3, by the model's arguments in its name).
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from holdsup.errors import ReadError, list_names
from holdsup.logs.aggregates import TOLERANCE, mean_by_metric
from holdsup.logs.contract import Found, TaskLog, count_before
from holdsup.logs.files import HEAD, read_document, read_head
from holdsup.logs.lm_eval_runs import Run, label, name_of_file, part
from holdsup.logs.lm_eval_samples import Samples, read_samples
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results.cautions import Caution

ENDINGS = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
STAMP = re.compile(r"_(\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(?:\.\d+)?)$")
FIRST_KEYS = re.compile(rb'\[?\s*\{\s*"doc_id":\s*\d+,\s*"doc":')  # a long document hides what follows it
RESULTS = re.compile(rb'"results":\s*\{')  # other tools list theirs
MARKS = (b'"bootstrap_iters"', b'"n-shot"', b'"group_subtasks"', b'"lm_eval_version"')
OTHERS = re.compile(r"\d{8}_\d{6}_(samples|results)")  # lmms-eval, which has scores of another shape
ADVICE = "Run lm_eval again with --log_samples."


@dataclass(frozen=True, slots=True)
class LmEval:
    """Reads folders that lm_eval wrote with --log_samples --output_path, of version 0.4.0 and later."""

    name: str = "lm_eval"
    title: str = "lm-evaluation-harness"

    def recognise(self, folder: Path, files: tuple[Path, ...]) -> Iterator[Found]:
        """Yield each run among the files of a folder: its results, and its samples."""
        results, samples = _sort(files)
        if bool(results) != bool(samples):  # a file was named, not a folder: what belongs to it lies beside it
            beside = [each for each in sorted(folder.iterdir()) if each not in files and not each.is_symlink()]
            more_results, more_samples = _sort(each for each in beside if each.is_file() and each.name[0] != ".")
            results, samples = results or more_results, samples or more_samples
        joined = _join(results, samples)
        bare = tuple(path for path, own in joined.items() if path in files and not own)
        asked = {path: own for path, own in joined.items() if own and {path, *own} & set(files)}
        for path, own in asked.items():
            yield Found(self.name, str(path or own[0]), (*((path,) if path else ()), *own, *bare))
            bare = ()  # a caution of the first run tells of them
        yield from (Found(self.name, str(path), (path,)) for path in bare)

    def read(self, found: Found) -> Iterator[TaskLog]:
        """Yield what one run holds, a task at a time."""
        results, samples = _sort(found.files)
        own = found.files[0] if found.files[0] in results else None
        run = Run(_read_results(own) if own else {})
        if not samples:
            raise ReadError(
                f"{found.name} has results but no samples, so nothing can be paired: "
                "run lm_eval again with --log_samples"
            )
        about_run = list(_about_run(found, run, [path for path in results if path != own], samples))
        latest: TaskLog | None = None
        for path in samples:
            log = _read_task(run, path)
            if not len(log.rows):
                about_run.extend(log.cautions)
                continue
            if latest is not None:
                yield latest
            latest, about_run = replace(log, cautions=(*about_run, *log.cautions)), []
        if latest is None:
            why = about_run[-1].message if about_run else "its samples name no metric"
            why = "run lm_eval again without --predict_only" if _only_predicts(run) else why
            raise ReadError(f"{found.name} has answers but no score of an item: {why.removesuffix('.')}")
        yield replace(latest, cautions=(*latest.cautions, *about_run))


def _only_predicts(run: Run) -> bool:
    return {metric for task in run.tasks() for metric, _ in run.printed(task)} == {"bypass"}


def _sort(files: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return which files hold results, and which samples, by their content."""
    results, samples = [], []
    for path in files:
        if path.name.lower().endswith(ENDINGS) and not OTHERS.match(path.name):
            head = read_head(path).lstrip(b"\xef\xbb\xbf \t\r\n")
            if b'"doc_id"' in head and (b'"filtered_resps"' in head or FIRST_KEYS.match(head)):
                samples.append(path)
            elif head.startswith(b"{") and RESULTS.search(head) and b'"config_general"' not in head:
                ends = head + _read_tail(path)
                if any(mark in ends for mark in MARKS):
                    results.append(path)
    return results, samples


def _read_tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - HEAD))
        return file.read(HEAD)


def _stem(path: Path) -> tuple[str, str]:
    """Return the name of a file without its ending, in two: up to the time in it, and that time, if there is one."""
    stem = re.sub(r"\.jsonl?(\.gz)?$", "", path.name, flags=re.IGNORECASE)
    stamp = STAMP.search(stem)
    return (stem[: stamp.start()], stamp[1]) if stamp else (stem, "")


def _join(results: Sequence[Path], samples: Sequence[Path]) -> dict[Path | None, list[Path]]:
    """Return the samples of each results file; under None those of none, which are read as one run."""
    joined: dict[Path | None, list[Path]] = {path: [] for path in results}
    dated = {stamp: path for path in reversed(results) if (stamp := _stem(path)[1])}
    undated = dict(_read_undated(path for path in results if not _stem(path)[1]))
    for path in samples:
        stem, stamp = _stem(path)
        joined.setdefault(dated.get(stamp) if stamp else _find_undated(stem, undated), []).append(path)
    return joined


def _read_undated(paths: Iterable[Path]) -> Iterator[tuple[Path, Run]]:
    for path in paths:
        with contextlib.suppress(ReadError):  # reading says what is wrong
            yield path, Run(_read_results(path))


def _find_undated(stem: str, runs: dict[Path, Run]) -> Path | None:
    """Return the results of samples without a time in their name; in early versions one folder can hold many models."""
    for path, run in runs.items():
        begin = name_of_file(part(run.document, "config").get("model_args"))
        if any(stem == f"{begin}_{task}" for task in run.tasks()):
            return path
    named = [path for path, run in runs.items() if stem.removeprefix("samples_") in run.tasks()]
    return named[0] if len(named) == 1 else None


def _read_results(path: Path) -> dict[str, object]:
    document = read_document(path)
    if not isinstance(document, dict) or not isinstance(document.get("results"), dict):
        raise ReadError(f"{path} holds no results of lm-evaluation-harness: it has no object of the name 'results'")
    return document


def _task_of(run: Run, path: Path) -> str:
    stem, stamp = _stem(path)
    named = stem.removeprefix("samples_")
    tasks = sorted(run.tasks(), key=len, reverse=True)
    plain = next((task for task in tasks if named in (task, re.sub(r"\W", "_", task))), None)
    return plain or next((task for task in tasks if not stamp and stem.endswith(f"_{task}")), named)


def _about_run(found: Found, run: Run, bare: Sequence[Path], samples: Sequence[Path]) -> Iterator[Caution]:
    if not run.document:
        yield Caution(
            code="samples-without-results",
            message=f"The results file of {found.name} is missing, so the system is named after its folder and its "
            "settings are unknown.",
            advice="Keep results_*.json in the same folder as the samples.",
        )  # fmt: skip
    there = {_task_of(run, path) for path in samples}
    aside = {path.name for path in found.files[0].parent.glob("samples_*")}  # of tasks that were not asked for
    stamp = _stem(found.files[0])[1]
    lost = [task for task in run.tasks() if task not in there and f"samples_{task}_{stamp}.jsonl" not in aside]
    if lost:
        yield Caution(
            code="results-without-samples", count=len(lost), examples=tuple(lost[:3]),
            message=f"{found.name} has results but no samples for {format_counted(len(lost), 'task')} "
            f"({list_names(lost, most=3)}), so {'it' if len(lost) == 1 else 'they'} can't be compared.",
            advice=ADVICE,
        )  # fmt: skip
    if bare:
        yield Caution(
            code="results-without-samples", count=len(bare), examples=tuple(path.name for path in bare[:3]),
            message=f"{format_counted(len(bare), 'results file')} in {found.files[0].parent} "
            f"{'has' if len(bare) == 1 else 'have'} no samples and {'was' if len(bare) == 1 else 'were'} left out.",
            advice=ADVICE,
        )  # fmt: skip


def _read_task(run: Run, path: Path) -> TaskLog:
    """Return what a file of samples holds, with what the results say of its task."""
    task, samples = _task_of(run, path), read_samples(path)
    lines, cautions = _name_filters(samples.lines, run.filters(task), path)
    whole = samples.task_hash == run.task_hash(task)
    items = pc.count_distinct(lines["item"]).as_py()
    planned = items if whole else run.planned(task)
    short = samples.cut or (planned is not None and items < planned)
    if short:
        of = f" of {format_count(planned)}" if planned is not None else ""
        cautions.append(Caution(
            code="truncated-samples", severity="warning" if samples.cut else "note",
            message=f"{path} holds {format_count(items)}{of} items{', and its last line is incomplete' * samples.cut}: "
            "it was cut off, or is still being written.",
            effect="The tool's means are over all items, so they can't be checked.",
            advice="Copy the whole file, or wait until it is complete.",
        ))  # fmt: skip
    rows = _make_rows(samples, lines, run.filters(task))
    means, out = ({}, set()) if short else _judge(run, task, rows)
    out |= {name for name in samples.scores if run.is_mean(task, name) is False} | samples.corpus
    if out:
        rows = rows.filter(pc.invert(pc.is_in(rows["about"], pa.array(sorted(out), pa.string()))))
        cautions.append(_say_left_out(out, task))
    if group := run.group_of(task):
        rows = rows.append_column("task group", pa.repeat(pa.scalar(group), len(rows)))
    labels = dict(zip(rows["metric"].to_pylist(), rows["about"].to_pylist(), strict=True))
    stamp = _stem(path)[1]
    return TaskLog(
        name=str(path),
        tool=run.tool,
        system=run.system or path.parent.resolve().name,
        task=task,
        rows=rows.drop_columns(["about"]),
        identity=run.identity or stamp,
        facets=run.facets(samples.first),
        conditions=run.conditions(task, samples.first),
        means={name: value for name, value in means.items() if name in labels},
        lower_is_better=frozenset(name for name, about in labels.items() if run.is_lower_better(task, about)),
        planned=planned,
        finished=not samples.cut,
        cautions=tuple(cautions),
    )


def _name_filters(lines: pa.Table, filters: Sequence[str], path: Path) -> tuple[pa.Table, list[Caution]]:
    """Return the lines, each with its filter, and numbered where several are of one item and filter.

    Before version 0.4.7 no line names its filter: the lines of an item are those of the filters, in their order.
    """
    place = count_before(lines["item"].to_pylist())
    cautions: list[Caution] = []
    if lines["filter"].null_count == len(lines):
        most = max(place) + 1
        named = list(filters)
        if most > 1 and most != len(filters):
            named = [f"filter {number}" for number in range(1, most + 1)]
            cautions.append(Caution(
                code="unnamed-filters", count=most,
                message=f"{path} has {most} lines for each item and doesn't say which filters they are from, so the "
                "filters are numbered.",
            ))  # fmt: skip
        told = pa.array([named[each] if named else None for each in place], pa.string())
        return lines.set_column(lines.column_names.index("filter"), "filter", told), cautions
    if max(place) and not lines["sample"].null_count < len(lines):
        again = count_before(list(zip(lines["item"].to_pylist(), lines["filter"].to_pylist(), strict=True)))
        if most := max(again):
            count = len({item for item, each in zip(lines["item"].to_pylist(), again, strict=True) if each})
            numbers = pa.array([str(each + 1) for each in again])
            lines = lines.set_column(lines.column_names.index("sample"), "sample", numbers)
            cautions.append(Caution(
                code="repeated-items", count=count,
                message=f"{format_counted(count, 'item')} of {path} {'has' if count == 1 else 'have'} up to {most + 1} "
                "lines for one filter. They count as several answers to one item.",
                advice="If the file was put together from several runs, keep one of them.",
            ))  # fmt: skip
    return lines, cautions


def _make_rows(samples: Samples, lines: pa.Table, filters: Sequence[str]) -> pa.Table:
    """Return a row for each line and metric; `about` is the metric without its filter."""
    every = {*filters, *pc.unique(lines["filter"]).to_pylist()}
    named = lines["filter"].combine_chunks().dictionary_encode(null_encoding="encode")
    kept = lines.drop_columns(["filter"] if lines["sample"].null_count < len(lines) else ["filter", "sample"])
    more = [("metric", pa.string()), ("about", pa.string()), ("score", pa.float64()), ("status", pa.string())]
    parts = [pa.schema([*kept.schema, *more]).empty_table()]
    for metric, scores in samples.scores.items():
        labels = pa.array([label(metric, name, every) for name in named.dictionary.to_pylist()], pa.string())
        is_number = pc.and_(pc.is_valid(scores), pc.invert(pc.is_nan(pc.fill_null(scores, math.nan))))
        columns = {
            "metric": labels.take(named.indices),
            "about": pa.repeat(pa.scalar(metric), len(lines)),
            "score": pc.if_else(is_number, scores, pa.scalar(None, pa.float64())),
            "status": pc.if_else(is_number, "ok", pc.if_else(pc.is_null(scores), "no score", "the score is NaN")),
        }
        rows = pa.table({**dict(zip(kept.column_names, kept.columns, strict=True)), **columns})
        parts.append(rows.filter(samples.there[metric]) if metric in samples.there else rows)
    return pa.concat_tables(parts)


def _judge(run: Run, task: str, rows: pa.Table) -> tuple[dict[str, float], set[str]]:
    """Return the tool's means, and the metrics of which it prints something else than the mean over items.

    Where a task aggregates by code of its own, only the numbers can tell.
    """
    ours = mean_by_metric(rows)
    printed = run.printed(task)
    means, out = {}, set()
    filters = run.filters(task)
    for (metric, name), value in printed.items():
        named = label(metric, name, filters)
        verdict = run.is_mean(task, metric)
        found = ours.get(named)
        if verdict is None and found is not None:
            verdict = math.isclose(found, value, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
        if verdict and found is not None:
            means[named] = value
        elif verdict is False:
            out.add(metric)
    return means, out


def _say_left_out(out: set[str], task: str) -> Caution:
    return Caution(
        code="corpus-metrics-left-out", severity="note", count=len(out), examples=tuple(sorted(out)[:3]),
        message=f"{list_names(sorted(out))} of {task} {'was' if len(out) == 1 else 'were'} left out: what the "
        "tool reports is not a mean over items.",
    )  # fmt: skip


READER = LmEval()
