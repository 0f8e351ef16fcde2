"""The scores of an Inspect log: what scorers said of samples, as numbers, and why where there is none."""

from __future__ import annotations

import math
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import pyarrow as pa

from holdsup.errors import ReadError, quote_text
from holdsup.logs.contract import COLUMNS, make_column
from holdsup.logs.files import digest, flat
from holdsup.results.cautions import EXAMPLES, Caution

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
EXCEPTION = re.compile(r"(\w+)\(")  # how summaries write an exception: RuntimeError('...')
USAGE = ("total_tokens", "total_cost", "total_time", "working_time")  # what a sample cost: less is better
# Summaries cut texts at 1,024 characters or more, depending on the version; texts are compared as far as all go.
COMPARED, LOOKED_AT = 900, 4096
LABEL = 80  # characters: a longer text is no category
LONG = object()  # stands for a text that is no category
HUGE = sys.float_info.max
LARGEST = 2**53  # a number beyond it is an identifier
TAKEN = {*COLUMNS, "system", "task", "dataset", "run", "weight", "cluster"}  # names that a category cannot have


class Sample(NamedTuple):
    """What is kept of a sample."""

    scores: dict[str, object]  # the value, or part of a value, by metric
    scorers: frozenset[str]
    error: str  # which error halted it; empty where none did
    limit: str  # which limit ended it; what was there then was scored
    content: str | None
    usage: tuple[float | None, ...]  # in the order of USAGE
    labels: dict[str, object]


