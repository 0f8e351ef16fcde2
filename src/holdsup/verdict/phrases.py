"""Numbers as parts of a sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from holdsup.rendering import Interval, State
from holdsup.rendering.numbers import format_number, say_level as say_level, say_p as say_p
from holdsup.results import Asked

NO_INTERVAL = (
    "No CI where all differences are equal, or where there are too few items, runs or datasets to measure spread."
)

MOST_NAMES = 6
# Words of a column's name that number what it names, short forms, and the nouns that a reader knows.
NUMBERING = frozenset("id ids idx index no nr num number name key hash uid uuid".split())
SHORT = {
    "seg": "segment",
    "sent": "sentence",
    "doc": "document",
    "q": "question",
    "qid": "question",
    "ex": "example",
    "utt": "utterance",
}
NOUNS = frozenset(
    "item question sentence segment document story example instance sample prompt problem task utterance paragraph "
    "article passage query text image picture clip file review tweet comment dialogue dialog turn conversation claim "
    "pair triple word token page abstract summary source episode game level case patient video recording subject "
    "category benchmark".split()
)

# Columns that tell runs apart and are the reader's own word for them.
RUNS = {"sample": "samples", "prompt": "prompts", "rater": "raters", "annotator": "annotators", "trial": "trials",
        "fold": "folds", "rollout": "rollouts", "epoch": "epochs", "generation": "generations"}  # fmt: skip

COUNTS = "no one two three four five six seven eight nine ten eleven twelve".split()


def say_count(number: int) -> str:
    """Return a small number as a word.

    >>> say_count(3), say_count(58)
    ('three', '58')
    """
    return COUNTS[number] if number < len(COUNTS) else f"{number:,}"


def say_size(size: float, low: float, high: float, *, se: float) -> str:
    """Return how large a difference is, with as many digits as its CI has; where it has none, by its standard error.

    >>> say_size(0.1025, 0.082, 0.123, se=0.01), say_size(0.0004, -0.03, 0.0308, se=0.01)
    ('0.102', '0.00040')
    """
    spread = (high - low) / 2 if math.isfinite(high - low) else se
    return format_number(size, uncertainty=spread if size > spread / 10 else size or None)


def say_groups(grouped: bool) -> str:
    """Return whether splits kept groups of items whole."""
    if grouped:
        return "Groups of items were kept whole: none is on both sides of a split."
    return "Items were split one by one: no groups were given to keep together."


def judge_intervals(intervals: Iterable[tuple[float, float] | None], threshold: float) -> State:
    """Return yes if every interval is above a threshold, no if one is below it, else unclear; None is no interval.

    >>> judge_intervals([(0.82, 0.9)], 0.8), judge_intervals([(0.82, 0.9), None], 0.8), judge_intervals([(0, 0.7)], 0.8)
    ('yes', 'unclear', 'no')
    """
    found = list(intervals)
    if any(ci is not None and ci[1] < threshold for ci in found):
        return "no"
    return "yes" if all(ci is not None and ci[0] >= threshold for ci in found) else "unclear"


def say_threshold(threshold: float) -> str:
    """Return a threshold as headlines have it, such as .80."""
    return f"{threshold:.2f}".removeprefix("0")


def show_interval(
    low: float | None, high: float | None, estimate: float | None = None, *, drawn: bool = True, scale: str = ""
) -> Interval:
    """Return limits as a cell, drawn with those of the same scale; where a spread is not measured there are none."""
    if low is None or high is None or not (math.isfinite(low) and math.isfinite(high)):
        return Interval(None, None)
    return Interval(low, high, estimate, drawn, scale)


def name_items(column: str | None, otherwise: str = "items") -> str:
    """Return the user's own word for many of what a column names, such as "questions" for question_id.

    A name that is no English word ("idx", "doc3_s") says nothing to a reader: `otherwise` takes its place.

    >>> [name_items(column) for column in ("question_id", "Sentence ID", "segId", "story", "item", "id", "qid", "x.y")]
    ['questions', 'sentences', 'segments', 'stories', 'items', 'items', 'questions', 'items']
    """
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", column or "").lower()
    plain = [word for word in re.split(r"[\W_]+", words) if word and word not in NUMBERING]
    word = SHORT.get(plain[-1], plain[-1]) if plain else ""
    if word.rstrip("s") not in NOUNS and f"{word.removesuffix('ies')}y" not in NOUNS:
        return otherwise
    if word.endswith("s"):
        return word
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}es" if word.endswith("x") else f"{word}s"


def say_runs(asked: Asked) -> str:
    """Return the word for what is drawn anew beside items: runs, or what the column that tells them apart names."""
    given = asked.roles.get("run") or asked.roles.get("facets") or ()
    columns = (given,) if isinstance(given, str) else given
    words = [word for column in columns for word in column.lower().replace("-", "_").split("_")]
    return next((RUNS[word] for word in words if word in RUNS), "runs") if len(columns) == 1 else "runs"


def join_names(names: Sequence[str], *, most: int = MOST_NAMES) -> str:
    """Return names in a sentence; of many, the first and how many more there are.

    >>> join_names(["A"]), join_names(["A", "B", "C"]), join_names(list("ABCDEFGH"))
    ('A', 'A, B and C', 'A, B, C, D, E, F and 2 more')
    """
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else "".join(shown)
