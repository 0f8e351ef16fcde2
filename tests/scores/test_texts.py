"""Texts: words, sentences, readability, length and rarity, against numbers worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from holdsup.errors import ColumnError, HoldsupError
from holdsup.scores.properties import (
    characters,
    count_words,
    flesch,
    length,
    rarity_mean,
    rarity_sum,
    read_counts,
    words_per_sentence,
)
from holdsup.scores.texts import count_sentences, split_words

TEXTS = st.text(alphabet=st.sampled_from("abcdeiouIM .!?,'\"-\n15é"), max_size=60)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don't stop", ["don't", "stop"]),
        ("the ‘don’t’", ["the", "don't"]),
        ("a well-known rule -- or two", ["a", "well-known", "rule", "or", "two"]),
        ("1,000.5 and 3.14, then 7.", ["1,000.5", "and", "3.14", "then", "7"]),
        ("U.S. law, e.g. J.R.R. Tolkien", ["u.s", "law", "e.g", "j.r.r", "tolkien"]),
        ("snake_case", ["snake", "case"]),
        ("ÉCOLE, e\u0301cole", ["école", "école"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("soft\u00adware non\u2011stop", ["software", "non-stop"]),
        ("5 % of $20", ["5", "of", "20"]),
        ("... -- !", []),
    ],
)
def test_texts_are_cut_into_these_words(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", 3),
        ("No mark at the end", 1),
        ("one sentence. then another, in lower case.", 2),
        ("Mr. and Mrs. Smith met Dr. Jones.", 1),
        ("It costs 3.50 dollars. Fine.", 2),
        ("Use care, e.g. gloves, i.e. leather ones.", 1),
        ("The U.S. Senate met. It was in the U.S. The end.", 3),
        ("Apple Inc. Chief Tim Cook left at 5 p.m. He was tired.", 2),
        ("J. R. Smith and I. So do I. Then we left.", 3),
        ("See Fig. 3 and No. 7. No. I will not.", 3),
        ('"Why?" he asked. "I see." She left.', 3),
        ("Wait... what? Well... No.", 3),
        ("What?! Really!!! Yes.", 3),
        ("1. Wash the dishes. 2. Dry them.", 2),
        ("A heading\n\nA text below it.", 2),
        ("A line\nthat goes on.", 1),
        ("...!!! ?", 0),
        ("你好。再见！", 2),
        ("the film is dull . mr . smith is not .", 2),
    ],
)
def test_texts_have_as_many_sentences(text: str, sentences: int) -> None:
    assert count_sentences(text) == sentences


@pytest.mark.parametrize(
    ("text", "words", "sentences", "syllables"),
    [
        ("The cat sat on the mat.", 6, 1, 6),
        ("I like apples. She sells sea shells by the sea shore.", 11, 2, 12),
        ("Reproducibility matters; statistics without uncertainty communicate nothing.", 7, 1, 24),
        ("Dr. Lee arrived at 5 p.m. The meeting lasted 2.5 days.", 11, 2, 17),
        ("We didn't find the well-known results, did we? No.", 9, 2, 12),
    ],
)
def test_flesch_is_the_formula_on_counts_made_by_hand(text: str, words: int, sentences: int, syllables: int) -> None:
    assert flesch(text) == pytest.approx(206.835 - 1.015 * words / sentences - 84.6 * syllables / words, rel=1e-12)


def test_flesch_is_not_clipped() -> None:
    assert flesch("go " * 400) == pytest.approx(206.835 - 1.015 * 400 - 84.6)
    assert flesch("Go.") == pytest.approx(206.835 - 1.015 - 84.6)


@given(TEXTS)
def test_a_text_said_twice_reads_as_easily(text: str) -> None:
    once, twice = flesch(f"{text}\n\n"), flesch(f"{text}\n\n{text}\n\n")
    assert once == twice if once is None else once == pytest.approx(twice, rel=1e-12)


@pytest.mark.parametrize("text", ["これは日本語の文です。", "Это русский текст.", "Αυτό είναι ένα κείμενο."])
def test_flesch_refuses_texts_in_other_letters(text: str) -> None:
    with pytest.raises(ColumnError, match=r"flesch is made for English, and .* is mostly written in other letters"):
        flesch(text)


def test_flesch_takes_an_english_text_with_some_greek() -> None:
    assert flesch("The angle α equals β.") is not None


@pytest.mark.parametrize("measure", [length, words_per_sentence])
def test_words_are_not_counted_where_no_blanks_stand_between_them(measure: object) -> None:
    with pytest.raises(ColumnError, match="no blanks between its words"):
        measure("これは日本語の文です。")  # type: ignore[operator]
    assert characters("これは日本語の文です。") == 11
    assert length("Это русский текст.") == 3


def test_lengths_are_counted_without_blanks() -> None:
    text = "One two,  three.\nFour!"
    assert (length(text), words_per_sentence(text), characters(text)) == (4, 2, 18)


@pytest.mark.parametrize("text", ["", "   ", "...", "?!\n", "—"])
def test_a_text_without_words_has_no_property(text: str) -> None:
    counts = count_words(["a b"])
    assert [f(text) for f in (flesch, words_per_sentence, length, characters)] == [None] * 4
    assert rarity_sum(text, counts) is rarity_mean(text, counts) is None


def test_rarity_is_the_negative_logarithm_of_relative_frequencies() -> None:
    counts = count_words(["The cat sat", "the dog"])  # the: 2 of 5, the others 1 of 5
    assert rarity_sum("the cat sat", counts) == pytest.approx(math.log(5 / 2) + 2 * math.log(5), rel=1e-12)
    assert rarity_mean("The the", counts) == pytest.approx(math.log(5 / 2), rel=1e-12)


@given(st.lists(TEXTS.filter(split_words), min_size=1, max_size=5))
def test_the_sum_is_the_mean_times_the_length_and_never_negative(texts: list[str]) -> None:
    counts = count_words(texts)
    for text in texts:
        total, mean, words = rarity_sum(text, counts), rarity_mean(text, counts), length(text)
        assert total is not None
        assert mean is not None
        assert words is not None
        assert total == pytest.approx(mean * words, rel=1e-12)
        assert total >= 0


@pytest.mark.parametrize(
    "content",
    ["the 6\ncat 3\n", "the\t6\ncat\t3\n", "word,count\nthe,6\ncat,3\n", "rank\tword\tcount\n1\tthe\t6\n2\tcat\t3\n",
     "token,freq\nThe,4\nthe,2\ncat,3\n", "word,count\nthe,6\ncat,3\ndog,0\n"],
)  # fmt: skip
def test_counts_are_read_from_a_table_and_unknown_words_get_the_add_one_estimate(content: str, tmp_path: Path) -> None:
    file = tmp_path / "counts.csv"
    file.write_text(content)
    counts = read_counts(str(file))  # 9 words, 2 different
    assert rarity_sum("The cat", counts) == pytest.approx(math.log(9 / 6) + math.log(9 / 3), rel=1e-12)
    assert rarity_sum("dog", counts) == pytest.approx(math.log(9 + 2 + 1), rel=1e-12)


def test_entries_that_are_not_one_word_are_left_out_and_said(tmp_path: Path) -> None:
    (tmp_path / "counts.tsv").write_text("word\tcount\nthe\t6\n,\t50\nNew York\t9\n")
    counts = read_counts(str(tmp_path / "counts.tsv"))
    assert (dict(counts.counts), counts.total) == ({"the": 6}, 6)
    assert "2 of 3 entries" in counts.notes[0].message


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("word,count\nthe,0.5\n", "line 2 .* isn't a word with its count"),
        ("word,count\nthe,5\ncat,-1\n", "line 3"),
        ("word,count\nthe,\n", "line 2"),
        ("word,count\n,5\n", "line 2"),
        ("word,count\nthe,many\n", "must hold numbers"),
        ("word,count\nthe,0\n", "count above 0"),
        ("a,b,c\n1,2,3\n", "a table of word counts has `word` and `count`"),
    ],
)
def test_tables_that_are_no_word_counts_are_refused(content: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text(content)
    with pytest.raises(HoldsupError, match=said):
        read_counts(str(tmp_path / "counts.csv"))


@pytest.mark.parametrize("piece", [". ", ".", "Mr. ", "\n \n", "a.", "'", "1.", '."', "a\u0301"])
def test_long_texts_of_marks_take_no_quadratic_time(piece: str) -> None:
    text = piece * 100_000 + "x"  # minutes, were the time quadratic
    assert count_sentences(text) >= 1
    assert split_words(text)
