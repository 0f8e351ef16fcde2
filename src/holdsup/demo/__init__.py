"""The six questions of `holdsup demo`, each with what is true, what it seems and what holdsup says."""

from holdsup.demo.questions import QUESTIONS, Question, write_page
from holdsup.demo.tales import Tale

__all__ = ["QUESTIONS", "Question", "Tale", "write_page"]
