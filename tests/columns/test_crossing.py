"""Labels crossed with labels, against combinations found one row at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import holdsup
from holdsup.columns import Labels, crossing
from holdsup.columns.crossing import cross


@pytest.mark.parametrize("small", [2**20, 2])  # by a table of all places, and by sorting where there are many
@given(data=st.data())
def test_combinations_are_numbered_in_the_order_of_the_levels_and_shown_by_their_first_row(
    small: int, data: st.DataObject
) -> None:
    count, width = data.draw(st.integers(1, 30)), data.draw(st.integers(1, 4))
    codes = np.array([data.draw(st.lists(st.integers(-1, 5), min_size=count, max_size=count)) for _ in range(width)])
    columns = [Labels.of(row, [*"abcdef"]) if i % 2 == 0 else row + 1 for i, row in enumerate(codes)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(crossing, "SMALL", small)
        patch.setattr(crossing, "DENSE", 1)
        found = cross(*columns)
        rows = list(zip(*codes.tolist(), strict=True))
        kinds = sorted(set(rows))
        assert found.count == len(kinds)
        assert found.codes.tolist() == [kinds.index(row) for row in rows]
        assert found.first.tolist() == [rows.index(kind) for kind in kinds]
        assert found.sizes().tolist() == [rows.count(kind) for kind in kinds]


def test_nothing_crossed_is_one_combination_of_all_rows() -> None:
    assert (cross(rows=3).count, cross(rows=3).codes.tolist(), cross(rows=0).count) == (1, [0, 0, 0], 0)


def test_columns_that_are_codes_already_are_not_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    systems, seeds, datasets, items = np.indices((4, 3, 5, 40)).reshape(4, -1)
    columns = {"system": systems, "seed": seeds, "dataset": datasets, "item": datasets * 40 + items}
    scores = np.random.default_rng(1).random(systems.size)
    monkeypatch.setattr(crossing, "SMALL", 2**6)  # as if the table were large
    sizes = []
    for name in ("sort", "unique"):
        known = getattr(np, name)
        monkeypatch.setattr(
            np, name, lambda x, *rest, known=known, **options: (sizes.append(np.size(x)), known(x, *rest, **options))[1]
        )
    audit = holdsup.audit_scores({**columns, "score": scores})
    assert audit.rows.used == systems.size
    assert max(sizes, default=0) < systems.size