class Scores:
    """The samples of one log, as they are read."""

    def __init__(self, name: str, *, system: str, scorer: str) -> None:
        self.name, self._system = name, system
        self._scorer = scorer  # the one that is meant where a sample of an old log names none
        self._samples: dict[tuple[str, str], Sample] = {}  # by item and epoch; the last attempt counts
        self._metrics: dict[tuple[str, str], str] = {}  # by scorer and part of its value
        self._zeros: set[str] = set()  # metrics in which the tool counted what is no number as 0

    def __len__(self) -> int:
        return len(self._samples)

    @property
    def items(self) -> set[str]:
        """The ids of the items."""
        return {item for item, _ in self._samples}

    def add(self, sample: object, *, epoch: object = 1) -> None:
        """Add a sample, or the summary of one."""
        if not isinstance(sample, dict) or sample.get("id") is None:
            raise ReadError(f"sample {len(self) + 1} of {self.name} has no id: this is not a complete Inspect log")
        scores = sample.get("scores")
        if scores is None:
            scores = {self._scorer: sample["score"]} if sample.get("score") is not None else {}
        if not isinstance(scores, dict) or not all(isinstance(score, dict) for score in scores.values()):
            raise ReadError(f"sample {sample['id']!r} of {self.name} has scores in a form that is not known")
        error, limit = _error_of(sample.get("error")), _kind_of(sample.get("limit"))
        self._samples[str(sample["id"]), str(sample.get("epoch", epoch))] = Sample(
            scores={metric: leaf for scorer, score in scores.items() for metric, leaf in self._split(scorer, score)},
            scorers=frozenset(scores),
            error=error,
            limit=limit,
            content=_content_of(sample),
            usage=self._usage_of(sample),
            labels=_labels_of(sample.get("metadata")),
        )

    def add_reduction(self, scorer: str, reduced: object) -> None:
        """Add what a scorer said of each item over all epochs, from a log that holds no samples."""
        for each in reduced if isinstance(reduced, list) else ():
            if not isinstance(each, dict) or each.get("sample_id") is None:
                raise ReadError(f"a reduced score in {self.name} has no sample_id: this is not a complete Inspect log")
            parts = dict(self._split(scorer, each))
            key = (str(each["sample_id"]), "1")
            if known := self._samples.get(key):
                parts = {**known.scores, **parts}
            scorers = frozenset({scorer}) | (known.scorers if known else frozenset())
            self._samples[key] = Sample(parts, scorers, "", "", None, (), {})

    def _split(self, scorer: str, score: Mapping[str, object]) -> Iterator[tuple[str, object]]:
        value = score.get("value")
        if isinstance(value, dict):
            parts: Iterable[tuple[str, object]] = ((str(key), leaf) for key, leaf in value.items())
        elif isinstance(value, list):
            parts = ((str(place), leaf) for place, leaf in enumerate(value, 1))
        else:
            parts = (("", value),)
        for part, leaf in parts:
            name = f"{scorer}/{part}" if part else scorer
            yield self._metrics.setdefault((scorer, part), name), leaf

    def _usage_of(self, sample: Mapping[str, Any]) -> tuple[float | None, ...]:
        used = sample.get("model_usage")
        used = used if isinstance(used, dict) else {}
        # The tokens of a model that grades the answers are no cost of the system.
        own = [used[self._system]] if self._system in used else list(used.values())
        tokens, cost = (_sum([each.get(name) for each in own if isinstance(each, dict)]) for name in USAGE[:2])
        return (tokens, cost, *(sample[name] if _is_number(sample.get(name)) else None for name in USAGE[2:]))

    def metrics(self) -> dict[str, str]:
        """Return the scorer of each metric; a scorer that says numbers by name has one metric for each of them."""
        several = {scorer for scorer, part in self._metrics if part}
        return {name: scorer for (scorer, part), name in self._metrics.items() if part or scorer not in several}

    def settle(self, means: Mapping[str, float]) -> tuple[dict[str, float], tuple[Caution, ...]]:
        """Decide what values count that are no numbers; return the means that can be checked, and what was decided.

        Inspect counts a text that it does not know, and a value that is missing among several, as 0 with a warning.
        Where its own mean of the metric says that it did, so do we; otherwise the value is left out.
        """
        checked, cautions = dict(means), []
        for metric in self.metrics():
            values = [sample.scores[metric] for sample in self._samples.values() if metric in sample.scores]
            unknown = [value for value in values if _is_unknown(value)]
            if all(number_of(value) is None for value in values):
                checked.pop(metric, None)  # labels, or nothing scored: a mean of nothing
            elif unknown and metric in means and not self._agrees(metric, means[metric]):
                self._zeros.add(metric)
                if not self._agrees(metric, means[metric]):
                    self._zeros.remove(metric)
            if metric in self._zeros or any(value is not None for value in unknown):
                cautions.append(_unknown_values(metric, unknown, len(values), metric in self._zeros))
        return checked, tuple(cautions)

    def _agrees(self, metric: str, mean: float) -> bool:
        return math.isclose(self.mean(metric), mean, rel_tol=1e-9, abs_tol=1e-12)

    def mean(self, metric: str) -> float:
        """Return the mean over items of their means over samples."""
        items = defaultdict(list)
        for (item, _), sample in self._samples.items():
            if (score := self._score(sample, metric)) is not None:
                items[item].append(score)
        return fmean(map(fmean, items.values())) if items else math.nan

    def _score(self, sample: Sample, metric: str) -> float | None:
        value = sample.scores.get(metric, math.nan)
        return 0.0 if metric in self._zeros and _is_unknown(value) else number_of(value)

    def table(self, expected: Iterable[str], *, epochs: bool = True) -> pa.Table:
        """Return the rows; where no sample has a score, `expected` names the scorers that should have said one."""
        metrics = self.metrics() or {name: name for name in expected} or {"score": "score"}
        samples = list(self._samples.values())
        about: dict[str, list[Any]] = {
            "item": [item for item, _ in self._samples],
            "sample": [epoch if epochs else None for _, epoch in self._samples],
            "content": [sample.content for sample in samples],
            **{column: [sample.labels.get(name) for sample in samples] for name, column in self._labels().items()},
        }
        shared = pa.table({name: make_column(name, values) for name, values in about.items()})
        parts = []
        for metric, scorer in metrics.items():
            scores = [self._score(sample, metric) for sample in samples]
            pairs = list(zip(samples, scores, strict=True))
            told = ["ok" if score is not None else self._reason(sample, metric, scorer) for sample, score in pairs]
            errors = [sample.error if score is not None and sample.error else "-" for sample, score in pairs]
            parts.append(_widen(shared, metric, scores, told, errors))
        for place, name in enumerate(USAGE):
            there = [i for i, sample in enumerate(samples) if sample.usage and sample.usage[place] is not None]
            if there and name not in metrics:
                held = [samples[i] for i in there]
                used = [None if sample.error else sample.usage[place] for sample in held]
                told = [sample.error or "ok" for sample in held]
                parts.append(_widen(shared.take(there), name, used, told, ["-"] * len(there)))
        first = ["item", "metric", "score", "sample", "status", "error", "content"]
        return pa.concat_tables(parts).select([*first, *self._labels().values()])

    def _reason(self, sample: Sample, metric: str, scorer: str) -> str:
        if scorer not in sample.scorers:
            return sample.error or (f"{sample.limit} limit" if sample.limit else "not scored")
        return "not a number" if isinstance(sample.scores.get(metric), str) else "unscored"

    def limited(self) -> Iterator[Caution]:
        """Yield that samples ran into a limit of the evaluation, which is no error."""
        if reached := [sample.limit for sample in self._samples.values() if sample.limit]:
            yield Caution(
                code="limits-reached",
                severity="note",
                message=f"{len(reached)} of {len(self)} samples hit a limit ({flat(sorted(set(reached)))}). Inspect "
                "scored what was there.",
                count=len(reached),
            )

    def _labels(self) -> dict[str, str]:
        """Return the columns of the metadata that may be categories or amounts, by their names in the log."""
        seen: dict[str, dict[str, set[object]]] = defaultdict(lambda: defaultdict(set))
        for (item, _), sample in self._samples.items():
            for name, value in sample.labels.items():
                seen[name][item].add(value)
        names = []
        for name, by_item in seen.items():
            values = set().union(*by_item.values())
            texts = any(isinstance(value, str) for value in values)
            # A text of each item's own is an identifier, and what differs between epochs is no property of the item.
            told = len(values) < len(by_item) or not texts or len(by_item) == 1
            if told and LONG not in values and all(len(own) == 1 for own in by_item.values()):
                names.append(name)
        return {name: f"metadata_{name}" if name in TAKEN or name in USAGE else name for name in names}


