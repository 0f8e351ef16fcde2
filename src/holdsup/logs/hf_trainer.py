"""Hugging Face Trainer: the last evaluation of a training, from the folder that it wrote."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdsup.logs.contract import Found, TaskLog
from holdsup.logs.files import read_document
from holdsup.logs.laid_out import FileReader, find_beside, holds_marks
from holdsup.logs.tracked import Run, logs_of_runs

TITLE = "Hugging Face Trainer"
STATE, MARKS = "trainer_state.json", (b'"log_history"', b'"global_step"')
RESULTS = ("eval_results.json", "test_results.json", "predict_results.json", "all_results.json", "train_results.json")
SCORES = ("eval_", "test_", "predict_")
CHECKPOINT = re.compile(r"checkpoint-(\d+)")
SEED = re.compile(r"(?:^|[-_.])(?:seed|s)[-_=]?(\d+)(?=[-_.]|$)", re.IGNORECASE)


def _claim(path: Path) -> Iterator[Path]:
    """Yield the files of a training; a checkpoint stands for one only where nothing later of it is there."""
    if path.name == STATE and not _is_superseded(path.parent) and holds_marks(path, MARKS):
        yield from (path, *(beside for name in RESULTS for beside in find_beside(path, name)))


def _logs(found: Found) -> list[TaskLog]:
    run = _read(found.files[0], found.files[1:])
    return logs_of_runs(found.name, TITLE, [run], "train with eval_strategy, or call trainer.evaluate")


def _is_superseded(folder: Path) -> bool:
    here = CHECKPOINT.fullmatch(folder.name)
    if here is None:
        return False
    others = [CHECKPOINT.fullmatch(each.parent.name) for each in folder.parent.glob(f"*/{STATE}")]
    latest = max(int(other[1]) for other in others if other)
    return (folder.parent / STATE).is_file() or int(here[1]) < latest


def _read(path: Path, results: tuple[Path, ...]) -> Run:
    state = read_document(path)
    place = path.absolute().parent
    place = place.parent if CHECKPOINT.fullmatch(place.name) else place
    evaluations = [each for each in state["log_history"] if any(name.startswith(SCORES) for name in each)]
    last: dict[str, Any] = {}
    for document in (*evaluations, *(read_document(each) for each in reversed(results))):
        last |= {name: value for name, value in document.items() if name.startswith(SCORES)}
    seed = SEED.search(place.name)
    system = SEED.sub("", place.name) if seed else place.name
    return Run(
        "", system or place.parent.name, {"seed": seed[1]} if seed else {},
        {name: float(value) for name, value in last.items() if isinstance(value, int | float)},
        finished=state["global_step"] >= (state.get("max_steps") or 0),
    )  # fmt: skip


READER = FileReader("hf_trainer", TITLE, _claim, _logs, folder_of=STATE)
