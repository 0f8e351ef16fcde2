"""What the numbers of a result are of: the column of the scores or the metrics, and which way each is better."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from holdsup.results.envelope import Result

PLAIN = "score"  # a column of this name says nothing that "score" does not
MOST_NAMES = 4


@dataclasses.dataclass(frozen=True, slots=True)
class Scored:
    """What was scored, and how."""

    names: tuple[str, ...] = ()  # the metrics, or the column of the scores; empty where it has no name of its own
    lower: tuple[str, ...] = ()  # those of them that are better when they are lower
    all_lower: bool = False  # whether all are, whatever their names

    def name(self, metric: str | None = None) -> str:
        """Return what stands for "score" in a sentence about one metric, or about the only one."""
        return metric or (self.names[0] if len(self.names) == 1 else PLAIN)

    def say_lower(self, metric: str | None = None) -> str:
        """Return "lower is better" where it is; else nothing."""
        return "lower is better" if self.all_lower or self.name(metric) in self.lower else ""

    def caption(self) -> str:
        """Return what a heading or a caption adds; nothing where all that is known goes without saying.

        >>> Scored(("Latency (ms)",), (), True).caption(), Scored(("BLEU", "TER"), ("TER",)).caption()
        ('Latency (ms), lower is better', 'BLEU; TER, lower is better')
        """
        said = [", ".join(part for part in (name, self.say_lower(name)) if part) for name in self.names[:MOST_NAMES]]
        said += [f"{len(self.names) - MOST_NAMES} more"] if len(self.names) > MOST_NAMES else []
        return "; ".join(said) or self.say_lower()

    def sentence(self) -> str:
        """Return the same as a sentence.

        >>> Scored(("BLEU",)).sentence(), Scored((), (), True).sentence()
        ('The score is BLEU.', 'A lower score is better.')
        """
        if not self.names:
            return "A lower score is better." if self.all_lower else ""
        return f"{'The score is' if len(self.names) == 1 else 'Scores are'} {self.caption()}."

    def caption_table(self, title: str) -> str:
        """Return the title of a table or a picture with what it is of, as far as the title does not say so itself.

        A table of several metrics names them in its rows, but not which way they are better.

        >>> Scored(("BLEU",)).caption_table("Means"), Scored(("BLEU", "TER"), ("TER",)).caption_table("Means")
        ('Means. Score: BLEU', 'Means. Lower is better: TER')
        """
        if len(self.names) > 1:
            known = not self.lower or any(name in title for name in self.names)
            said = "" if known else f"Lower is better: {', '.join(self.lower)}"
        elif self.names and self.names[0] not in title:
            said = f"Score: {self.caption()}"
        else:
            said = self.say_lower().capitalize()
        ends = title.endswith(".")
        return f"{title.removesuffix('.')}. {said}{'.' if ends else ''}" if said else title


def find_scored(result: Result) -> Scored:
    """Return what a result is of, whatever its kind: fields, roles and options have the same names in all."""
    asked = result.asked
    metrics = _names(result, "metric") or _names(result, "measurand")
    own = (
        getattr(result, "metric", None)
        or getattr(result, "score", None)
        or asked.roles.get("score")
        or _response(result)
    )
    names = metrics or ([own] if isinstance(own, str) and own != PLAIN else [])
    told = getattr(result, "lower_is_better", None)
    if metrics:
        lower = {row.metric for row in _rows(result, "lower_is_better") if row.lower_is_better}
        return Scored(tuple(names), tuple(name for name in names if name in lower))
    if told is None:
        told = asked.options.get("lower_is_better") or asked.options.get("better") == "lower"
    return Scored(tuple(names), (), bool(told))


def _names(result: Result, role: str) -> list[str]:
    named = (getattr(row, role) for row in _rows(result, role))
    return list(dict.fromkeys(name for name in named if isinstance(name, str)))


def _rows(result: Result, name: str) -> Iterator[Any]:
    """Yield the rows of all tables of a result that have a field of this name."""
    for field in dataclasses.fields(result):
        rows = getattr(result, field.name)
        yield from (row for row in (rows if isinstance(rows, tuple) else ()) if hasattr(row, name))


def _response(result: Result) -> str | None:
    """Return the left side of a result's own formula."""
    formula = getattr(result, "formula", None)
    return formula.partition("~")[0].strip().strip("`") if isinstance(formula, str) else None
