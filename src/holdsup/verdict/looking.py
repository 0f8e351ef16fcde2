"""What is planned by whoever wants to look early: at which numbers of runs, or at items in which order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from holdsup.errors import ScoresError
from holdsup.results import Caution
from holdsup.verdict.phrases import join_names


@dataclass(frozen=True, slots=True)
class Looking:
    """How early looks are taken."""

    seed: int  # of the order of the items
    looks: tuple[int, ...] = ()  # the planned numbers of runs; empty where items are looked at one by one
    growing: str | None = None  # the system whose runs are counted; None for the one with fewer

    @classmethod
    def of(cls, peek: bool, looks: Sequence[int], seed: int, growing: str | None = None) -> Looking | None:
        """Return how looks are taken, None where they are not."""
        looks = tuple(looks)
        if peek and looks:
            raise ScoresError("--peek looks at items and --looks at runs: choose one of them")
        if any(not isinstance(n, int) for n in looks) or list(looks) != sorted(set(looks)) or len(looks) == 1:
            raise ScoresError(
                f"the planned looks are {looks}: give two numbers of runs or more that rise, such as 4,6,8"
            )
        if looks and looks[0] < 2:
            raise ScoresError(
                "the first look is planned at one run, which has no spread to measure: begin with 2 or more"
            )
        return cls(seed, looks, growing) if peek or looks else None

    def place(self, runs: Mapping[str, int]) -> int:
        """Return which of the looks this is, from 0, by how many runs each system has."""
        counts = sorted([runs[self.growing]] if self.growing and self.growing in runs else runs.values())
        found = next((count for count in counts if count in self.looks), None)
        if found is None:
            planned = ", ".join(map(str, self.looks))
            who = f" of {self.growing}" if self.growing else ""
            raise ScoresError(
                f"no look was planned at {' and '.join(map(str, dict.fromkeys(counts)))} runs{who} (planned: "
                f"{planned}), and one that was not planned breaks the promise of the others: wait for the next"
            )
        return self.looks.index(found)

    def say(self) -> Caution:
        """Return what looking early changes."""
        what = "every planned look" if self.looks else "every look, at however many items"
        how = "group-sequential t-tests" if self.looks else "a confidence sequence"
        return Caution(
            code="looked-early", severity="note",
            message=f"CIs and p-values of differences hold at {what} ({how}), so they are wider than for one look.",
            effect="Adding scores until the answer is clear is honest. CIs of single means are left out.",
        )  # fmt: skip

    def advise(self) -> str:
        """Return what to do where the answer is not clear yet."""
        if self.looks:
            planned = f"the planned looks are at {join_names([str(n) for n in self.looks])} runs"
            return f"{planned}: the next one may tell, if there is one left"
        return "evaluate the next items in the order of the seed, and look again"


def order_items(items: Iterable[str], seed: int = 0) -> list[str]:
    """Return items in the order drawn by a seed, in which they are to be evaluated when one looks early.

    Each item's place is the BLAKE2b hash of "seed/item", so that anyone can draw the same order, and it does not depend
    on which other items there are.

    >>> order_items(["a", "b", "c", "d"], seed=1)
    ['d', 'c', 'a', 'b']
    """
    return sorted(items, key=lambda item: hashlib.blake2b(f"{seed}/{item}".encode("utf-8", "surrogatepass")).digest())
