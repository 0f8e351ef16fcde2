"""What is to be run: a plan of tasks, and what one task gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import pyarrow as pa

Label: TypeAlias = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Task:
    """One piece of work, which is done once and recorded once."""

    id: str  # hash of all that its result depends on; the store knows a task by it
    labels: Mapping[str, Label]  # what people call it (system, dataset, facets), in order
    work: str  # import string ``module:function`` of a function that takes `arguments` and returns an `Outcome`
    arguments: Mapping[str, Any]  # what the work is given; only what JSON can hold
    timeout: float | None = None  # seconds that it may take, None for as long as it likes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task gives."""

    values: Mapping[str, Any]  # what JSON can hold; floats may be NaN or infinite, and a "reason" may say why
    tables: Mapping[str, pa.Table] = field(default_factory=dict)  # larger things as Arrow tables, by name


@dataclass(frozen=True, slots=True)
class Plan:
    """The tasks of a study, in the order in which they are begun."""

    tasks: tuple[Task, ...]  # the tasks, each with an id of its own
    # what JSON can hold about the study as a whole: its kind, its seed
    description: Mapping[str, Any] = field(default_factory=dict)
    folder: str = "."  # where import strings are resolved; stands first on the path of every worker
