"""What a reproduction answers: in few lines, with yes, no or unclear where a limit was asked about."""

from __future__ import annotations

import math
import re
import textwrap
from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup.data import belz2022
from holdsup.errors import MeasurementError
from holdsup.measurements import audit_measurements
from holdsup.verdict import (
    agree_on_labels,
    assess_repeatability,
    assess_reproduction,
    compare_findings,
    compare_score_sets,
)

CONDITIONS = "code compile_training specification implementation procedure test_set performed_by".split()


def measured(values: list[float], name: str = "tagger", **more: str) -> list[dict[str, Any]]:
    return [
        {"object": name, "measurand": "F1", "value": value, "unit": "points", "source": f"report {i}", **more}
        for i, value in enumerate(values)
    ]


def complete(values: list[float], name: str = "tagger") -> list[dict[str, Any]]:
    """Measurements that report every standard condition, each in words that differ and are long."""
    rows = measured(values, name)
    return [{**row, **{c: f"{c} as in the report of team {i % 3}" for c in CONDITIONS}} for i, row in enumerate(rows)]


NEAR = [50.0, 50.1, 49.9, 50.05, 49.95]
FAR = [20.0, 80.0, 45.0, 90.0, 10.0]


@pytest.mark.parametrize(
    ("values", "within", "state"),
    [(NEAR, 5, "yes"), (FAR, 5, "no"), ([50.0, 52.0, 49.0], 5, "unclear"), ([50.0, 50.0, 50.0], 5, "unclear")],
)
def test_the_state_is_where_the_whole_exact_ci_lies(values: list[float], within: float, state: str) -> None:
    found = assess_reproduction(measured(values), within=within)
    (one,) = found.assessments
    assert found.state == state
    if one.sd > 0:
        assert state == ("yes" if one.cv_high <= within else "no" if one.cv_low > within else "unclear")
    assert "within 5%?" in str(found).splitlines()[0]


def test_a_ci_that_ends_at_the_limit_is_within_it() -> None:
    high = assess_reproduction(measured(NEAR)).assessments[0].cv_high
    assert assess_reproduction(measured(NEAR), within=high).state == "yes"
    assert assess_reproduction(measured(NEAR), within=math.nextafter(high, 0)).state == "unclear"


def test_two_measurements_have_no_upper_end_and_are_never_within() -> None:
    found = assess_reproduction(measured([40.0, 60.0]), within=50)
    assert (found.state, found.assessments[0].cv_high) == ("unclear", math.inf)


def test_one_result_that_did_not_reproduce_makes_it_a_no_for_all() -> None:
    rows = [*measured(NEAR), *measured(FAR, "parser")]
    assert assess_reproduction(rows, within=5).state == "no"
    assert assess_reproduction([*measured(NEAR), *measured(NEAR, "parser")], within=5).state == "yes"
    assert assess_reproduction([*measured(NEAR), *measured([50.0, 52.0], "parser")], within=5).state == "unclear"


def test_without_a_limit_there_is_no_yes_or_no_and_the_signature_stays() -> None:
    found = assess_reproduction(measured(NEAR))
    assert found.state is None
    assert "within" not in found.signature
    asked = assess_reproduction(measured(NEAR), within=5)
    assert asked.signature.replace("|within:5%", "") == found.signature
    assert asked.asked.command() == "holdsup qra DATA --within 5%"
    assert holdsup.Reproduction.from_dict(asked.to_dict()).state == "yes"


@pytest.mark.parametrize("within", [0, -1, math.nan, math.inf, "5%"])
def test_a_limit_that_is_no_percentage_is_refused(within: Any) -> None:
    with pytest.raises(MeasurementError, match="it must be a percentage above 0"):
        assess_reproduction(measured(NEAR), within=within)


@pytest.mark.parametrize("within", [None, 5])
@pytest.mark.parametrize("n", [2, 3, 8, 60])
@pytest.mark.parametrize("make", [measured, complete])
def test_one_result_fits_twenty_lines(make: Any, n: int, within: float | None) -> None:
    found = assess_reproduction(make(list(np.random.default_rng(n).normal(50, 3, n))), within=within)
    lines = str(found).splitlines()
    assert len(lines) <= 20
    assert all(len(line) <= 80 for line in lines[:-1])
    assert lines[-1] == found.signature
    assert len(found.headline.split()) <= 25


@pytest.mark.parametrize("objects", [2, 5, 18, 60])
@pytest.mark.parametrize("make", [measured, complete])
def test_many_results_fit_a_screen_and_say_how_many_more_there_are(make: Any, objects: int) -> None:
    rng = np.random.default_rng(objects)
    rows = [row for o in range(objects) for row in make(list(rng.normal(50, 3, 4)), f"the system number {o}")]
    found = assess_reproduction(rows, within=3)
    lines = str(found).splitlines()
    assert len(lines) <= 24
    assert all(len(line) <= 80 for line in lines[:-1])
    assert bool(re.search(r"\d more: --full", str(found))) == (objects > 10)
    for each in (found, assess_reproduction(rows)):
        assert len(each.headline.split()) <= 25


