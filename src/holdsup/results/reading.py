"""Saved results, restored."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from holdsup.errors import ReadError, ResultError, list_names
from holdsup.results.envelope import Result

__all__ = ["KINDS", "read_result"]

LARGEST = 512 * 2**20  # bytes; a result is a summary, and this is far beyond any of ours

# Where the class of each kind of result lives. Names, not imports: the classes stand in rooms above
# this one, and only the kind that a file names needs to be loaded.
KINDS = {
    "check": "holdsup.scores:Audit",
    "fit": "holdsup.fit:LmmFit",
    "compare": "holdsup.verdict:Comparison",
    "variance": "holdsup.verdict:Decomposition",
    "rank": "holdsup.verdict.ranking:Ranking",
    "qra": "holdsup.verdict:Reproduction",
    "qra_check": "holdsup.verdict:MeasurementAudit",
    "qra_scores": "holdsup.verdict:ScoreSets",
    "qra_labels": "holdsup.verdict:LabelAgreement",
    "qra_findings": "holdsup.verdict:Findings",
    "contest": "holdsup.verdict.contest:Contest",
    "tune": "holdsup.verdict.tuning:Tuning",
    "tune-advice": "holdsup.verdict.tuning:TuningAdvice",
    "tune-study": "holdsup.studies.tuning:TuningStudy",
    "estimate-study": "holdsup.studies.tuning:EstimateStudy",
    "stopping-study": "holdsup.studies.tuning:StoppingStudy",
    "run": "holdsup.experiment:RunReport",
}


def read_result(path: str | Path) -> Result:
    """Return the frozen result that a command saved with ``--format json -o FILE``."""
    file = Path(path)
    try:
        if file.stat().st_size > LARGEST:
            raise ResultError(f"{file} has {file.stat().st_size:,} bytes: too large for a saved result")
        plain = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(f"cannot read {file}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{file} is not JSON, so it is no saved result: {error}") from error
    if not isinstance(plain, dict) or "kind" not in plain or "schema" not in plain:
        raise ResultError(f"{file} is JSON, but no result of holdsup: save one with --format json -o FILE")
    try:
        return class_of(plain["kind"], plain["schema"]).from_dict(plain)
    except ResultError as error:
        raise ResultError(f"{file}: {error}") from error


def class_of(kind: Any, schema: Any) -> type[Result]:
    """Return the class of a kind of result whose saved form this version of holdsup reads."""
    if not isinstance(kind, str) or kind not in KINDS:
        raise ResultError(f"results of kind {kind!r} are not known to this version; it reads {list_names(KINDS)}")
    module, _, name = KINDS[kind].partition(":")
    found: type[Result] = getattr(importlib.import_module(module), name)
    if schema != found.schema:
        raise ResultError(
            f"it was saved with schema {schema!r}, and this version reads schema {found.schema}: "
            "update holdsup, or make the result again"
        )
    return found
