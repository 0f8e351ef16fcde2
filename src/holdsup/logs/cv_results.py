"""scikit-learn's `cv_results_`: what each candidate of a search scored on each split of a cross-validation.

A candidate is a system and a split is an item, as all candidates are trained and tested on the same splits. But splits
are parts of one data set: any two share most of what they train on. A test that takes them for independent finds
differences that are not there, the more so the more often the data are split, and no variance among them tells how
much another data set would change (Bengio and Grandvalet, 2004). So a question is refused until the user accepts that.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from holdsup.errors import ReadError
from holdsup.logs.aggregates import TOLERANCE
from holdsup.logs.contract import Found, Rows, TaskLog, describe
from holdsup.logs.laid_out import FileReader, holds_marks, read_number
from holdsup.logs.tabular import find_tool, is_delimited, read_table
from holdsup.logs.tracked import tell_apart
from holdsup.results.cautions import Caution

SPLIT = re.compile(r"split(\d+)_test_(.+)")
MARKS = (b'"split0_test_', b'"mean_fit_time"', b'"mean_score_time"')
PARAMETER = "param_"
NEAR = 0.02  # of the range of splits: as far as weights by their size move a mean
# What else scikit-learn writes, and pandas with it; any other column is the user's own, and tells candidates apart.
OTHERS = re.compile(
    r"param_.*|params|(mean|std)_(fit|score)_time|split\d+_train_.*|(mean|std|rank|se)_(train|test)_.*|unnamed\W?_?\d*|",
    re.I,
)
SHARED = Caution(
    code="splits-share-data",
    severity="error",
    about="data",
    message="These are splits of a cross-validation, which train on the same data and test on parts of one data set.",
    effect="A test that takes splits for independent finds differences that are not there.",
    advice="Ask holdsup tune whether the pick is safe from luck (JKSearchCV takes the place of GridSearchCV). "
    "To compare over splits all the same, each as an item: --accept splits-share-data.",
)


def _claim(path: Path) -> Iterator[Path]:
    if is_delimited(path):
        mine = find_tool(path) == "cv_results"
    else:
        mine = path.suffix == ".json" and holds_marks(path, MARKS)
    if mine:
        yield path


def _logs(found: Found) -> Iterator[TaskLog]:
    path = found.files[0]
    records = read_table(path)
    if not records:
        raise ReadError(f"{path} holds no candidate: the search was not run, or failed")
    for place, record in enumerate(records):
        yield _read(path, place, record)


def _read(path: Path, place: int, record: Mapping[str, Any]) -> TaskLog:
    where = f"{path} (candidate {place})"
    rows, means, cautions = Rows("status"), dict[str, float](), [SHARED] if place == 0 else []
    scores: dict[str, list[float]] = {}
    for column, cell in record.items():
        if named := SPLIT.fullmatch(column):
            score = math.nan if cell is None else read_number(cell, f"{column} of {where}")
            known = math.isfinite(score)
            rows.add(
                item=f"split {named[1]}", metric=named[2], score=score if known else None,
                status="ok" if known else "no score",
            )  # fmt: skip
            scores.setdefault(named[2], []).append(score)
    for metric, several in scores.items():
        if (cell := record.get(f"mean_test_{metric}")) is not None:
            mean = read_number(cell, f"mean_test_{metric} of {where}")
            if _is_weighted(mean, several):
                cautions.append(_say_weighted(where, metric, mean, fmean(several)))
            elif math.isfinite(mean):
                means[metric] = mean
    settings = {name.removeprefix(PARAMETER): cell for name, cell in record.items() if name.startswith(PARAMETER)}
    system, task, facets, more = tell_apart(
        {
            name: str(cell)
            for name, cell in record.items()
            if cell and not (SPLIT.fullmatch(name) or OTHERS.fullmatch(name))
        }
    )
    return TaskLog(
        name=where, tool="scikit-learn", system=system or path.name.partition(".")[0], task=task, rows=rows.table(),
        facets=facets, conditions=describe((more | settings).items()),
        means=means, higher_is_better=frozenset(scores),  # of a loss, too: the tool turns it round
        cautions=tuple(cautions),
    )  # fmt: skip


def _is_weighted(mean: float, scores: Sequence[float]) -> bool:
    """Return whether a mean is near that of the splits but another: versions before 0.24 weighted them by size."""
    off = abs(mean - fmean(scores))
    return off > TOLERANCE * max(1.0, abs(mean)) and off <= NEAR * (max(scores) - min(scores))


def _say_weighted(where: str, metric: str, mean: float, ours: float) -> Caution:
    return Caution(
        code="weighted-means", severity="note",
        message=f"{where}: mean_test_{metric} is {mean:.10g}, and the mean over splits is {ours:.10g}: "
        "versions before 0.24 weighted splits by their size",
    )  # fmt: skip


READER = FileReader("cv_results", "scikit-learn", _claim, _logs)
