"""What cannot be split is refused, in one line that says what to do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from holdsup.errors import SplitError
from holdsup.splits import BlockedCV, HoldOut, KFold, make_splitter

CASES: list[tuple[Callable[[], object], str]] = [
    (lambda: BlockedCV(m=3).split(range(3)), "needs 4 items or more, one for each part, but there are 3"),
    (lambda: HoldOut().split([1]), "needs 2 items or more"),
    (lambda: KFold().split(None), "nothing to split: pass X, or y, or groups"),
    (lambda: KFold().split(7), "X has no length: it is a int"),
    (lambda: KFold().split(range(10), range(9)), "X has 10 items, but y has 9"),
    (lambda: KFold().split(range(10), groups=range(11)), "X has 10 items, but groups has 11"),
    (lambda: KFold(stratify=True).split(range(10)), "needs the class of each item: pass y"),
    (lambda: KFold(stratify=True).split(range(10), ["a"] * 10), "all items have the class 'a': there is nothing to stratify"),
    (lambda: BlockedCV(stratify=True).split(range(10), ["a"] * 7 + ["b"] * 3), "class 'b' has 3 items, too few for 4 parts"),
    (lambda: KFold(stratify=True).split(range(10), [["a"]] * 10), "y holds several values per item"),
    (lambda: KFold(stratify=True).split(range(10), np.zeros((10, 2))), "y cannot be read as labels"),
    (lambda: KFold(stratify=True).split(range(4 * 3), [1, 2, "a"] * 4), "y cannot be read as labels"),
    (lambda: KFold().split(range(10), groups=["a", None] * 5), "groups has no value for 5 items, the first in row 1"),
    (lambda: KFold(k=5).split(range(10), groups=[1, 2] * 5), "5 parts, but there are only 2 groups"),
    (lambda: list(BlockedCV().split(range(100), groups=[0] * 90 + list(range(1, 11)))), "group 0 alone has 90 of 100"),
    (lambda: list(HoldOut().split(range(90), groups=[0] * 20 + list(range(1, 71)))), "a part of about 10 items gets 20 (group 0 alone has 20 of 90)"),
    (lambda: list(HoldOut(test=0.9).split(range(90), groups=[0] * 20 + list(range(1, 71)))), "a part of about 9 items gets 20"),
    (lambda: KFold(match=np.zeros((9, 2))).split(range(10)), "there are 10 items, but match has 9"),
    (lambda: KFold(match=np.array([[1.0], [np.nan]])), "match is missing, infinite or above 1e+150 in row 1"),
    (lambda: KFold(match="tags"), "match is 'tags': give 'targets', labels, or an array"),
    (lambda: KFold(match="targets").split(range(10)), "needs the class of each item: pass y"),
    (lambda: KFold(match="targets", stratify=True), "both stratify and match are given"),
    (lambda: KFold(k=1), "k of KFold is 1: give a whole number, 2 or more"),
    (lambda: KFold(k=True), "k of KFold is True"),
    (lambda: KFold(seed=-1), "seed of KFold is -1: give a whole number, 0 or more"),
    (lambda: KFold(stratify="yes"), "stratify of KFold is 'yes': give true or false"),
    (lambda: BlockedCV(m=2.0), "m of BlockedCV is 2.0"),
    (lambda: HoldOut(test=1.5), "test of HoldOut is 1.5: give a share between 0 and 1"),
    (lambda: HoldOut(test=1), "test of HoldOut is 1: give a share"),
    (lambda: HoldOut(test=float("nan")), "test of HoldOut is nan"),
    (lambda: KFold(k=3).split_at(3, range(9)), "no split 3 of KFold"),
    (lambda: make_splitter("holdin"), "unknown splitter 'holdin'; choose from 'holdout', 'repeated_holdout'"),
    (lambda: make_splitter("kfold", folds=3), "kfold has no option 'folds'; it has 'stratify', 'match', 'uneven', 'k'"),
]  # fmt: skip


@pytest.mark.parametrize(("ask", "answer"), CASES, ids=[answer[:30] for _, answer in CASES])
def test_what_cannot_be_done_is_refused_in_one_line(ask: Callable[[], object], answer: str) -> None:
    with pytest.raises(SplitError) as refused:
        ask()
    assert answer in str(refused.value)
    assert "\n" not in str(refused.value)


def test_very_unequal_parts_can_be_asked_for() -> None:
    groups = [0] * 90 + list(range(1, 11))
    [block] = BlockedCV(uneven=True).blocks(groups, groups=groups)
    assert sorted(np.bincount(block).tolist()) == [3, 3, 4, 90]


def test_too_many_labels_to_match_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdsup.splits.corpus.MOST_CELLS", 99)
    with pytest.raises(SplitError, match="10 different labels in 10 items, too many to match"):
        KFold(match=[str(i) for i in range(10)])


def test_a_class_that_is_rare_can_be_matched() -> None:
    y = ["a"] * 37 + ["b"] * 3
    [block] = BlockedCV(match="targets").blocks(None, y)
    assert sorted(np.bincount(block[37:], minlength=4).tolist()) == [0, 1, 1, 1]
