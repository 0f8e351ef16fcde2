"""The contracts of a splitter and of a store, as suites that anyone's can be run through."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.errors import HoldsupError
from holdsup.experiment import Task
from holdsup.experiment.store import Failure, Store, Success
from holdsup.splits import Promises, Split

FEWEST = 240  # items of the smallest corpus tried: enough for every class and group to reach all parts
PER_PART = 12
CLASSES = (0.6, 0.3, 0.1)  # shares of the classes in the corpora tried
ROUNDING = 1e-9  # of a share times a number of items
SURELY = 6  # standard deviations beyond which two deals are not independent, or chances not equal
LARGE = 4  # groups of more than half of a test set, or a part
DRAWS = 20  # times that an item should be tested before chances are compared


class BrokenPromise(AssertionError):
    """A splitter does not do what it promises; the message names the promise and what was found."""


def check_splitter(
    splitter: Any, *, promises: Promises | None = None, reseed: Callable[[int], Any] | None = None
) -> None:
    """Hold a splitter to its promises, on corpora of several sizes; return if it keeps them all.

    Parameters
    ----------
    splitter : anything with ``split(X, y, groups)`` and ``get_n_splits()``
    promises : what it promises; by default its own ``promises``, which the splitters of `holdsup.splits` have
    reseed : a function that gives the same splitter with another seed; not needed for a dataclass with a ``seed``

    Raises
    ------
    BrokenPromise : the first promise that it does not keep

    Examples
    --------
    >>> from holdsup.splits import JKFold
    >>> check_splitter(JKFold(j=2, k=5))
    """
    promised = promises or getattr(splitter, "promises", None)
    if promised is None:
        raise TypeError(f"{splitter!r} has no promises: pass promises=Promises(...)")
    if reseed is None and not (is_dataclass(splitter) and "seed" in {field.name for field in fields(splitter)}):
        raise TypeError(f"{splitter!r} has no field 'seed': pass reseed, a function that makes it with another seed")
    trial = _Trial(splitter, promised, reseed or (lambda seed: replace(splitter, seed=seed)))
    least = max(FEWEST, PER_PART * promised.parts)
    for n in (least, least + 1, least + promised.parts - 1, least + 7):
        trial.check_sets(n)
        trial.check_partitions(n)
    trial.check_seeds(least + 1)
    trial.check_classes(least + 1)
    trial.check_groups(least + 1)
    trial.check_chances(least + 1)
    trial.check_shapes(least + 1)
    trial.check_lengths(least + 1)
    trial.check_scikit_learn(least + 1)


class _Trial:
    """A splitter on trial: each method tries some promises on a corpus of n items."""

    def __init__(self, splitter: Any, promises: Promises, reseed: Callable[[int], Any]) -> None:
        self.splitter, self.promises, self.reseed = splitter, promises, reseed

    def broken(self, promise: str, found: str) -> BrokenPromise:
        return BrokenPromise(f"{self.splitter!r} breaks the promise '{promise}': {found}")

    def splits(self, n: int, groups: Any = None, *, seed: int | None = None) -> list[Split]:
        splitter = self.splitter if seed is None else self.reseed(seed)
        return [Split(*split) for split in splitter.split(np.zeros((n, 1)), _classes(n), groups)]

    def groups(self, n: int) -> NDArray[Any] | None:
        """Return groups of one to three items, scattered over the corpus; None where groups are not kept."""
        if not self.promises.keeps_groups:
            return None
        group = np.cumsum(np.arange(n) % 6 % 5 % 3 == 0)
        assert group[-1] > 2 * self.promises.parts  # PER_PART sees to it
        return np.random.default_rng(n).permutation(np.char.add("document ", group.astype(str)))

    def check_sets(self, n: int) -> None:
        """Try whether each split is one: places in the corpus, everyone on one side, sizes as promised."""
        splits = self.splits(n)
        if len(splits) != (said := self.splitter.get_n_splits(np.zeros((n, 1)), _classes(n), None)):
            raise self.broken("get_n_splits", f"it says {said}, but there are {len(splits)} splits")
        for number, split in enumerate(splits):
            self.check_sides(n, number, split)
            off = len(split.test) - n * self.promises.test_share
            if abs(off) > self.promises.slack + ROUNDING:
                raise self.broken("size", f"test set {number} of {n} items has {len(split.test)}, off by {off:+.1f}")

    def check_sides(self, n: int, number: int, split: Split) -> None:
        for side, places in zip(Split._fields, split, strict=True):
            if not isinstance(places, np.ndarray) or places.ndim != 1 or places.dtype.kind not in "iu":
                raise self.broken("places", f"{side} of split {number} is no array of whole numbers")
            if len(places) and not (places.min() >= 0 and places.max() < n):
                raise self.broken("places", f"{side} of split {number} leads out of the corpus of {n} items")
            if len(np.unique(places)) < len(places):
                raise self.broken("places", f"{side} of split {number} holds an item twice")
        if len(both := np.intersect1d(*split)):
            raise self.broken("partition", f"{len(both)} items of split {number} both train and test")
        if lost := n - len(split.train) - len(split.test):
            raise self.broken("partition", f"{lost} of {n} items of split {number} neither train nor test")

    def check_partitions(self, n: int) -> None:
        """Try how the splits of a deal fit together, and whether deals are independent."""
        splits = self.splits(n)
        tested, trained = _mask(n, [s.test for s in splits]), _mask(n, [s.train for s in splits])
        deal = np.arange(len(splits)) // self.promises.per_partition
        times = self.promises.times_tested
        if times is not None:
            for number in np.unique(deal):
                found = np.unique(tested[deal == number].sum(axis=0))
                if found.tolist() != [times]:
                    raise self.broken("times tested", f"items are tested {found.tolist()} times, not {times}")
        for a, b in combinations(range(len(splits)), 2):
            if deal[a] != deal[b]:
                self.check_independent(n, a, b, int((tested[a] & tested[b]).sum()))
            elif self.promises.shared is not None:
                self.check_shared(n, a, b, int((trained[a] & trained[b]).sum()))

    def check_independent(self, n: int, a: int, b: int, common: int) -> None:
        # Two independent test sets of share t have about n t^2 items in common (hypergeometric).
        t = self.promises.test_share
        expected, deviation = n * t**2, (n * n / (n - 1)) ** 0.5 * t * (1 - t)
        if abs(common - expected) > SURELY * deviation + 2 * self.promises.slack:
            raise self.broken("independent", f"test sets {a} and {b} have {common} items in common, not {expected:.0f}")

    def check_shared(self, n: int, a: int, b: int, common: int) -> None:
        assert self.promises.shared is not None  # the caller has seen to it
        expected = n * self.promises.shared
        mirrored = a // 2 == b // 2  # the two splits of a repetition: each trains on what the other tests
        if mirrored and common:
            raise self.broken("shared", f"training sets {a} and {b} are two folds, but have {common} items in common")
        if not mirrored and abs(common - expected) > self.promises.shared_slack + ROUNDING:
            raise self.broken("shared", f"training sets {a} and {b} have {common} items in common, not {expected:g}")

    def check_seeds(self, n: int) -> None:
        """Try whether a seed gives one set of splits, and another seed another."""
        first = self.splits(n, seed=11)
        if not (_same(first, self.splits(n, seed=11)) and _same(self.splits(n), self.splits(n))):
            raise self.broken("seed", "the same seed gives other splits when asked again")
        if _same(first, self.splits(n, seed=12)):
            raise self.broken("seed", "another seed gives the same splits")

    def check_classes(self, n: int) -> None:
        """Try whether each class has its share of each test set."""
        if not self.promises.stratifies:
            return
        classes = _classes(n)
        for number, split in enumerate(self.splits(n)):
            for name, count in zip(*np.unique(classes, return_counts=True), strict=True):
                off = (classes[split.test] == name).sum() - count * self.promises.test_share
                if abs(off) > self.promises.class_slack + ROUNDING:
                    raise self.broken("stratify", f"test set {number} is off by {off:+.1f} items of class {name!r}")

    def check_groups(self, n: int) -> None:
        """Try whether groups of different sizes, their items scattered over the corpus, stay together."""
        if (groups := self.groups(n)) is None:
            return
        for number, split in enumerate(self.splits(n, groups)):
            self.check_sides(n, number, split)
            if len(torn := np.intersect1d(groups[split.train], groups[split.test])):
                raise self.broken("groups", f"{len(torn)} groups of split {number} both train and test")

    def check_chances(self, n: int) -> None:
        """Try whether large groups are tested as often as small ones, over many deals."""
        if not self.promises.keeps_groups:
            return
        t, parts = self.promises.test_share, self.promises.parts
        groups = _large_groups(n, max(int(0.7 * n * min(t, 1 - t, 1 / parts, 1 / (2 * LARGE))), 1))
        large = groups < LARGE
        deals, tested = 0, 0.0
        wanted = 1 if self.promises.times_tested is not None else DRAWS / min(t, 1 - t)
        while deals < wanted:
            splits = self.splits(n, groups, seed=deals)
            deals += len(splits) // self.promises.per_partition
            tested += sum(large[split.test].mean() * len(split.test) for split in splits) / self.promises.per_partition
        found = tested / deals / large.sum()
        # At most LARGE independent draws a deal: large groups keep each other out of a test set.
        off = SURELY * (t * (1 - t) / (LARGE * deals)) ** 0.5 + self.promises.slack / n
        if abs(found - t) > off:
            raise self.broken("chances", f"large groups are tested in {found:.0%} of the splits, not in {t:.0%}")

    def check_shapes(self, n: int) -> None:
        """Try whether lists, arrays, texts and tables of the same items are split alike."""
        y, groups = _classes(n), self.groups(n)
        usual = self.splits(n, groups)
        listed = None if groups is None else groups.tolist()
        for X, what in (([f"text {i}" for i in range(n)], "a list of texts"), (np.zeros((n, 3, 2)), "a 3-D array")):
            if not _same(usual, [Split(*split) for split in self.splitter.split(X, y.tolist(), listed)]):
                raise self.broken("shapes", f"{what} is split otherwise than an array of as many rows")

    def check_lengths(self, n: int) -> None:
        """Try whether columns of different lengths are refused."""
        try:
            list(self.splitter.split(np.zeros((n - 1, 1)), _classes(n), self.groups(n)))
        except (HoldsupError, ValueError):
            return
        raise self.broken("lengths", f"{n - 1} items with {n} classes or groups are split without a word")

    def check_scikit_learn(self, n: int) -> None:
        """Try whether scikit-learn takes it as ``cv=``."""
        from sklearn.dummy import DummyClassifier
        from sklearn.model_selection import cross_val_score

        X, y = np.zeros((n, 1)), _classes(n)
        scores = cross_val_score(DummyClassifier(), X, y, groups=self.groups(n), cv=self.splitter)
        if len(scores) != self.splitter.get_n_splits():
            raise self.broken("scikit-learn", f"cross_val_score gives {len(scores)} scores")


def _classes(n: int) -> NDArray[Any]:
    """Return classes in the shares of `CLASSES`, in an order without a pattern."""
    names = np.repeat(["common", "medium", "rare"], np.diff(np.rint(np.cumsum((0, *CLASSES)) * n).astype(int)))
    return np.random.default_rng(n).permutation(names)


def _large_groups(n: int, size: int) -> NDArray[np.int64]:
    """Return some groups of a size, and the other items in pairs, scattered over the corpus."""
    group = np.concatenate([np.repeat(np.arange(LARGE), size), LARGE + np.arange(n - LARGE * size) // 2])
    return np.random.default_rng(n).permutation(group)


def _mask(n: int, sets: list[NDArray[Any]]) -> NDArray[np.bool_]:
    """Return which items are in each set, shape (sets, n)."""
    return np.array([np.isin(np.arange(n), places) for places in sets])


def _same(left: list[Split], right: list[Split]) -> bool:
    return len(left) == len(right) and all(
        np.array_equal(a.train, b.train) and np.array_equal(a.test, b.test) for a, b in zip(left, right, strict=True)
    )


def check_store(open_store: Callable[[], Store]) -> None:
    """Put a store through its contract; an AssertionError says which promise is not kept.

    Parameters
    ----------
    open_store : opens the same store each time it is called; it must be empty the first time
    """
    tasks = [Task(f"{i:032x}", {"system": "A", "seed": i}, "module:work", {"seed": i}) for i in range(6)]
    _check_claims(open_store, tasks)
    _check_records(open_store, tasks)
    _check_failures(open_store, tasks)
    _check_what_stays(open_store, tasks)


def _check_claims(open_store: Callable[[], Store], tasks: list[Task]) -> None:
    ids = [task.id for task in tasks]
    with open_store() as store, open_store() as other:
        assert list(store.results()) == [], "the store is not empty to begin with"
        with store.begin({}) as run, other.begin({}) as rival:
            run.add_tasks(tasks)
            rival.add_tasks(tasks)
            assert run.claim(deque(ids), 2).mine == ids[:2], "tasks are claimed in order"
            claim = rival.claim(deque(ids), 9)
            assert claim.elsewhere == ids[:2], "what a live run has claimed is not claimed by another"
            assert claim.mine == ids[2:], "what nobody has claimed can be claimed"
            assert set(store.statuses(ids).values()) == {"running"}, "claimed tasks are running"
        assert set(store.statuses(ids).values()) == {"waiting"}, "what an ended run had claimed is free"


def _check_records(open_store: Callable[[], Store], tasks: list[Task]) -> None:
    reply = Success(tasks[0].id, 0.5, "done", "", '{"score":0.25}')
    undefined = Success(tasks[1].id, 0.5, "undefined", "no items", '{"score":{"not finite":"nan"}}')
    with open_store() as store, store.begin({}) as run:
        assert run.record([reply, undefined]) == 2, "new results are counted"
        assert run.record([reply]) == 0, "a second result of a task is not recorded"
        with open_store() as other:
            assert [r.values for r in other.results({tasks[0].id})] == [{"score": 0.25}], "others see it at once"
            assert [r.reason for r in other.results({tasks[1].id})] == ["no items"], "NaN keeps its reason"
        left = run.claim(deque(task.id for task in tasks), 9).mine
        assert left == [task.id for task in tasks[2:]], "a finished task is never claimed again"


def _check_failures(open_store: Callable[[], Store], tasks: list[Task]) -> None:
    task = tasks[2].id
    with open_store() as store, store.begin({}) as run:
        for attempt, final in ((1, False), (2, True)):
            assert not store.ledger.is_settled(task), "a task that may be tried again is not settled"
            run.record([], [Failure(task, 0.1, "ValueError", "no", "", attempt, final)])
        assert store.statuses([task]) == {task: "failed"}, "a task that was given up has failed"
        assert run.claim(deque([task]), 1).mine == [], "a failed task is not claimed unasked"
        forgiven = store.ledger.last_row("failures")
        assert run.claim(deque([task]), 1, forgiven=forgiven).mine == [task], "and claimed when its failure is forgiven"


def _check_what_stays(open_store: Callable[[], Store], tasks: list[Task]) -> None:
    with open_store() as store:
        found = {result.task: result for result in store.results()}
        assert list(found) == [tasks[0].id, tasks[1].id], "results stay when the store is closed"
        assert found[tasks[0].id].labels == tasks[0].labels, "a result knows the labels of its task"
        assert [f.attempt for f in store.failures()] == [1, 2], "failures stay, each attempt of them"
        assert not store.damage, "nothing is damaged"
