"""The example notebook runs, and results render in it."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

from waiting import LIMIT


@pytest.mark.slow
def test_the_example_notebook_runs_and_shows_results_as_html(root: Path, tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="nbclient is not installed: pip install '.[dev]'")
    nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: pip install '.[dev]'")
    shutil.copy(root / "examples/scores.csv", tmp_path)
    notebook = nbformat.read(root / "examples/scores.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # what it shows is made anew by who opens it
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of the notebook's own machinery
        nbclient.NotebookClient(notebook, timeout=LIMIT, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    assert not [output for output in shown if output.output_type == "stream"]  # no warning was printed
    html = "".join(_html(output) for output in shown)
    assert html.count('<section class="holdsup">') == 3
    assert any("image/png" in output.get("data", {}) for output in shown)
    assert (tmp_path / "page.html").is_file()


def _html(output: Any) -> str:
    found = output.get("data", {}).get("text/html", "")
    return str("".join(found))
