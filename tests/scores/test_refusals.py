"""What a question refuses, the check tells as an error, in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup import audit_scores, compare_systems, decompose_variance, rank_systems
from holdsup.errors import ScoresError

ROWS = [(s, d, i, k) for s in "AB" for d in ("x", "y") for i in range(6) for k in (1, 2)]


def make(**columns: Any) -> pd.DataFrame:
    frame = pd.DataFrame(ROWS, columns=["system", "dataset", "item", "seed"])
    return frame.assign(score=np.random.default_rng(1).normal(size=len(frame)), **columns)


def stages(name: str) -> pd.DataFrame:
    return pd.concat([make(**{name: stage}) for stage in (100, 200)])


CASES: list[tuple[str, pd.DataFrame, dict[str, Any], tuple[Callable[..., Any], ...]]] = [
    ("scores-beyond-computing", make().assign(score=lambda f: f.score * 1e300), {},
     (compare_systems, decompose_variance, rank_systems)),
    ("scores-beyond-computing", make().assign(score=lambda f: f.score * 1e-90), {}, (compare_systems, rank_systems)),
    ("told-apart", stages("step"), {}, (compare_systems, decompose_variance, rank_systems)),
    ("told-apart", stages("step"), {"replicates": ["seed", "step"]}, (compare_systems, decompose_variance)),
    ("told-apart", stages("prompt"), {}, (compare_systems,)),
    ("broken-clusters", make(doc=lambda f: f.seed), {}, (compare_systems, decompose_variance)),
    ("broken-clusters", make(doc=lambda f: f["item"].where(f["item"] > 1)), {}, (compare_systems,)),
    ("item-facet", make(genre=lambda f: f["item"] % 2), {"facets": ["genre"]}, (compare_systems, decompose_variance)),
    ("measured-facet", make(speed=lambda f: f.seed / 7 + (f.system == "A")), {"facets": ["seed", "speed"]},
     (decompose_variance,)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "frame", "roles", "questions"), CASES)
def test_check_tells_what_a_question_refuses(
    code: str, frame: pd.DataFrame, roles: dict[str, Any], questions: tuple[Callable[..., Any], ...]
) -> None:
    audit = audit_scores(frame, **roles)
    (finding,) = [each for each in audit.findings if each.code == code]
    assert audit.state == "no"
    assert finding.severity == "error"
    for ask in questions:
        with pytest.raises(ScoresError) as refused:
            ask(frame, **roles)
        told = f"{finding.message.removesuffix('.')}: {finding.advice.removesuffix('.')}"
        assert str(refused.value).lower() == told.lower()


def test_a_table_that_can_be_asked_is_not_refused() -> None:
    assert "error" not in {each.severity for each in audit_scores(make()).findings}
