"""AlpacaEval: how often a judge prefers a system's answer to that of a reference."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdsup.errors import ReadError, list_names
from holdsup.logs.contract import Rows, TaskLog, describe
from holdsup.logs.files import digest
from holdsup.logs.laid_out import document_reader, short_name

LEADERBOARD = "leaderboard.csv"
TIES = (0.0, 1.5)  # older versions write a tie as 0
METRICS = {"win_rate": "win_rate", "length_controlled": "length_controlled_winrate"}  # as the leaderboard calls them


def _logs(path: Path, records: list[dict[str, Any]]) -> Iterator[TaskLog]:
    systems = sorted({record["generator_2"] for record in records})
    if len(systems) != 1:
        raise ReadError(f"{path} has answers of {list_names(systems) if systems else 'no system'}: AlpacaEval has one")
    rows = Rows("status", "content", "source")
    seen: Counter[str] = Counter()
    for record in records:
        name = short_name(record["instruction"])
        seen[name] += 1
        about = {
            "item": name if seen[name] == 1 else f"{name} #{seen[name]}",
            "content": digest(record["instruction"]),
            "source": record.get("dataset"),
        }
        shares = {"win_rate": _find_win(record["preference"])}
        if "glm_preference" in record:  # what the judge would have preferred at equal length
            shares["length_controlled"] = _find_win(record["glm_preference"] + 1)
        for metric, share in shares.items():
            status = "ok" if share is not None else "the judge gave no preference"
            rows.add(**about, metric=metric, score=share, status=status)
    first = records[0]
    yield TaskLog(
        name=str(path),
        tool="AlpacaEval",
        system=systems[0],
        task="AlpacaEval",
        rows=rows.table(),
        identity=digest([record["preference"] for record in records]),
        conditions=describe([("reference", first["generator_1"]), ("judge", first.get("annotator"))]),
        means=dict(_find_printed(path.with_name(LEADERBOARD), systems[0], "glm_preference" in first)),
    )


def _find_win(preference: Any) -> float | None:
    """Return a preference from 1 (the reference) to 2 (the system) as a share of a win; None where there is none."""
    if preference is None or not (float(preference) in TIES or 1 <= float(preference) <= 2):
        return None
    return 0.5 if float(preference) in TIES else float(preference) - 1


def _find_printed(leaderboard: Path, system: str, controlled: bool) -> Iterator[tuple[str, float]]:
    """Yield the win rates that the tool printed of this very evaluation, if they lie beside it."""
    if not leaderboard.is_file():
        return
    table = csv.DictReader(io.StringIO(leaderboard.read_text(encoding="utf-8", errors="replace")))
    try:
        own = [row for row in table if system in row.values()]
    except csv.Error as error:
        raise ReadError(f"{leaderboard} is no table ({error}): take it away, or run alpaca_eval again") from error
    for row in own:
        for metric, column in METRICS.items():
            if row.get(column) and (metric == "win_rate" or controlled):
                yield metric, float(row[column]) / 100


READER = document_reader(
    "alpaca_eval", "AlpacaEval", "*.json",
    (b'"generator_1"', b'"generator_2"', b'"preference"'), _logs, LEADERBOARD,
)  # fmt: skip
