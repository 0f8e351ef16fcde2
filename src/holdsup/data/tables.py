"""Tables that ship: what Belz, Popović and Mille (2022) measured and printed, and scores of text classifiers."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.resources import as_file, files

import pyarrow as pa
import pyarrow.parquet as pq

from holdsup.measurements import Measurement, read_measurements


@dataclass(frozen=True, slots=True)
class PublishedPrecision:
    """A row of Tables 2, 4 and 6 of the paper, as printed."""

    object: str  # what was measured
    measurand: str  # the quantity measured
    n: int  # how many measurements there are
    mean: float  # their mean on a scale that starts at 0
    sd: float  # their standard deviation, corrected for its bias
    sd_low: float  # the limits of its 95 % interval
    sd_high: float
    cv: float  # CV*, in percent


@dataclass(frozen=True, slots=True)
class PublishedGroup:
    """Some measurements of one object and measurand, for which section 4.1 of the paper gives CV* of their own."""

    title: str  # what they have in common
    measurements: tuple[Measurement, ...]  # the measurements
    cv: float  # CV* as printed, in percent


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
    _, *rows = csv.reader(text.splitlines())
    return tuple(PublishedPrecision(name, measurand, int(n), *map(float, rest)) for name, measurand, n, *rest in rows)


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
    for (*named, title), cv in SECTION_4_1.items():
        chosen = (one for one in belz2022() if [one.object, one.measurand] == named and _title_fits(one, title))
        groups.append(PublishedGroup(title, tuple(chosen), cv))
    return tuple(groups)


def _title_fits(one: Measurement, title: str) -> bool:
    trained, performed = one.conditions["compile_training"], one.conditions["performed_by"]
    if title == SAME:
        return trained == "Nisioi et al."
    return trained == performed and one.conditions["implementation"] != "SacreBLEU"


def text_classifiers() -> pa.Table:
    """Return the accuracy of 3,840 text classifiers that were trained for this project, a row each.

    4 families of classifiers (system) x 8 datasets x 5 seeds x 4 learning rates x 2 batch sizes x 3 numbers of epochs,
    each trained on 700 texts and tested on 300. `replications/text_grid` has the systems, the spec and how the datasets
    were cut.

    >>> table = text_classifiers()
    >>> table.num_rows, table.column_names
    (3840, ['dataset', 'system', 'seed', 'learning_rate', 'batch_size', 'epochs', 'score'])
    """
    with as_file(files("holdsup.data") / "text_classifiers.parquet") as path:
        return pq.read_table(path)