def test_the_published_results_are_compared_in_plain_words() -> None:
    found = assess_reproduction(belz2022(), where={"object": "mult-dom+"})
    assert found.headline.endswith("; all 18 published results were at least as reproducible.")
    best = assess_reproduction(belz2022(), where={"object": "NTS_def", "measurand": "BLEU"})
    assert best.headline.endswith("; 17 of 18 published results were less reproducible.")
    assert "84% of the variance is between labs" in found.assessments[0].align_next


def test_the_answer_of_a_pair_reads_like_this() -> None:
    found = assess_reproduction(belz2022(), where={"object": "PASS", "measurand": "Fluency"})
    assert str(found) == textwrap.dedent(
        f"""\
        How closely was this result reproduced?
        Two measurements of PASS Fluency differ by a CV* of 16.4%; 15 of 18 published
        results were at least as reproducible.

        measurement                value  implementation      procedure
        van der Lee et al. (2017)   5.36  van der Lee et al.  van der Lee et al.
        Mille et al. (2021)         6.14  Mille et al.        Mille et al.

        95% CI     CV* above 5.16%, no upper end; next measurement likely 1.0 to 14.3
        differs    implementation, procedure and performed by (reproducibility)
        next step  Align implementation and procedure. Two measurements can't tell which
                   condition matters.
        holds for  new measurements made in similar ways; it doesn't say who is right
        caveat     two measurements say almost nothing about the spread or its causes:
                   PASS Fluency
        more: --full (precision, conditions, spread)   --card card.html
        {found.signature}
        """
    )


def test_runs_of_ones_own_are_repeated_not_reproduced() -> None:
    table = holdsup.simulate_scores({"A": 0.7}, items=30, runs=4, seed=2)
    assert assess_repeatability(table).answer().question == "How closely was this result repeated?"
    assert assess_repeatability(table, within=50).asked.command() == "holdsup qra DATA --seeds --within 50%"


def test_every_caution_has_a_code_and_names_what_it_limits() -> None:
    rows = [
        *measured([50.0, 51.0, 50.0], performed_by="N/A"),
        *measured([3.1, 4.2], "parser"),
        *measured([1.0], "alone"),
        *measured([0.0, 0.0], "nothing"),
        *measured([7.0, 7.0, 7.0], "same"),
        *({**row, "code": "A", "value": f"{i + 1} %", "unit": ""} for i, row in enumerate(measured([1, 2, 3], "tool"))),
        {"object": "tool", "measurand": "F1", "value": 0.5, "code": "A"},
    ]
    rows[3]["unit"] = rows[4]["unit"] = ""
    found = assess_reproduction(rows)
    tables = {f"table:{table.name}" for table in found.tables()} | {"table:conditions"}
    assert {(c.code, c.severity) for c in found.cautions} == {
        ("single", "warning"), ("zero-mean", "warning"), ("scale-minimum", "warning"), ("two-measurements", "warning"),
        ("no-conditions", "warning"), ("not-reported", "warning"), ("no-spread", "warning"), ("converted", "note"),
        ("words-for-nothing", "note"),
    }  # fmt: skip
    assert all(c.about in {*tables, "data"} for c in found.cautions)
    severities = [c.severity for c in found.cautions]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)


@pytest.mark.parametrize(
    ("rows", "state"),
    [
        (complete([50.0, 51.0]), "yes"),
        (measured([50.0, 51.0]), "unclear"),
        ([{"object": "x", "measurand": "F1", "value": "high"}], "no"),
        ([{"thing": "x"}], "no"),
    ],
)
def test_measurements_are_fit_unless_something_is_found(rows: list[dict[str, Any]], state: str) -> None:
    found = audit_measurements(rows)
    assert found.state == state
    lines = str(found).splitlines()
    assert len(lines) <= 24
    assert lines[-1] == found.signature
    assert len(found.headline.split()) <= 25


def test_other_kinds_answer_in_few_lines() -> None:
    rng = np.random.default_rng(1)
    many = [
        {"study": f"study number {s}", "item": i, "score": float(rng.normal()), "label": str(rng.integers(3))}
        for s in range(12)
        for i in range(20)
    ]
    for found in (compare_score_sets(many), agree_on_labels(many), compare_findings(belz2022())):
        lines = str(found).splitlines()
        assert found.state is None
        assert len(lines) <= 24
        assert re.search(r"\d more: --full", str(found))
        assert len(found.headline.split()) <= 25
        assert found.describe_method().sentences


def test_a_long_name_keeps_its_ends_in_the_headline() -> None:
    name = f"{'x' * 300}-large"
    rows = [{"object": name, "measurand": "BLEU", "value": value, "performed_by": str(value)} for value in (30, 31, 33)]
    found = holdsup.assess_reproduction(rows)
    assert name in found.headline
    assert name not in "".join(str(found).splitlines()[:-1])
    assert "xxx…" in str(found)
    assert "large BLEU" in str(found)
    assert max(map(len, str(found).splitlines()[:2])) <= 80
