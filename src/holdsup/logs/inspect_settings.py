"""What an Inspect log says of how a system was evaluated: what tells evaluations apart, and what they should share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from holdsup.logs.contract import describe
from holdsup.logs.files import digest, flat, mapping
from holdsup.logs.inspect_scores import LABEL, TAKEN

FACETS = (
    *("seed", "temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty"),
    *("reasoning_effort", "reasoning_tokens", "effort", "verbosity"),
)
NOBODY = ("", "none", "none/none")  # the model where a solver does everything


def name_system(header: Mapping[str, Any]) -> str:
    """Return the model; where a solver or an agent does without one, that."""
    spec = mapping(header.get("eval"))
    model = str(spec.get("model") or "")
    steps = [str(step.get("solver")) for step in _solvers(header)] or [model]
    return model if model not in NOBODY else str(spec.get("solver") or steps[-1])


def is_vitals(spec: Mapping[str, Any]) -> bool:
    """Return whether R's package vitals wrote the log: its task ids recur, and its means are rounded percentages."""
    return spec.get("config") == {} and str(spec.get("task_file")).endswith((".R", ".Rmd", ".qmd"))


def count_epochs(header: Mapping[str, Any]) -> int:
    """Return how often each item was to be answered."""
    epochs = mapping(mapping(header.get("eval")).get("config")).get("epochs")
    return epochs if isinstance(epochs, int) else 1


def _settings(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked of the model: what the task says wins over what the model was made with."""
    own = mapping(mapping(header.get("eval")).get("model_generate_config"))
    asked = mapping(mapping(header.get("plan")).get("config"))
    return {**own, **{name: value for name, value in asked.items() if value is not None}}


def find_facets(header: Mapping[str, Any]) -> dict[str, str]:
    """Return what tells evaluations of one system apart: sampling, the model's arguments, the user's labels."""
    spec, settings = mapping(header.get("eval")), _settings(header)
    given = {name: settings.get(name) for name in FACETS}
    for source in (mapping(spec.get("model_args")), mapping(header.get("metadata") or spec.get("metadata"))):
        for name, value in source.items():
            if isinstance(value, str | int | float) and len(str(value)) <= LABEL:
                given.setdefault(f"metadata_{name}" if name in TAKEN else name, value)
    return describe(given.items())


def find_conditions(header: Mapping[str, Any]) -> dict[str, str]:
    """Return what both sides of a comparison should share."""
    spec, settings = mapping(header.get("eval")), _settings(header)
    config, dataset = mapping(spec.get("config")), mapping(spec.get("dataset"))
    scorers = spec.get("scorers")
    scorers = map(mapping, scorers if isinstance(scorers, list) else ())
    reducers = config.get("epochs_reducer") or ()
    limits = ("message", "token", "turn", "time", "working", "cost")
    return describe(
        (
            ("dataset", dataset.get("name") or dataset.get("location")),
            ("task version", spec.get("task_version")),
            ("task arguments", _short(spec.get("task_args"))),
            (
                "solver",
                flat(
                    _one_of(str(step.get("solver")), step.get("params_passed", step.get("params")))
                    for step in _solvers(header)
                ),
            ),
            *((f"scorer {each.get('name')}", _short(each.get("options"))) for each in scorers),
            ("limit", _limit(config)),
            ("epochs reducer", flat(reducers) if count_epochs(header) > 1 and reducers != ["mean"] else None),
            ("score on error", config.get("score_on_error") or None),
            ("max tokens", settings.get("max_tokens")),
            ("stop", _plain(settings.get("stop_seqs"))),
            ("system message", digest(message) if (message := settings.get("system_message")) else None),
            *((f"{name} limit", config.get(f"{name}_limit")) for name in limits),
            ("other models", _roles(spec)),
        )
    )


def _limit(config: Mapping[str, Any]) -> str:
    """Return which part of the dataset was taken."""
    shuffled = config.get("sample_shuffle")
    names = {
        "limit": "{}",
        "sample_id": "ids {}",
        "sample_shuffle": "shuffled" if shuffled is True else "shuffled by {}",
    }
    return flat(
        text.format(_plain(config[name])) for name, text in names.items() if config.get(name) not in (None, False)
    )


def _roles(spec: Mapping[str, Any]) -> str:
    """Return which other models took part: a grader, a red team ..."""
    roles = mapping(spec.get("model_roles")).items()
    return flat(f"{role}={mapping(value).get('model', value)}" for role, value in sorted(roles))


def _solvers(header: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    steps = mapping(header.get("plan")).get("steps")
    return [mapping(step) for step in steps] if isinstance(steps, list) else []


def _one_of(name: str, settings: object) -> str:
    """Return a solver or a scorer with its settings: as they are if short, else as a digest."""
    shown = _short(settings)
    return f"{name}({shown})" if shown else name


def _short(settings: object) -> str:
    if not isinstance(settings, dict) or not settings:
        return ""
    text = flat(f"{name}={_plain(value)}" for name, value in sorted(settings.items()))
    return text if len(text) <= LABEL else digest(settings)


def _plain(value: object) -> object:
    if isinstance(value, list | dict):
        text = json.dumps(value, sort_keys=True, default=str)
        return text if len(text) <= LABEL else digest(text)
    return value
