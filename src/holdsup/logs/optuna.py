"""Optuna: the trials of studies that tried the same parameters several times, from the database or the journal.

Trials of as many settings are a search. The best of a search is partly luck, and nothing in it tells how much: there is
nothing to compare, and the reader says what to do instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdsup.errors import ReadError
from holdsup.logs.contract import Found, TaskLog
from holdsup.logs.files import parse, read_head, read_lines
from holdsup.logs.laid_out import FileReader
from holdsup.logs.naming import is_seed
from holdsup.logs.sqlite import holds_tables, read_only
from holdsup.logs.tracked import Run, log_of_run
from holdsup.rendering.numbers import format_counted
from holdsup.results.cautions import Caution

SUFFIXES = (".db", ".sqlite", ".sqlite3")
TABLES = {"studies", "study_directions", "trials", "trial_params", "trial_values"}
JOURNALS, OPERATION = (".log", ".journal", ".jsonl"), b'{"op_code":'
CREATE_STUDY, DELETE_STUDY, CREATE_TRIAL, SET_PARAMETER, SET_STATE = 0, 1, 4, 5, 6
COMPLETE, ENDED = 1, (1, 2, 3)  # states of a trial in a journal: complete; complete, pruned, failed
MINIMIZE = ("MINIMIZE", 1)
ADVICE = (
    "Train the settings to compare again, with two seeds or more each (study.enqueue_trial), or have holdsup tune find "
    "one that is safe from luck"
)


@dataclass
class _Trial:
    study: int
    number: int
    parameters: dict[str, str] = field(default_factory=dict)
    values: list[float | None] = field(default_factory=list)
    complete: bool = False
    ended: bool = False


@dataclass(frozen=True)
class _Study:
    name: str
    directions: tuple[Any, ...]


def _claim(path: Path) -> Iterator[Path]:
    if (path.suffix in SUFFIXES and holds_tables(path, TABLES)) or (
        path.suffix in JOURNALS and read_head(path, len(OPERATION) + 1).replace(b" ", b"").startswith(OPERATION)
    ):
        yield path


def _read(found: Found) -> Iterator[TaskLog]:
    path = found.files[0]
    studies, trials = _read_journal(path) if path.suffix in JOURNALS else _read_database(path)
    yield from _logs(path, studies, [trial for trial in trials if trial.study in studies])


def _logs(path: Path, studies: dict[int, _Study], every: list[_Trial]) -> Iterator[TaskLog]:
    trials = [trial for trial in every if trial.complete]
    settings = [_setting(trial) for trial in trials]
    tries = Counter(settings)
    repeated = sum(count > 1 for count in tries.values())
    if not repeated:
        raise ReadError(
            f"{path} holds {format_counted(len(trials), 'complete trial')} of {format_counted(len(tries), 'setting')}: "
            f"that is a search, not a comparison, as no setting was tried twice. {ADVICE}"
        )
    said = list(_say_left(len(tries) - repeated, len(every) - len(trials)))
    for trial, setting in zip(trials, settings, strict=True):
        study = studies[trial.study]
        several = len(study.directions) > 1
        names = [f"value {place}" if several else "value" for place in range(len(study.directions))]
        lower = {name for name, each in zip(names, study.directions, strict=True) if each in MINIMIZE}
        if tries[setting] > 1:
            scores = {name: value for name, value in zip(names, trial.values, strict=True) if value is not None}
            run = Run(
                f"{study.name}, trial {trial.number}", study.name, trial.parameters, scores,
                f"{study.name} {trial.number} {sorted(scores.items())}", lower=frozenset(lower),
            )  # fmt: skip
            if (log := log_of_run(str(path), "Optuna", run, *said)) is not None:
                yield log


def _say_left(single: int, incomplete: int) -> Iterator[Caution]:
    if single:
        message = f"{format_counted(single, 'setting')} with a single trial {'is' if single == 1 else 'are'} left out."
        yield Caution(code="single-trials", severity="note", message=message, count=single, advice=f"{ADVICE}.")
    if incomplete:
        message = f"Left out: {format_counted(incomplete, 'trial')} that failed, or stopped before the end."
        yield Caution(code="incomplete-trials", severity="note", message=message, count=incomplete)


def _setting(trial: _Trial) -> tuple[Any, ...]:
    return trial.study, *sorted((name, value) for name, value in trial.parameters.items() if not is_seed(name))


def _read_database(path: Path) -> tuple[dict[int, _Study], list[_Trial]]:
    with read_only(path, TABLES) as base:
        names = base.execute("SELECT study_id, study_name FROM studies").fetchall()
        directions = base.execute("SELECT study_id, direction FROM study_directions ORDER BY objective").fetchall()
        found = base.execute("SELECT trial_id, study_id, number, state FROM trials ORDER BY trial_id").fetchall()
        parameters = base.execute("SELECT trial_id, param_name, param_value, distribution_json FROM trial_params")
        trials = {ident: _Trial(study, number, complete=state == "COMPLETE") for ident, study, number, state in found}
        for ident, name, value, distribution in parameters:
            trials[ident].parameters[name] = _decode(value, distribution, path)
        for ident, value in base.execute("SELECT trial_id, value FROM trial_values ORDER BY trial_id, objective"):
            trials[ident].values.append(value)
    studies = {
        ident: _Study(name, tuple(direction for study, direction in directions if study == ident))
        for ident, name in names
    }
    return studies, list(trials.values())


def _read_journal(path: Path) -> tuple[dict[int, _Study], list[_Trial]]:
    """Return what a journal of operations leads to; studies and trials are numbered as they come."""
    studies: dict[int, _Study] = {}
    trials: list[_Trial] = []
    created, numbers = 0, Counter[int]()
    for number, line in read_lines(path):
        each: dict[str, Any] = parse(line, f"line {number} of {path}")
        code = each["op_code"]
        if code == CREATE_STUDY and each["study_name"] not in {study.name for study in studies.values()}:
            studies[created] = _Study(each["study_name"], tuple(each["directions"]))
            created += 1
        elif code == DELETE_STUDY:
            studies.pop(each["study_id"], None)
        elif code == CREATE_TRIAL and each["study_id"] in studies:
            trials.append(trial := _Trial(each["study_id"], numbers[each["study_id"]]))
            numbers[trial.study] += 1
            for name, value in (each.get("params") or {}).items():
                trial.parameters[name] = _decode(value, each["distributions"][name], path)
            _end(trial, each.get("state"), each.get("values") or [each.get("value")])
        elif code in (SET_PARAMETER, SET_STATE) and not (trial := trials[each["trial_id"]]).ended:
            if code == SET_PARAMETER:
                name = each["param_name"]
                trial.parameters[name] = _decode(each["param_value_internal"], each["distribution"], path)
            else:
                _end(trial, each["state"], each.get("values"))
    return studies, trials


def _end(trial: _Trial, state: int | None, values: list[float | None] | None) -> None:
    if state in ENDED:
        trial.ended, trial.complete = True, state == COMPLETE
        trial.values = list(values or ())


def _decode(value: float, distribution: str | dict[str, Any], path: Path) -> str:
    """Return a parameter as it was tried: a choice is stored as its place, and a whole number as a float."""
    kept = parse(distribution.encode(), f"a distribution in {path}") if isinstance(distribution, str) else distribution
    if choices := kept["attributes"].get("choices"):
        return str(choices[int(value)])
    return f"{value:.15g}"


READER = FileReader("optuna", "Optuna", _claim, _read)
