"""Which system, which run, which sample: logs of one system put apart by what tells them from each other.

A system with one log of a task needs nothing. Several logs of one task by one system are, in this order, copies of one
log, systems of their own where a condition differs (a prompt, a few-shot setting), runs that differ in a facet (a seed,
a temperature, a checkpoint), or samples: the same evaluation once more. Where that leaves one system, its settings are
compared. A single system in several places that the user named is as many systems, called as these places are; and of
two places with the same systems each is a side.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdsup.columns.sources import without_endings
from holdsup.errors import ReadError, list_names
from holdsup.logs.contract import TaskLog
from holdsup.logs.files import flat
from holdsup.results.cautions import Caution

NOT_GIVEN = "not given"
MOST_NAMED = 3  # systems in a message
SAME_SYSTEM = ("limit", "items")  # conditions that say how much was evaluated, not of what


def is_seed(name: str) -> bool:
    """Return whether a facet only repeats an evaluation, by its name."""
    return "seed" in name.lower()


@dataclass(frozen=True, slots=True)
class Placed:
    """A log with its place among the others."""

    log: TaskLog
    given: str  # the file, folder or pattern by which the user named it
    system: str
    facets: dict[str, str] = field(default_factory=dict)  # those that differ between logs of some system
    named_by: tuple[str, ...] = ()  # the settings that its system is named by
    again: int = 0  # how many logs of the same system, task and facets come before it


def place(logs: Sequence[tuple[str, TaskLog]]) -> tuple[list[Placed], list[Caution]]:
    """Return the logs, each with the path that it was named by, in their places; and what was decided."""
    cautions: list[Caution] = []
    placed = [Placed(log, given, log.system) for given, log in _without_copies(logs, cautions)]
    given = list(dict.fromkeys(each.given for each in placed))
    if len({each.system for each in placed}) == 1 and len(given) > 1 and _overlap(placed):
        names = dict(zip(given, _short_names(given), strict=True))
        placed = [replace(each, system=names[each.given]) for each in placed]
        message = f"All logs are of {logs[0][1].system}, so each path you gave counts as a system."
        cautions.append(Caution(code="places-as-systems", severity="note", about="data", message=message))
    elif len(given) == 2 and _hold_the_same(placed):
        names = dict(zip(given, _short_names(given), strict=True))
        placed = [replace(each, system=f"{each.system} ({names[each.given]})") for each in placed]
        message = "Both paths have logs of the same systems, so each system counts once for each path."
        cautions.append(Caution(code="places-as-systems", severity="note", about="data", message=message))
    placed = _split(placed, "conditions", cautions)
    if len({each.system for each in placed}) == 1:  # then its settings are what is compared
        placed = _split(placed, "facets", cautions)
    varying = _varying_facets(placed)
    placed = [replace(each, facets={n: each.log.facets.get(n, "-") for n in varying}) for each in placed]
    return _number(placed, cautions), cautions


def _without_copies(logs: Sequence[tuple[str, TaskLog]], cautions: list[Caution]) -> Iterator[tuple[str, TaskLog]]:
    """Yield each log once: one run of a tool may lie in several files."""
    seen: dict[tuple[str, str | None, str, str], str] = {}
    for given, log in logs:
        if log.identity:
            key = (log.tool, log.task, log.system, log.identity)
            if key in seen:
                message = f"{log.name} is the same evaluation as {seen[key]}, so it was left out."
                cautions.append(Caution(code="copied-log", about="data", message=message))
                continue
            seen[key] = log.name
        yield given, log


def _overlap(placed: Sequence[Placed]) -> bool:
    """Return whether two places have a task in common: else they are parts of one evaluation."""
    places = defaultdict(set)
    for each in placed:
        places[each.log.task].add(each.given)
    return any(len(given) > 1 for given in places.values())


def _hold_the_same(placed: Sequence[Placed]) -> bool:
    """Return whether two places have the same systems on the same tasks, and no seed or other facet tells why."""
    held = defaultdict(set)
    for each in placed:
        held[each.given].add((each.system, each.log.task))
    return len({frozenset(each) for each in held.values()}) == 1 and not _varying_facets(placed)


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return the last parts of paths, as many as tell them apart.

    >>> _short_names(["runs/a/logs", "runs/b/logs"]), _short_names(["old.eval", "new.eval"])
    (['a/logs', 'b/logs'], ['old', 'new'])
    """
    parts = [[part for part in path.replace("\\", "/").split("/") if part not in ("", ".")] or [path] for path in paths]
    for count in range(1, max(map(len, parts)) + 1):
        names = ["/".join(each[-count:]) for each in parts]
        if len(set(names)) == len(names):
            stems = [without_endings(name).removesuffix(".eval") or name for name in names]
            return stems if len(set(stems)) == len(stems) else names
    raise ReadError(f"{list_names(paths)} are the same place: name each once")


