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
    "Each question is asked of data whose truth is known: simulated, published, or found by far more partitions "
    "than anybody trains on. First comes what is true and what the usual reading of the same data says, then "
    "holdsup's verdict, the table behind it and the picture."
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
            note=f"What is true: {tale.truth} What it seems: {tale.seeming}",
        )
        for question, tale in tales.items()
    ]
    write_report(entries, path, title=TITLE, introduction=INTRODUCTION)
