"""From a spec to a plan: datasets x systems x splits x facets, each task with its identity."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from importlib import metadata
from itertools import pairwise, product
from pathlib import Path
from typing import Any, NamedTuple

from holdsup.errors import ColumnError, HoldsupError, MetricError, SpecError
from holdsup.experiment.corpora import Corpus, read_corpus
from holdsup.experiment.identity import (
    Imported,
    find_matching,
    find_module,
    follow_imports,
    identify,
    is_python,
    name_module,
    probe_sources,
)
from holdsup.experiment.plan import Label, Plan, Task
from holdsup.experiment.sources import digest_file
from holdsup.experiment.systems import split_settings
from holdsup.experiment.training import WORK, check_metric
from holdsup.metrics import make_metric
from holdsup.metrics.means import NumberError
from holdsup.splits import make_splitter
from holdsup.studies.specs.reading import read_spec
from holdsup.studies.specs.spec import DataSource, Place, Scalar, Spec, SystemSource

HOW_MANY = ("repeats", "j")  # options of splitters that change no split: more of them leave the earlier ones alone
IN_PASSING = ("path", "held")  # where data are found, which changes nothing


def make_plan(spec: Spec | str | Path) -> Plan:
    """Return the tasks of a spec, ready for `run_plan`.

    The data are read, and what systems need is imported in other processes, to find out what the tasks depend on:
    the content of the files, the sources of the modules, the versions of the libraries. So whatever cannot work (a
    missing column, an import string that leads nowhere, a setting that no function takes) is refused here, before
    anything runs.

    Parameters
    ----------
    spec : what `read_spec` returns, or the path of a spec
    """
    spec = spec if isinstance(spec, Spec) else read_spec(spec)
    data = {name: describe_data(spec, name) for name in spec.data}
    splits = {name: try_splits(spec, name, described).number for name, described in data.items()}
    systems = describe_systems(spec)
    tasks: dict[str, Task] = {}
    for dataset, system, facets in product(spec.data, spec.systems, vary(spec.facets)):
        for index in range(splits[dataset]):
            labels: dict[str, Label] = {"dataset": dataset, "system": system, **facets}
            if splits[dataset] > 1:
                labels["split"] = index + 1
            varied = {name: value for name, value in facets.items() if name != "seed"}
            task = make_task(
                labels, data=data[dataset], described=systems[system], settings=varied, metric=spec.metric,
                split={**spec.splits, "seed": spec.seed, "index": index}, seed=facets.get("seed", spec.seed),
            )  # fmt: skip
            if task.id in tasks:
                raise _same_task(spec, tasks[task.id], task)
            tasks[task.id] = task
    description = describe_plan(spec.kind, spec.file.name, spec.seed, spec.metric, systems)
    return Plan(tuple(tasks.values()), description, str(spec.folder))


def describe_plan(
    kind: str, spec: str, seed: int, metric: Mapping[str, Any], systems: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return what is told of a plan as a whole, the libraries that its systems use among it."""
    versions = sorted({name for system in systems.values() for name in system["code"].get("versions", ())})
    return {"kind": kind, "spec": spec, "seed": seed, "metric": dict(metric), "distributions": versions}


def vary(facets: Mapping[str, tuple[Scalar, ...]]) -> Iterator[dict[str, Scalar]]:
    """Yield all combinations of the facets' values; the last facet varies fastest."""
    for values in product(*facets.values()):
        yield dict(zip(facets, values, strict=True))


