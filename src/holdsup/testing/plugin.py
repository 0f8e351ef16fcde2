"""A pytest plugin: the fixture `holdsup_gate`, with which a test passes, fails or is skipped as a gate decides.

pytest loads this file in every session where holdsup is installed, so it loads nothing until the fixture is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from holdsup.verdict.gate import Gate


@pytest.fixture
def holdsup_gate(record_property: Callable[[str, object], None]) -> Callable[..., Gate]:
    """Return a function that gates a candidate against a baseline, as `holdsup.gate_release` does.

    FAIL fails the test, as bad input does, and PASS returns the result. INCONCLUSIVE skips the test, with what would
    decide; with ``strict=True`` it fails.
    """

    def gate(candidate: Any, baseline: Any, *, drop: Any, strict: bool = False, **options: Any) -> Gate:
        __tracebackhide__ = True
        from holdsup.errors import HoldsupError
        from holdsup.verdict.gate import gate_release

        try:
            found = gate_release(candidate, baseline, drop=drop, **options)
        except HoldsupError as error:
            pytest.fail(f"holdsup has no answer: {error}", pytrace=False)
        record_property("holdsup", found.signature)
        if found.outcome == "fail" or (strict and found.outcome == "inconclusive"):
            pytest.fail(f"\n{found}", pytrace=False)
        if found.outcome == "inconclusive":
            pytest.skip(found.headline)
        return found

    return gate
