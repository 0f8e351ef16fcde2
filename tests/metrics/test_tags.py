"""Chunks from tags: conlleval's rules, and what follows from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from holdsup.errors import MetricError
from holdsup.metrics import convert_tags, decode_chunks, make_metric, repair_tags
from holdsup.metrics.chunks import SCHEMES, encode_chunks

# Pairs of letters between which conlleval starts and ends a chunk of the same type, written from the rules of its
# startOfChunk and endOfChunk; the pairs with S and "E before B" are those of seqeval's default mode.
STARTS = {"BB", "IB", "OB", "OI", "EE", "EI", "OE", "EB", "BS", "IS", "OS", "ES", "SS", "SB", "SI", "SE"}
ENDS = {"BB", "BO", "IB", "IO", "EE", "EI", "EO", "EB", "BS", "IS", "ES", "SS", "SB", "SI", "SE", "SO"}


def starts(before: tuple[str, str], now: tuple[str, str]) -> bool:
    return before[0] + now[0] in STARTS or (now[0] != "O" and before[1] != now[1])


def ends(before: tuple[str, str], now: tuple[str, str]) -> bool:
    return before[0] + now[0] in ENDS or (before[0] != "O" and before[1] != now[1])


def conlleval(targets: list[list[str]], predictions: list[list[str]]) -> tuple[int, int, int]:
    """Count correct, guessed and true chunks token by token, as conlleval walks through a file."""

    def split(tag: str) -> tuple[str, str]:
        letter, _, kind = tag.partition("-")
        return {"L": "E", "U": "S"}.get(letter, letter), kind

    outside = ("O", "")
    correct = guessed = true = 0
    inside = False
    last_true, last_guess = outside, outside
    for tags, guesses in zip(targets, predictions, strict=True):
        for now_true, now_guess in [*zip(map(split, tags), map(split, guesses), strict=True), (outside, outside)]:
            true_ends, guess_ends = ends(last_true, now_true), ends(last_guess, now_guess)
            if inside and true_ends and guess_ends and last_true[1] == last_guess[1]:
                inside, correct = False, correct + 1
            elif inside and (true_ends != guess_ends or now_true[1] != now_guess[1]):
                inside = False
            true_starts, guess_starts = starts(last_true, now_true), starts(last_guess, now_guess)
            if true_starts and guess_starts and now_true[1] == now_guess[1]:
                inside = True
            true, guessed = true + true_starts, guessed + guess_starts
            last_true, last_guess = now_true, now_guess
    return correct, guessed, true


def tag_lists(scheme: str) -> st.SearchStrategy[list[list[str]]]:
    tags = ["O", *(f"{letter}-{kind}" for letter in SCHEMES[scheme] for kind in ("X", "Y-Z"))]
    return st.lists(st.lists(st.sampled_from(tags), max_size=8), max_size=4)


@pytest.mark.parametrize(
    ("tags", "chunks"),
    [
        # worked by hand from the rules
        (["I-X", "I-X", "O", "B-X"], [("X", 0, 2), ("X", 3, 4)]),
        (["B-X", "I-Y", "I-Y"], [("X", 0, 1), ("Y", 1, 3)]),
        (["I-X", "B-X", "I-X"], [("X", 0, 1), ("X", 1, 3)]),
        (["O", "I-Y", "B-X", "I-Y", "O"], [("Y", 1, 2), ("X", 2, 3), ("Y", 3, 4)]),
        (["B", "I", "O", "I"], [("", 0, 2), ("", 3, 4)]),
        (["B-X-Y", "I-X-Y", "I-X"], [("X-Y", 0, 2), ("X", 2, 3)]),
        (["O", "O"], []),
        ([], []),
    ],
)
def test_malformed_iob_sequences_have_the_chunks_of_conlleval(tags: list[str], chunks: list[object]) -> None:
    assert decode_chunks([tags], "iob2").of_item(0) == chunks
    assert decode_chunks([tags], "iob1").of_item(0) == chunks


@pytest.mark.parametrize(
    ("tags", "chunks"),
    [
        (["B-X", "E-X", "S-X", "O"], [("X", 0, 2), ("X", 2, 3)]),
        (["E-X", "E-X", "I-X"], [("X", 0, 1), ("X", 1, 2), ("X", 2, 3)]),
        (["S-X", "I-X", "B-X", "I-Y"], [("X", 0, 1), ("X", 1, 2), ("X", 2, 3), ("Y", 3, 4)]),
    ],
)
def test_malformed_iobes_sequences_end_after_an_end_and_a_single(tags: list[str], chunks: list[object]) -> None:
    assert decode_chunks([tags], "iobes").of_item(0) == chunks
    bilou = [tag.replace("E-", "L-").replace("S-", "U-") for tag in tags]
    assert decode_chunks([bilou], "bilou").of_item(0) == chunks


@pytest.mark.parametrize("scheme", SCHEMES)
@given(data=st.data())
def test_counts_are_those_of_walking_through_the_tokens(scheme: str, data: st.DataObject) -> None:
    targets = data.draw(tag_lists(scheme))
    tags = ["O", *(f"{letter}-{kind}" for letter in SCHEMES[scheme] for kind in ("X", "Y-Z"))]
    predictions = [data.draw(st.lists(st.sampled_from(tags), min_size=len(s), max_size=len(s))) for s in targets]
    counts = make_metric("chunk_f1", scheme=scheme).count(targets, predictions)
    assert counts.shape == (len(targets), 3)
    assert tuple(counts.sum(0)) == conlleval(targets, predictions)
    for row, tag, guess in zip(counts, targets, predictions, strict=True):
        assert tuple(row) == conlleval([tag], [guess])


def test_chunks_do_not_cross_from_one_item_to_the_next() -> None:
    chunks = decode_chunks([["O", "I-X"], [], ["I-X", "O"]], "iob1")
    assert [chunks.of_item(i) for i in range(3)] == [[("X", 1, 2)], [], [("X", 0, 1)]]


@pytest.mark.parametrize("scheme", SCHEMES)
@given(data=st.data())
def test_repairing_keeps_the_chunks_and_is_done_after_once(scheme: str, data: st.DataObject) -> None:
    tags = data.draw(tag_lists(scheme))
    repaired, changed = repair_tags(tags, scheme)
    assert [len(s) for s in repaired] == [len(s) for s in tags]
    assert changed == sum(a != b for s, t in zip(tags, repaired, strict=True) for a, b in zip(s, t, strict=True))
    before, after = decode_chunks(tags, scheme), decode_chunks(repaired, scheme)
    assert [before.of_item(i) for i in range(len(tags))] == [after.of_item(i) for i in range(len(tags))]
    assert repair_tags(repaired, scheme) == (repaired, 0)


@given(source=st.sampled_from(sorted(SCHEMES)), target=st.sampled_from(sorted(SCHEMES)), data=st.data())
def test_conversion_there_and_back_is_a_repair(source: str, target: str, data: st.DataObject) -> None:
    tags = data.draw(tag_lists(source))
    assert convert_tags(convert_tags(tags, source, target), target, source) == repair_tags(tags, source).tags


def test_each_scheme_writes_the_same_chunks_in_its_own_way() -> None:
    iob2 = [["B-X", "B-X", "I-X", "O", "B-Y", "B-X"]]
    assert convert_tags(iob2, "iob2", "iob1") == [["I-X", "B-X", "I-X", "O", "I-Y", "I-X"]]
    assert convert_tags(iob2, "iob2", "iobes") == [["S-X", "B-X", "E-X", "O", "S-Y", "S-X"]]
    assert convert_tags(iob2, "iob2", "bilou") == [["U-X", "B-X", "L-X", "O", "U-Y", "U-X"]]
    assert encode_chunks(decode_chunks(iob2, "iob2"), "iob2") == iob2


@pytest.mark.parametrize(
    ("tags", "scheme", "message"),
    [
        ([["O"], ["O", "S-X"]], "iob2", "'S-X' of item 1 .* is not a tag of iob2, which has O, B-TYPE, I-TYPE"),
        ([["PER"]], "iobes", "'PER' of item 0 .* is not a tag of iobes"),
        ([["O", None]], "iob1", "'None' of item 0 .* is not a tag"),
        (["O B-X"], "iob2", "item 0 .* must be a list of tags"),
        ([["O"]], "biluo", "unknown tag scheme 'biluo'; choose from iob1, iob2, iobes, bilou"),
    ],
)
def test_what_is_no_tag_is_refused_in_one_line(tags: list[list[str]], scheme: str, message: str) -> None:
    with pytest.raises(MetricError, match=message) as caught:
        decode_chunks(tags, scheme)
    assert "\n" not in str(caught.value)


def read_conll(path: Path) -> list[list[str]]:
    """Return the entity tags of each sentence of a file of CoNLL-2003."""
    sentences: list[list[str]] = [[]]
    for line in path.read_text(encoding="latin-1").splitlines():
        if line.strip():
            sentences[-1].append(line.split()[-1])
        elif sentences[-1]:
            sentences.append([])
    return [sentence for sentence in sentences if sentence]


def test_conll_2003_has_the_published_numbers_of_entities(real_data: Path) -> None:
    # Tjong Kim Sang & De Meulder (2003), Table 2: entities of the English training, development and test data
    published = {
        "eng.train": {"LOC": 7140, "MISC": 3438, "ORG": 6321, "PER": 6600},
        "eng.testa": {"LOC": 1837, "MISC": 922, "ORG": 1341, "PER": 1842},
        "eng.testb": {"LOC": 1668, "MISC": 702, "ORG": 1661, "PER": 1617},
    }
    for name, entities in published.items():
        chunks = decode_chunks(read_conll(real_data / "conll2003" / name), "iob1")
        found = {kind: int((chunks.kind == code).sum()) for code, kind in enumerate(chunks.types) if kind}
        assert found == entities, name


def test_conll_2003_survives_every_scheme_unchanged(real_data: Path) -> None:
    tags = read_conll(real_data / "conll2003" / "eng.testb")
    assert repair_tags(tags, "iob1") == (tags, 0)
    for scheme in SCHEMES:
        assert convert_tags(convert_tags(tags, "iob1", scheme), scheme, "iob1") == tags


def test_a_noisy_copy_of_conll_2003_has_the_counts_of_conlleval(real_data: Path) -> None:
    tags = read_conll(real_data / "conll2003" / "eng.testb")
    every = sorted({tag for sentence in tags for tag in sentence})
    rng = np.random.default_rng(1)
    noisy = [[tag if rng.random() < 0.9 else every[rng.integers(len(every))] for tag in s] for s in tags]
    counts = make_metric("chunk_f1", scheme="iob1").count(tags, noisy).sum(0)
    assert tuple(counts) == conlleval(tags, noisy)
    assert 0 < counts[0] < min(counts[1:])
