"""A spec: its records, and the keys that its tables may hold; every other key is an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from holdsup.errors import SpecError, hint_at, list_names

Scalar: TypeAlias = str | int | float | bool

LARGEST_SEED = 2**32 - 1  # what NumPy's older generators, and so scikit-learn, take


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """A dataset: a file and the columns that matter."""

    path: Path  # the file
    input: str | tuple[str, ...]  # the column that a system is given; several columns give a list of their values
    target: str  # the column that it should predict
    group: str | None  # the column of what a split must not tear apart, None without
    item: str | None  # the column of ids, None where items are numbered


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSource:
    """A system: what trains it, and with what settings."""

    kind: Literal["call", "estimator", "command"]  # "call", "estimator" or "command"
    source: str | tuple[str, ...]  # an import string; for a command, its argument list
    settings: Mapping[str, Any]  # keyword arguments, or what fills placeholders
    timeout: float | None  # seconds that a training may take, None for as long as it likes
    code: tuple[str, ...]  # glob patterns of the files that its results depend on; empty where they are found out
    key: str | None  # what else its results depend on, such as a version, None without


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What a spec asks for."""

    file: Path  # where it was read from
    kind: str  # what is to be done with the trainings
    seed: int  # seed of splits, and of training where no facet gives one
    store: Path  # the file that keeps results
    data: Mapping[str, DataSource]  # datasets by name
    metric: Mapping[str, Any]  # name and options of the metric
    splits: Mapping[str, Any]  # name and options of the splitter
    systems: Mapping[str, SystemSource]  # systems by name
    # the values of each facet, or of each parameter of a tuning; tasks are made for all combinations
    facets: Mapping[str, tuple[Scalar, ...]]
    contest: Mapping[str, Any]  # options of a contest
    tuning: Mapping[str, Any] = field(default_factory=dict)  # options of a tuning: adaptive, margin, fits

    @property
    def folder(self) -> Path:
        """Where paths and import strings resolve from."""
        return self.file.parent


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a table."""

    what: str  # what it holds, in words that complete "it must be ..."
    accepts: Callable[[Any], bool]  # whether a value is such
    required: bool = False  # whether the key must be there


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a spec something stands, for errors: the file and the table."""

    file: str
    table: str = ""

    def __str__(self) -> str:
        return f"{self.file}, [{self.table}]" if self.table else self.file

    def refuse(self, problem: str) -> SpecError:
        """Return the error for something at this place."""
        return SpecError(f"{self}: {problem}")

    def check(self, table: Any, keys: Mapping[str, Key]) -> dict[str, Any]:
        """Return a table whose keys are all known and hold what they should."""
        if not isinstance(table, Mapping):
            raise self.refuse(f"it is {table!r:.60}, not a table: write [{self.table}] and its keys below")
        for name in table:
            if name not in keys:
                raise self.refuse(f"{name!r} is not a key here; the keys are {list_names(keys)}.{hint_at(name, keys)}")
        for name, key in keys.items():
            if name in table and not key.accepts(table[name]):
                raise self.refuse(f"{name} is {table[name]!r:.80}; it must be {key.what}")
            if name not in table and key.required:
                raise self.refuse(f"{name} is missing; it must be {key.what}")
        return dict(table)


def is_scalar(value: Any) -> bool:
    """Return whether a value is text, a finite number or a truth value."""
    return isinstance(value, str | bool | int) or (isinstance(value, float) and abs(value) < float("inf"))


def is_seed(value: Any) -> bool:
    """Return whether a value can be a seed."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_SEED


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_text(part) for part in value)


def _is_settings(value: Any) -> bool:
    """Return whether a value is a table of what JSON can hold."""
    return isinstance(value, dict) and all(_is_plain(part) for part in value.values())


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return _is_settings(value) if isinstance(value, dict) else is_scalar(value)


def _is_seconds(value: Any) -> bool:
    return _is_number(value) and value > 0


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < float("inf")


TEXT = Key("text", _is_text)
COLUMN = Key("the name of a column", _is_text)

HEADER = {
    "holdsup": Key("1, the version of specs that this is written for", lambda value: type(value) is int, True),
    "kind": Key('a kind of spec: "run", "contest" or "tune"', _is_text, True),
    "seed": Key(f"a whole number from 0 to {LARGEST_SEED}", is_seed),
    "store": Key('the path of the store, such as "runs.db"', _is_text),
}
DATA = {
    "path": Key("the path of a file (JSONL, CSV, Parquet, also gzipped)", _is_text, True),
    "input": Key("the name of a column, or a list of names", lambda value: _is_text(value) or _is_texts(value), True),
    "target": Key("the name of a column", _is_text, True),
    "group": COLUMN,
    "item": COLUMN,
}
SYSTEM = {
    "call": Key('an import string, "module:function"', _is_text),
    "estimator": Key('an import string, "module:function"', _is_text),
    "command": Key('an argument list, such as ["{python}", "tag.py", "{train}", "{test}", "{out}"]', _is_texts),
    "settings": Key("a table of text, numbers, booleans, or lists of these", _is_settings),
    "timeout": Key("a number of seconds", _is_seconds),
    "code": Key('a list of glob patterns, such as ["*.py"]', _is_texts),
    "key": TEXT,
}
CONTEST = {
    "repeats": Key("how many times the corpus is partitioned, a whole number, 1 or more", _is_count),
    "margin": Key("a lead from which a system counts as better, a number", _is_number),
    "conclusion": Key('what is claimed, such as "A>B"', _is_text),
    "estimator": Key('the estimator that decides: "averaged", "holdout", "vote", "mixture" or "symmetric"', _is_text),
    "correction": Key('"holm" or "bonferroni"', _is_text),
    "target": Key("the reproducibility at which a sequential contest may stop, such as 0.8", _is_number),
}
SEARCH = {  # what [splits] of a tuning may hold besides the splitter's own options
    "adaptive": Key("true or false", lambda value: isinstance(value, bool)),
    "margin": Key("a difference in score that does not matter, 0 or more", lambda v: _is_number(v) and v >= 0),
}
BUDGET = {"fits": Key("the most trainings, a whole number from 1", _is_count, True)}
NAMED = Key("a name", _is_text, True)  # of a metric or a splitter, whose other keys its own room checks
