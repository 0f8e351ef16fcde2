"""Run folders of HELM: what each instance scored, the texts behind it, and the means to check it against."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from holdsup.errors import ReadError, list_names
from holdsup.logs.aggregates import TOLERANCE
from holdsup.logs.contract import Found, TaskLog, describe
from holdsup.logs.files import digest, flat, read_document, read_head
from holdsup.logs.helm_files import BOOKKEEPING, COSTS, LIKELIHOOD, Key, Part, Sent, read_means, read_sent, read_values
from holdsup.logs.laid_out import laid_out
from holdsup.results.cautions import Caution

SPEC, SCORES, STATE, AGGREGATES = "run_spec.json", "per_instance_stats.json", "scenario_state.json", "stats.json"
MARKS = {  # the keys by which the head of a file is known
    SPEC: (b'"adapter_spec"', b'"scenario_spec"'),
    SCORES: (b'"instance_id"', b'"train_trial_index"', b'"stats"'),
}
# Runs do not say which way a metric is better. HELM's own description of its metrics does, for these.
LOWER = frozenset(
    "wer cer mer wer_score cer_score mer_score chinese_wer_score chinese_cer_score chinese_mer_score error_rate "
    "absolute_value_difference distance edit_similarity longest_common_prefix_length toxic_frac expected_max_toxicity "
    "max_toxicity_probability nsfw_frac nudity_frac blacked_out_frac watermark_frac expected_max_nsfw_score "
    "max_nsfw_probability expected_lpips_score".split()
)
SHARED = {  # settings of the adapter that both sides of a comparison should share, by what they are called here
    "method": "method",
    "max_train_instances": "few-shot examples",
    "max_eval_instances": "limit",
    "max_tokens": "max tokens",
    "num_outputs": "outputs",
}
MAIN_SPLIT = "test"  # of a run with several splits, HELM's tables show this one


@dataclass(frozen=True)
class _Helm:
    name: str = field(default="helm", init=False)
    title: str = field(default="HELM", init=False)

    def recognise(self, folder: Path, files: tuple[Path, ...]) -> Iterator[Found]:
        """Yield the folder if one of the files is of a run of HELM."""
        if any(_is_marked(path) for path in files):
            own = tuple(path for name in (SPEC, SCORES, STATE, AGGREGATES) if (path := folder / name).is_file())
            yield Found(self.name, str(folder), own)

    def read(self, found: Found) -> Iterator[TaskLog]:
        """Yield the scores of each split, one log for each draw of few-shot examples."""
        run = _Run(found)
        parts = [
            Part(**row) for row in run.values.select(Part._fields).group_by(Part._fields).aggregate([]).to_pylist()
        ]
        main = [part for part in parts if part.perturbation is None] or parts
        main = [part for part in main if part.split == MAIN_SPLIT] or main
        cautions = tuple(_caution_other_parts(main, set(parts) - set(main)))
        for part in sorted(main, key=str):
            yield from run.logs(part, cautions)


def _is_marked(path: Path) -> bool:
    marks = MARKS.get(path.name)
    if marks is None:
        return False
    head = read_head(path)
    return all(mark in head for mark in marks)


class _Run:
    """A run folder: every value of every instance, and what there is to know about them."""

    def __init__(self, found: Found) -> None:
        self.name, self.files = found.name, {path.name: path for path in found.files}
        for needed in (SPEC, SCORES):
            if needed not in self.files:
                raise ReadError(
                    f"{self.name} is a HELM run without its {needed}, which HELM writes at the end of a run: "
                    "copy the whole folder, or run it again"
                )
        spec = read_document(self.files[SPEC])
        self.adapter: dict[str, Any] = (spec.get("adapter_spec") if isinstance(spec, dict) else None) or {}
        self.system = str(self.adapter.get("model") or self.adapter.get("model_deployment") or "")
        if not self.system:
            raise ReadError(f"{self.files[SPEC]} does not say which model was run: this is not a run_spec.json of HELM")
        self.title = str(spec.get("name") or self.files[SPEC].absolute().parent.name)
        only = self.adapter.get("method") == "language_modeling"
        with laid_out(self.files[SCORES], "HELM"):
            skipped = BOOKKEEPING - COSTS.keys() - ({LIKELIHOOD} if only else set())
            self.values = read_values(self.files[SCORES], skipped)
        self.means = read_means(self.files.get(AGGREGATES))

    @cached_property
    def sent(self) -> dict[Key, Sent]:
        """What was sent for each instance, if the folder has the texts."""
        if STATE not in self.files:
            return {}
        with laid_out(self.files[STATE], "HELM"):
            return read_sent(self.files[STATE])

    @cached_property
    def identity(self) -> str:
        """The bytes of the scores: HELM gives a run no name of its own, but the runtimes in them differ by run."""
        with self.files[SCORES].open("rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()[:24]

    def logs(self, part: Part, cautions: tuple[Caution, ...]) -> Iterator[TaskLog]:
        """Yield the scores of a part, a log for each draw of few-shot examples."""
        values = _of(self.values, **part._asdict())
        means = self.means.get(part, {})
        uneven = sorted(pc.unique(values.filter(pc.not_equal(values["count"], 1))["metric"]).to_pylist())
        corpus = sorted(means.keys() - BOOKKEEPING - COSTS.keys() - set(values["metric"].to_pylist()))
        metrics = [each for each in pc.unique(values["metric"]).to_pylist() if each not in uneven]
        metrics.sort(key=lambda metric: metric in COSTS)  # the scores as HELM was asked for them, then the costs
        draws = sorted(pc.unique(values["draw"]).to_pylist())
        tables = {draw: self._rows(_of(values, draw=draw), metrics, part, draw) for draw in draws}
        own = {COSTS.get(metric, metric): means[metric] for metric in metrics if metric in means}
        if len(draws) > 1:
            self._check_means(own, list(tables.values()))
        for draw, rows in tables.items():
            yield TaskLog(
                name=self.name,
                tool="HELM",
                system=self.system,
                task=self._task(part),
                rows=rows,
                identity=f"{self.identity}/{draw}",
                facets=self._facets(draw),
                conditions=self._conditions(),
                means=own if len(draws) == 1 else {},
                lower_is_better=frozenset({*COSTS.values(), *(LOWER & set(metrics))}),
                costs=frozenset(COSTS.values()),
                planned=round(means["num_instances"]) if "num_instances" in means else None,
                cautions=(*cautions, *_caution_left_out(corpus, uneven), *_caution_none(metrics)),
            )

    def _rows(self, values: pa.Table, metrics: list[str], part: Part, draw: int) -> pa.Table:
        """Return a row for each instance and metric; an instance that lacks a score has a row that says so."""
        items = pc.unique(values["item"])
        sent = [self.sent.get((item, part.perturbation, draw)) for item in items.to_pylist()]
        tables = []
        for metric in metrics:
            own = _single(_of(values, metric=metric), self.files[SCORES])
            there = pc.index_in(items, value_set=own["item"].combine_chunks())
            score = own["value"].combine_chunks().take(there)
            columns = {
                "item": items,
                "metric": pa.array([COSTS.get(metric, metric)] * len(items)),
                "score": score,
                "status": pc.if_else(score.is_valid(), "ok", "HELM logged no score"),
            }
            if any(sent):
                columns |= {name: pa.array([each and getattr(each, name) for each in sent]) for name in Sent._fields}
            table = pa.table(columns)
            tables.append(table.filter(score.is_valid()) if metric in COSTS else table)
        return pa.concat_tables(tables)

    def _check_means(self, means: dict[str, float], tables: list[pa.Table]) -> None:
        """Raise an error unless HELM's means are the means over draws of the means over instances."""
        for metric, printed in means.items():
            of_draws = [pc.mean(_of(table, metric=metric)["score"]).as_py() for table in tables]
            known = [mean for mean in of_draws if mean is not None]
            found = sum(known) / len(known) if known else math.nan
            if not math.isclose(found, printed, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
                raise ReadError(
                    f"{self.name}: the mean of {metric} over {len(tables)} draws of few-shot examples is {found!r}, "
                    f"but {AGGREGATES} says {printed!r}: the files are not of one run"
                )

    def _task(self, part: Part) -> str:
        """Return the run's name without what is a setting of the adapter, the model among them."""
        scenario, _, arguments = self.title.partition(":")
        kept = [each for each in arguments.split(",") if each and each.partition("=")[0] not in self.adapter]
        where = part._replace(split=None if part.split == "test" else part.split)
        kept += [f"{name}={value}" for name, value in where._asdict().items() if value is not None]
        return f"{scenario}:{','.join(kept)}" if kept else scenario

    def _facets(self, draw: int) -> dict[str, str]:
        several = self.adapter.get("max_train_instances") != 0 or self.adapter.get("num_train_trials", 1) != 1
        return describe(
            [
                ("temperature", self.adapter.get("temperature")),
                ("seed", self.adapter.get("random")),
                ("deployment", self.adapter.get("model_deployment")),
                ("few-shot seed", draw if several else None),
            ]
        )

    def _conditions(self) -> dict[str, str]:
        words = {key: text for key, text in self.adapter.items() if key.endswith(("instructions", "prefix", "suffix"))}
        return describe(
            [
                *((called, self.adapter.get(setting)) for setting, called in SHARED.items()),
                ("stop", flat(map(repr, self.adapter.get("stop_sequences") or ()))),
                ("prompt template", digest({key: text for key, text in words.items() if text})),
            ]
        )


def _of(table: pa.Table, **wanted: object) -> pa.Table:
    for name, value in wanted.items():
        table = table.filter(pc.is_null(table[name]) if value is None else pc.equal(table[name], value))
    return table


def _single(values: pa.Table, path: Path) -> pa.Table:
    """Return one value for each instance; HELM logs a metric twice when two of its specifications compute it."""
    if values.num_rows == pc.count_distinct(values["item"]).as_py():
        return values
    found = values.group_by(["item", "metric"], use_threads=False).aggregate([("value", "min"), ("value", "max")])
    odd = found.filter(pc.not_equal(found["value_min"], found["value_max"]))
    if odd.num_rows and odd["metric"][0].as_py() not in COSTS:
        raise ReadError(
            f"{path} scores {odd['item'][0].as_py()!r} twice on {odd['metric'][0].as_py()!r}, and differently: "
            "two metrics of the run have one name"
        )
    return pa.table({"item": found["item"], "value": found["value_min"]})


def _caution_other_parts(main: list[Part], others: set[Part]) -> Iterator[Caution]:
    perturbed = sorted({part.perturbation for part in others if part.perturbation})
    if perturbed:
        yield Caution(
            code="perturbed-instances-left-out",
            severity="note",
            message=f"Perturbed instances ({list_names(perturbed)}) were left out, as in HELM's main means.",
        )
    splits = sorted({str(part.split) for part in others if part.split != main[0].split})
    if splits:
        yield Caution(
            code="split-left-out",
            severity="note",
            message=f"Only instances of the split {main[0].split!r} were read, as in HELM's tables, and not those of "
            f"{list_names(splits)}.",
        )


def _caution_left_out(corpus: list[str], uneven: list[str]) -> Iterator[Caution]:
    if corpus:
        yield Caution(
            code="corpus-metrics-left-out",
            severity="note",
            message=f"{list_names(corpus)} {'was' if len(corpus) == 1 else 'were'} left out: HELM computes "
            f"{'it' if len(corpus) == 1 else 'them'} over the whole run, so there is no score for each item.",
        )
    if uneven:
        yield Caution(
            code="corpus-metrics-left-out",
            message=f"{list_names(uneven)} {'was' if len(uneven) == 1 else 'were'} left out: HELM's mean gives "
            "more weight to instances with more answers.",
        )


def _caution_none(metrics: list[str]) -> Iterator[Caution]:
    if all(metric in COSTS for metric in metrics):
        yield Caution(
            code="log-without-scores",
            message="The run has costs (tokens, seconds) but no scores.",
            advice="Add metrics to the run's metric_specs and run it again.",
        )


READER = _Helm()