def describe_data(spec: Spec, name: str) -> dict[str, Any]:
    """Return a dataset as tasks are given it: where it is, what it holds, which columns matter."""
    source: DataSource = spec.data[name]
    try:
        digest = digest_file(source.path)
        columns = source.input if isinstance(source.input, str) else list(source.input)
        described: dict[str, Any] = {
            "path": str(source.path), "digest": digest, "input": columns, "target": source.target,
            "group": source.group, "item": source.item,
        }  # fmt: skip
        metric, corpus = make_metric(**spec.metric), read_corpus(described)
        if isinstance(metric, NumberError) and any(isinstance(target, str) for target in corpus.targets):
            described["numbers"] = True
            corpus = _read_numbers(metric, described)
        if corpus.spelled:  # a key of its own: results of the time when such columns were numbers must not be reused
            described["spelled"] = sorted(corpus.spelled)
        check_metric(metric, corpus.targets, corpus.items)
    except HoldsupError as error:
        raise Place(spec.file.name, f"data.{name}").refuse(str(error)) from error
    return described


def _read_numbers(metric: NumberError, described: Mapping[str, Any]) -> Corpus:
    try:
        return read_corpus(described)
    except ColumnError as error:
        raise MetricError(f"{metric.name} does not fit these targets: {error}") from error


class Splitting(NamedTuple):
    """How many splits a dataset has, and how many items train and test in the first."""

    number: int
    train: int
    test: int


def try_splits(spec: Spec, name: str, data: Mapping[str, Any]) -> Splitting:
    """Return how a dataset is split; it is split once to see that it can be."""
    corpus = read_corpus(data)
    splitter = make_splitter(**spec.splits, seed=spec.seed)
    try:
        first = splitter.split_at(0, corpus.inputs, corpus.targets, corpus.groups)
    except HoldsupError as error:
        raise Place(spec.file.name, "splits").refuse(f"{name} cannot be split: {error}") from error
    return Splitting(splitter.get_n_splits(), len(first.train), len(first.test))


def make_task(
    labels: Mapping[str, Label],
    *,
    data: Mapping[str, Any],
    described: Mapping[str, Any],
    split: Mapping[str, Any],
    metric: Mapping[str, Any],
    seed: Scalar,
    settings: Mapping[str, Any] | None = None,
) -> Task:
    """Return the task of one training.

    Parameters
    ----------
    labels : what people call it
    data : what `describe_data` returns
    described : what `describe_systems` returns of its system
    split : name, options and seed of the splitter, and the index of the split
    metric : name and options
    seed : of the training
    settings : of this training, besides those of the system
    """
    system = {name: value for name, value in described.items() if name not in ("code", "limit")}
    system["settings"] = {**system["settings"], **(settings or {})}
    content = {
        "system": {name: system[name] for name in ("kind", "source", "settings")},
        "code": described["code"],
        "data": {name: value for name, value in data.items() if name not in IN_PASSING},
        "split": {name: value for name, value in split.items() if name not in HOW_MANY},
        "seed": seed,
    }
    arguments = {"system": system, "data": data, "split": dict(split), "metric": dict(metric), "seed": seed}
    return Task(identify(content), labels, WORK, arguments, described["limit"])


def _same_task(spec: Spec, first: Task, second: Task) -> SpecError:
    shown = [" ".join(f"{name}={value}" for name, value in task.labels.items()) for task in (first, second)]
    return SpecError(
        f"{spec.file.name}: {shown[0]} and {shown[1]} are the same training on the same data: leave one out, or give "
        "one of the systems a key ="
    )


def describe_systems(spec: Spec) -> dict[str, dict[str, Any]]:
    """Return each system as tasks are given it, and under "code" what its identity rests on."""
    calls: dict[str, list[dict[str, Any]]] = {}
    for system in spec.systems.values():
        if isinstance(system.source, str):
            names = [*system.settings, *(name for name in spec.facets if name != "seed")]
            if system.kind == "call":
                call = {"positional": [None, None], "keywords": ["seed", *names]}
            else:
                call = {"positional": [], "keywords": list(split_settings(dict.fromkeys(names))[0])}
            calls.setdefault(system.source, []).append(call)
    try:
        imported = probe_sources(spec.folder, calls)
    except SpecError as error:
        raise Place(spec.file.name, "systems").refuse(str(error)) from error
    return {name: _describe_system(spec, name, system, imported) for name, system in spec.systems.items()}


