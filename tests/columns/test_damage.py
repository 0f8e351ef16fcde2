"""Damaged and hostile bytes are read or refused in one line: never another exception, a crash or a hang."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import os
import pickle
import random
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st

from holdsup.errors import HoldsupError, ReadError
from holdsup.scores import Scores, read_scores

relaxed = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
ROWS = 120
TABLE = pa.table(
    {
        "system": ["A", "B"] * (ROWS // 2),
        "item": [f"i{i // 2}" for i in range(ROWS)],
        "seed": list(range(ROWS)),
        "score": np.random.default_rng(0).random(ROWS),
        "kind": pa.array(["x", "y"] * (ROWS // 2)).dictionary_encode(),
    }
)


def parquet(**options: object) -> bytes:
    raw = io.BytesIO()
    pq.write_table(TABLE, raw, **options)
    return raw.getvalue()


def lines() -> bytes:
    return "".join(json.dumps(record) + "\n" for record in TABLE.to_pylist()).encode()


def read_or_refuse(path: Path) -> Scores | None:
    """Return the scores, all of them looked at, or None after a refusal in one line."""
    try:
        scores = read_scores(path)
        str(scores)
        scores.to_arrow().validate(full=True)
    except HoldsupError as error:
        refusal = str(error)
    else:
        return scores
    assert refusal.isprintable(), refusal
    assert len(refusal) < 2_000
    return None


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.txt"])
@relaxed
@given(raw=st.one_of(st.binary(max_size=300), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))))
@example(raw=b"PAR1")
@example(raw=b"PAR1PAR1")
@example(raw=b"\x1f\x8b")
@example(raw=b"\xff\xfe")
@example(raw=b"\xff\xfe{\x00")
@example(raw=b"\xef\xbb\xbf")
@example(raw=b'{"a": {"score": 1}}')
@example(raw=b'{"score": [1]}\n{"score": [2]}')
@example(raw=b'{"score": 1}\n{"score": {"a": 2}}\n')
@example(raw=b'"')
@example(raw=b'score\n"1\n')
@example(raw=b"[1, 2]")
@example(raw=b"[]")
@example(raw=b"{}")
@example(raw=b"\n\n\n")
@example(raw=b",\n,\n")
@example(raw=b"score\r1\r2\r")
def test_arbitrary_bytes_are_read_or_refused_in_one_line(raw: bytes, name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(raw)
    read_or_refuse(tmp_path / name)


@pytest.mark.parametrize(
    "start", ["system,item,score\n", "item\tscore\n", '{"system":"A","item":1,"score":1}\n', "PAR1"]
)
@relaxed
@given(rest=st.text('abA01.,;"\n\r\t {}[]:\\-é', max_size=120))
def test_almost_tables_are_read_or_refused_in_one_line(start: str, rest: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(start + rest, newline="")
    read_or_refuse(tmp_path / "x")


@pytest.mark.parametrize("options", [{}, {"compression": "zstd"}, {"compression": "none", "use_dictionary": False}])
def test_a_truncated_parquet_file_is_refused_at_every_cut(options: dict[str, object], tmp_path: Path) -> None:
    whole = parquet(**options)
    path = tmp_path / "x.parquet"
    for cut in [*range(0, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:cut])
        assert read_or_refuse(path) is None


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_truncated_compressed_file_is_refused_at_every_cut(pack: object, tmp_path: Path) -> None:
    whole = pack(lines())
    path = tmp_path / "x.jsonl.gz"
    for cut in [*range(0, len(whole), 7), len(whole) - 1]:
        path.write_bytes(whole[:cut])
        assert read_or_refuse(path) is None


@pytest.mark.parametrize("options", [{}, {"compression": "none"}, {"compression": "zstd", "write_page_checksum": True}])
def test_bit_flips_in_parquet_never_end_the_process(options: dict[str, object], tmp_path: Path) -> None:
    """Asked about a damaged column chunk, pyarrow 26 aborts; half of the flips go to the footer, where that lies."""
    whole = parquet(**options)
    footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
    chance = random.Random(0)
    path = tmp_path / "x.parquet"
    for _ in range(400):
        raw = bytearray(whole)
        for _ in range(chance.choice([1, 1, 3])):
            raw[chance.randrange(footer if chance.random() < 0.5 else 0, len(raw))] ^= 1 << chance.randrange(8)
        path.write_bytes(raw)
        read_or_refuse(path)


def test_a_flipped_bit_in_a_checksummed_page_is_refused(tmp_path: Path) -> None:
    whole = bytearray(parquet(compression="none", use_dictionary=False, write_page_checksum=True))
    score = np.asarray(TABLE["score"]).tobytes()
    whole[whole.index(score) + 100] ^= 1
    (tmp_path / "x.parquet").write_bytes(whole)
    with pytest.raises(ReadError, match="damaged Parquet"):
        read_scores(tmp_path / "x.parquet")


def test_bit_flips_in_gzip_never_change_a_number(tmp_path: Path) -> None:
    whole = gzip.compress(lines(), mtime=0)
    expected = TABLE["score"].to_pylist()
    chance = random.Random(0)
    path = tmp_path / "x.jsonl.gz"
    for _ in range(300):
        raw = bytearray(whole)
        raw[chance.randrange(len(raw))] ^= 1 << chance.randrange(8)
        path.write_bytes(raw)
        scores = read_or_refuse(path)
        assert scores is None or scores.score.tolist() == expected


@pytest.mark.parametrize(
    ("before", "filler", "after"),
    [
        (b"", b"a", b""),
        (b"item,score\n1,0.5\n", b"a", b"\n"),
        (b"i1 0.5\ni2 0.5\n", b"a", b"\n"),
        (b'item,score\n1,0.5\n2,"', b"a\n", b""),
        (b'{"item":1,"score":1}\n{"item":"', b"a", b'","score":1}\n'),
        (b'{"item":1,"score":"x"}\n{"item":1,"score":1}\n{"item":"', b"a", b'","score":1}\n'),
        (b'{"item":1,"sco', b"a", b""),
    ],
    ids=["one line", "csv", "blanks", "open quote", "jsonl", "jsonl of mixed types", "broken json"],
)
def test_a_giant_line_is_refused_before_it_is_all_read(
    before: bytes, filler: bytes, after: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "x"
    path.write_bytes(before + filler * (50 * 2**20 // len(filler)) + after)
    with pytest.raises(ReadError, match=r"longer than 4 MiB|within quotation marks") as caught:
        read_scores(path)
    assert str(caught.value).isprintable()


NESTED = pytest.mark.parametrize(
    ("opening", "closing"),
    [("[", "]"), ('{"a":', "}"), ('\n{"a":[', "]}"), ('["]",', "]"), ('["\\"]",', "]")],
    ids=["arrays", "objects", "over lines", "brackets in text", "escaped quotes"],
)


def nested_file(opening: str, closing: str, depth: int, folder: Path) -> Path:
    flat = '{"item":1,"score":0.5}\n'
    nested = '{"item":1,"score":0.5,"x":' + opening * depth + "1" + closing * depth + "}\n"
    (folder / "x.jsonl").write_text(flat + nested + flat)
    return folder / "x.jsonl"


@NESTED
def test_deeply_nested_json_is_refused(opening: str, closing: str, tmp_path: Path) -> None:
    """Arrow's parser recurses: 50,000 levels overrun its stack and end the process."""
    with pytest.raises(ReadError):
        read_scores(nested_file(opening, closing, 200_000, tmp_path))


