"""The six questions, in the order in which they are told, and the page that holds them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdsup.demo.shipped import tell_contest, tell_qra, tell_tune
from holdsup.demo.simulated import tell_compare, tell_rank, tell_variance
from holdsup.demo.tales import Tale
from holdsup.report import Entry, write_report

__all__ = ["QUESTIONS", "Question", "write_page"]

TITLE = "Six results that do not hold up as they are usually read"
INTRODUCTION = (
    "A leaderboard has one number for each system. Train the same system again with another random seed, ask it with "
    "another prompt, split the data anew: the number changes, and the system has not. A gap between two systems means "
    "something only where it is larger than such changes, and a leaderboard does not say how large they are.",
    "Here are six common ways to be misled by a gap, each on data whose truth is known: simulated, published, or found "
    "by far more partitions than anybody trains on. Each has what it seems, what is true, and what holdsup says about "
    "the same data, which it was not told the truth of.",
    "Two words are all that is needed to read the verdicts. Limits are all the values that the data leave possible, "
    "with a confidence of 95%: where the limits of a difference include zero, nobody can tell from these data which is "
    "better. And p is how often chance alone makes a difference at least as large; below .05 is usually called "
    "significant.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and its tale.

    Attributes
    ----------
    command : the command that answers it
    text : the question
    tell : gives its tale; the same seed tells the same
    """

    command: str
    text: str
    tell: Callable[[int], Tale]


QUESTIONS = (
    Question(command="compare", text="Is the new system better, or is it the seed?", tell=tell_compare),
    Question(command="variance", text="How reliable is this evaluation?", tell=tell_variance),
    Question(command="rank", text="Which system is best, datasets and settings set apart?", tell=tell_rank),
    Question(command="qra", text="Did others reproduce the result, and how closely?", tell=tell_qra),
    Question(command="contest", text="Would the conclusion survive another split?", tell=tell_contest),
    Question(command="tune", text="Are the tuned settings an accident of the partition?", tell=tell_tune),
)


def write_page(tales: Mapping[Question, Tale], path: Path) -> None:
    """Write the tales as one HTML page."""
    entries = [
        Entry(
            result=tale.result,
            heading=question.text,
            gist=tale.lesson,
            notes=(("The data:", tale.data), ("What it seems:", tale.seeming), ("What is true:", tale.truth)),
        )
        for question, tale in tales.items()
    ]
    write_report(entries, path, title=TITLE, introduction=INTRODUCTION)
