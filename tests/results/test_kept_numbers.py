"""A change of words or of code moves no number: those of the JSON are kept, of all kinds of results."""

from __future__ import annotations

import json
import math

import pytest
from kept_numbers import KEPT, list_numbers, make_numbers

LOOSE = 1e-6  # relative: an optimum that is found by search is not the same to the last digit on every machine
DRAWN = 0.03  # of a share of 10,000 draws: their last digits turn with those of the optimum


@pytest.mark.slow
def test_numbers_are_those_that_are_kept() -> None:
    kept, found = json.loads(KEPT.read_text()), make_numbers()
    assert kept.keys() == found.keys()
    moved = [
        f"{name}{path}: {value!r}, now {found[name].get(path)!r}"
        for name, own in kept.items()
        for path, value in own.items()
        if path not in found[name]
        or not math.isclose(found[name][path], value, rel_tol=LOOSE, abs_tol=DRAWN if ".p_best" in path else 1e-9)
    ]
    assert moved == []


def test_every_number_is_found_wherever_it_is() -> None:
    plain = {"a": [1, {"b": 2.5, "c": "3", "d": None, "e": True}], "version": 4}
    assert dict(list_numbers(plain)) == {".a[0]": 1, ".a[1].b": 2.5}
