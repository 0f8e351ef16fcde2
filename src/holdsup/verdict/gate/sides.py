"""The two sides of a gate: each a table or logs of one system, put together as one table of two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.arguments import list_names_given
from holdsup.columns import Labels
from holdsup.errors import ScoresError, list_names
from holdsup.logs import Opened, open_data
from holdsup.progress import Progress
from holdsup.results import Caution
from holdsup.scores import Scores, read_scores
from holdsup.scores.design_faults import find_different_scales, find_items_of_one_system
from holdsup.scores.directions import LowerIsBetter
from holdsup.scores.faults import refuse
from holdsup.verdict.intake import Intake, Where, refuse_raters, take_in
from holdsup.verdict.looking import order_items

CANDIDATE, BASELINE = SIDES = ("candidate", "baseline")
ONE_SIDED = "Score them for the other side too, or go on with the items that both have"
SAID = ("one-system", "tables-as-systems", "logs-read")  # what goes without saying of one side
ERRORS = ("different-items", "different-items-under-one-id", "different-scales", "items-of-one-system",
          "no-shared-items", "no-shared-tasks")  # of a pairing: these can be accepted  # fmt: skip
PAIRING = ("different-items-under-one-id", "different-prompts", "different-settings", "different-references")


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """Both sides."""

    taken: tuple[Intake, Intake]  # the candidate's scores and the baseline's, as they are named in their tables
    names: tuple[str, str]  # what their systems are called there
    scores: Scores  # both, as the systems "candidate" and "baseline"
    cautions: tuple[Caution, ...]  # what is to be said of them

    @property
    def identical(self) -> bool:
        """Whether both are the same table, but for the order of its rows."""
        return self.taken[0].scores.digest == self.taken[1].scores.digest


def read_sides(
    given: tuple[Any, Any],
    names: Sequence[str],
    roles: Mapping[str, Any],
    *,
    where: Where,
    last: str | None,
    lower_is_better: LowerIsBetter,
    accept: Sequence[str],
    order_seed: int | None,
    progress: Progress,
) -> Sides:
    """Return both sides, on the same items.

    Parameters
    ----------
    names : which system of each side, where there are several
    accept : codes of errors that the user knows about
    order_seed : draws the order of the items, of which a candidate may have the first ones only; None for no order
    """
    if names and len(names) != 2:
        raise ScoresError(f"--sides names {len(names)} systems: give that of the candidate and that of the baseline")
    refuse_raters(roles)
    readers = list_names_given(roles.get("readers"), "readers")
    opened = [g if isinstance(g, Scores) else open_data(g, readers=readers, progress=progress) for g in given]
    read = [each if isinstance(each, Scores) else read_scores(each, progress=progress, **roles) for each in opened]
    notes = tuple(chain.from_iterable(each.notes for each in read)) + _pair_logs(opened, read)
    sides = [_choose(scores, role, name) for scores, role, name in zip(read, SIDES, names or (None, None), strict=True)]
    taken = tuple(
        take_in(replace(s, notes=()), {}, where=where, last=last, lower_is_better=lower_is_better) for s in sides
    )
    scores = _stack(*(each.scores for each in taken))
    _check_covered(scores)
    if order_seed is not None and scores.item is not None:
        scores = _keep_first(scores, order_seed)
    used = scores.only(scores.usable)
    notes += (*find_items_of_one_system(used), *find_different_scales(used))
    notes = tuple(
        replace(n, severity="error", advice=f"{ONE_SIDED} (--accept {n.code})")
        if n.code == "items-of-one-system"
        else n
        for n in notes
    )
    known = {*ERRORS, *(n.code for n in notes)}
    if unknown := [code for code in accept if code not in known]:
        raise ScoresError(f"--accept {unknown[0]}: a gate knows no such error; there is {list_names(sorted(ERRORS))}")
    refuse(n for n in notes if n.severity == "error" and n.code not in accept)
    notes = tuple(replace(n, severity="warning") if n.severity == "error" else n for n in notes if n.code not in SAID)
    said = dict.fromkeys(chain(notes, *(each.cautions for each in taken)))
    return Sides((taken[0], taken[1]), tuple(s.system.names[0] for s in sides), scores, tuple(said))  # type: ignore[arg-type]


def _pair_logs(opened: Sequence[Scores | Opened], read: Sequence[Scores]) -> tuple[Caution, ...]:
    """Return what the audit of logs says of both sides together: the same items under the same ids, put alike?"""
    logs = [each.logs for each in opened if isinstance(each, Opened) and each.logs]
    if len(logs) < 2:
        return ()
    from holdsup.logs.joining import audit_together

    known = {n.message for each in read for n in each.notes}
    return tuple(n for n in audit_together(*logs) if n.code in PAIRING and n.message not in known)


def _choose(scores: Scores, role: str, name: str | None) -> Scores:
    """Return the rows of one system."""
    names = scores.system.names
    if name is None and len(names) > 1:
        raise ScoresError(
            f"the {role} ({scores.source}) has {len(names)} systems, {list_names(names)}, and a gate compares one with "
            "one: choose with --sides NEW,OLD"
        )
    if name is not None and name not in names:
        raise ScoresError(f"--sides: the {role} ({scores.source}) has no system {name!r}; it has {list_names(names)}")
    return scores.take(scores.system.codes == names.index(name or names[0]))


def _stack(candidate: Scores, baseline: Scores) -> Scores:
    """Return both sides as one table, in which their systems are called candidate and baseline."""
    both = (candidate, baseline)
    counts = [len(each) for each in both]
    for role in ("item", "dataset", "metric"):
        if (candidate_has := getattr(candidate, role) is not None) != (getattr(baseline, role) is not None):
            has, lacks = SIDES if candidate_has else SIDES[::-1]
            raise ScoresError(f"the {has} has a column for the {role} and the {lacks} has none: name it with --{role}")
    labels = {
        role: _join([getattr(each, role) for each in both], counts)
        for role in ("status", "item", "dataset", "metric", "cluster", "sample", "rater")
        if any(getattr(each, role) is not None for each in both)
    }
    facets = list(dict.fromkeys(name for each in both for name in each.facets))
    replicates = tuple(dict.fromkeys(name for each in both for name in each.roles.replicates))
    runs = [replace(each.run, levels=_prefix(each.run, role)) for each, role in zip(both, SIDES, strict=True)]
    return replace(
        candidate,
        source=f"{candidate.source} and {baseline.source}",
        roles=replace(candidate.roles, facets=tuple(facets), replicates=replicates, properties=(), computed=()),
        score=np.concatenate([each.score for each in both]),
        system=Labels.of(np.repeat([0, 1], counts), SIDES),
        run=_join(runs, counts),
        facets={name: _join([each.facets.get(name) for each in both], counts) for name in facets},
        properties={},
        others={},
        notes=(),
        left_out={},
        **dict[str, Any](labels),
    )  # fmt: skip


def _prefix(run: Labels, role: str) -> Any:
    return Labels.of(np.arange(run.count), [f"{role}/{name}" for name in run.names]).levels


def _join(parts: Sequence[Labels | None], counts: Sequence[int]) -> Labels:
    """Return the labels of both, -1 where a side has none."""
    names = list(dict.fromkeys(name for each in parts if each is not None for name in each.names))
    place = {name: i for i, name in enumerate(names)}
    codes = []
    for each, count in zip(parts, counts, strict=True):
        at = np.array([*(place[name] for name in each.names), -1]) if each is not None else np.array([-1])
        codes.append(at[each.codes] if each is not None else np.full(count, -1))
    return Labels.of(np.concatenate(codes), names)


def _keep_first(scores: Scores, seed: int) -> Scores:
    """Return the scores on the candidate's items, which must be the first of the order drawn by a seed."""
    item = scores.item
    assert item is not None
    own, every = (_items_with_scores(scores, _rows_of(scores, side)) for side in SIDES)
    first = order_items(every | own, seed)[: len(own)]
    if strange := [name for name in first if name not in own]:
        raise ScoresError(
            f"the candidate's {len(own):,} items are not the first in the order drawn by seed {seed} ({strange[0]!r} "
            "is, and has no score): looking early is honest only in an order drawn beforehand (holdsup.order_items)"
        )
    return scores.only(np.isin(item.codes, [i for i, name in enumerate(item.names) if name in own]))