def _widen(shared: pa.Table, metric: str, scores: list[float | None], told: list[str], errors: list[str]) -> pa.Table:
    """Return what is known of samples with what one metric says of them."""
    own: dict[str, list[Any]] = {"metric": [metric] * len(scores), "score": scores, "status": told, "error": errors}
    for name, values in own.items():
        shared = shared.append_column(name, make_column(name, values))
    return shared


def number_of(value: object) -> float | None:
    """Return a score as the number that Inspect counts it as, or None where it is none.

    >>> number_of("P"), number_of(True), number_of("no"), number_of("0.25"), number_of("B"), number_of(float("nan"))
    (0.5, 1.0, 0.0, 0.25, None, None)
    """
    if isinstance(value, str):
        known = GRADES.get(value, WORDS.get(value.lower()))
        if known is not None:
            return known
        try:
            value = float(value)
        except ValueError:
            return None
        return value if math.isfinite(value) else None
    if isinstance(value, int | float) and (abs(value) <= HUGE or abs(value) == math.inf):  # an integer may be beyond
        return float(value)
    return None


def _is_unknown(value: object) -> bool:
    """Return whether this is no number that the tool may have counted as 0; NaN is how it writes `unscored`."""
    return number_of(value) is None and not isinstance(value, float)


def _unknown_values(metric: str, values: Sequence[object], scored: int, zeros: bool) -> Caution:
    kinds = sorted({"null" if value is None else str(value) for value in values})
    return Caution(
        code="scores-not-numbers",
        about=f"metric:{metric}",
        message=f"{metric}: {len(values)} of {scored} scores are not numbers. They "
        f"{'count as 0, as they do in Inspect' if zeros else 'were left out'}.",
        advice="" if zeros else "Score the log again with a scorer that returns numbers.",
        count=len(kinds),
        examples=tuple(quote_text(kind) for kind in kinds[:EXAMPLES]),
    )


def _sum(values: Sequence[Any]) -> float | None:
    return sum(values) if values and all(map(_is_number, values)) else None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= HUGE


def _kind_of(limit: object) -> str:
    return str(limit.get("type", "")) if isinstance(limit, dict) else str(limit or "")


def _error_of(error: object) -> str:
    """Return which kind of error halted a sample: few kinds, so that they can be counted."""
    if not error:
        return ""
    message = error.get("message") if isinstance(error, dict) else error
    found = EXCEPTION.match(str(message))
    return f"error: {found.group(1)}" if found else "error"


def _content_of(sample: Mapping[str, Any]) -> str | None:
    if sample.get("input") is None:
        return None
    target = sample.get("target")
    targets = target if isinstance(target, list) else [target]
    return digest([*_texts(sample["input"])], [_start(str(each)) for each in targets])


def _texts(given: object) -> Iterator[str]:
    """Yield the texts of an input as far as every version of the log holds them: no ids, no pictures."""
    for message in given if isinstance(given, list) else [{"content": given}]:
        content = message.get("content") if isinstance(message, dict) else message
        for part in content if isinstance(content, list) else [content]:
            if not isinstance(part, dict):
                yield _start(str(part))
            elif part.get("type") == "text":
                yield _start(str(part.get("text")))
            else:
                yield f"({str(part.get('type')).capitalize()})"  # what summaries write in its place


def _start(text: str) -> str:
    return " ".join(text[:LOOKED_AT].split())[:COMPARED]


def _labels_of(metadata: object) -> dict[str, object]:
    if not isinstance(metadata, dict):
        return {}
    return {name: _label_of(value) for name, value in metadata.items() if isinstance(value, str | int | float)}


def _label_of(value: str | int | float) -> object:
    if isinstance(value, str):
        return value if len(value) <= LABEL else LONG
    return str(value).lower() if isinstance(value, bool) or abs(value) > LARGEST else value
