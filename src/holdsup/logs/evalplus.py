"""EvalPlus: which samples pass the tests of HumanEval and MBPP, and which the extra tests as well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdsup.logs.contract import Rows, TaskLog, describe
from holdsup.logs.files import digest
from holdsup.logs.laid_out import document_reader

ENDING = "eval_results.json"
TASKS = {"HumanEval": "HumanEval", "Mbpp": "MBPP"}  # by the first part of a task's id
PASS = "pass"
TEMPERATURE = re.compile(r"[-_]temp(?:erature)?[-_](\d+(?:\.\d+)?)")


def _logs(path: Path, document: dict[str, Any]) -> Iterator[TaskLog]:
    rows = Rows("sample")
    for item, samples in document["eval"].items():
        for number, statuses in enumerate(_read_samples(samples), start=1):
            for metric, passed in statuses.items():
                rows.add(item=item, metric=metric, score=float(passed), sample=str(number))
    table = rows.table()
    name = path.name.removesuffix(".gz").removesuffix(ENDING).strip("_.-") or path.absolute().parent.name
    temperature = TEMPERATURE.search(name)
    kind = next(iter(document["eval"]), "").partition("/")[0]
    yield TaskLog(
        name=str(path),
        tool="EvalPlus",
        system=TEMPERATURE.sub("", name),
        task=TASKS.get(kind, kind) or None,
        rows=table,
        identity=f"{document['date']} {digest(document['eval'])}",
        facets=describe([("temperature", temperature and temperature[1])]),
        conditions=describe([("tests", document["hash"])]),
        means={
            metric: float(printed["pass@1"])
            for metric, printed in (document.get("pass_at_k") or {}).items()
            if isinstance(printed, dict) and "pass@1" in printed
        },
    )


def _read_samples(samples: Any) -> Iterator[dict[str, bool]]:
    """Yield what a sample passed: the tests of the benchmark, and these and the extra tests.

    Versions before 0.2 wrote the samples of each set of tests in a list of its own.
    """
    if isinstance(samples, dict):
        plus = samples.get("plus") or [None] * len(samples["base"])
        samples = [
            {"base_status": base[0], "plus_status": extra and extra[0]}
            for base, extra in zip(samples["base"], plus, strict=True)
        ]
    for sample in samples:
        base = sample["base_status"] == PASS
        yield {"base": base} | ({"plus": base and sample["plus_status"] == PASS} if sample.get("plus_status") else {})


READER = document_reader("evalplus", "EvalPlus", f"*{ENDING}", (b'"hash"', b'"eval"'), _logs)
