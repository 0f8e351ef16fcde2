"""Data as text: numbers where nothing is lost by it, text as it is written elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdsup.errors import ColumnError
from holdsup.experiment.corpora import Corpus, read_corpus
from holdsup.experiment.sources import digest_file


def corpus(path: Path, targets: list[str], **more: Any) -> Corpus:
    """Return a corpus whose CSV file has these targets."""
    path.write_text("x;y\n" + "".join(f"a;{target}\n" for target in targets))
    return read_corpus({"path": str(path), "digest": digest_file(path), "input": "x", "target": "y", **more})


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (["1.1", "1.10"], "'1.1' and '1.10' would be one number"),
        (["1", "1.0", "2"], "'1' and '1.0' would be one number"),
        (["7", "007"], "'007' is not how a number is written"),
        (["+1", "2"], "'+1' is not how a number is written"),
        (["1", "9007199254740993"], "'9007199254740993' has more digits than a number keeps"),
        (["1e3", "1000"], "'1e3' and '1000' would be one number"),
    ],
)
def test_codes_that_look_like_numbers_stay_as_they_are_written(tmp_path: Path, written: list[str], why: str) -> None:
    found = corpus(tmp_path / "d.csv", written)
    assert found.targets == written
    assert found.spelled == {"y": why}


@pytest.mark.parametrize(
    ("written", "numbers"),
    [
        (["1", "2", "1"], [1, 2, 1]),
        (["1.0", "2.0"], [1, 2]),
        (["0.5", "-1.25", "3", "2e-3"], [0.5, -1.25, 3.0, 0.002]),
        (["0,5", "1,25"], [0.5, 1.25]),
        (["0.0", "-0.0", "0.5"], [0.0, -0.0, 0.5]),  # two numbers: a float has the sign
        ([" 1", "2 "], [1, 2]),
    ],
)
def test_numbers_are_numbers(tmp_path: Path, written: list[str], numbers: list[float]) -> None:
    found = corpus(tmp_path / "d.csv", written)
    assert [repr(value) for value in found.targets] == [repr(value) for value in numbers]
    assert found.spelled == {}


def test_text_further_down_makes_a_column_text_without_a_word_on_numbers(tmp_path: Path) -> None:
    written = [str(i) for i in range(300)] + ["other"]
    found = corpus(tmp_path / "d.csv", written)
    assert (found.targets, found.spelled) == (written, {})


@pytest.mark.parametrize("missing", ["", "NA", "nan"])
def test_a_missing_number_is_refused_and_makes_no_text_of_the_others(tmp_path: Path, missing: str) -> None:
    with pytest.raises(ColumnError, match=r"line 3 of .*d.csv has no 'y'"):
        corpus(tmp_path / "d.csv", ["1.5", missing, "2"])


def test_where_numbers_are_needed_every_way_to_write_one_will_do(tmp_path: Path) -> None:
    assert corpus(tmp_path / "d.csv", ["1", "1.0", "+2.50", "007"], numbers=True).targets == [1.0, 1.0, 2.5, 7.0]
    with pytest.raises(ColumnError, match=r"line 3 of .*d.csv has 'two' as 'y', which is not a number"):
        corpus(tmp_path / "d.csv", ["1", "two"], numbers=True)
