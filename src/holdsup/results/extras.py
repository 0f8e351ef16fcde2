"""What comes with an answer: advice, plans, other tests, checks, pictures. When one of them fails, the answer stays.

Every question calls them here, so that a failure takes away what failed, and a caution says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from holdsup.errors import HoldsupError
from holdsup.results.cautions import Caution

Found = TypeVar("Found")
Otherwise = TypeVar("Otherwise")
LONGEST = 200  # characters of a message that nobody wrote for readers


def find_extra(
    name: str,
    compute: Callable[[], Found],
    said: list[Any],
    otherwise: Otherwise,
    *,
    asked: bool = False,
    about: str = "claim",
) -> Found | Otherwise:
    """Return what comes with an answer (advice, a plan, another test, a picture), which never loses the answer.

    Where it fails, `otherwise` takes its place, and `said` gets a caution that names it.

    Parameters
    ----------
    name : what it is called within a sentence, such as "the advice"
    compute : makes it, the whole of it: what is left for later would fail later
    said : the cautions of the answer
    otherwise : what takes its place
    asked : whether it was asked for by name; then a refusal of it is an error, as of any question
    about : what the caution is about

    Examples
    --------
    >>> said: list[Caution] = []
    >>> find_extra("the advice", lambda: ("Train more runs.",), said, ()), said
    (('Train more runs.',), [])
    >>> find_extra("the advice", lambda: 1 / 0, said, ()), said[0].message
    ((), 'Missing: the advice, which failed (ZeroDivisionError: division by zero). Nothing else depends on it.')
    """
    try:
        return compute()
    except HoldsupError as error:
        if asked:
            raise
        said.append(
            Caution(
                code="extra-missing",
                severity="note",
                about=about,
                message=f"Missing: {name}: {str(error).rstrip('.')}.",
            )
        )
    except Exception as error:  # whatever it is, it is not worth the answer
        told = " ".join(str(error).split())[:LONGEST].rstrip(".")
        cause = f"{type(error).__name__}: {told}" if told else type(error).__name__
        said.append(
            Caution(
                code="extra-failed",
                about=about,
                message=f"Missing: {name}, which failed ({cause}). Nothing else depends on it.",
            )
        )
    return otherwise


def list_extras(
    name: str, compute: Callable[[], Iterable[Found]], said: list[Any], *, asked: bool = False, about: str = "claim"
) -> tuple[Found, ...]:
    """Return the rows or lines that come with an answer, all made at once; none where one fails (`find_extra`)."""
    return find_extra(name, lambda: tuple(compute()), said, (), asked=asked, about=about)