def _groups(placed: Sequence[Placed]) -> dict[tuple[str, str | None], list[Placed]]:
    found = defaultdict(list)
    for each in placed:
        found[each.system, each.log.task].append(each)
    return found


def _varying_facets(placed: Sequence[Placed]) -> list[str]:
    """Return the facets that differ between logs of one task by one system, in the order in which they come."""
    names = dict.fromkeys(name for each in placed for name in each.log.facets)
    groups = _groups(placed).values()
    return [name for name in names if any(len({each.log.facets.get(name) for each in g}) > 1 for g in groups)]


def _split(placed: Sequence[Placed], kind: str, cautions: list[Caution]) -> list[Placed]:
    """Return the logs in which a system is several where evaluations of one task differ in a condition, or a facet."""
    differing: dict[str, dict[str, None]] = defaultdict(dict)
    alone = len({each.system for each in placed}) == 1
    for (system, _), group in _groups(placed).items():
        for name in dict.fromkeys(name for each in group for name in getattr(each.log, kind)):
            values = {getattr(each.log, kind).get(name) for each in group} - {None}  # some versions don't log it
            if name not in SAME_SYSTEM and not is_seed(name) and len(values) > 1:
                differing[system][name] = None
    for system, names in differing.items():
        message = f"{system} was evaluated with different settings ({flat(names)}), so each counts as a system."
        cautions.append(Caution(code="settings-as-systems", severity="note", about="data", message=message))
    return [
        replace(
            each, system=_name_settings(each, getattr(each.log, kind), differing[each.system], alone=alone),
            named_by=tuple(differing[each.system]),
        )
        if each.system in differing
        else each
        for each in placed
    ]  # fmt: skip


def _name_settings(each: Placed, settings: Mapping[str, str], names: Iterable[str], *, alone: bool) -> str:
    """Return a system with its settings; if all logs are of one, they are enough."""
    said = flat(f"{name.removeprefix('metadata_')} {settings.get(name, NOT_GIVEN)}" for name in names)
    return said if alone else f"{each.system} ({said})"


def _number(placed: Sequence[Placed], cautions: list[Caution]) -> list[Placed]:
    """Return the logs numbered where a system was evaluated on a task with the same settings more than once."""
    count: dict[tuple[str, str | None, tuple[str, ...]], int] = defaultdict(int)
    numbered = []
    for each in placed:
        key = (each.system, each.log.task, tuple(each.facets.values()))
        numbered.append(replace(each, again=count[key]))
        count[key] += 1
    if repeated := list(dict.fromkeys(system for (system, *_), logs in count.items() if logs > 1)):
        more = f"; and {len(repeated) - MOST_NAMED} more" if len(repeated) > MOST_NAMED else ""
        message = (
            "Logs with the same settings count as samples of one system, not as separate training runs: "
            f"{'; '.join(repeated[:MOST_NAMED])}{more}."
        )
        cautions.append(Caution(code="logs-as-samples", severity="note", about="data", message=message))
    return numbered
