"""lighteval: details of each task as Parquet, joined to the results of their run by folder and time."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from holdsup.columns.limits import reason_of
from holdsup.errors import ReadError, list_names
from holdsup.logs.contract import Found, Rows, TaskLog, describe
from holdsup.logs.files import digest, read_document, read_head
from holdsup.logs.laid_out import FileReader
from holdsup.results.cautions import Caution

START, ENDING, MAGIC = "details_", ".parquet", b"PAR1"
DETAILS, RESULTS = "details", "results"  # folders of a run; within them the model's, whose name may hold slashes
PARTS = ("doc.id", "doc.query", "model_response.input", "metric")  # columns that are needed, of many
DATE = re.compile(r"\d{4}-\d\d-\d\dT[\d.-]+")
MEANS = {"mean", "nanmean"}  # functions over a corpus that give what is checked here
BATCH = 1_000  # rows at a time: a prompt may be long


def _claim(path: Path) -> Iterator[Path]:
    """Yield the details of a task, with the results of its run where these are."""
    named = path.name.startswith(START) and path.name.endswith(ENDING) and DATE.fullmatch(_date(path))
    if named and read_head(path, len(MAGIC)) == MAGIC:
        yield from (path, *_find_results(path))


def _date(path: Path) -> str:
    """Return the time of a run, by which its files and the folder of its details are called."""
    return path.stem.rpartition("_")[2]


def _place(path: Path) -> tuple[Path, Path] | None:
    """Return the folder that a run was written to and the model's folders in it: details/<model>/<time>/details_..."""
    above = path.parents  # as the path was given, so that files beside are known as those that were found
    depth = next((depth for depth, folder in enumerate(above) if folder.name == DETAILS), 0)
    return (above[depth + 1], above[1].relative_to(above[depth])) if 1 < depth < len(above) - 1 else None


def _find_results(path: Path) -> Iterator[Path]:
    name, place = f"{RESULTS}_{_date(path)}.json", _place(path)
    for folder in (path.parent, *([place[0] / RESULTS / place[1]] if place else ())):
        if (results := folder / name).is_file() and not results.is_symlink():
            yield results
            return


def _logs(found: Found) -> Iterator[TaskLog]:
    path, *others = found.files
    results: dict[str, Any] = read_document(others[0]) if others else {}
    date, place = _date(path), _place(path)
    name = path.name.removeprefix(START).removesuffix(f"_{date}{ENDING}")
    parts = name.split("|")
    task, few_shot = (parts[1], parts[2]) if len(parts) > 2 else (parts[0], parts[1] if len(parts) > 1 else None)
    general = results.get("config_general") or {}
    key = name.replace("|", ":")
    config = (results.get("config_tasks") or {}).get(key) or {}
    table, other = _read_rows(path)
    printed = (results.get(RESULTS) or {}).get(key) or {}
    functions = {metric: _of(each["corpus_level_fn"], metric) for metric, each in _metrics(config)}
    better = {metric: _of(each["higher_is_better"], metric) for metric, each in _metrics(config)}
    there = set(table["metric"].to_pylist())
    means = {metric: float(printed[metric]) for metric in there if metric in printed}
    no_means = sorted(metric for metric in means if functions.get(metric, "mean") not in MEANS)
    settings = (general.get("model_config") or {}).get("generation_parameters") or {}
    system = general.get("model_name") or (place[1].as_posix() if place else path.absolute().parent.name)
    yield TaskLog(
        name=str(path), tool="lighteval", system=system, task=task, rows=table, identity=date,
        facets=describe((each, settings.get(each)) for each in ("seed", "temperature", "top_p")),
        conditions=describe(
            [("few-shot examples", few_shot), ("limit", general.get("max_samples")),
             ("task version", (results.get("versions") or {}).get(key)), ("max tokens", settings.get("max_new_tokens"))]
        ),
        means={metric: mean for metric, mean in means.items() if metric not in no_means and math.isfinite(mean)},
        lower_is_better=frozenset(metric for metric in there if better.get(metric) is False),
        cautions=tuple(_say_other({*other, *no_means})),
    )  # fmt: skip


def _metrics(config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the metrics of a task; some are several that are computed together."""
    for each in config.get("metrics") or ():
        if isinstance(each, dict) and "corpus_level_fn" in each and "higher_is_better" in each:
            names = each.get("metric_name")
            for name in names if isinstance(names, list) else [str(names)]:
                yield name, each


def _of(value: Any, metric: str) -> Any:
    return value.get(metric) if isinstance(value, Mapping) else value


def _read_rows(path: Path) -> tuple[pa.Table, set[str]]:
    """Return the scores of samples, and the metrics that have none: those over a corpus keep what they need of it."""
    import pyarrow.parquet as pq  # only here: it is slow to load, and a folder of tables needs none of it

    rows, other = Rows("sample", "status", "content", "prompt"), set[str]()
    tries: Counter[str] = Counter()
    try:
        with pq.ParquetFile(path) as file:
            if missing := {"doc", "metric"} - set(file.schema_arrow.names):
                raise ReadError(
                    f"{path} has no column {list_names(sorted(missing))}: lighteval before 0.10 wrote scores as "
                    "text; evaluate again with a later version"
                )
            for batch in file.iter_batches(BATCH, columns=list(PARTS)):
                for row in batch.to_pylist():
                    _add(rows, other, tries, row)
    except (pa.ArrowException, OSError) as error:
        raise ReadError(f"{path} is damaged, or still being written ({reason_of(error)})") from error
    return rows.table(), other


def _add(rows: Rows, other: set[str], tries: Counter[str], row: dict[str, Any]) -> None:
    doc, sent = row["doc"], (row.get("model_response") or {}).get("input")
    item = str(doc.get("id") or sum(tries.values()))
    tries[item] += 1
    for metric, score in row["metric"].items():
        if isinstance(score, list | dict | str):
            other.add(metric)
        elif score is not None:
            known = math.isfinite(score)
            rows.add(
                item=item, metric=metric, score=float(score) if known else None, sample=str(tries[item]),
                status="ok" if known else "the score is no number", content=digest(str(doc.get("query"))),
                prompt=None if sent is None else digest(sent),
            )  # fmt: skip


def _say_other(metrics: set[str]) -> Iterator[Caution]:
    if metrics:
        message = f"{list_names(sorted(metrics))} {'is' if len(metrics) == 1 else 'are'} no mean over samples"
        yield Caution(code="no-item-scores", severity="note", message=f"{message}, and can't be checked or compared.")


READER = FileReader("lighteval", "lighteval", _claim, _logs)
