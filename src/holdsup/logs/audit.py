"""Do the logs pair up? What was lost, what differs under one name, what never finished, what failed and counts.

What would make a pairing wrong is an error, and a question is refused until the user accepts it by its code; what makes
an answer mean less is a warning.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import pyarrow as pa
import pyarrow.compute as pc

from holdsup.errors import list_names
from holdsup.logs.contract import NO_ITEMS
from holdsup.logs.naming import NOT_GIVEN, Placed, is_seed
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results.cautions import EXAMPLES, Caution

MOST_NAMED = 3  # tasks or systems in a message
SCORED_BY = ("reference", "judge")  # settings without which scores mean something else
DIGEST = re.compile(r"[0-9a-f]{8,24}")  # of a text: it tells that two differ, and nothing to a person


def audit_logs(placed: Sequence[Placed]) -> Iterator[Caution]:
    """Yield what is doubtful in logs that are read as one table."""
    yield from _unfinished(placed)
    yield from _failures(placed)
    yield from _mixed_versions(placed)
    tasks = defaultdict(list)
    for each in placed:
        tasks[each.log.task].append(each)
    yield from _unshared_tasks(placed)
    found: dict[str, list[tuple[str, Caution]]] = defaultdict(list)
    for task, logs in tasks.items():
        of_task = f"{task}: " if len(tasks) > 1 and task else ""
        for caution in _audit_task(logs):
            of = replace(caution, about=f"dataset:{task}", message=f"{of_task}{caution.message}")
            found[caution.code].append((of_task, of if task and caution.severity == "error" else caution))
    for cautions in found.values():
        yield from _together(cautions)


def _together(cautions: list[tuple[str, Caution]]) -> Iterator[Caution]:
    """Yield one caution of each code and severity, the tasks that it is found in named in turn."""
    by_severity = defaultdict(list)
    for of_task, caution in cautions:
        by_severity[caution.severity].append((of_task, caution))
    for caution in [caution for _, caution in by_severity.pop("error", [])]:
        yield caution  # which refuses questions about its task alone
    for several in by_severity.values():
        of_task, first = several[0]
        more = f" The same is true of {format_counted(len(several) - 1, 'other task')}." if len(several) > 1 else ""
        count = sum(caution.count for _, caution in several)
        yield replace(first, about="data", message=f"{of_task}{first.message}{more}", count=count)


def _unfinished(placed: Sequence[Placed]) -> Iterator[Caution]:
    for each in placed:
        log = each.log
        items = pc.count_distinct(log.rows["item"]).as_py()
        short = log.planned is not None and items < log.planned
        if log.finished and not short:
            continue
        on = f" on {log.task}" if log.task else ""
        if pc.all(pc.equal(log.rows["item"], NO_ITEMS)).as_py():
            message = f"A run of {each.system}{on} did not finish."
            yield Caution(
                code="unfinished-log", about=f"system:{each.system}", message=message,
                effect="Its scores are those that it had so far.", advice=f"Finish the runs of {each.system}.",
            )  # fmt: skip
            continue
        of = f" of {format_count(log.planned)}" if log.planned is not None else ""
        yield Caution(
            code="unfinished-log", about=f"system:{each.system}",
            message=f"The log of {each.system}{on} has only {format_count(items)}{of} items."
            if log.finished
            else f"The evaluation of {each.system}{on} did not finish: its log has {format_count(items)}{of} items."
            if short or log.planned is None
            else f"The evaluation of {each.system}{on} did not finish, though its log has all items.",
            effect="The items that finished first may be the easy ones.",
            advice=f"Finish the evaluation of {each.system}, or wait until its log is complete.",
        )  # fmt: skip


def _unshared_tasks(placed: Sequence[Placed]) -> Iterator[Caution]:
    """Yield that systems were evaluated on different tasks, so that nothing pairs them."""
    tasks: dict[str, set[str | None]] = defaultdict(set)
    for each in placed:
        tasks[each.system].add(each.log.task)
    if len(tasks) < 2 or set.intersection(*tasks.values()):
        return
    shared = any(one & other for one, other in combinations(tasks.values(), 2))
    some = list(tasks.items())[:MOST_NAMED]
    said = "; ".join(f"{system} on {list_names(sorted(map(str, of)), most=MOST_NAMED)}" for system, of in some)
    more = f"; and {format_counted(len(tasks) - len(some), 'other system')}" if len(tasks) > len(some) else ""
    yield Caution(
        code="no-shared-tasks", severity="warning" if shared else "error", about="data",
        message=f"{'No task covers every system' if shared else 'The systems have no task in common'}: {said}{more}.",
        effect="Systems are compared on the tasks that they share.",
        advice="Evaluate all systems on the same tasks.",
    )  # fmt: skip


def _failures(placed: Sequence[Placed]) -> Iterator[Caution]:
    """Yield how many failures of the run, not of the answer, count as wrong answers."""
    for each in placed:
        rows = each.log.rows
        if "error" not in rows.column_names:
            continue
        failed = rows.filter(pc.and_kleene(pc.is_valid(rows["error"]), pc.not_equal(rows["error"], "-")))
        if len(failed):
            kinds = [kind.as_py() for kind in pc.unique(failed["error"])]
            count = pc.count_distinct(failed["item"]).as_py()
            yield Caution(
                code="errors-as-wrong", about=f"system:{each.system}", count=count, examples=tuple(kinds[:EXAMPLES]),
                message=f"{format_counted(count, 'item')} of {each.system} failed with an error, and "
                f"{each.log.tool.split()[0]} counts {'it' if count == 1 else 'them'} as wrong.",
                effect="An outage is not a wrong answer, and changes from run to run.",
                advice="Add --where error=- to leave them out.",
            )  # fmt: skip


def _mixed_versions(placed: Sequence[Placed]) -> Iterator[Caution]:
    """Yield that a tool wrote the logs in several of its versions, which may ask or score differently."""
    tools: dict[str, dict[str, str]] = defaultdict(dict)
    for each in placed:
        name, version = each.log.release
        tools[name].setdefault(version or "an unnamed one", each.system)
    for name, versions in tools.items():
        if len(versions) > 1:
            said = [f"{version} ({system})" for version, system in sorted(versions.items())]
            more = f" and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
            yield Caution(
                code="mixed-versions", about="data", count=len(versions),
                message=f"The logs are from {len(versions)} versions of {name}: {', '.join(said[:MOST_NAMED])}{more}.",
                effect="A version may ask or score differently than another.",
                advice=f"Evaluate all systems with one version of {name}.",
            )  # fmt: skip


def _audit_task(logs: Sequence[Placed]) -> Iterator[Caution]:
    by_system = defaultdict(list)
    for each in logs:
        by_system[each.system].append(each)
    if len(by_system) > 1:
        yield from _lost_items(by_system)
        yield from _differing_conditions(by_system)
    yield from _differing_items(logs)


def _lost_items(by_system: dict[str, list[Placed]]) -> Iterator[Caution]:
    items = {
        system: set().union(*(pc.unique(each.log.rows["item"]).to_pylist() for each in logs))
        for system, logs in by_system.items()
    }
    every, common = set.union(*items.values()), set.intersection(*items.values())
    if every == common:
        return
    few = min(items, key=lambda system: len(items[system]))
    limits = {each.log.conditions.get("limit") for logs in by_system.values() for each in logs}
    why = " The logs were run with different limits." if len(limits) > 1 else ""
    lost = len(every) - len(common)
    if common:
        yield Caution(
            code="unpaired-items", count=lost, examples=tuple(sorted(every - items[few], key=str)[:EXAMPLES]),
            message=f"{format_count(lost)} of {format_counted(len(every), 'item')} "
            f"{'is' if lost == 1 else 'are'} missing for some systems ({few} has {format_count(len(items[few]))})."
            f"{why}",
            effect="Systems are compared on the items that they share.",
            advice="Evaluate all systems on the same items.",
        )  # fmt: skip
    else:
        yield Caution(
            code="no-shared-items", severity="error", count=lost,
            message=f"{list_names(by_system, most=MOST_NAMED)} have no item in common.{why}",
            effect="Systems on different items can't be paired.",
            advice="Evaluate them on the same items.",
        )  # fmt: skip


def _differing_conditions(by_system: dict[str, list[Placed]]) -> Iterator[Caution]:
    """Yield the settings of the evaluation, and the facets, in which systems differ."""
    said, scored = list[str](), list[str]()
    told = {name for logs in by_system.values() for each in logs for name in each.named_by}  # by the systems' names
    for kind in ("conditions", "facets"):
        values: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for system, logs in by_system.items():
            for each in logs:
                held = each.log.conditions if kind == "conditions" else each.log.facets
                for name, value in held.items():
                    if name not in (*each.facets, *told) and not is_seed(name):  # runs of a system may differ
                        values[name][system].add(value)
        for name, of_system in values.items():
            if len({frozenset(each) for each in of_system.values()}) > 1 or len(of_system) < len(by_system):
                told_by_value = not all(DIGEST.fullmatch(value) for values in of_system.values() for value in values)
                shown = f"{name} ({_each_value(by_system, of_system)})" if told_by_value else name
                known = {value for each in of_system.values() for value in each}
                (scored if name in SCORED_BY and len(known) > 1 else said).append(shown)
    if scored:
        yield Caution(
            code="different-references", severity="error", count=len(scored),
            message=f"Systems were not scored alike: {'; '.join(scored)}.",
            effect="A win against one reference, or by one judge, is no win against another.",
            advice="Score all systems with the same ones, or compare them all the same with --accept "
            "different-references.",
        )  # fmt: skip
    if said:
        more = f" and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
        yield Caution(
            code="different-settings", count=len(said),
            message=f"Systems were evaluated with different settings: {'; '.join(said[:MOST_NAMED])}{more}.",
            effect="Differences may come from the settings, not from the systems.",
            advice="Use the same settings for all systems, unless settings are what you compare.",
        )  # fmt: skip


def _each_value(systems: Iterable[str], of_system: dict[str, set[str]]) -> str:
    """Return which systems had each value, of many systems and values the first."""
    having: dict[str, list[str]] = defaultdict(list)
    for name in systems:
        having[_shorten(", ".join(sorted(of_system.get(name, {NOT_GIVEN}))))].append(name)
    shown = [
        f"{value} for {' and '.join(names) if len(names) < 3 else f'{names[0]} and {len(names) - 1} more'}"
        for value, names in list(having.items())[:3]
    ]
    return ", ".join(shown) + (", ..." if len(having) > 3 else "")


def _shorten(text: str, most: int = 40) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _differing_items(logs: Sequence[Placed]) -> Iterator[Caution]:
    """Yield that one id stands for different items, or that systems were asked about an item in different words."""
    contents = _digests(logs, "content")
    if differing := [item for item, of_system in contents.items() if len(set().union(*of_system.values())) > 1]:
        yield Caution(
            code="different-items-under-one-id", severity="error", count=len(differing),
            examples=tuple(differing[:EXAMPLES]),
            message=f"{format_counted(len(differing), 'id')} "
            f"{'stands' if len(differing) == 1 else 'stand'} for different inputs or targets in different logs.",
            effect="Pairing by id would compare answers to different questions.",
            advice="Evaluate all systems on one version of the data, choose other tasks with --where, or pair by id "
            "all the same with --accept different-items-under-one-id.",
        )  # fmt: skip
        return  # the prompts then differ as well
    prompts = _digests(logs, "prompt")
    if prompted := [item for item, of_system in prompts.items() if len(set(map(frozenset, of_system.values()))) > 1]:
        yield Caution(
            code="different-prompts", count=len(prompted), examples=tuple(prompted[:EXAMPLES]),
            message=f"{format_counted(len(prompted), 'item')} "
            f"{'was' if len(prompted) == 1 else 'were'} prompted differently for different systems.",
            effect="Differences may come from the prompts, not from the systems.",
            advice="Use the same prompts for all systems, unless prompts are what you compare.",
        )  # fmt: skip


def _digests(logs: Sequence[Placed], column: str) -> dict[str, dict[str, set[str]]]:
    """Return the digests of each item that has several, in the logs of each system that have them."""
    held = [each for each in logs if column in each.log.rows.column_names]
    known = [pa.table({"item": each.log.rows["item"], column: each.log.rows[column]}).group_by(["item", column])
             .aggregate([]).drop_null() for each in held]  # fmt: skip
    if not known:
        return {}
    counted = pa.concat_tables(known).group_by("item").aggregate([(column, "count_distinct")])
    several = counted.filter(pc.greater(counted[f"{column}_count_distinct"], 1))["item"]
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for each, own in zip(held, known, strict=True) if len(several) else ():
        own = own.filter(pc.is_in(own["item"], several.combine_chunks()))
        for item, value in zip(own["item"].to_pylist(), own[column].to_pylist(), strict=True):
            found[item][each.system].add(value)
    return found
