"""Samples of lm-evaluation-harness: a line for each item and filter, with a score under the name of each metric.

Most files are lines of one shape, and Arrow reads them without building what is not needed. Where lines differ, are
cut off, or come from a version before 0.4.7, each is read by itself.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from holdsup.columns.limits import LONGEST_LINE
from holdsup.errors import ReadError
from holdsup.logs.files import clean, parse, read_document, read_head, read_lines

HASHES = ("doc_hash", "prompt_hash", "target_hash")  # in the order in which the tool adds them up
REPEATS = "scores_per_repeat"
# Keys of a line that are no metrics.
OWN = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", REPEATS, *HASHES)
)
KINDS = ("subject", "category", "language", "level", "difficulty")  # fields of a document that say of what kind it is
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # of a picture or a function in memory: another in each run
DIGITS = 16  # of a hash, to tell whether two logs hold the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """What a file of samples says, line by line."""

    first: Mapping[str, Any]  # the first line, whole
    lines: pa.Table  # item, filter, sample, content, prompt, and of what kind the item is
    scores: dict[str, pa.Array]  # by metric, the score of each line; NaN where it is none, null where there is none
    there: dict[str, pa.Array] = field(default_factory=dict)  # which lines have a metric, where not all have
    corpus: frozenset[str] = frozenset()  # metrics whose values are no numbers: parts of a score of all items together
    task_hash: str = ""  # what the tool makes of the hashes of all lines
    cut: bool = False  # whether the last line is incomplete


def read_samples(path: Path) -> Samples:
    """Return what a file of samples holds; memory is that of the scores, not of the texts."""
    first = next(_records(path), None)
    if first is None:
        raise ReadError(f"{path} holds no whole sample: it was cut off, or is still being written")
    return _read_alike(path, first) or _read_each(path, first)


def _read_alike(path: Path, first: Mapping[str, Any]) -> Samples | None:
    """Return the samples if all lines are like the first, else None."""
    types = {name: _type_of(first.get(name)) for name in _metrics_of(first)}
    if "metrics" not in first or _moves(first) or None in types.values() or OWN & types.keys():
        return None
    kinds = _kinds_of(first)
    numbers = {name: kind for name, kind in types.items() if kind != pa.null()}
    schema = pa.schema([
        ("doc_id", pa.int64()), ("filter", pa.string()), ("metrics", pa.list_(pa.string())),
        ("doc", pa.struct([(name, pa.string()) for name in kinds])),
        (REPEATS, pa.struct([("", pa.string())])), *((name, pa.string()) for name in HASHES), *numbers.items(),
    ])  # fmt: skip
    told = pa.scalar(",".join(_metrics_of(first)))
    needed = ["doc_id", "filter", *HASHES, *numbers]
    parts, total = [], hashlib.sha256()
    try:
        for batch in _open_lines(path, schema):
            alike = pc.all(pc.equal(pc.binary_join(batch["metrics"], ","), told), skip_nulls=False).as_py()
            if not alike or any(batch[name].null_count for name in needed) or batch[REPEATS].null_count < len(batch):
                return None
            total.update(
                "".join(pc.binary_join_element_wise(*(batch[name] for name in HASHES), "").to_pylist()).encode()
            )
            parts.append(_take(batch, kinds, numbers))
    except (pa.ArrowInvalid, OSError):
        return None  # reading line by line says what is wrong, and where
    table = pa.Table.from_batches(parts).combine_chunks()
    return Samples(
        first=first,
        lines=table.drop_columns(list(map(_column, numbers))),
        scores={name: table[_column(name)].combine_chunks() for name in numbers},
        corpus=frozenset(types) - frozenset(numbers),
        task_hash=total.hexdigest(),
    )


def _open_lines(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    with path.open("rb") as file:
        if file.read(1) != b"{":
            raise pa.ArrowInvalid("packed, or not one sample a line")
    with pa.json.open_json(
        path,
        read_options=pa.json.ReadOptions(block_size=LONGEST_LINE),
        parse_options=pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
    ) as reader:
        yield from reader


def _take(batch: pa.RecordBatch, kinds: list[str], numbers: Mapping[str, pa.DataType]) -> pa.RecordBatch:
    """Return of a batch what is kept."""
    short = {name: pc.utf8_slice_codeunits(batch[name], 0, DIGITS) for name in HASHES}
    return pa.record_batch({
        "item": batch["doc_id"].cast(pa.string()),
        "filter": batch["filter"],
        "sample": pa.nulls(len(batch), pa.string()),
        "content": pc.binary_join_element_wise(short["doc_hash"], short["target_hash"], ""),
        "prompt": short["prompt_hash"],
        **{name: pc.struct_field(batch["doc"], name) for name in kinds},
        **{_column(name): batch[name].cast(pa.float64()) for name in numbers},
    })  # fmt: skip


def _column(metric: str) -> str:
    return f"score of {metric}"


def _read_each(path: Path, first: Mapping[str, Any]) -> Samples:
    """Return the samples, each line read by itself."""
    kinds = _kinds_of(first)
    moves = _moves(first)
    lines: dict[str, list[Any]] = {name: [] for name in ("item", "filter", "sample", "content", "prompt", *kinds)}
    scores: dict[str, dict[int, float | None]] = {}
    corpus: set[str] = set()
    total = hashlib.sha256()
    cut = False
    for record in _records(path):
        if record is None:
            cut = True
            break
        total.update("".join(clean(str(record.get(name))) for name in HASHES).encode())
        document, target, prompt = _hashes(record, moves=moves)
        doc = record.get("doc")
        values = {
            "item": _text(record["doc_id"]), "filter": _text(record.get("filter")),
            "content": document[:DIGITS] + target[:DIGITS], "prompt": prompt[:DIGITS],
            **{name: _text(doc.get(name)) if isinstance(doc, dict) else None for name in kinds},
        }  # fmt: skip
        for sample, found in _answers(record):
            for name, value in found.items():
                if value is None or is_number(value):
                    scores.setdefault(name, {})[len(lines["item"])] = None if value is None else float(value)
                else:
                    corpus.add(name)
            for name, column in lines.items():
                column.append(sample if name == "sample" else values[name])
    count = len(lines["item"])
    numbers = {
        name: by_line
        for name, by_line in scores.items()
        if name not in corpus and any(value is not None for value in by_line.values())
    }
    return Samples(
        first=first,
        lines=pa.table({name: pa.array(column, pa.string()) for name, column in lines.items()}),
        scores={name: pa.array(map(each.get, range(count)), pa.float64()) for name, each in numbers.items()},
        there={name: pa.array([line in each for line in range(count)]) for name, each in numbers.items()
               if len(each) < count},
        corpus=frozenset(scores.keys() | corpus) - frozenset(numbers),
        task_hash=total.hexdigest(),
        cut=cut,
    )  # fmt: skip


def _records(path: Path) -> Iterator[dict[str, Any] | None]:
    """Yield the records of a file, lines or one array of them; None for a last line that is incomplete."""
    if read_head(path).lstrip().startswith(b"["):  # versions before 0.4.3, whatever the file's ending
        for place, record in enumerate(read_document(path), 1):
            yield _check(record, f"sample {place} of {path}")
        return
    lines = read_lines(path)
    for number, line in lines:
        try:
            record = parse(line, f"line {number} of {path}")
        except ReadError:
            if next(lines, None) is not None:
                raise
            yield None
            return
        yield _check(record, f"line {number} of {path}")


def _check(record: Any, name: str) -> dict[str, Any]:
    if not isinstance(record, dict) or not isinstance(record.get("doc_id"), int | str):
        raise ReadError(f"{name} has no doc_id: it is not a sample of lm-evaluation-harness")
    return record


def _metrics_of(record: Mapping[str, Any]) -> list[str]:
    """Return the metrics of a line; before version 0.4.7 they are what else it holds."""
    named = record.get("metrics")
    return [str(name) for name in named] if isinstance(named, list) else [name for name in record if name not in OWN]


def _answers(record: Mapping[str, Any]) -> Iterator[tuple[str | None, dict[str, Any]]]:
    """Yield the scores of each answer to an item where the log has them and their mean is its score, else its score."""
    whole = {clean(name): record.get(name) for name in _metrics_of(record)}
    repeats = record.get(REPEATS)
    if isinstance(repeats, dict) and whole and all(_is_mean(repeats.get(name), whole[name]) for name in whole):
        for place, values in enumerate(zip(*(repeats[name] for name in whole), strict=False), 1):
            yield str(place), dict(zip(whole, values, strict=True))
    else:
        yield None, whole


def _is_mean(values: Any, score: Any) -> bool:
    if not isinstance(values, list) or not values or not all(map(is_number, (*values, score))):
        return False
    return math.isclose(math.fsum(values) / len(values), score, rel_tol=1e-9, abs_tol=1e-9)


def _hashes(record: Mapping[str, Any], *, moves: bool) -> tuple[str, str, str]:
    """Return the hashes of document, target and prompt; made as the tool makes them, where it did not yet."""
    document = record.get("doc_hash")
    if moves or not isinstance(document, str):
        document = _hash(ADDRESS.sub("", json.dumps(record.get("doc"), indent=2, ensure_ascii=False)))
    target = record.get("target_hash") or _hash(str(record.get("target")))
    prompt = record.get("prompt_hash") or _hash(str(first_arguments(record)[0]))
    return clean(document), clean(str(target)), clean(str(prompt))


def first_arguments(record: Mapping[str, Any]) -> list[Any]:
    """Return what the first request of a sample was: the prompt, and a continuation or settings."""
    sent = record.get("arguments")
    requests = list(sent.values()) if isinstance(sent, dict) else sent
    if not isinstance(requests, list) or not requests:
        return [None]
    first = list(requests[0].values()) if isinstance(requests[0], dict) else requests[0]
    return first if isinstance(first, list) and first else [first]


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _moves(record: Mapping[str, Any]) -> bool:
    """Return whether documents name places in memory, so that the tool's hashes differ from run to run."""
    return ADDRESS.search(json.dumps(record.get("doc"))) is not None


def _kinds_of(record: Mapping[str, Any]) -> list[str]:
    doc = record.get("doc")
    return [name for name in KINDS if isinstance(doc, dict) and isinstance(doc.get(name), str)]


def _text(value: Any) -> str | None:
    return None if value is None else clean(str(value))


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a value is a number that fits into a score; true and false are."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63)


def _type_of(value: Any) -> pa.DataType | None:
    """Return as what Arrow reads a metric: null for what is no number, None where the value is missing."""
    if value is None:
        return None
    return pa.bool_() if isinstance(value, bool) else pa.float64() if is_number(value) else pa.null()