def _describe_system(spec: Spec, name: str, system: SystemSource, imported: Mapping[str, Imported]) -> dict[str, Any]:
    place = Place(spec.file.name, f"systems.{name}")
    described: dict[str, Any] = {"kind": system.kind, "settings": dict(system.settings)}
    try:
        if isinstance(system.source, str):
            described |= _describe_import(spec.folder, system, imported[system.source])
        else:
            described |= _describe_command(spec.folder, system)
    except HoldsupError as error:
        raise place.refuse(str(error)) from error
    return {**described, "limit": None if system.kind == "command" else system.timeout}


def _describe_import(folder: Path, system: SystemSource, loaded: Imported) -> dict[str, Any]:
    if not (loaded.has_source or system.key or system.code):
        raise SpecError(f"{system.source} has no source code to tell its versions apart: set key = or code =")
    versions = dict(loaded.versions)
    if system.kind == "estimator":  # imported by the function when it is called, perhaps
        versions["scikit-learn"] = metadata.version("scikit-learn")
    files = _digest(find_matching(folder, system.code))
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    code: dict[str, Any] = {"key": system.key, "files": files, "versions": versions, "python": python}
    code["modules"] = {} if files else loaded.modules
    described: dict[str, Any] = {
        "source": system.source,
        "modules": dict(loaded.modules),
        "pinned": not files,
        "code": code,
    }
    later = {} if files else _find_later(folder, loaded.modules)
    if later:  # else the ids of tasks stay what they were before such imports were followed
        code["later"] = _digest(later)
        described["later"] = {name: [str(file), code["later"][name]] for name, file in later.items()}
    return described


def _describe_command(folder: Path, system: SystemSource) -> dict[str, Any]:
    files = _digest(find_code(folder, system))
    if not (files or system.key):
        raise SpecError("command names no file in the spec's folder to tell its versions apart: set key =")
    return {
        "source": list(system.source), "folder": str(folder), "timeout": system.timeout,
        "code": {"key": system.key, "files": files},
    }  # fmt: skip


def find_code(folder: Path, system: SystemSource) -> dict[str, Path]:
    """Return the files of the spec's folder that are a system's code, as far as they can be told without importing it.

    Importing a function may load more than its imports show; `describe_systems` finds that, too.
    """
    found = find_matching(folder, system.code)
    if isinstance(system.source, str):
        start = [] if found else find_module(system.source.partition(":")[0], folder)
        return found | _by_path(follow_imports(start, [folder]), folder)
    named = {part: folder / part for part in system.source if _is_below(folder / part, folder)}
    followed = [
        file
        for program in named.values()
        if is_python(program)
        for file in follow_imports([program], [program.parent, folder])
        if file not in named.values()
    ]
    return found | named | _by_path([*followed, *_run_as_modules(system.source, folder)], folder)


def _run_as_modules(arguments: tuple[str, ...], folder: Path) -> list[Path]:
    """Return the code of modules that Python is told to run: ["{python}", "-m", "tagger.train"]."""
    names = [name for flag, name in pairwise(arguments) if flag == "-m"]
    return [file for name in names for file in follow_imports(find_module(name, folder), [folder])]


def _find_later(folder: Path, modules: Mapping[str, str]) -> dict[str, Path]:
    """Return the modules that functions of imported ones import only when they run."""
    start = [file for name in modules for file in find_module(name, folder)]
    named = {name_module(file, folder): file for file in follow_imports(start, [folder])}
    return {name: file for name, file in named.items() if name not in modules}


def _by_path(files: list[Path], folder: Path) -> dict[str, Path]:
    return {file.relative_to(folder).as_posix(): file for file in files}


def _digest(files: Mapping[str, Path]) -> dict[str, str]:
    return {name: digest_file(file) for name, file in files.items()}


def _is_below(file: Path, folder: Path) -> bool:
    return file.is_file() and file.resolve().is_relative_to(folder)
