"""Text files as people have them: marks, encodings, decimal commas, blanks, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdsup.columns import Columns, Labels, Numbers, open_tables, read_columns
from holdsup.errors import ColumnError, HoldsupError, ReadError


def read(tmp_path: Path, content: str | bytes, **asked: list[str]) -> Columns:
    path = tmp_path / "scores.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_columns(open_tables(path), **(asked or {"labels": ["item"], "numbers": ["score"]}))


def numbers(found: Columns, column: str = "score") -> list[float]:
    values = found.named[column]
    assert isinstance(values, Numbers)
    return values.values.tolist()


def names(found: Columns, column: str = "item") -> tuple[str, ...]:
    values = found.named[column]
    assert isinstance(values, Labels)
    return values.names


def test_truths_are_numbers_as_scores_and_labels_elsewhere(tmp_path: Path) -> None:
    text = "score,new,both\nTRUE,True,TRUE\nfalse,False,0\nNA,NA,NA\n"
    found = read(tmp_path, text, numbers=["score"], either=["new", "both"])
    assert numbers(found)[:2] == numbers(found, "both")[:2] == [1, 0]
    assert names(found, "new") == ("False", "True")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le with mark", "utf-16-be with mark"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_with_a_mark_and_all_line_ends_are_read(encoding: str, end: str, tmp_path: Path) -> None:
    text = end.join(["item,score", "é,0.5", "漢字,0.25", ""])
    code = encoding.removesuffix(" with mark")
    raw = ("\ufeff" + text if encoding.endswith("with mark") else text).encode(code)
    found = read(tmp_path, raw)
    assert (names(found), numbers(found)) == (("é", "漢字"), [0.5, 0.25])


@pytest.mark.parametrize("raw", ["item,score\na,1\n".encode("utf-16-le"), "item,score\na,1\n".encode("utf-16")[:-1]])
def test_utf16_without_a_mark_or_cut_short_is_refused(raw: bytes, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="UTF-16"):
        read(tmp_path, raw)


@pytest.mark.parametrize(
    ("text", "line"), [("items,naïve\n", "its header"), ("item,score\na,1\né,2\n", "line 3")], ids=["header", "body"]
)
def test_latin1_is_refused_with_the_line(text: str, line: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=f"not UTF-8 text .*{line}"):
        read(tmp_path, text.encode("latin-1"))


@pytest.mark.parametrize("header", ["\n\nitem,score\n", '"item",score\r\n', '"it\nem","score"\n', " item , score \n"])
def test_the_first_row_follows_the_header_however_it_is_written(header: str, tmp_path: Path) -> None:
    item = "it\nem" if "it\n" in header else "item"
    found = read(tmp_path, header + "a,0.5\nb,0.25\n", labels=[item], numbers=["score"])
    assert numbers(found) == [0.5, 0.25]


@pytest.mark.parametrize("body", ["a,1\n\n\nb,x\n", "a,1\r\n\r\n\r\nb,x\r\n", '"a\n\n",1\nb,x\n'])
@pytest.mark.parametrize("header", ["item,score\n", "\nitem,score\n", '"item","sco\nre"\n'])
def test_an_error_names_the_line_that_an_editor_shows(header: str, body: str, tmp_path: Path) -> None:
    score = "sco\nre" if "sco\n" in header else "score"
    line = len((header + body).splitlines())
    with pytest.raises(ColumnError, match=rf"line {line} of .*scores.csv has 'x' in column"):
        read(tmp_path, header + body, numbers=[score])


def test_text_far_down_in_the_scores_is_shown_with_its_line(tmp_path: Path) -> None:
    rows = [f"a{i},0.5" for i in range(5_000)]
    rows[4_321] = "a,oops"
    with pytest.raises(ColumnError, match=r"line 4323 of .* has 'oops' in column 'score'"):
        read(tmp_path, "\n".join(["item,score", *rows]))


def test_a_second_header_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match=r"line 3 of .* repeats the header"):
        read(tmp_path, "item,score\na,1\nitem,score\nb,2\n")


@pytest.mark.parametrize("row", ["b", "b,1,2", "b,1,", 'b,"1'])
def test_a_ragged_row_is_refused_with_its_line(row: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"line 3 of|within quotation marks"):
        read(tmp_path, f"item,score\na,1\n{row}\n")


@pytest.mark.parametrize("end", ['b,2,"open\nc,3,x\n', 'b,2,"open', 'b,2,"open ""\n', '"b,2,x\n'])
def test_a_quotation_mark_left_open_swallows_no_rows(end: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="quotation mark"):
        read(tmp_path, f"item,score,note\na,1,x\n{end}")


@pytest.mark.parametrize("note", ['"a ""b"" c"', '""', '"""x"""', 'x"y', '"x\ny"', '"x"y'])
def test_a_closed_quotation_at_the_end_of_the_file_is_no_error(note: str, tmp_path: Path) -> None:
    for end in ("", "\n", "\r\n", "\n\n"):
        assert numbers(read(tmp_path, f"item,score,note\na,1,x\nb,2,{note}{end}")) == [1, 2]


def test_duplicate_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="more than one column named 'score'"):
        read(tmp_path, "item,score,score\na,1,2\n")


@pytest.mark.parametrize("content", ["", "\n", " \n \n", "\ufeff"])
def test_a_file_without_content_is_called_empty(content: str, tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="is empty"):
        read(tmp_path, content)


def test_decimal_commas_are_recognised(tmp_path: Path) -> None:
    found = read(tmp_path, "item;score\na;0,5\nb;-1,25\nc;3\nd;NA\ne;1,5e-3\nf;,5\n")
    assert numbers(found)[:3] + numbers(found)[4:] == [0.5, -1.25, 3.0, 0.0015, 0.5]


@pytest.mark.parametrize(
    "content",
    [
        "item;score\na;1,234\nb;2,345\n",
        "item;score\na;0,5\nb;0.5\n",
        'item,score\na,"1,234"\nb,"5"\n',
        "item;time;score\na;0,5;1.234\nb;0,7;2.345\n",
        "item;score\n" + "a;1\n" * 300 + "b;0,5\n",
        "item;score\n" + "a;0,1\n" * 300 + "b;1.234\n",
        "item;score\na;1.234,5\nb;2,5\n",
        "0,5\n0,7\n0,9\n",
        "0,5\n0,7\n1\n",
        "score\n0,5\n0,7\n",
    ],
)
def test_a_decimal_mark_in_doubt_is_refused(content: str, tmp_path: Path) -> None:
    with pytest.raises(HoldsupError, match=r"comma|point|fields"):
        read(tmp_path, content, numbers=["score"])


def test_a_column_of_pairs_does_not_stop_the_scores_from_being_read(tmp_path: Path) -> None:
    found = read(tmp_path, "item\tspan\tscore\na\t3,7\t0.5\nb\t4,9\t0.25\n", labels=["span"], numbers=["score"])
    assert (names(found, "span"), numbers(found)) == (("3,7", "4,9"), [0.5, 0.25])


@pytest.mark.parametrize(
    ("content", "items", "scores"),
    [
        ("a 0.5\nb 0.25\n", ("a", "b"), [0.5, 0.25]),
        ("  a   0.5\nb\t 0.25  \n\n", ("a", "b"), [0.5, 0.25]),
        ("a\u00a0b 0.5\nc 0.25\n", ("a\u00a0b", "c"), [0.5, 0.25]),
        ('5" 0.5\n6" 0.25\n', ('5"', '6"'), [0.5, 0.25]),
        ('"a b" 0.5\n"c" 0.25\n', ("a b", "c"), [0.5, 0.25]),
        ("item score\na 0.5\nb 0.25\n", ("a", "b"), [0.5, 0.25]),
        ("a,0.5\nb,0.25\n", ("a", "b"), [0.5, 0.25]),
        ("a\t1\nb\ttrue\n", ("a", "b"), [1.0, 1.0]),
    ],
)
def test_an_id_and_a_score_a_line_need_no_header(
    content: str, items: tuple[str, ...], scores: list[float], tmp_path: Path
) -> None:
    found = read(tmp_path, content)
    assert (names(found), numbers(found)) == (items, scores)


def test_a_single_column_whose_name_has_a_blank_is_one_column(tmp_path: Path) -> None:
    assert numbers(read(tmp_path, "my score\n0.5\n0.25\n", numbers=["my score"]), "my score") == [0.5, 0.25]


def test_separators_of_other_systems_are_part_of_a_field(tmp_path: Path) -> None:
    odd = ("a\x0bb", "a\x0cb", "a\x1cb", "a\x85b", "a\u2028b")
    found = read(tmp_path, "item,score\n" + "".join(f"{item},1\n" for item in odd))
    assert names(found) == tuple(sorted(odd))


def test_an_empty_line_is_a_missing_score_where_lines_are_scores(tmp_path: Path) -> None:
    found = read(tmp_path, "0.5\n\n0.25\n\n\n", numbers=["score"]).named["score"]
    assert isinstance(found, Numbers)
    assert found.absent.tolist() == [False, True, False]


def test_very_many_columns_are_read_and_too_many_refused(tmp_path: Path) -> None:
    wide = [f"c{i}" for i in range(15_000)]
    found = read(tmp_path, ",".join(wide) + "\n" + ",".join(["0.5"] * len(wide)) + "\n", numbers=wide)
    assert len(found.named) == len(wide)
    with pytest.raises(ReadError, match="20,001 columns"):
        read(tmp_path, ",".join(f"c{i}" for i in range(20_001)) + "\n")


def test_a_name_of_a_column_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="longer than 1,000 characters"):
        read(tmp_path, "item," + "s" * 100_000 + "\na,1\n")