@NESTED
def test_json_as_deep_as_python_reads_ends_no_process(opening: str, closing: str, tmp_path: Path) -> None:
    """Python 3.11 refuses 1,000 levels, later ones read them: both will do."""
    with contextlib.suppress(ReadError):
        assert len(read_scores(nested_file(opening, closing, 1_000, tmp_path))) == 3


def test_json_with_a_few_levels_and_brackets_in_its_text_is_read(tmp_path: Path) -> None:
    record = {"item": 1, "score": 0.5, "text": 'a [[[ "{" \\ ', "tags": [[{"y": 1}]]}
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({**record, "item": i}) + "\n" for i in range(500)))
    scores = read_scores(tmp_path / "x.jsonl")
    assert scores.others["text"].names == (record["text"],)
    assert "tags" not in scores.others


def test_a_decompression_bomb_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"item,score\n" + b"1,1\n" * (24 * 2**20)))
    with pytest.raises(ReadError, match="200 times"):
        read_scores(tmp_path / "x.csv.gz")


def test_a_compressible_file_of_harmless_size_is_read(tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(b"item,score\n" + b"1,1\n" * 2**20))
    assert len(read_scores(tmp_path / "x.csv.gz")) == 2**20


def test_a_parquet_file_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    values = pa.array(np.zeros(12 * 2**20))
    pq.write_table(pa.table({"score": values}), tmp_path / "x.parquet", compression="zstd", use_dictionary=False)
    with pytest.raises(ReadError, match="200 times"):
        read_scores(tmp_path / "x.parquet")


def test_a_parquet_file_of_endless_runs_is_refused(tmp_path: Path) -> None:
    """Run lengths need no compression: 12 million equal scores take a few hundred bytes."""
    pq.write_table(pa.table({"score": pa.array(np.zeros(12 * 2**20))}), tmp_path / "x.parquet")
    assert (tmp_path / "x.parquet").stat().st_size < 60_000
    with pytest.raises(ReadError, match="200 times"):
        read_scores(tmp_path / "x.parquet")


def test_records_that_share_no_field_are_refused_before_they_fill_memory() -> None:
    with pytest.raises(ReadError, match="different fields"):
        read_scores([{f"f{i}": 1 for i in range(30_000)}])
    with pytest.raises(ReadError, match="200 times"):
        read_scores([{f"f{i}": 1} for i in range(19_000)])


class Trap:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (os.mkdir, ("trapped",))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_pickle_is_never_loaded(protocol: int, pack: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_bytes(pack(pickle.dumps(Trap(), protocol)))
    with pytest.raises(ReadError, match="is a pickle"):
        read_scores("x.csv")
    assert not Path("trapped").exists()


def test_text_in_parquet_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    raw = parquet(compression="none", use_dictionary=False)
    (tmp_path / "x.parquet").write_bytes(raw.replace(b"\x02\x00\x00\x00i7\x02", b"\x02\x00\x00\x00\xff\xfe\x02"))
    with pytest.raises(HoldsupError, match="UTF"):
        read_scores(tmp_path / "x.parquet")
