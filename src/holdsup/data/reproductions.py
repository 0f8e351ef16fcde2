"""Published measurements and what was published about them: Belz, Popović and Mille (2022)."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import as_file, files

from holdsup.measurements import Measurement, read_measurements

__all__ = ["PublishedGroup", "PublishedPrecision", "belz2022", "belz2022_groups", "belz2022_table"]


@dataclass(frozen=True, slots=True)
class PublishedPrecision:
    """A row of Tables 2, 4 and 6 of the paper, as printed.

    Attributes
    ----------
    object : what was measured
    measurand : the quantity measured
    n : how many measurements there are
    mean : their mean on a scale that starts at 0
    sd : their standard deviation, corrected for its bias
    sd_low, sd_high : the limits of its 95 % interval
    cv : CV*, in percent
    """

    object: str
    measurand: str
    n: int
    mean: float
    sd: float
    sd_low: float
    sd_high: float
    cv: float


@dataclass(frozen=True, slots=True)
class PublishedGroup:
    """Some measurements of one object and measurand, for which section 4.1 of the paper gives CV* of their own.

    Attributes
    ----------
    title : what they have in common
    measurements : the measurements
    cv : CV* as printed, in percent
    """

    title: str
    measurements: tuple[Measurement, ...]
    cv: float


def belz2022() -> tuple[Measurement, ...]:
    """Return the 116 measurements of the paper: 6 in Tables 2 and 3, 22 in Tables 4 and 5, 88 in Tables 6 and 7.

    >>> measurements = belz2022()
    >>> len(measurements), len({(one.object, one.measurand) for one in measurements})
    (116, 18)
    """
    with as_file(files("holdsup.data") / "belz2022.csv") as path:
        return read_measurements(path)


def belz2022_table() -> tuple[PublishedPrecision, ...]:
    """Return what the paper prints about each of its 18 objects and measurands."""
    text = (files("holdsup.data") / "belz2022_table.csv").read_text(encoding="utf-8")
    return tuple(_published(row) for row in csv.DictReader(text.splitlines()))


def _published(row: dict[str, str]) -> PublishedPrecision:
    numbers = {name: float(row[name]) for name in ("mean", "sd", "sd_low", "sd_high", "cv")}
    return PublishedPrecision(object=row["object"], measurand=row["measurand"], n=int(row["n"]), **numbers)


# Section 4.1: the same outputs differ only through the scripts that score them; outputs that are generated anew and
# scored with the same script (≈ counts as the same there) differ through where the system was built.
SAME, ANEW = "same outputs", "outputs generated anew, same script"
SECTION_4_1 = {
    ("NTS_def", "BLEU", SAME): 0.838,
    ("NTS_def", "SARI", SAME): 0.0,
    ("NTS-w2v_def", "BLEU", SAME): 1.314,
    ("NTS-w2v_def", "SARI", SAME): 0.0,
    ("NTS_def", "BLEU", ANEW): 2.154,
    ("NTS_def", "SARI", ANEW): 3.11,
    ("NTS-w2v_def", "BLEU", ANEW): 6.598,
    ("NTS-w2v_def", "SARI", ANEW): 4.05,
}


def belz2022_groups() -> tuple[PublishedGroup, ...]:
    """Return the groups of measurements that section 4.1 of the paper compares."""
    groups = []
    for (name, measurand, title), cv in SECTION_4_1.items():
        chosen = (one for one in belz2022() if (one.object, one.measurand) == (name, measurand))
        groups.append(PublishedGroup(title, tuple(one for one in chosen if _is_in(one, title)), cv))
    return tuple(groups)


def _is_in(one: Measurement, title: str) -> bool:
    trained, performed = one.conditions["compile_training"], one.conditions["performed_by"]
    if title == SAME:
        return trained == "Nisioi et al."
    return trained == performed and one.conditions["implementation"] != "SacreBLEU"
