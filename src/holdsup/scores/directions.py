"""Which way a metric is better: as the user says, else by its name, and where that is doubtful."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from holdsup.errors import ScoresError, list_names, quote_names
from holdsup.results.cautions import Caution
from holdsup.results.direction_names import find_direction, is_neutral, say_assumed, say_by_name, tell_direction
from holdsup.scores.faults import make_fault, refuse
from holdsup.scores.roles import Roles
from holdsup.scores.table import Scores

NAMELESS = "scores"  # of a wide table, whose columns are named after systems or datasets
MOST_NAMES = 3  # of columns in a message
LowerIsBetter: TypeAlias = bool | str | Collection[str] | None


@dataclass(frozen=True, slots=True)
class Directions:
    """Which metrics are better when they are lower."""

    names: dict[str | None, str]  # how each metric is called; None, a table's only metric, by the column of the scores
    lower: frozenset[str | None]  # the metrics of which a lower one is better
    by_name: tuple[str, ...]  # those among them that nobody asked for: their names say so
    # metrics that nobody asked for and whose names say nothing: a higher one is taken as better
    assumed: tuple[str, ...] = ()

    def is_lower(self, metric: str | None) -> bool:
        """Return whether a lower score is a better one."""
        return metric in self.lower

    def are_lower(self) -> bool:
        """Return whether a lower score is a better one by every metric."""
        return len(self.lower) == len(self.names)

    def of_all(self, option: str) -> bool:
        """Return the same for all metrics; `option` is what cannot be had where they differ."""
        if self.lower and not self.are_lower():
            lower = ", ".join(name for metric, name in self.names.items() if metric in self.lower)
            raise ScoresError(
                f"{option}: lower is better by {lower}, and not by the others: compare one metric at a time"
            )
        return bool(self.lower)

    def of_column(self, column: str) -> bool:
        """Return whether runs with a lower number in another column are better: by its name, else as the scores are."""
        by_name = find_direction(column)
        return self.of_all(f"--best {column}") if by_name is None else by_name == "lower"

    def doubt(self) -> str:
        """Return a doubt that stands before the verdict: who is better turns around if the direction is wrong."""
        return "".join(
            f"This assumes that a lower {names} is better: {remedy} if it is not. " for names, remedy in self._odd()
        )

    def cautions(self) -> Iterator[Caution]:
        """Yield what is known by name alone, and names that speak against the direction asked for."""
        if self.by_name:
            known = say_by_name(self.by_name, "--higher-is-better")
            yield Caution(code="direction-by-name", severity="note", message=known)
        for names, remedy in self._odd():
            yield Caution(
                code="direction-against-name",
                message=f"A lower {names} is called better here, against its name.",
                advice=f"{remedy[0].upper()}{remedy[1:]} if it is not.",
            )

    def assumptions(self) -> Iterator[Caution]:
        """Yield what is neither asked for nor known by name; only who is called better depends on it."""
        if self.assumed:
            remedy = "--lower-is-better" if len(self.names) == 1 else "--lower NAME"
            message = say_assumed(self.assumed, remedy)
            plain = all(name != NAMELESS and is_neutral(name) for name in self.assumed)
            yield Caution(code="direction-assumed", severity="note" if plain else "warning", message=message)

    def _odd(self) -> Iterator[tuple[str, str]]:
        """Yield the metrics that are asked for as better when lower against their names, and what to do."""
        gains = [n for metric, n in self.names.items() if metric in self.lower and find_direction(n) == "higher"]
        if gains:
            several = "name the metrics of which a lower one is better with --lower"
            yield ", ".join(gains), several if len(self.names) > 1 else "leave --lower-is-better out"


def choose_directions(scores: Scores, asked: LowerIsBetter) -> Directions:
    """Return which metrics of a table are better when lower.

    True is all of them and False none; where nothing is asked names tell, also beside metrics that are asked for.
    """
    names: dict[str | None, str] = (
        {None: _name_score(scores.roles)} if scores.metric is None else {m: m for m in scores.metric.names}
    )
    if isinstance(asked, bool):
        return Directions(names, frozenset(names if asked else ()), ())
    if scores.metric is None:
        refuse(find_opposite_columns(scores))
    told = set() if asked is None else _named(names, asked)
    stated = {m for m, n in names.items() if n in scores.roles.lower}
    by_name = {m: n for m, n in names.items() if m not in told | stated and find_direction(n) == "lower"}
    known = {*scores.roles.lower, *scores.roles.higher}
    named = [n for n in names.values() if n not in known and tell_direction(n) is None]
    assumed = tuple(named) if asked is None else ()
    return Directions(names, frozenset((*told, *stated, *by_name)), tuple(by_name.values()), assumed)


def _name_score(roles: Roles) -> str:
    """Return what tells the direction: the column of the scores, or those of a wide table if all say the same."""
    columns = roles.score_columns
    told = {tell_direction(column) for column in columns}
    if len(columns) > 1 and (len(told) > 1 or None in told):
        return NAMELESS
    return ", ".join(columns[:MOST_NAMES]) + (", ..." if len(columns) > MOST_NAMES else "")


def find_opposite_columns(scores: Scores) -> Iterator[Caution]:
    """Find a wide table some of whose columns are better when lower, by their names, and others not.

    A system may be called anything, so that beside columns which tell nothing its name does not count.
    """
    columns = scores.roles.score_columns
    lower = [column for column in columns if tell_direction(column) == "lower"]
    others = [column for column in columns if tell_direction(column) == "higher" or scores.roles.wide == "dataset"]
    if scores.metric is None and lower and (others := [column for column in others if column not in lower]):
        yield make_fault(
            "opposite-columns",
            f"Lower is better by the name of column {lower[0]!r}, but not by that of {others[0]!r}.",
            count=len(lower),
        )


def sign_direction(asked: LowerIsBetter) -> str | bool | None:
    """Return how a signature says what was asked for; what names tell is in it already."""
    return (
        asked if isinstance(asked, bool | None) else (asked if isinstance(asked, str) else quote_names(asked)) or None
    )


def _named(names: dict[str | None, str], asked: object) -> set[str | None]:
    """Return the metrics that are asked for by name."""
    given = [asked] if isinstance(asked, str) else list(asked) if isinstance(asked, Collection) else None
    if given is None or not all(isinstance(name, str) for name in given):
        raise ScoresError(f"lower_is_better is {asked!r:.60}: give True, False, or the names of metrics")
    found = {name: metric for metric, name in names.items()}
    if unknown := [str(name) for name in given if name not in found]:
        raise ScoresError(
            f"lower is better by {list_names(unknown)}, which isn't a metric here; there "
            f"{'is' if len(found) == 1 else 'are'} {list_names(found)}"
        )
    return {found[str(name)] for name in given}
