"""`Method`: what was done to get a result, in words that a paper can print, and whom to cite."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """What was done."""

    question: str  # what was asked
    sentences: tuple[str, ...] = ()  # what was done
    citations: tuple[str, ...] = ()  # keys of the references, the most important first
