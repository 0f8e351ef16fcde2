"""Write tests/fit/glmer_reference.json: what glmer says on the cases of tests/fit/glmer_cases.py.

    python scripts/reference/make_glmer.py

Needs R with lme4 and jsonlite.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "tests/fit/glmer_reference.json"
sys.path.insert(0, str(ROOT / "tests/fit"))

from glmer_cases import CASES  # noqa: E402 (it lives beside the tests)


def ask() -> dict[str, Any]:
    """Return R's answers."""
    with tempfile.TemporaryDirectory() as name:
        folder, listed = Path(name), []
        for number, case in enumerate(CASES):
            columns = case.make()
            with (folder / f"{number}.csv").open("w", newline="") as stream:
                writer = csv.writer(stream)
                writer.writerow(columns)
                writer.writerows(zip(*columns.values(), strict=True))
            factors = {name: sorted(set(values)) for name, values in columns.items() if isinstance(values, list)}
            formula = case.r_formula or case.formula
            told = {"file": f"{number}.csv", "name": case.name, "formula": formula, "one_factor": case.one_factor}
            listed.append({**told, "factors": factors})
        (folder / "cases.json").write_text(json.dumps(listed))
        subprocess.run(["Rscript", "--vanilla", str(Path(__file__).with_name("glmer.R")), name], check=True)
        return dict(json.loads((folder / "answers.json").read_text()))


def rounded(value: Any) -> Any:
    """Return numbers with 10 digits."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {key: rounded(v) for key, v in value.items()}
    return [rounded(v) for v in value] if isinstance(value, list) else value


if __name__ == "__main__":
    said = ask()
    lines = [f"    {json.dumps(a.pop('name'))}: {json.dumps(rounded(a))}" for a in said["answers"]]
    head = f'{{\n  "versions": {json.dumps(said["versions"])},\n  "answers": {{\n'
    REFERENCE.write_text(head + ",\n".join(lines) + "\n  }\n}\n")
