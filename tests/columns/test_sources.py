"""What a user can point at: files, folders, patterns, standard input; and what is refused."""

from __future__ import annotations

import gzip
import io
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from holdsup.columns import open_tables, read_columns
from holdsup.errors import ReadError

TABLE = "item,score\na,0.5\nb,0.25\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_folder_is_its_tables_in_order_of_name(folder: Path) -> None:
    (folder / "sub").mkdir()
    for name in ("b.csv", "a.tsv", "sub/c.CSV", "notes.md", ".hidden.csv", "d.jsonl"):
        (folder / name).write_text('{"item": 1, "score": 2}' if name.endswith("l") else TABLE)
    (folder / "e.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    assert [table.stem for table in open_tables(folder)] == ["a", "b", "d", "e", "c.CSV"]


def test_a_pattern_is_the_files_that_match(folder: Path) -> None:
    (folder / "deep" / "er.csv").mkdir(parents=True)
    for name in ("run1.csv", "run2.csv", "deep/run3.csv"):
        (folder / name).write_text(TABLE)
    assert [table.stem for table in open_tables("run*.csv")] == ["run1", "run2"]
    assert [table.stem for table in open_tables("**/run*.csv")] == ["run3", "run1", "run2"]


def test_a_file_whose_name_looks_like_a_pattern_is_itself(folder: Path) -> None:
    (folder / "run[1].csv").write_text(TABLE)
    (folder / "run1.csv").write_text("other,score\n1,2\n")
    assert open_tables("run[1].csv")[0].columns == ("item", "score")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("none.csv", "there is no such file"),
        ("none*.csv", "no file matches"),
        ("", "path to read is empty"),
        (" ", "path to read is empty"),
        (Path("empty"), "has no table and no log that holdsup knows"),
        ("a\0b", "no such file|null"),
        ("x" * 5_000, "File name too long|no such file"),
        ("no\nsuch", r"'no\\nsuch'"),
        ("/dev/zero", "is a device"),
        ("socket", "is a device"),
        ("[" * 50, "cannot read"),
    ],
)
def test_a_path_that_is_no_table_is_refused_in_one_line(asked: str | Path, said: str, folder: Path) -> None:
    (folder / "empty").mkdir()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        with pytest.raises(ReadError, match=said) as caught:
            open_tables(asked)
    assert str(caught.value).isprintable()


def test_a_file_name_with_a_line_break_leaves_messages_on_one_line(folder: Path) -> None:
    (folder / "a\nb.csv").write_text("item,score\na\n")
    with pytest.raises(ReadError) as caught:
        read_columns(open_tables(folder / "a\nb.csv"), numbers=["score"])
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("address", ["http://x.org/a.csv", "https://x.org/a.csv", "s3://b/a.parquet", "file:///etc/x"])
def test_no_address_is_ever_fetched(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    with pytest.raises(ReadError, match="local files only"):
        open_tables(address)


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_read_packed_or_not(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = gzip.compress(TABLE.encode()) if packed else TABLE.encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
    (table,) = open_tables("-")
    assert (table.name, table.columns) == ("standard input", ("item", "score"))


def test_a_closed_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(ReadError, match="standard input"):
        open_tables("-")


def test_a_named_pipe_is_read(folder: Path) -> None:
    os.mkfifo("pipe")
    writer = threading.Thread(target=lambda: Path("pipe").write_text(TABLE))
    writer.start()
    assert open_tables("pipe")[0].columns == ("item", "score")
    writer.join()


@pytest.mark.parametrize(
    ("head", "said"),
    [(b"PK\x03\x04", "zip"), (b"\xfd7zXZ\0", "xz"), (b"SQLite format 3\0", "SQLite"), (b"\x93NUMPY", "NumPy"),
     (b"ARROW1\0\0", "Arrow file"), (b"%PDF-1.7", "PDF"), (b"\x7fELF\0\0", "binary")],
)  # fmt: skip
@pytest.mark.parametrize("packed", [False, True])
def test_files_of_another_kind_are_called_by_it(head: bytes, said: str, packed: bool, folder: Path) -> None:
    raw = head + b"\n" * 20
    (folder / "x.csv").write_bytes(gzip.compress(raw) if packed else raw)
    with pytest.raises(ReadError, match=said):
        open_tables("x.csv")


def test_standard_input_is_read_in_pieces_that_any_memory_limit_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    class Pipe(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            asked.append(size)
            return super().read(size)

    class Input:
        buffer = Pipe(TABLE.encode())

    monkeypatch.setattr(sys, "stdin", Input())
    assert read_columns(open_tables("-"), numbers=["score"]).lengths == (2,)
    assert all(size is not None and 0 < size <= 2**26 for size in asked)
