"""From a spec to a plan: datasets x systems x splits x facets, each task with its identity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from holdsup.errors import ColumnError, HoldsupError, MetricError, SpecError
from holdsup.experiment.corpora import Corpus, read_corpus
from holdsup.experiment.digests import digest_file
from holdsup.experiment.identity import identify
from holdsup.experiment.plan import Label, Plan, Task
from holdsup.experiment.scoring import check_metric
from holdsup.experiment.training import WORK
from holdsup.metrics import make_metric
from holdsup.metrics.means import NumberError
from holdsup.splits import make_splitter
from holdsup.studies.specs.reading import read_spec
from holdsup.studies.specs.records import DataSource, Scalar, Spec
from holdsup.studies.specs.shapes import Place
from holdsup.studies.specs.systems import describe_systems

__all__ = ["describe_data", "make_plan", "make_task", "try_splits", "vary"]

HOW_MANY = (
    "repeats",
    "j",
)  # options of splitters that change no split: more of them leave the earlier ones as they are
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
    description = {
        "kind": spec.kind,
        "spec": spec.file.name,
        "seed": spec.seed,
        "metric": dict(spec.metric),
        "distributions": sorted({name for system in systems.values() for name in system["code"].get("versions", ())}),
    }
    return Plan(tuple(tasks.values()), description, str(spec.folder))


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
        raise MetricError(f"{metric.name} does not go with these targets: {error}") from error


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
