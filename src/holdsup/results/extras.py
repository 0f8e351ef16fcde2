"""What stands beside an answer: advice, plans, other tests, checks, pictures. When one of them fails, the answer stays.

Every question calls them here, so that a failure takes away what failed, and says so in one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from holdsup.errors import HoldsupError

__all__ = ["find_extra", "list_extras"]

Found = TypeVar("Found")
Otherwise = TypeVar("Otherwise")
LONGEST = 200  # characters of a message that nobody wrote for readers


def find_extra(
    name: str, compute: Callable[[], Found], said: list[str], otherwise: Otherwise, *, asked: bool = False
) -> Found | Otherwise:
    """Return what stands beside an answer; where it fails, `otherwise`, and `said` gets a line that names it.

    Parameters
    ----------
    name : what it is called within a sentence, such as "the advice"
    compute : makes it, the whole of it: what is left for later would fail later
    said : the warnings of the answer
    otherwise : what takes its place
    asked : whether it was asked for by name; then a refusal of it is an error, as of any question

    Examples
    --------
    >>> said: list[str] = []
    >>> find_extra("the advice", lambda: ("Train more runs.",), said, ()), said
    (('Train more runs.',), [])
    >>> find_extra("the advice", lambda: 1 / 0, said, ()), said
    ((), ['Missing: the advice, which failed (ZeroDivisionError: division by zero). The rest does not depend on it.'])
    """
    try:
        return compute()
    except HoldsupError as error:
        if asked:
            raise
        said.append(f"Missing: {name}: {str(error).rstrip('.')}.")
    except Exception as error:  # whatever it is, it is not worth the answer
        told = " ".join(str(error).split())[:LONGEST].rstrip(".")
        cause = f"{type(error).__name__}: {told}" if told else type(error).__name__
        said.append(f"Missing: {name}, which failed ({cause}). The rest does not depend on it.")
    return otherwise


def list_extras(
    name: str, compute: Callable[[], Iterable[Found]], said: list[str], *, asked: bool = False
) -> tuple[Found, ...]:
    """Return the rows or lines that stand beside an answer, all made at once; none where one fails (`find_extra`)."""
    return find_extra(name, lambda: tuple(compute()), said, (), asked=asked)