def _rows_of(scores: Scores, side: str) -> NDArray[np.bool_]:
    names = scores.system.names
    return np.asarray(scores.system.codes == names.index(side)) if side in names else np.zeros(len(scores), bool)


def _items_with_scores(scores: Scores, rows: NDArray[np.bool_]) -> set[str]:
    assert scores.item is not None
    return {scores.item.names[code] for code in np.unique(scores.item.codes[rows & scores.usable])}


def _check_covered(scores: Scores) -> None:
    """Raise if the candidate lacks a metric or a task that the baseline has: what was not run must not pass."""
    usable = scores.only(scores.usable)
    for what, labels in (("metric", usable.metric), ("task", usable.dataset)):
        if labels is not None:
            found = [set(labels.codes[_rows_of(usable, side)].tolist()) for side in SIDES]
            if lacking := [labels.names[code] for code in sorted(found[1] - found[0])]:
                raise ScoresError(
                    f"the candidate has no score for the {what} {list_names(lacking)}, which the baseline has: "
                    "evaluate it there, or choose what to gate with --where"
                )


def split_parts(scores: Scores, *, together: bool) -> Iterable[tuple[str | None, str | None, Scores]]:
    """Yield the metric, the task and the scores of each part that is gated: those that both sides have.

    `together`, tasks are one part.
    """
    usable = scores.only(scores.usable)
    rows = np.ones(len(usable), bool)
    tasks = usable.dataset if usable.dataset is not None and usable.dataset.count > 1 and not together else None
    for m, metric in enumerate(usable.metric.names if usable.metric is not None else (None,)):
        by_metric = rows if usable.metric is None else usable.metric.codes == m
        for d, task in enumerate(tasks.names if tasks is not None else (None,)):
            part = usable.only(by_metric if tasks is None else by_metric & (tasks.codes == d))
            if len(np.unique(part.system.codes)) == 2:
                yield metric, task, part
