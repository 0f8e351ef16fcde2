"""What a spec would do, found out without importing or running anything of the user's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from holdsup.experiment.commands import fill_arguments
from holdsup.experiment.corpora import read_corpus
from holdsup.experiment.systems import split_settings
from holdsup.rendering import Table
from holdsup.rendering.numbers import format_counted
from holdsup.studies.specs.planning import count_splits, describe_data, vary
from holdsup.studies.specs.records import Scalar, Spec, SystemSource

__all__ = ["Preview", "preview_spec"]

SHOWN = 5  # combinations of the facets


class Words(NamedTuple):
    """What is varied, in words: one combination of values, of what, the first of them, the title of their table."""

    one: str
    of: str
    first: str
    title: str


VARIED = Words("combination", " of facets", "values of the facets", "Facets, in the order of tasks")
TUNED = Words("candidate", "", "candidate", "Candidates, in their order")


class Preview(NamedTuple):
    """What would be done, in a sentence and in tables."""

    sentence: str
    tables: tuple[Table, ...]


def preview_spec(spec: Spec) -> Preview:
    """Return what a spec would import, execute and train; its data are read, its code is not."""
    data = {name: describe_data(spec, name) for name in spec.data}
    splits = {name: count_splits(spec, name, described) for name, described in data.items()}
    words = TUNED if spec.kind == "tune" else VARIED
    variants = math.prod(len(values) for values in spec.facets.values())
    tasks, most = sum(splits.values()) * len(spec.systems) * variants, ""
    if spec.tuning.get("adaptive"):
        tasks, most = min(tasks, spec.tuning.get("fits", tasks)), "at most "
    first = next(vary(spec.facets))
    rows = [
        (name, source.path.name, len(read_corpus(data[name])), _columns(source.input), source.target, splits[name])
        for name, source in spec.data.items()
    ]
    return Preview(
        f"{spec.file.name} would run {most}{format_counted(tasks, 'task')} and keep the results in {spec.store.name}: "
        f"{format_counted(len(spec.systems), 'system')} x {format_counted(sum(splits.values()), 'split')} of "
        f"{format_counted(len(data), 'dataset')} x {format_counted(variants, words.one)}{words.of}, scored by "
        f"{spec.metric['name']}. Nothing was imported, and nothing was run.",
        (
            Table(
                title=f"What would be imported or executed, with the first {words.first}",
                columns=("system", "imports", "executes"),
                rows=tuple((name, *_describe(system, first, spec.seed)) for name, system in spec.systems.items()),
            ),
            Table(
                title=f"Data, split by {spec.splits['name']}",
                columns=("dataset", "file", "items", "input", "target", "splits"),
                rows=tuple(rows),
            ),
            *_facets(spec, variants, words),
        ),
    )


def _facets(spec: Spec, variants: int, words: Words) -> tuple[Table, ...]:
    if not spec.facets:
        return ()
    left = variants - SHOWN
    more = (f"{format_counted(left, f'more {words.one}')} follow{'s' * (left == 1)}.",) if left > 0 else ()
    rows = tuple(tuple(map(str, facets.values())) for facets in islice(vary(spec.facets), SHOWN))
    return (Table(title=words.title, columns=tuple(spec.facets), rows=rows, notes=more),)


def _columns(names: str | tuple[str, ...]) -> str:
    return names if isinstance(names, str) else ", ".join(names)


def _describe(system: SystemSource, facets: Mapping[str, Scalar], seed: int) -> tuple[str, str]:
    """Return what a system imports, and what it calls or runs."""
    settings = {**system.settings, **facets}
    seed = int(settings.pop("seed", seed))
    if not isinstance(system.source, str):
        return "nothing", " ".join(fill_arguments(system.source, {**settings, "seed": seed}))
    module, _, name = system.source.partition(":")
    if system.kind == "call":
        return module, f"{name}(inputs, targets, {_keywords({'seed': seed, **settings})})(inputs)"
    arguments, parameters = split_settings(settings)
    later = f".set_params({_keywords(parameters)})" if parameters else ""
    return module, f"{name}({_keywords(arguments)}){later}.fit(inputs, targets).predict(inputs)"


def _keywords(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in settings.items())
