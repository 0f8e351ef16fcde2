"""Any function of targets and predictions as a metric: it has no counts, and predictions are scored again each time.

It may be a function of the user's. Standard output is for the report, so what such code prints goes to standard error.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns.limits import reason_of
from holdsup.errors import HoldsupError, MetricError, hint_at
from holdsup.metrics.metric import Counts, Floats, Metric, read_pairs
from holdsup.rendering.numbers import format_counted
from holdsup.results import Caution
from holdsup.results.direction_names import find_direction

_lock = threading.Lock()
_inside = 0  # threads that are in a block: what the first has diverted, the last puts back
_diverted = ExitStack()


@contextmanager
def divert_output() -> Iterator[None]:
    """Send standard output to standard error: what Python prints, and what programs write that are started inside."""
    global _inside, _diverted  # streams and descriptors are those of the whole process
    with _lock:
        _inside += 1
        if _inside == 1:
            _diverted = _divert()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside:
                _diverted.close()


def _divert() -> ExitStack:
    stack = ExitStack()
    if sys.stdout is not None:
        with suppress(OSError, ValueError):  # nobody reads it any more, or it is closed
            sys.stdout.flush()
    with suppress(OSError):  # a process without a standard output, or without a standard error
        kept = os.dup(1)
        stack.callback(os.close, kept)
        os.dup2(2, 1)
        stack.callback(os.dup2, kept, 1)
    stack.enter_context(redirect_stdout(sys.stderr))
    return stack


SKLEARN = "sklearn"

_alone = threading.RLock()  # filters of warnings are those of the whole process


@dataclass(frozen=True, kw_only=True)
class FunctionMetric(Metric):
    """A function of targets and predictions, found by its import string when it is first used.

    Attributes
    ----------
    name : "module:function", or "sklearn:scorer" for one of scikit-learn's scorers by its name
    """

    columns = ()
    keeps_counts = False  # so that predictions are
    # whether a smaller score is a better one; None where the name of the function tells. scikit-learn's scorers never
    # are
    lower_is_better: bool | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # what the function is called with besides
    # what the function warned of, and at how many scores
    warned: Counter[str] = field(default_factory=Counter, compare=False, repr=False)

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger score is a better one."""
        return not self._is_lower_by_name() if self.lower_is_better is None else not self.lower_is_better

    @property
    def cautions(self) -> tuple[Caution, ...]:
        """What a reader of the scores must know: which way is better, where only the name tells, and warnings."""
        by_name = self.lower_is_better is None and self._is_lower_by_name()
        said = []
        if by_name:
            message = f"Lower {self.name} counts as better, judged by its name."
            advice = "If higher is better, set lower_is_better = false in [metric]."
            said.append(Caution(code="direction-by-name", about=self._about(), message=message, advice=advice))
        for words, count in self.warned.items():
            message = f"{self.name} warned at {format_counted(count, 'score')}: {words}"
            said.append(Caution(code="metric-warned", about=self._about(), message=message, count=count))
        return tuple(said)

    def _about(self) -> str:
        return f"metric:{self.name}"

    def _is_lower_by_name(self) -> bool:
        return not self.name.startswith(f"{SKLEARN}:") and find_direction(self.name) == "lower"

    def count(self, targets: Sequence[Any], predictions: Sequence[Any]) -> Counts:
        """Return no counts for each item."""
        return np.zeros((len(read_pairs(targets, predictions)[0]), 0))

    def score(self, sums: NDArray[Any]) -> Floats:
        """Refuse: there is nothing to sum."""
        raise MetricError(f"{self.name} has no counts to sum: use evaluate, or count_systems to score sets again.")

    def why_undefined(self, sums: NDArray[Any]) -> str | None:
        """Return why no sum of counts has a score."""
        return f"{self.name} has no counts"

    def for_targets(self, targets: Sequence[Any]) -> FunctionMetric:
        """Return the same metric, which has warned of nothing yet."""
        return replace(self, warned=Counter())

    def evaluate(self, targets: Sequence[Any], predictions: Sequence[Any]) -> float:
        """Return what the function makes of all predictions; what it prints goes to standard error."""
        known, predicted = read_pairs(targets, predictions)
        with divert_output(), _alone, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function = _find(self.name)
            try:
                value = function(known, predicted, **self.options)
            except HoldsupError:
                raise
            except Exception as err:  # a function of the user's
                raise MetricError(f"{self.name} cannot score these predictions: {reason_of(err)}") from err
        words = {reason_of(each.message) for each in caught if isinstance(each.message, Warning)}
        self.warned.update(words)
        for said in sorted(words):
            _warn_once(self.name, said)
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError) as err:
            raise MetricError(f"{self.name} must give one number, but gave {value!r:.60}.") from err


@functools.cache
def _warn_once(name: str, words: str) -> None:
    """Say what a metric warns of once in a process: there are thousands of scores."""
    warnings.warn(f"{name}: {words}", RuntimeWarning, stacklevel=3)


@functools.cache
def _find(name: str) -> Callable[..., Any]:
    """Return the function that an import string names."""
    module, _, attribute = name.partition(":")
    if module == SKLEARN:
        return _find_scorer(attribute)
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as err:
        raise MetricError(f"the metric {name!r} cannot be imported: {err}.") from err
    if not callable(found):
        raise MetricError(f"the metric {name!r} is a {type(found).__name__}, not a function.")
    return found  # type: ignore[no-any-return]


def _find_scorer(name: str) -> Callable[..., Any]:
    """Return the function behind one of scikit-learn's scorers, with its sign and settings."""
    try:
        from sklearn.metrics import get_scorer, get_scorer_names
    except ImportError as err:
        raise MetricError(f"the metric sklearn:{name} needs scikit-learn: pip install scikit-learn") from err
    if name not in get_scorer_names():
        hint = hint_at(name, get_scorer_names()) or " sklearn.metrics.get_scorer_names() lists them."
        raise MetricError(f"scikit-learn has no scorer {name!r}.{hint}")
    scorer = get_scorer(name)
    if scorer._response_method != "predict":
        raise MetricError(
            f"the metric sklearn:{name} needs {scorer._response_method!s:.40}, but only predictions are kept."
        )
    return lambda known, predicted, **options: (
        scorer._sign * scorer._score_func(known, predicted, **{**scorer._kwargs, **options})
    )
