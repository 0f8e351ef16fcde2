"""A spec as frozen records: what a TOML file asks for, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

__all__ = ["DataSource", "Scalar", "Spec", "SystemSource"]

Scalar: TypeAlias = str | int | float | bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSource:
    """A dataset: a file and the columns that matter.

    Attributes
    ----------
    path : the file
    input : the column that a system is given; several columns give a list of their values
    target : the column that it should predict
    group : the column of what a split must not tear apart, None without
    item : the column of ids, None where items are numbered
    """

    path: Path
    input: str | tuple[str, ...]
    target: str
    group: str | None
    item: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSource:
    """A system: what trains it, and with what settings.

    Attributes
    ----------
    kind : "call", "estimator" or "command"
    source : an import string; for a command, its argument list
    settings : keyword arguments, or what fills placeholders
    timeout : seconds that a training may take, None for as long as it likes
    code : glob patterns of the files that its results depend on; empty where they are found out
    key : what else its results depend on, such as a version, None without
    """

    kind: Literal["call", "estimator", "command"]
    source: str | tuple[str, ...]
    settings: Mapping[str, Any]
    timeout: float | None
    code: tuple[str, ...]
    key: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What a spec asks for.

    Attributes
    ----------
    file : where it was read from
    kind : what is to be done with the trainings
    seed : seed of splits, and of training where no facet gives one
    store : the file that keeps results
    data : datasets by name
    metric : name and options of the metric
    splits : name and options of the splitter
    systems : systems by name
    facets : the values of each facet, or of each parameter of a tuning; tasks are made for all combinations
    contest : options of a contest
    tuning : options of a tuning: adaptive, margin, fits
    """

    file: Path
    kind: str
    seed: int
    store: Path
    data: Mapping[str, DataSource]
    metric: Mapping[str, Any]
    splits: Mapping[str, Any]
    systems: Mapping[str, SystemSource]
    facets: Mapping[str, tuple[Scalar, ...]]
    contest: Mapping[str, Any]
    tuning: Mapping[str, Any] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where paths and import strings resolve from."""
        return self.file.parent
