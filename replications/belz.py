"""Do the results of Belz, Popović and Mille (2022) come out again, and how repeatable are 100 trainings of one system?

    python replications/belz.py [FOLDER]

Prints published, obtained and difference of every CV*, mean, standard deviation and interval of Tables 2, 4 and 6, and
of the values of CV* in section 4.1. Exits with 1 if one is not the printed number after rounding. The measurements ship
with the package. Two of them are unrounded, because the published results need it: Clarity 6.2975 (printed as 6.30) and
stance identifiability 96.75 (printed as 97 in Table 2, as 96.75 in Table 3).

FOLDER holds berts_of_a_feather_accuracies_by_run.csv of tommccoy1/hans: 100 trainings of BERT on MNLI, which differ in
the seed alone, each evaluated on the sub-cases of HANS (McCoy, Min & Linzen 2020). By default it is
../shared/data/feather_berts from the project's folder; where it is not there, this part is left out.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from holdsup import Reproduction, assess_repeatability, assess_reproduction
from holdsup.data import belz2022, belz2022_groups, belz2022_table
from holdsup.rendering.text import render_text

ROOT = Path(__file__).resolve().parent.parent
FILE = "berts_of_a_feather_accuracies_by_run.csv"
SUMMARIES = 8  # columns after the run that are averages over sub-cases
MEASURES = {"mean": 2, "sd": 2, "sd_low": 2, "sd_high": 2, "cv": 3}  # and the decimals printed, more in some rows


def published() -> list[tuple[str, int, float, float]]:
    """Return a name, the decimals printed, the number published and the number obtained, for every number."""
    found = {(a.object, a.measurand): a for a in assess_reproduction(belz2022()).assessments}
    rows = []
    for row in belz2022_table():
        for measure, decimals in MEASURES.items():
            value = getattr(row, measure)
            printed = max(decimals, len(repr(value).partition(".")[2]))
            obtained = getattr(found[row.object, row.measurand], measure)
            rows.append((f"{row.object}, {row.measurand}: {measure}", printed, value, obtained))
    for group in belz2022_groups():
        own = assess_reproduction(group.measurements).assessments[0]
        name = f"section 4.1, {group.title}: {own.object}, {own.measurand}"
        rows.append((name, MEASURES["cv"], group.cv, own.cv))
    return rows


def agrees(decimals: int, value: float, obtained: float) -> bool:
    """Return whether a number is the printed one after rounding."""
    return abs(obtained - value) <= 0.5 * 10**-decimals + 1e-9


def hans(folder: Path) -> Reproduction:
    """Return the repeatability of each sub-case of HANS over the 100 trainings."""
    with (folder / FILE).open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    runs = [row for row in rows if row[0].startswith("Run ")]  # below them stand their extremes and means
    table = [
        {"system": "BERT", "seed": row[0], "dataset": name, "score": float(value)}
        for row in runs
        for name, value in zip(head[1 + SUMMARIES :], row[1 + SUMMARIES :], strict=True)
    ]
    return assess_repeatability(table, item="-")


def main() -> None:
    """Print every case, and exit with 1 if one is off."""
    off = 0
    print(f"{'':72} {'published':>10} {'obtained':>12} {'difference':>12}")
    for name, decimals, value, obtained in published():
        wrong = not agrees(decimals, value, obtained)
        off += wrong
        print(f"{name:72} {value:10.3f} {obtained:12.5f} {obtained - value:+12.5f}{'  off' if wrong else ''}")
    print(f"{off} numbers are off\n" if off else "All numbers agree.\n")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/data/feather_berts"
    if not folder.is_dir():
        print(f"{folder} is not there: the repeatability of the sub-cases of HANS is left out.")
    else:
        found = hans(folder)
        print(found.verdict)
        print(render_text(found.tables()[0]))
        for warning in found.warnings:
            print(warning)
    sys.exit(int(off > 0))


if __name__ == "__main__":
    main()
