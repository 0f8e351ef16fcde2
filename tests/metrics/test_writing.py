"""Metrics in one line: what is written is read back, whatever the labels are."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from holdsup.errors import MetricError
from holdsup.metrics.catalogue import read_metric, write_metric

labels = st.one_of(st.integers(-9, 99), st.booleans(), st.text("ab1,]['= ", min_size=1, max_size=6))


@given(positive=labels, several=st.lists(labels, max_size=3))
def test_what_is_written_is_read_back(positive: Any, several: list[Any]) -> None:
    metric = {"name": "f1", "positive": positive, "labels": several}
    assert read_metric(write_metric(metric)) == metric


@pytest.mark.parametrize(
    ("line", "metric"),
    [
        ("accuracy", {"name": "accuracy"}),
        ("f1,average=macro", {"name": "f1", "average": "macro"}),
        (
            'f1,average=micro,labels=["pos","neg"]',
            {"name": "f1", "average": "micro", "labels": ["pos", "neg"]},
        ),
        ("f1, positive=1", {"name": "f1", "positive": 1}),
        ('f1,positive="1"', {"name": "f1", "positive": "1"}),
        ("exact_match,normalize=true", {"name": "exact_match", "normalize": True}),
    ],
)
def test_text_needs_no_quotation_marks_and_a_list_may_hold_commas(line: str, metric: dict[str, Any]) -> None:
    assert read_metric(line) == metric


@pytest.mark.parametrize("line", ["f1,average", "f1,=macro", "f1,average="])
def test_an_option_without_a_value_is_refused(line: str) -> None:
    with pytest.raises(MetricError, match="is not of the form average=macro"):
        read_metric(line)
