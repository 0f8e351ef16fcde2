"""Members of zip archives, whatever packs them, within limits; damage is told, never read."""

from __future__ import annotations

import random
import zipfile
from pathlib import Path

import pytest
from zips import DEFLATED, STORED, ZSTD, write_zip

from holdsup.columns import limits
from holdsup.errors import ReadError
from holdsup.logs.archives import Archive

METHODS = pytest.mark.parametrize("method", [STORED, DEFLATED, ZSTD])
TEXT = "".join(random.Random(1).choices('{"abc": 12}\n', k=5_000)).encode()


@METHODS
def test_members_come_out_as_they_went_in(tmp_path: Path, method: int) -> None:
    with Archive(write_zip(tmp_path / "a.eval", [("a.json", TEXT), ("b.json", b"")], method=method)) as archive:
        assert archive.names == ["a.json", "b.json"]
        assert archive.open("a.json").read() == TEXT
        assert archive.open("b.json").read() == b""


def test_the_archives_of_these_tests_are_those_of_zipfile(tmp_path: Path) -> None:
    with zipfile.ZipFile(write_zip(tmp_path / "a.zip", [("a.json", TEXT)], method=DEFLATED)) as archive:
        assert archive.testzip() is None
        assert archive.read("a.json") == TEXT


def test_of_members_with_one_name_the_last_counts(tmp_path: Path) -> None:
    with Archive(write_zip(tmp_path / "a.eval", [("a.json", b"1"), ("a.json", b"2")])) as archive:
        assert archive.names == ["a.json"]
        assert archive.document("a.json") == 2


@METHODS
def test_a_changed_byte_is_never_read_as_if_it_were_right(tmp_path: Path, method: int) -> None:
    path = write_zip(tmp_path / "a.eval", [("a.json", TEXT)], method=method)
    whole = path.read_bytes()
    for place in random.Random(2).sample(range(len(whole)), 300):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            with Archive(path) as archive:
                read = [archive.open(name).read() for name in archive.names]
        except ReadError:
            read = []
        assert read in ([TEXT], [])  # a date or a name may be another


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "a.eval", [("a.json", TEXT)])
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ReadError, match="not a whole zip archive"):
        Archive(path)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "HARMLESS", 2**16)  # so that a small bomb will do
    path = write_zip(tmp_path / "a.eval", [("a.json", bytes(2**17))], method=DEFLATED)
    with Archive(path) as archive, pytest.raises(ReadError, match="unpacks to more than 200 times its size"):
        archive.open("a.json")


def test_an_encrypted_member_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    with (
        Archive(write_zip(tmp_path / "a.eval", [("a.json", TEXT)], flags=1)) as archive,
        pytest.raises(ReadError, match="encrypted"),
    ):
        archive.open("a.json")
    with pytest.raises(ReadError, match="cannot read"):
        Archive(tmp_path / "none.eval")
