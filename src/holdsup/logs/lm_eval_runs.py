"""Runs of lm-evaluation-harness: what a results file says of a model, its tasks and how they were evaluated."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from holdsup.logs.contract import describe
from holdsup.logs.files import clean, digest, flat, mapping
from holdsup.logs.lm_eval_samples import ADDRESS, first_arguments, is_number

TOOL = "lm-evaluation-harness"
# Arguments of a model by which the tool names it, in its order.
NAMING = ("peft", "delta", "pretrained", "model", "path", "engine")
# Arguments of a model that make another system of it.
MAKING = (
    "dtype", "quantization", "load_in_4bit", "load_in_8bit", "bnb_4bit_quant_type", "autogptq", "gptqmodel",
    "gguf_file", "kv_cache_dtype", "subfolder", "enable_thinking", "reasoning_effort",
)  # fmt: skip
SAMPLING = ("temperature", "top_p", "top_k", "min_p")
MOST_TOKENS = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_completion_tokens")
CONTEXT = ("max_length", "max_model_len")
SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
TEMPLATE = (
    "doc_to_text", "doc_to_choice", "doc_to_target", "description", "gen_prefix", "target_delimiter",
    "fewshot_delimiter",
)  # fmt: skip
MEANS = ("mean", "nanmean")
# Aggregations of the tool that are no means of items, and the metrics that they belong to unless a task says otherwise.
OTHERWISE = {
    "perplexity": "perplexity", "word_perplexity": "weighted_perplexity", "byte_perplexity": "weighted_perplexity",
    "bits_per_byte": "bits_per_byte", "f1": "f1", "mcc": "matthews_corrcoef", "bleu": "bleu", "chrf": "chrf",
    "ter": "ter", "brier_score": "brier_score", "bypass": "bypass",
}  # fmt: skip
SHOWN = 8  # characters of a digest that a person sees


@dataclass(frozen=True, slots=True)
class Run:
    """One evaluation of one model on any number of tasks, as its results file tells it."""

    document: Mapping[str, Any] = field(default_factory=dict)  # empty where there is none

    @property
    def tool(self) -> str:
        """The tool, with its version where the file has it."""
        version = self.document.get("lm_eval_version")
        return f"{TOOL} {version}" if version else TOOL

    @property
    def system(self) -> str | None:
        """The model, as the tool calls it."""
        named = self.document.get("model_name")  # since version 0.4.3
        if named:
            return str(named)
        arguments = self.arguments()
        return next((arguments[key] for key in NAMING if key in arguments), None) or self._setting("model")

    @property
    def identity(self) -> str:
        """When the evaluation began, to the microsecond; the digest of the file in versions that do not tell."""
        return str(self.document.get("date") or (digest(self.document) if self.document else ""))

    def arguments(self) -> dict[str, str]:
        """Return the arguments of the model, which the command line gives as one text."""
        given = part(self.document, "config").get("model_args")
        if isinstance(given, str):
            given = dict(each.split("=", 1) for each in given.split(",") if "=" in each)
        return {str(key): str(value) for key, value in given.items()} if isinstance(given, dict) else {}

    def tasks(self) -> list[str]:
        """Return the tasks that were evaluated, without groups, whose numbers are made from those of their tasks."""
        groups = {name for name, tasks in part(self.document, "group_subtasks").items() if tasks}
        groups |= part(self.document, "groups").keys()
        configs = part(self.document, "configs")
        every = part(self.document, "results")
        return [name for name in every if name in configs or (name not in groups and self.printed(name))]

    def group_of(self, task: str) -> str | None:
        """Return the group that a task belongs to, if any."""
        groups = part(self.document, "group_subtasks")
        return next((name for name, tasks in groups.items() if isinstance(tasks, list) and task in tasks), None)

    def printed(self, task: str) -> dict[tuple[str, str], float]:
        """Return what the tool prints for a task, by metric and filter."""
        found = {}
        for key, value in part(self.document, "results", task).items():
            metric, comma, name = key.rpartition(",")
            if comma and not metric.endswith("_stderr") and _is_number(value):
                found[clean(metric), clean(name)] = float(value)
        return found

    def filters(self, task: str) -> list[str]:
        """Return the filters of a task, in the order in which the tool applies them."""
        named = dict.fromkeys(name for _, name in self.printed(task))
        listed = part(self.document, "configs", task).get("filter_list")
        if not named and isinstance(listed, list):
            named = dict.fromkeys(clean(str(each.get("name"))) for each in listed if isinstance(each, dict))
        return list(named)

    def is_mean(self, task: str, metric: str) -> bool | None:
        """Return whether the tool's number is the mean over items; None where only the numbers can tell."""
        entry = self._metric(task, metric)
        aggregation = OTHERWISE.get(metric) if entry is None or "aggregation" not in entry else entry["aggregation"]
        if aggregation in MEANS:
            return True
        return False if aggregation in (*OTHERWISE.values(), "median") else None

    def is_lower_better(self, task: str, metric: str) -> bool:
        """Return whether the log says that less of a metric is better."""
        said = part(self.document, "higher_is_better", task).get(metric)
        return (said if said is not None else (self._metric(task, metric) or {}).get("higher_is_better")) is False

    def planned(self, task: str) -> int | None:
        """Return how many items were to be evaluated."""
        counted = part(self.document, "results", task).get("sample_len")  # since version 0.4.12
        counts = part(self.document, "n-samples", task)
        limit, every = part(self.document, "config").get("limit"), counts.get("original")
        if not counted and _is_number(limit) and 0 < limit < 1 and isinstance(every, int):
            return math.ceil(every * limit)  # "effective" was that of the last task before version 0.4.9
        told = counted or counts.get("effective")
        return told if isinstance(told, int) else None

    def task_hash(self, task: str) -> str | None:
        """Return what the hashes of all samples give together, as the results file has it."""
        return part(self.document, "task_hashes").get(task)

    def facets(self, first: Mapping[str, Any]) -> dict[str, str]:
        """Return what tells one evaluation of a model from another; `first` is a sample."""
        arguments = self.arguments()
        revision = arguments.get("revision") or self._setting("model_revision")
        dtype = self._setting("model_dtype") or arguments.get("dtype")
        sent = _sent(first)
        return describe([
            ("engine", self.document.get("model_source") or self._setting("model")),
            ("checkpoint", None if revision in ("main", "None") else revision),
            ("dtype", dtype and dtype.removeprefix("torch.")),
            *((name, arguments.get(name)) for name in MAKING if name != "dtype"),
            ("base model", arguments.get("pretrained") if {"peft", "delta"} & arguments.keys() else None),
            ("seed", self._seed()),
            *((name, _plain(sent.get(name))) for name in SAMPLING),
        ])  # fmt: skip

    def conditions(self, task: str, first: Mapping[str, Any]) -> dict[str, str]:
        """Return what both sides of a comparison should share; `first` is a sample."""
        config, sent = part(self.document, "configs", task), _sent(first)
        arguments = self.arguments()
        shots = part(self.document, "n-shot").get(task, config.get("num_fewshot"))
        source = [config.get("dataset_path"), config.get("dataset_name")]
        template = [ADDRESS.sub("", str(config.get(name))) for name in TEMPLATE]
        version, repeats = part(self.document, "versions").get(task), config.get("repeats")
        until = sent.get("until")
        return describe([
            ("few-shot examples", shots),
            ("task version", None if version in ("Yaml", "N/A") else version),  # a task that has none, in version 0.4.0
            ("dataset", "/".join(str(name) for name in source if name)),
            ("split", config.get("test_split") or config.get("validation_split")),
            ("prompt template", digest(*template)[:SHOWN] if config.get("doc_to_text") else None),
            ("system instruction", self._digest("system_instruction")),
            ("chat template", self._digest("chat_template")),
            ("few-shot as chat turns", self.document.get("fewshot_as_multiturn") or None),
            ("limit", _plain(part(self.document, "config").get("limit"))),
            ("max tokens", next((sent[name] for name in MOST_TOKENS if name in sent), None)),
            ("context length", next((arguments[name] for name in CONTEXT if name in arguments), None)),
            ("stop", flat(map(repr, until)) if isinstance(until, list) else until),
            ("repeats", repeats if repeats != 1 else None),
        ])  # fmt: skip

    def _setting(self, name: str) -> str | None:
        value = part(self.document, "config").get(name)
        return None if value in (None, "") else str(value)

    def _metric(self, task: str, metric: str) -> Mapping[str, Any] | None:
        listed = part(self.document, "configs", task).get("metric_list")
        entries = listed if isinstance(listed, list) else []
        return next((each for each in entries if isinstance(each, dict) and each.get("metric") == metric), None)

    def _seed(self) -> str | None:
        """Return the seeds as one, or as the tool's option --seed takes them where they differ."""
        seeds = [seed for name in SEEDS if (seed := self._setting(name)) is not None]
        return ",".join(dict.fromkeys(seeds) if len(set(seeds)) == 1 else seeds)

    def _digest(self, name: str) -> str | None:
        text = self.document.get(f"{name}_sha") or self.document.get(name)
        return digest(str(text))[:SHOWN] if text else None


