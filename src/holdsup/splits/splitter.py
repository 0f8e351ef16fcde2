"""What all splitters share: they are frozen and seeded, read a corpus, and yield who trains and who tests."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from typing import Any, ClassVar, NamedTuple

import numpy as np

from holdsup.errors import SplitError
from holdsup.splits.corpus import Codes, Corpus, Features, Labelled, count_items, encode_column
from holdsup.splits.dealing import UNEVEN, deal_groups, deal_items
from holdsup.splits.routing import GroupsConsumer

TARGETS = "targets"  # match= this: the labels that are given as y
COMMON = {"seed": 0, "stratify": False, "match": None, "uneven": False}  # options of all splitters
COUNTS = {"seed": 0, "k": 2, "j": 1, "m": 1, "repeats": 1}  # options that are whole numbers, and the least of each

BYTES = 16  # of a digest: no two test sets have the same by chance


class Split(NamedTuple):
    """Who trains and who tests: two arrays of places in the corpus, in increasing order."""

    train: Codes
    test: Codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """What a splitter promises; `holdsup.testing.check_splitter` holds it to this."""

    test_share: float  # share of the items in a test set
    parts: int  # how many parts the corpus is dealt into; there must be as many items, groups, items of each class
    slack: float = 1  # by how many items a test set may be off that share
    class_slack: float = 1  # by how many items a class in it may be off, where classes are spread evenly
    per_partition: int = 1  # how many splits, one after the other, come from one deal; other deals are independent
    times_tested: int | None = None  # in how many of these splits each item is tested, if it is the same for all
    # share of the corpus that training sets of one deal have in common, unless they have nothing in common
    shared: float | None = None
    shared_slack: float = 0  # by how many items that may be off
    keeps_groups: bool = True  # whether groups never straddle
    stratifies: bool = False  # whether it spreads the classes of y evenly


@dataclass(frozen=True, kw_only=True, repr=False)
class Splitter(GroupsConsumer, ABC):
    """A seeded way to split a corpus, a value that can be printed, compared, and passed to scikit-learn as ``cv=``."""

    seed: int = 0  # of the random numbers; deal i of a seed is the same however many follow it
    # whether each class of y has the same share in all parts to within one item; with groups as nearly as they allow
    stratify: bool = False
    # what shall be alike in all parts besides: an array (items x features), labels or sequences of labels, or "targets"
    # for those given as y
    match: Any = None
    uneven: bool = False  # whether parts may be very unequal because of large groups; else that is refused

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for count, least in COUNTS.items():
            if hasattr(self, count):
                self._require_count(count, least)
        for flag in ("stratify", "uneven"):
            if not isinstance(getattr(self, flag), bool):
                raise SplitError(f"{flag} of {type(self).__name__} is {getattr(self, flag)!r}: give true or false")
        if isinstance(self.match, str) and self.match != TARGETS:
            raise SplitError(f"match is {self.match!r}: give {TARGETS!r}, labels, or an array (items x features)")
        if self.stratify and self.match is not None:
            raise SplitError("both stratify and match are given: match balances classes too, so give one of them")
        if self.match is not None and not isinstance(self.match, str | Features):
            object.__setattr__(self, "match", Features.of(self.match, "match"))

    def _require_count(self, name: str, least: int) -> None:
        """Refuse an option that is not a whole number of at least `least`; NumPy's numbers become Python's."""
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise SplitError(f"{name} of {type(self).__name__} is {value!r}: give a whole number, {least} or more")
        object.__setattr__(self, name, int(value))

    @property
    @abstractmethod
    def promises(self) -> Promises:
        """What `holdsup.testing.check_splitter` may hold it to."""

    @property
    def partitions(self) -> int:
        """How many independent deals of the corpus there are."""
        return 1

    @abstractmethod
    def _pattern(self, n: int, rng: np.random.Generator) -> Codes:
        """Return the pattern (see `dealing`) by which n items are dealt."""

    @abstractmethod
    def _cut(self, part: Codes) -> Iterator[Split]:
        """Yield the splits of one deal, given the part of each item."""

    def __repr__(self) -> str:
        own = [field.name for field in fields(self) if field.name not in COMMON]
        common = [name for name, default in COMMON.items() if name == "seed" or getattr(self, name) != default]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in (*own, *common))})"

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Return how many splits there are; they do not depend on the corpus."""
        return self.partitions * self.promises.per_partition

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[Split]:
        """Return an iterator over the splits of a corpus.

        Parameters
        ----------
        X : the items; only their number matters. None if y or groups is given
        y : the class of each item, needed with `stratify` or ``match="targets"``
        groups : what each item belongs to; the items of a group are never on both sides of a split

        Raises
        ------
        SplitError : columns of different lengths; too few items, groups, or items of a class
        """
        corpus = self._read(X, y, groups)
        return (split for index in range(self.partitions) for split in self._cut(self._deal(corpus, index)))

    def split_at(self, index: int, X: Any, y: Any = None, groups: Any = None) -> Split:
        """Return one split, the one at `index` (from 0) of those that `split` yields, without dealing all."""
        if not 0 <= index < self.get_n_splits():
            raise SplitError(f"there is no split {index} of {self!r}: it has splits 0 to {self.get_n_splits() - 1}")
        partition, place = divmod(index, self.promises.per_partition)
        return next(islice(self._cut(self._deal(self._read(X, y, groups), partition)), place, None))

    def describe(self) -> dict[str, Any]:
        """Return name and options in plain values, as `make_splitter` takes them; an array is named by its digest."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        if isinstance(self.match, Features):
            options["match"] = repr(self.match)
        return {"name": self.name, **options}

    def _deal(self, corpus: Corpus, index: int) -> Codes:
        rng = np.random.default_rng([self.seed, index])
        if corpus.groups is not None:
            return self._deal_groups(corpus, rng)
        return deal_items(corpus, self._pattern(corpus.n, rng), rng)

    def _deal_groups(self, corpus: Corpus, rng: np.random.Generator) -> Codes:
        """Return the part of each item of a corpus of groups."""
        wanted = np.bincount(self._pattern(corpus.n, rng))
        part = deal_groups(corpus, wanted, rng)
        found = np.bincount(part, minlength=len(wanted))
        if not self._is_even(wanted, found):
            worst = int(np.abs(found - wanted).argmax())
            raise self._uneven(corpus, len(wanted), int(wanted[worst]), int(found[worst]))
        return part

    def _read(self, X: Any, y: Any, groups: Any) -> Corpus:
        n, parts = count_items(X=X, y=y, groups=groups), self.promises.parts
        if n < parts:
            raise SplitError(f"{self!r} needs {parts:,} items or more, one for each part, but there are {n:,}")
        if (self.stratify or self.match == TARGETS) and y is None:
            raise SplitError(f"{self!r} needs the class of each item: pass y")
        encoded = None if groups is None else encode_column(groups, "groups")
        if encoded is not None and len(encoded.levels) < parts:
            raise SplitError(
                f"{self!r} deals groups into {parts:,} parts, but there are only {len(encoded.levels):,} groups:"
                " ask for fewer parts, or split without groups if items really are independent"
            )
        classes = encode_column(y, "y") if self.stratify else None
        if classes is not None:
            self._require_classes(classes, groups=encoded is not None)
        return Corpus(n=n, classes=classes, groups=encoded, features=self._features(y, n))

    def _features(self, y: Any, n: int) -> Any:
        if self.match is None:
            return None
        features = Features.of(y, "y") if isinstance(self.match, str) else self.match
        if len(features.amounts) != n:
            raise SplitError(f"there are {n:,} items, but match has {len(features.amounts):,}: give one row per item")
        return features.amounts

    def _require_classes(self, classes: Labelled, *, groups: bool) -> None:
        if len(classes.levels) < 2:
            raise SplitError(f"all items have the class {classes.levels[0]!r}: there is nothing to stratify")
        sizes = classes.sizes()
        rarest, parts = int(sizes.argmin()), self.promises.parts
        if sizes[rarest] < parts and not groups:
            raise SplitError(
                f"class {classes.levels[rarest]!r} has {sizes[rarest]} items, too few for {parts} parts:"
                " ask for fewer parts, merge rare classes, or use match='targets', which needs no item in each part"
            )

    def _is_even(self, wanted: Codes, found: Codes) -> bool:
        """Return whether groups leave parts near the sizes wanted, or at least not empty if they may be uneven."""
        return bool(found.min() > 0 and (self.uneven or (np.abs(found - wanted) <= UNEVEN * wanted).all()))

    def _uneven(self, corpus: Corpus, parts: int, wanted: int, found: int) -> SplitError:
        """Return the refusal of parts that groups make far larger or smaller than was wanted, or empty."""
        assert corpus.groups is not None  # only groups do that
        sizes = corpus.groups.sizes()
        largest = int(sizes.argmax())
        ways = ["Ask for fewer or larger parts", "use smaller groups", *([] if self.uneven else ["set uneven=True"])]
        return SplitError(
            f"groups do not fit into {parts} parts: a part of about {wanted:,} items gets {found:,}"
            f" (group {corpus.groups.levels[largest]!r} alone has {sizes[largest]:,} of {corpus.n:,})."
            f" {', '.join(ways[:-1])}, or {ways[-1]}"
        )


def find_copies(partitions: Iterable[Sequence[Split]]) -> list[int]:
    """Return for each partition the place of the first one with the same test sets, its own if there is none before.

    A system that is not random scores the same on both: a copy is no new evidence.

    >>> from holdsup.splits import KFold
    >>> one, two = (list(KFold(k=2, seed=seed).split(range(6))) for seed in (0, 1))
    >>> find_copies([one, two, one[::-1]])
    [0, 1, 0]
    """
    first: dict[frozenset[bytes], int] = {}
    return [first.setdefault(_identify(splits), place) for place, splits in enumerate(partitions)]


def skip_copies(partitions: Iterable[list[Split]]) -> Iterator[list[Split]]:
    """Yield the partitions that are no copies of earlier ones."""
    seen = set()
    for splits in partitions:
        own = _identify(splits)
        if own not in seen:
            seen.add(own)
            yield splits


def _identify(splits: Sequence[Split]) -> frozenset[bytes]:
    """Return what two partitions share if they are the same set of sets of items, in whatever order."""
    return frozenset(hashlib.blake2b(split.test.tobytes(), digest_size=BYTES).digest() for split in splits)
