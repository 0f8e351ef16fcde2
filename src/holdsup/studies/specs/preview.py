"""What a spec would do, found out without importing or running anything of the user's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from holdsup.errors import HoldsupError
from holdsup.experiment.corpora import Corpus, read_corpus
from holdsup.experiment.systems import fill_arguments, split_settings
from holdsup.rendering import Table
from holdsup.rendering.numbers import format_counted
from holdsup.studies.specs.planning import Splitting, describe_data, find_code, try_splits, vary
from holdsup.studies.specs.spec import DataSource, Place, Scalar, Spec, SystemSource

SHOWN = 5  # combinations of the facets
FILES = 12  # files of a system


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
    splits = {name: try_splits(spec, name, described) for name, described in data.items()}
    words = TUNED if spec.kind == "tune" else VARIED
    variants = math.prod(len(values) for values in spec.facets.values())
    times = sum(splitting.number for splitting in splits.values())
    tasks, most = times * len(spec.systems) * variants, ""
    if spec.tuning.get("adaptive"):
        tasks, most = min(tasks, spec.tuning.get("fits", tasks)), "at most "
    first = next(vary(spec.facets))
    corpora = {name: read_corpus(described) for name, described in data.items()}
    return Preview(
        f"{spec.file.name} would run {most}{format_counted(tasks, 'task')} and keep the results in {spec.store.name}: "
        f"{format_counted(len(spec.systems), 'system')} x {format_counted(times, 'split')} of "
        f"{format_counted(len(data), 'dataset')} x {format_counted(variants, words.one)}{words.of}, scored by "
        f"{spec.metric['name']}. Nothing was imported, and nothing was run.",
        (
            Table(
                title=f"What would be imported or executed, with the first {words.first}",
                columns=("system", "imports", "executes"),
                rows=tuple((name, *_describe(system, first, spec.seed)) for name, system in spec.systems.items()),
            ),
            _list_code(spec),
            _list_data(spec, corpora, splits),
            *_facets(spec, variants, words),
        ),
    )


def _list_code(spec: Spec) -> Table:
    """Return the files that count as the code of each system."""
    rows = []
    for name, system in spec.systems.items():
        try:
            files = list(find_code(spec.folder, system))
        except HoldsupError as error:
            raise Place(spec.file.name, f"systems.{name}").refuse(str(error)) from error
        more = [f"{len(files) - FILES} more files"] if len(files) > FILES else []
        key = [f"the key {system.key!r}"] if system.key else []
        rows.append((name, ", ".join([*files[:FILES], *more, *key]) or "none in this folder"))
    note = "Files that a shell script calls or a system reads are not found: list them in code = [...]."
    return Table(
        title="Files whose changes make tasks run again",
        columns=("system", "code"),
        rows=tuple(rows),
        notes=(note,),
    )


def _list_data(spec: Spec, corpora: Mapping[str, Corpus], splits: Mapping[str, Splitting]) -> Table:
    rows, notes = [], []
    for name, source in spec.data.items():
        corpus = corpora[name]
        inputs, target = _type_inputs(source, corpus), f"{source.target} ({_kind(corpus.targets)})"
        rows.append((name, source.path.name, len(corpus), splits[name].train, splits[name].test, inputs, target,
                     splits[name].number))  # fmt: skip
        notes += [f"{column} is read as text: {why}." for column, why in corpus.spelled.items()]
        kept = (
            f"groups by {source.group!r} are kept whole"
            if source.group
            else "items are split one by one, not by groups"
        )
        notes.append(f"{name}: {kept}.")
    return Table(
        title=f"Data, split by {spec.splits['name']}; train and test are the sizes of the first split",
        columns=("dataset", "file", "items", "train", "test", "input", "target", "splits"),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _type_inputs(source: DataSource, corpus: Corpus) -> str:
    """Return the columns of inputs with what they hold, once where all hold the same."""
    if isinstance(source.input, str):
        return f"{source.input} ({_kind(corpus.inputs)})"
    kinds = [_kind(values) for values in zip(*corpus.inputs, strict=True)]
    if len(set(kinds)) == 1:
        return f"{', '.join(source.input)} ({kinds[0]})"
    return ", ".join(f"{name} ({kind})" for name, kind in zip(source.input, kinds, strict=True))


def _kind(values: Iterable[object]) -> str:
    """Return what values are.

    >>> _kind(["a", "b"]), _kind([1, 2]), _kind([1, 2.5]), _kind([["O"]])
    ('text', 'whole numbers', 'numbers', 'lists')
    """
    names = {str: "text", bool: "booleans", int: "whole numbers", float: "numbers", list: "lists"}
    found = {names.get(type(value), type(value).__name__) for value in values}
    return " and ".join(sorted(found - {"whole numbers"} if "numbers" in found else found))


def _facets(spec: Spec, variants: int, words: Words) -> tuple[Table, ...]:
    if not spec.facets:
        return ()
    left = variants - SHOWN
    more = (f"{format_counted(left, f'more {words.one}')} follow{'s' * (left == 1)}.",) if left > 0 else ()
    rows = tuple(tuple(map(str, facets.values())) for facets in islice(vary(spec.facets), SHOWN))
    return (Table(title=words.title, columns=tuple(spec.facets), rows=rows, notes=more),)


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
