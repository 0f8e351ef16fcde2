"""The files of a HELM run as tables: values by instance, means, and digests of what was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from holdsup.errors import ReadError, quote_text
from holdsup.logs.documents import walk_file
from holdsup.logs.files import digest

# What HELM counts of every instance, whatever is measured. Three are costs; none is a score.
COSTS = {"num_prompt_tokens": "input_tokens", "num_output_tokens": "output_tokens", "inference_runtime": "latency_s"}
LIKELIHOOD = "logprob"  # bookkeeping too, but where the model is asked for nothing else
BOOKKEEPING = frozenset(
    "num_references num_train_trials num_train_instances num_instances num_completions num_completion_tokens "
    "max_num_completion_tokens estimated_num_tokens_cost training_co2_cost training_energy_cost "
    "inference_denoised_runtime inference_idealized_runtime batch_size prompt_truncated max_prob predicted_index "
    "finish_reason_length finish_reason_stop finish_reason_endoftext finish_reason_unknown "
    "logprob num_perplexity_tokens num_bytes".split()
)
LONGEST_REASON = 80
SCORED = ("instance_id", "train_trial_index", "stats")  # what each record of scores has


class Part(NamedTuple):
    """The instances that HELM makes one mean of."""

    split: str | None = None
    sub_split: str | None = None
    perturbation: str | None = None

    @classmethod
    def of(cls, name: dict[str, Any]) -> Part:
        """Return the part that the name of a statistic belongs to."""
        return cls(name.get("split"), name.get("sub_split"), _perturbation(name))


Key: TypeAlias = tuple[str, str | None, int]  # instance, perturbation, draw of few-shot examples


class Sent(NamedTuple):
    """What became of the requests for an instance."""

    content: str  # digest
    prompt: str  # digest
    error: str  # "-" where nothing went wrong


def read_values(path: Path, skipped: frozenset[str] | set[str]) -> pa.Table:
    """Return a row for each value of each instance, without the bookkeeping."""
    rows: dict[str, list[Any]] = {name: [] for name in ("item", "draw", "metric", *Part._fields, "count", "value")}
    for record in _records(path):
        if any(record.get(needed) is None for needed in SCORED):
            raise ReadError(f"{path} has a record without {', '.join(SCORED[:-1])} or {SCORED[-1]}")
        for stat in record["stats"]:
            name, count = stat["name"], stat["count"]
            if count > 0 and name["name"] not in skipped:  # where nothing was added there is no sum: 0 of 0
                values = (record["instance_id"], record["train_trial_index"], name["name"], *Part.of(name))
                for column, value in zip(rows.values(), (*values, count, stat["sum"] / count), strict=True):
                    column.append(value)
    if not rows["item"]:
        raise ReadError(f"{path} holds no scores: the run had no instances, or was a dry run")
    kinds = {"draw": pa.int64(), "count": pa.float64(), "value": pa.float64()}
    return pa.table({name: pa.array(values, kinds.get(name, pa.string())) for name, values in rows.items()})


def _records(path: Path, within: str = "") -> Iterator[dict[str, Any]]:
    """Yield the records of a file that is a list of them, or of the one list within it."""
    for key, record in walk_file(path, lists=(within,)):
        if key == within:
            if not isinstance(record, dict):
                what = within or "its records"
                raise ReadError(f"{path} holds something else among {what}: {quote_text(json.dumps(record))}")
            yield record


def read_means(path: Path | None) -> dict[Part, dict[str, float]]:
    """Return HELM's means of the parts of a run; means of worst cases and the like are of other parts."""
    means: dict[Part, dict[str, float]] = {}
    for stat in _records(path) if path else ():
        name, mean = stat.get("name"), stat.get("mean")
        if isinstance(name, dict) and isinstance(mean, int | float):
            computed_on = (name.get("perturbation") or {}).get("computed_on", "perturbed")
            if computed_on == "perturbed":
                means.setdefault(Part.of(name), {})[str(name.get("name"))] = float(mean)
    return means


def read_sent(path: Path) -> dict[Key, Sent]:
    """Return digests of what was sent, by instance; some ways of asking send a request for each reference."""
    found: dict[Key, Sent] = {}
    for state in _records(path, "request_states"):
        instance, request, result = (state.get(key) or {} for key in ("instance", "request", "result"))
        key = (str(instance.get("id")), _perturbation(instance), int(state.get("train_trial_index") or 0))
        prompt = digest(str(request.get("prompt")))
        before = found.get(key)
        found[key] = Sent(
            content=before.content if before else _digest_instance(instance),
            prompt=digest(before.prompt, prompt) if before else prompt,
            error=_failure(result) if before is None or before.error == "-" else before.error,
        )
    if not found:
        raise ReadError(f"{path} has no list of records in request_states")
    return found


def _digest_instance(instance: dict[str, Any]) -> str:
    references = [
        ((each.get("output") or {}).get("text"), each.get("tags") or []) for each in instance.get("references") or []
    ]
    return digest((instance.get("input") or {}).get("text"), references)


def _failure(result: dict[str, Any]) -> str:
    """Return why a request failed; HELM scores the answer as if it were an empty one."""
    if result.get("success") is not False:
        return "-"
    reason = " ".join(str(result.get("error") or "").split())[:LONGEST_REASON]
    return f"request failed: {reason}" if reason else "request failed"


def _perturbation(holder: dict[str, Any]) -> str | None:
    return (holder.get("perturbation") or {}).get("name")
