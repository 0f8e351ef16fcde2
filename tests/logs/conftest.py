"""What tests of readers share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def formats(root: Path) -> Path:
    """Logs that the tools themselves wrote; users do not have them."""
    folder = root.parent / "shared" / "formats"
    if not folder.is_dir():
        pytest.skip("the logs written by other tools (../shared/formats) are not on this machine")
    return folder
