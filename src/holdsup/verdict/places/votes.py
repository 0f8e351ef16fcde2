"""A table of pairwise votes, recognised by its columns and read: who was shown, who won, who voted, on what."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from holdsup.columns import Labels, Numbers, open_tables, read_columns
from holdsup.errors import ColumnError, HoldsupError, ScoresError, list_names
from holdsup.numerics.layout import Floats, Ints
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import Rows
from holdsup.scores.roles import USUAL, plain_name
from holdsup.scores.table import digest_rows

SIDES = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("home", "away"))
STEMS = ("", *USUAL["system"], "assistant", "player", "team", "candidate")
WINNERS = ("winner", "winner_model", "winning_model", "preferred", "choice", "vote")
ANNOTATORS = tuple(f"{who}{end}" for who in ("annotator", "rater", "judge", "voter", "user", "worker", "evaluator")
                   for end in ("", "_id", "_name"))  # fmt: skip
TIE = re.compile(r"tie([ds]|_.*)?|draw|both(_?(bad|good))?|neither|equal|same")
NO_WINNER, NO_SYSTEM, ITSELF = "no winner", "no system", "a system against itself"


@dataclass(frozen=True, slots=True)
class VoteColumns:
    """Which column says what in a table of votes."""

    first: str  # the system shown first
    second: str
    winner: str
    sides: tuple[str, str]  # how the two columns tell their sides, such as a and b
    stem: str  # what they have in common, such as model


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Votes that count, each of systems numbered by `names`."""

    source: str
    columns: VoteColumns
    names: tuple[str, ...]
    first: Ints
    second: Ints
    outcome: Floats  # 1 where the first won, 0 where the second did, 1/2 for a tie
    differences: Mapping[str, Floats]  # of each property that was asked for, first minus second
    annotator: tuple[str, Ints] | None  # the column, and who voted
    prompt: tuple[str, Ints] | None  # the column, and on what
    rows: Rows
    digest: str


def find_vote_columns(columns: Iterable[str]) -> VoteColumns | None:
    """Return the columns of votes if a table has them: a winner, and two columns of systems.

    >>> found = find_vote_columns(["question_id", "model_a", "model_b", "winner", "judge"])
    >>> found.first, found.second, find_vote_columns(["model", "winner", "score"])
    ('model_a', 'model_b', None)
    """
    names = {plain_name(column): column for column in reversed(list(columns))}
    winner = next((names[name] for name in WINNERS if name in names), None)
    for stem in STEMS if winner is not None else ():
        for sides in SIDES:
            for form in ("{stem}_{side}", "{side}_{stem}", "{stem}{side}"):
                pair = [form.format(stem=stem, side=side).strip("_") for side in sides]
                if all(name in names for name in pair) and winner is not None:
                    return VoteColumns(names[pair[0]], names[pair[1]], winner, sides, stem)
    return None


def are_votes(paths: Sequence[str]) -> bool:
    """Return whether files hold votes, as their columns say; what can't be opened holds none."""
    try:
        if not all(Path(path).is_file() for path in paths):
            return False
        return all(find_vote_columns(table.columns) for table in open_tables(list(paths)))
    except (HoldsupError, OSError, ValueError):
        return False


def read_votes(
    data: Any,
    *,
    annotator: str | None = None,
    prompt: str | None = None,
    adjust: Sequence[str] = (),
    where: Mapping[str, Sequence[str]] | None = None,
) -> Votes:
    """Return the votes of a table; those without a winner or of a system against itself are counted, and left out."""
    tables = open_tables(data)
    there = list(dict.fromkeys(column for table in tables for column in table.columns))
    source = tables[0].name if len(tables) == 1 else f"these {len(tables)} tables"
    columns = find_vote_columns(there)
    if columns is None:
        raise ColumnError(
            f"{source} has no votes: they need columns such as model_a, model_b and winner; it has {list_names(there)}"
        )
    taken: set[str | None] = {columns.first, columns.second, columns.winner}
    who = _find("annotator", annotator, ANNOTATORS, there, taken, source)
    what = _find("prompt", prompt, USUAL["item"], there, {*taken, who}, source)
    sides = {name: _find_sides(name, columns, there, source) for name in adjust}
    for name in where or {}:
        if name not in there:
            raise ColumnError.not_found(name, there, where=source)
    labels = [columns.first, columns.second, columns.winner, *(c for c in (who, what) if c), *(where or {})]
    numbers = list(dict.fromkeys(c for pair in sides.values() for c in pair))
    read = read_columns(tables, labels=labels, numbers=numbers)
    found = {name: column for name, column in read.named.items() if isinstance(column, Labels)}
    values = {name: column.values for name, column in read.named.items() if isinstance(column, Numbers)}
    return _count(source, columns, found, values, sides, who, what, where or {})


def _find(
    role: str, asked: str | None, usual: Iterable[str], there: Sequence[str], taken: set[str | None], source: str
) -> str | None:
    """Return the column of a role: the one asked for ("-" for none), or the first with a usual name."""
    if asked == "-":
        return None
    if asked is not None:
        if asked not in there:
            raise ColumnError.not_found(asked, there, where=source)
        if asked in taken:
            raise ColumnError(f"{asked!r} can't be the {role}: it says who was shown, or who won")
        return asked
    names = {plain_name(column): column for column in reversed(there) if column not in taken}
    return next((names[name] for name in usual if name in names), None)


