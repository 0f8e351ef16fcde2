"""The site is built from the documents: every page is listed, no link leads nowhere, and nothing is fetched by its pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for name in ("sphinx", "myst_parser", "furo"):
        pytest.importorskip(name, reason="the site needs pip install 'holdsup[docs]'")
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    command = [ROOT / "scripts/docs", folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_document_is_a_page(site: Path) -> None:
    documents = {path.relative_to(ROOT / "docs").with_suffix("") for path in (ROOT / "docs").rglob("*.md")}
    pages = {path.relative_to(site).with_suffix("") for path in site.rglob("*.html")}
    assert len(documents) > 40
    assert documents <= pages


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(?:script|img|iframe|link)[^>]*(?:src|href)=[\"'](?:https?:)?//", text), page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


def test_formulas_are_shown_without_a_script(site: Path) -> None:
    page = (site / "maths/compare.html").read_text(encoding="utf-8")
    assert page.count("<math") > 10
    assert r"\frac" not in page
