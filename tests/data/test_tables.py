"""The measurements that ship, against what the paper prints about them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from math import gamma, sqrt
from pathlib import Path
from statistics import fmean, stdev, variance

import pytest
import scipy.stats

from holdsup.data import PublishedPrecision, belz2022, belz2022_groups, belz2022_table
from holdsup.measurements import CONDITIONS


def c4(n: int) -> float:
    return sqrt(2 / (n - 1)) * gamma(n / 2) / gamma((n - 1) / 2)


def cv_star(values: Sequence[float]) -> float:
    """CV* by the formulas of section 3.2, written out here."""
    n = len(values)
    return (1 + 1 / (4 * n)) * 100 * (stdev(values) / c4(n)) / fmean(values)


def shifted(row: PublishedPrecision) -> list[float]:
    chosen = [one for one in belz2022() if (one.object, one.measurand) == (row.object, row.measurand)]
    return [one.value - one.scale_minimum for one in chosen]


def test_there_are_116_measurements_as_the_paper_states() -> None:
    systems = Counter(one.object.partition("-")[0].partition("_")[0] for one in belz2022())
    assert systems == {"PASS": 6, "NTS": 22, "mult": 88}


def test_the_csv_files_are_in_the_package() -> None:
    assert (files("holdsup.data") / "belz2022.csv").is_file()
    assert (files("holdsup.data") / "belz2022_table.csv").is_file()
    assert (files("holdsup.data") / "README.md").is_file()


def test_every_measurement_has_all_seven_conditions_and_a_source() -> None:
    for one in belz2022():
        assert list(one.conditions) == list(CONDITIONS)
        assert one.source


def test_only_ratings_have_a_scale_that_starts_at_one_and_only_stance_is_in_percent() -> None:
    assert {one.measurand for one in belz2022() if one.scale_minimum == 1} == {"Clarity", "Fluency"}
    assert {one.measurand for one in belz2022() if one.unit} == {"Stance identifiability"}


@pytest.mark.parametrize("row", belz2022_table(), ids=lambda row: f"{row.object}-{row.measurand}")
def test_the_measurements_give_every_number_of_tables_2_4_and_6(row: PublishedPrecision) -> None:
    values = shifted(row)
    sd = stdev(values) / c4(len(values))
    assert len(values) == row.n
    assert fmean(values) == pytest.approx(row.mean, abs=0.0051)  # printed with two decimals or more
    assert sd == pytest.approx(row.sd, abs=0.0051)
    assert cv_star(values) == pytest.approx(row.cv, abs=0.00051)  # printed with three
    half = scipy.stats.t.ppf(0.975, row.n - 1) * variance(values) * sqrt(2 / (row.n - 1)) / (2 * sd)
    assert (sd - half, sd + half) == (pytest.approx(row.sd_low, abs=0.0051), pytest.approx(row.sd_high, abs=0.0051))


def test_the_measurements_give_every_number_of_section_4_1() -> None:
    groups = belz2022_groups()
    assert len(groups) == 8
    for group in groups:
        values = [one.value for one in group.measurements]
        assert cv_star(values) == pytest.approx(group.cv, abs=0.00051), group.title


def test_the_table_agrees_with_an_independent_transcription(real_data: Path) -> None:
    """That of the inputs, made for another purpose, beside the project."""
    with (real_data / "belz_qra/qra_inputs_and_paper_values.csv").open(encoding="utf-8", newline="") as file:
        found = [
            (row["values"].split(), float(row["paper_cvstar"])) for row in csv.DictReader(file) if row["row"][0] == "T"
        ]
    transcribed = {
        cv: sorted(map(float, values)) for values, cv in found if values not in (["5.64", "6.3"], ["91", "97"])
    }
    published = {row.cv: row for row in belz2022_table()}
    assert transcribed.keys() == published.keys()
    for cv, row in published.items():
        low = 1.0 if row.measurand in ("Clarity", "Fluency") else 0.0
        assert transcribed[cv] == pytest.approx(sorted(value + low for value in shifted(row)))
