"""Write tests/fit/lme4_reference.json: what lme4 and lmerTest say on the cases of tests/fit/lme4_cases.py.

    python scripts/reference/make_lme4.py [part of a name]

Needs R with lme4, lmerTest and jsonlite. With a part of a name, only the cases that have it are fitted anew.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "tests/fit/lme4_reference.json"
sys.path.insert(0, str(ROOT / "tests/fit"))

from lme4_cases import CASES, Case  # noqa: E402 (it lives beside the tests)


def write_case(case: Case, file: Path) -> dict[str, list[str]]:
    """Write the data of a case as CSV and return the levels of its factors."""
    columns = case.make()
    texts, factors = {}, {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            texts[name] = ["" if math.isnan(v) else repr(float(v)) for v in values]
        else:
            texts[name] = ["" if v is None else v for v in values]
            factors[name] = [*sorted({v for v in values if v is not None}), *case.unused.get(name, ())]
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(texts)
        writer.writerows(zip(*texts.values(), strict=True))
    return factors


def ask(cases: list[Case]) -> dict[str, Any]:
    """Return R's answers on some cases, by REML and by ML."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        listed = []
        for number, case in enumerate(cases):
            factors = write_case(case, folder / f"{number}.csv")
            shared = {"file": f"{number}.csv", "name": case.name, "formula": case.r_formula or case.formula}
            for reml in (True, False):
                listed.append({**shared, "weights": case.weights, "factors": factors, "reml": reml})
        (folder / "cases.json").write_text(json.dumps(listed))
        subprocess.run(["Rscript", "--vanilla", str(Path(__file__).with_name("lme4.R")), name], check=True)
        return dict(json.loads((folder / "answers.json").read_text()))


def rounded(value: Any) -> Any:
    """Return numbers with 12 digits."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: rounded(v) for key, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


def entry(answer: dict[str, Any]) -> dict[str, Any]:
    """Return one answer as it is stored."""
    random = []
    for row in answer.pop("random"):
        terms = [row[name] for name in ("var1", "var2") if row.get(name) is not None]
        random.append({"group": row["grp"], "terms": terms, "vcov": row["vcov"], "sdcor": row.get("sdcor")})
    return dict(rounded({**answer, "random": random}))


def main() -> None:
    """Fit the cases and write the file."""
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    chosen = [case for case in CASES if part in case.name]
    said = ask(chosen)
    known = json.loads(REFERENCE.read_text())["answers"] if part else {}
    for answer in said["answers"]:
        if "error" in answer:
            sys.exit(f"{answer['name']}: {answer['error']}")
        name, method = answer.pop("name"), "reml" if answer.pop("reml") else "ml"
        known.setdefault(name, {})[method] = entry(answer)
    ordered = {case.name: known[case.name] for case in CASES}
    lines = []
    for name, both in ordered.items():
        answers = ",\n".join(f"      {json.dumps(method)}: {json.dumps(found)}" for method, found in both.items())
        lines.append(f"    {json.dumps(name)}: {{\n{answers}\n    }}")
    head = f'{{\n  "versions": {json.dumps(said["versions"])},\n  "answers": {{\n'
    REFERENCE.write_text(head + ",\n".join(lines) + "\n  }\n}\n")


if __name__ == "__main__":
    main()
