"""`Measurement`: one measured value of one object, and the conditions under which it was measured.

The words are those of metrology (VIM, JCGM 2012), as Belz, Popović and Mille (2022, section 3.3) use them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

from holdsup.columns.values import MISSING_TOKENS
from holdsup.errors import MeasurementError

# In place of a condition these say that it is not known. "none" may be a condition: no preprocessing.
NOTHING = {token.lower() for token in MISSING_TOKENS if token} - {"none"} | {
    *("?", "nan", "unknown", "not known", "not reported", "not available")
}


class Condition(NamedTuple):
    """A standard condition of measurement."""

    group: str  # "object", "method" or "procedure": what the condition is a condition of
    title: str  # its name in the paper
    explanation: str  # what to write down, with an example


CONDITIONS: Mapping[str, Condition] = MappingProxyType(
    {
        "code": Condition(
            "object", "System code", "whose source code and parameters, such as: the authors' release 1.2"
        ),
        "compile_training": Condition(
            "object",
            "Compile/training information",
            "who compiled and trained the system, and how, dependencies and environment included",
        ),
        "specification": Condition(
            "method", "Method specification", "the definition of the method, such as: BLEU of outputs against targets"
        ),
        "implementation": Condition(
            "method", "Implementation", "whose implementation of the method, such as: SacreBLEU 2.4"
        ),
        "procedure": Condition(
            "procedure",
            "Procedure",
            "how outputs are obtained and the method is applied to them, such as: outputs against targets",
        ),
        "test_set": Condition("procedure", "Test set", "the data on which outputs are obtained and evaluated"),
        "performed_by": Condition("procedure", "Performed by", "who carried out the measurement"),
    }
)


@dataclass(frozen=True)
class Measurement:
    """One measured value."""

    object: str  # what was measured, such as a system
    measurand: str  # the quantity measured, such as BLEU or fluency
    value: float  # the value, in the unit that `unit` says
    scale_minimum: float = 0.0  # the lowest value that the scale has; 1 for ratings from 1 to 7
    # the conditions of measurement as they are written, the standard ones (CONDITIONS) first; one that is not here is
    # not reported
    conditions: Mapping[str, str] = field(default_factory=dict, hash=False)
    source: str = ""  # where the value is published
    time: str = ""  # when it was measured
    unit: str = ""  # "percent" or "proportion", or another word if the source gives one; empty where nothing is said
    # the value as its source writes it, such as "91 %"; two measurements that differ only here are equal
    reported: str = field(default="", compare=False)
    # who says the scale minimum: the source ("stated"), the values ("guess"), or nobody ("default"); two measurements
    # that differ only here are equal
    scale_from: Literal["stated", "guess", "default"] = field(default="default", compare=False)

    @cached_property
    def known(self) -> Mapping[str, str]:
        """The conditions that are reported: those that say something other than N/A, unknown or a question mark."""
        return {name: text for name, text in self.conditions.items() if text.lower() not in NOTHING}

    def __post_init__(self) -> None:
        if not math.isfinite(self.value) or not math.isfinite(self.scale_minimum):
            raise MeasurementError(
                f"a measurement of {self.measurand} of {self.object} has value {self.value} and scale minimum "
                f"{self.scale_minimum}: both must be finite numbers"
            )


def digest_measurements(measurements: Sequence[Measurement]) -> str:
    """Return eight hex digits that change when any value or condition does, but not with the order of measurements."""
    lines = sorted(
        repr((m.object, m.measurand, m.value, m.scale_minimum, sorted(m.conditions.items()), m.source, m.time))
        for m in measurements
    )
    return hashlib.blake2b("\n".join(lines).encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
