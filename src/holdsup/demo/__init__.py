"""The six questions of `holdsup demo`, each with what is true, what it seems and what holdsup says."""

from holdsup.demo.tales import QUESTIONS, Chapter, Tale, write_page

__all__ = ["QUESTIONS", "Chapter", "Tale", "write_page"]
