"""`Asked`: what was asked, as data. The signature and the command that asks it again are made from it.

Nothing is ever read back from a signature: whoever needs to know what was asked has the record.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from holdsup.errors import quote_names

Named: TypeAlias = str | tuple[str, ...]
Value: TypeAlias = bool | int | float | str | tuple[str, ...] | tuple[float, ...] | Mapping[str, Named]

# Options that the data or the program give by themselves: they identify an answer, and nobody types them.
FOUND = frozenset("rows n criterion draws measurements method runs".split())
USUAL: Mapping[str, Value] = {"level": 0.95, "claim": "auto", "seed": 0, "form": "default", "folds": 10}
SPECIFIED = ("contest", "tune")  # a file says all that is asked, but for these options
BESIDE_SPEC = ("level", "curve", "sequential", "threshold")
# Kinds of results that another command than their name gives, and how.
GIVEN_BY = {
    "glmm": ("fit",),
    "votes": ("rank",),
    "rank_runs": ("rank",),
    "qra_check": ("qra", "--validate"),
    **{f"qra_{kind}": ("qra", "--kind", kind) for kind in ("scores", "labels", "findings")},
}
FLAGS = {"sample": "--samples", "curve": "--learning-curve", "form": "--paper", "compare_forms": "--forms"}


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of which data."""

    kind: str  # the kind of question, such as compare
    data: str | None = None  # digest of the data, null where there is none
    roles: Mapping[str, Named] = dataclasses.field(default_factory=dict)  # which column has which role
    options: Mapping[str, Value] = dataclasses.field(default_factory=dict)  # all else that moves the numbers, by name

    @classmethod
    def about(
        cls, kind: str, data: str | None = None, roles: Mapping[str, Named] | None = None, **options: Any
    ) -> Asked:
        """Return what was asked; options that are None or empty were not.

        >>> Asked.about("check", "3f2a9c1e", {"score": "f1"}, rows=7287, range=(0.0, 1.0), seed=None).sign("1.0")
        'check|data:3f2a9c1e|score:f1|rows:7287|range:0..1|v:1.0'
        """
        given = {name: value for name, value in options.items() if value is not None and value not in ("", (), {})}
        return cls(kind, data, dict(roles or {}), given)

    def sign(self, version: str) -> str:
        """Return ``kind|key:value|...|v:version``: one line from which a stranger can redo the numbers."""
        parts = {**({} if self.data is None else {"data": self.data}), **self.roles, **self.options}
        written = (f"{key}:{_escape(write_value(value))}" for key, value in parts.items())
        return "|".join([self.kind, *written, f"v:{version}"])

    def command(self) -> str | None:
        """Return the command that asks the same of DATA or of its spec; None where no command does.

        >>> Asked.about("compare", "9e6d59bb", {"score": "f1"}, level=0.95, where={"task": ("a", "b")}).command()
        'holdsup compare DATA --score f1 --where task=a --where task=b'
        """
        options = dict(self.options)
        if self.kind in SPECIFIED:
            if "spec" not in options:
                return None
            subject = [str(options["spec"])]
            options = {name: options[name] for name in BESIDE_SPEC if name in options}
        elif self.data is None and self.kind == "plan":  # from what is known, without a pilot
            subject = []
        elif self.data is None and "formula" not in options:
            return None
        else:
            subject = [str(options.pop("formula")), "DATA"] if self.kind in ("fit", "glmm") else ["DATA"]
            subject = ["CANDIDATE", "BASELINE"] if self.kind == "gate" else subject
        if self.kind == "rank":
            options.setdefault("folds", 0)
        given = [word for name, value in self._typed(options) for word in _type_option(name, value)]
        name, *how = GIVEN_BY.get(self.kind, (self.kind,))
        return shlex.join(["holdsup", name, *how, *subject, *given])

    def _typed(self, options: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
        """Yield what has to be typed: roles, then options, without what goes without saying."""
        for role, columns in self.roles.items():
            if role == "score" and self.kind == "compare" and _is_of_corpus(options.get("estimate")):
                continue
            if self.kind == "rank" and role == "facets":  # it takes facets for nuisance factors
                if "formula" not in options:  # which names its nuisance factors itself
                    yield "nuisance", columns
            else:
                yield role, columns
        if self.kind == "glmm" and options.get("method") == "laplace":  # which may not be what it does by itself
            yield "method", "laplace"
        if options.get("method") == "ml":
            yield "ml", True
        if "runs" in options:  # which are measurements then
            yield "seeds", True
        for name, value in options.items():
            if name not in FOUND and USUAL.get(name) != value and not (name == "form" and value == "formula"):
                yield name, value


def write_value(value: Value) -> str:
    """Return a value as a signature writes it: lists as the command line takes them.

    >>> write_value(("A, v2", "B")), write_value({"task": ("a", "b")}), write_value((0.0, 1.0)), write_value(0.95)
    ('"A, v2",B', 'task=a/b', '0..1', '0.95')
    """
    if isinstance(value, Mapping):
        return quote_names(f"{name}={'/'.join(_several(given))}" for name, given in value.items())
    if isinstance(value, tuple) and value and not isinstance(value[0], str):
        return "..".join(f"{number:g}" for number in value)
    return quote_names(map(str, value)) if isinstance(value, tuple) else str(value)


def _several(given: Named) -> Iterable[str]:
    return (given,) if isinstance(given, str) else given


def _type_option(name: str, value: Value) -> list[str]:
    """Return the words of the command line that give an option its value."""
    if name == "lower_is_better" and value is not True:  # not at all, or metrics are named
        return ["--higher-is-better"] if value is False else ["--lower", write_value(value)]
    option = FLAGS.get(name, f"--{name.replace('_', '-')}")
    if value is True or name in ("form", "sequential"):  # the spec says at which reproducibility, or --threshold
        return [option]
    if isinstance(value, Mapping):
        return [word for key, given in value.items() for each in _several(given) for word in (option, f"{key}={each}")]
    if name == "properties":
        computed = [each for each in _several(value) if "=" in each]  # type: ignore[arg-type]
        columns = tuple(each for each in _several(value) if "=" not in each)  # type: ignore[arg-type]
        listed = [option, quote_names(columns)] if columns else []
        return [*listed, *(word for each in computed for word in ("--property", each))]
    return [option, write_value(value).replace("..", ",") if name == "range" else write_value(value)]


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _is_of_corpus(estimate: Value | None) -> bool:
    """Return whether an estimate makes the score of a corpus, and does not take scores of samples."""
    names = [estimate] if isinstance(estimate, str) else estimate
    return isinstance(names, list | tuple) and not any(str(name).startswith("pass") for name in names)