def _find_sides(name: str, columns: VoteColumns, there: Sequence[str], source: str) -> tuple[str, str]:
    """Return the two columns of a property of answers: length_a and length_b for length."""
    names = {plain_name(column): column for column in there}
    for form in ("{name}_{side}", "{side}_{name}", "{stem}_{side}_{name}", "{name}_{stem}_{side}"):
        pair = [form.format(name=plain_name(name), side=side, stem=columns.stem) for side in columns.sides]
        if all(each in names for each in pair):
            return names[pair[0]], names[pair[1]]
    first, second = (f"{name}_{side}" for side in columns.sides)
    raise ColumnError(f"--adjust {name} needs the columns {first} and {second}; {source} has {list_names(there)}")


def _count(
    source: str, columns: VoteColumns, found: Mapping[str, Labels], values: Mapping[str, Floats],
    sides: Mapping[str, tuple[str, str]], who: str | None, what: str | None, where: Mapping[str, Sequence[str]],
) -> Votes:  # fmt: skip
    """Return the votes that count, and why others do not."""
    one, two, winner = (found[name] for name in (columns.first, columns.second, columns.winner))
    names = tuple(sorted({*one.names, *two.names}))
    number = {name: place for place, name in enumerate(names)}
    first, second = (np.append([number[name] for name in side.names], -1)[side.codes] for side in (one, two))
    outcome = _decide(columns, winner, first, second, number)
    kept, reasons = np.ones(len(first), bool), dict[str, int]()

    def leave_out(why: str, rows: Any) -> None:
        if gone := int((kept & rows).sum()):
            reasons[why] = gone
        kept[rows] = False

    for name, given in where.items():
        fits = np.isin(found[name].codes, [i for i, label in enumerate(found[name].names) if label in given])
        leave_out(f"another {name} than {' or '.join(given)}", ~fits)
    leave_out(NO_SYSTEM, (first < 0) | (second < 0))
    leave_out(NO_WINNER, winner.codes < 0)
    leave_out(ITSELF, first == second)
    differences = {name: values[a] - values[b] for name, (a, b) in sides.items()}
    for name, difference in differences.items():
        leave_out(f"no {name}", ~np.isfinite(difference))
    bad = np.flatnonzero(kept & np.isnan(outcome))
    if len(bad):
        said = winner.names[winner.codes[bad[0]]]
        pair = f"{names[first[bad[0]]]!r} nor {names[second[bad[0]]]!r}"
        raise ScoresError(
            f"{format_counted(len(bad), 'vote')} of {source} {'names' if len(bad) == 1 else 'name'} a winner that is "
            f"neither of the two systems, the first {said!r}, neither {pair}: write the winner's name, {columns.first} "
            f"or {columns.second}, or tie"
        )
    if not kept.any():
        why = "; ".join(f"{format_count(count)} with {reason}" for reason, count in reasons.items()) or "it has no rows"
        raise ScoresError(f"no vote of {source} can be used ({why}): each needs two systems and a winner")
    seen = np.unique(np.concatenate([first[kept], second[kept]]))
    if len(seen) < 2:
        raise ScoresError(f"all votes of {source} are about {names[seen[0]]!r} alone: a ranking needs two systems")
    place = np.full(len(names), -1)
    place[seen] = np.arange(len(seen))
    roles = {role: (name, np.unique(found[name].codes[kept], return_inverse=True)[1])
             for role, name in (("who", who), ("what", what)) if name is not None}  # fmt: skip
    return Votes(
        source, columns, tuple(names[i] for i in seen), place[first[kept]], place[second[kept]], outcome[kept],
        {name: difference[kept] for name, difference in differences.items()}, roles.get("who"), roles.get("what"),
        Rows(len(first), int(kept.sum()), reasons), digest_rows(dict(found), dict(values)),
    )  # fmt: skip


def _decide(columns: VoteColumns, winner: Labels, first: Ints, second: Ints, number: Mapping[str, int]) -> Floats:
    """Return 1, 0 or 1/2 for each vote by the name of the winner, its side or a tie; NaN where it is none of these."""
    said = [plain_name(name).replace("(", "").replace(")", "") for name in winner.names]
    ties = np.array([TIE.fullmatch(name) is not None for name in said] + [False])
    by_side = []
    for column, side in zip((columns.first, columns.second), columns.sides, strict=True):
        ways = {plain_name(column), side, f"{columns.stem}_{side}", f"model_{side}", f"{side}_{columns.stem}"}
        by_side.append(np.array([name in ways for name in said] + [False])[winner.codes])
    named = np.append([number.get(name, -1) for name in winner.names], -1)[winner.codes]
    known = (named >= 0) & ((named == first) | (named == second))
    outcome = np.where(ties[winner.codes], 0.5, np.nan)
    outcome = np.where(by_side[0], 1.0, np.where(by_side[1], 0.0, outcome))
    return np.asarray(np.where(known, (named == first).astype(float), outcome))