def part(document: Mapping[str, Any], *path: str) -> dict[str, Any]:
    """Return an object within an object; an empty one where there is none.

    >>> part({"n-samples": {"arc": {"original": 5}}}, "n-samples", "arc"), part({"config": None}, "config")
    ({'original': 5}, {})
    """
    found: Any = document
    for key in path:
        found = mapping(found).get(key)
    return mapping(found)


def name_of_file(arguments: Any) -> str:
    """Return the beginning of the names of samples files before version 0.4.3: the model's arguments."""
    return re.sub("/|=", "__", str(arguments))


def label(metric: str, name: str | None, filters: Collection[str]) -> str:
    """Return what a metric is called here: as the tool calls it, the filter left out where it is none at all.

    >>> label("acc", "none", ["none"]), label("exact_match", "strict-match", ["strict-match", "flexible-extract"])
    ('acc', 'exact_match,strict-match')
    """
    return metric if name is None or set(filters) <= {"none"} else f"{metric},{name}"


def _sent(first: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that were sent with the first request."""
    return next((each for each in first_arguments(first) if isinstance(each, dict) and "content" not in each), {})


def _is_number(value: Any) -> TypeGuard[float]:
    return is_number(value) and not isinstance(value, bool) and math.isfinite(value)


def _plain(value: Any) -> Any:
    return f"{value:g}" if _is_number(value) else value
