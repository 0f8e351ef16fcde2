"""The files of a HELM run as tables: values by instance, means, and digests of what was sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from holdsup.errors import ReadError
from holdsup.logs.files import digest
from holdsup.logs.laid_out import laid_out
from holdsup.logs.pieces import RecordArray

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
_TEXT = pa.string()
_NAMED = pa.struct([("name", _TEXT)])
_METRIC = pa.struct([("name", _TEXT), ("split", _TEXT), ("sub_split", _TEXT), ("perturbation", _NAMED)])
_STAT = pa.struct([("name", _METRIC), ("count", pa.float64()), ("sum", pa.float64())])
_REFERENCE = pa.struct([("output", pa.struct([("text", _TEXT)])), ("tags", pa.list_(_TEXT))])
_INPUT = pa.struct([("text", _TEXT)])
_INSTANCE = [("id", _TEXT), ("input", _INPUT), ("references", pa.list_(_REFERENCE)), ("perturbation", _NAMED)]
SCORED = pa.schema([("instance_id", _TEXT), ("train_trial_index", pa.int64()), ("stats", pa.list_(_STAT))])
REQUESTED = pa.schema(
    [
        ("instance", pa.struct(_INSTANCE)),
        ("train_trial_index", pa.int64()),
        ("request", pa.struct([("prompt", _TEXT)])),
        ("result", pa.struct([("success", pa.bool_()), ("error", _TEXT)])),
    ]
)


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
    skip = pa.array(sorted(skipped))
    tables = []
    for piece in RecordArray(path).tables(SCORED):
        with laid_out(path, "HELM"):
            table = piece if isinstance(piece, pa.Table) else pa.Table.from_pylist(piece, SCORED)
        if table["instance_id"].null_count or table["train_trial_index"].null_count or table["stats"].null_count:
            raise ReadError(f"{path} has a record without instance_id, train_trial_index or stats")
        tables.append(_flatten(table.combine_chunks(), skip))
    found = pa.concat_tables(tables) if tables else None
    if found is not None and found["metric"].null_count:
        raise ReadError(f"{path} has a statistic without a name")
    if found is None or not found.num_rows:
        raise ReadError(f"{path} holds no scores: the run had no instances, or was a dry run")
    return found


def _flatten(table: pa.Table, skip: pa.Array) -> pa.Table:
    stats = table["stats"].combine_chunks()
    parent, stat = pc.list_parent_indices(stats), stats.flatten()
    named = stat.field("name")
    flat = pa.table(
        {
            "item": table["instance_id"].take(parent),
            "draw": table["train_trial_index"].take(parent),
            "metric": pc.struct_field(stat, ["name", "name"]),
            "split": pc.struct_field(stat, ["name", "split"]),
            "sub_split": pc.struct_field(stat, ["name", "sub_split"]),
            "perturbation": pc.struct_field(named, ["perturbation", "name"]),
            "count": stat.field("count"),
            "value": pc.divide(stat.field("sum"), stat.field("count")),
        }
    )
    # A statistic that nothing was added to has no sum: 0 of 0.
    return flat.filter(pc.and_(pc.greater(flat["count"], 0), pc.invert(pc.is_in(flat["metric"], skip))))


def read_means(path: Path | None) -> dict[Part, dict[str, float]]:
    """Return HELM's means of the parts of a run; means of worst cases and the like are of other parts."""
    means: dict[Part, dict[str, float]] = {}
    for stat in RecordArray(path).records() if path else ():
        name, mean = stat.get("name"), stat.get("mean")
        if isinstance(name, dict) and isinstance(mean, int | float):
            computed_on = (name.get("perturbation") or {}).get("computed_on", "perturbed")
            if computed_on == "perturbed":
                means.setdefault(Part.of(name), {})[str(name.get("name"))] = float(mean)
    return means


def read_sent(path: Path) -> dict[Key, Sent]:
    """Return digests of what was sent, by instance; some ways of asking send a request for each reference."""
    found: dict[Key, Sent] = {}
    for piece in RecordArray(path, ["request_states"]).tables(REQUESTED):
        for state in piece.to_pylist() if isinstance(piece, pa.Table) else piece:
            instance, request, result = (state.get(key) or {} for key in ("instance", "request", "result"))
            key = (str(instance.get("id")), _perturbation(instance), int(state.get("train_trial_index") or 0))
            prompt = digest(str(request.get("prompt")))
            before = found.get(key)
            found[key] = Sent(
                content=before.content if before else _digest_instance(instance),
                prompt=digest(before.prompt, prompt) if before else prompt,
                error=_failure(result) if before is None or before.error == "-" else before.error,
            )
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
