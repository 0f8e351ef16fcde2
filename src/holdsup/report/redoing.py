"""How to redo a result: the command line that its signature stands for, where it tells all of it."""

from __future__ import annotations

import re
import shlex

from holdsup.results import Result

__all__ = ["command_of", "parse_signature"]

ROLES = "score system item run dataset metric cluster status facets shared replicates names wide".split()
# What a part of a signature is on the command line; "" is a part that the data or the program give by themselves.
OPTIONS: dict[str, dict[str, str]] = {
    "check": {"data": "", "rows": "", "v": "", "range": "--range"},
    "compare": {
        "data": "", "v": "", "seed": "--seed", "claim": "--claim", "baseline": "--baseline", "best": "--best",
        "by": "--by", "level": "--level", "margin": "--margin", "lower_is_better": "--lower-is-better",
        "bootstrap": "--bootstrap", "properties": "--properties",
    },
    "fit": {"method": "--ml", "weights": "--weights", "level": "--level", "n": "", "criterion": "", "v": ""},
    "qra": {"data": "", "measurements": "", "level": "--level", "measures": "--measures", "seed": "--seed", "v": ""},
    "variance": {
        "data": "", "v": "", "seed": "--seed", "method": "", "draws": "", "level": "--level", "by": "--by",
        "interactions": "--interactions", "properties": "--properties",
    },
}  # fmt: skip
for _kind in ("check", "compare", "variance"):
    OPTIONS[_kind] |= {role: f"--{role}" for role in ROLES}
USUAL = {("level", "0.95"), ("claim", "auto"), ("seed", "0"), ("method", "reml")}  # what goes without saying
FLAGS = {"--ml", "--lower-is-better", "--measures"}


def command_of(result: Result) -> str | None:
    """Return the command that gives a result again from DATA; None where its signature does not tell all of it."""
    parts = parse_signature(result.signature)
    known = OPTIONS.get(result.kind)
    formula = parts.pop("formula", None)
    if known is None or not parts.keys() <= known.keys() or any(map(_computed, parts.values())):
        return None
    options = [word for key, value in parts.items() if (key, value) not in USUAL for word in _words(known[key], value)]
    return shlex.join(["holdsup", result.kind, *([formula] if formula else []), "DATA", *options])


def _words(option: str, value: str) -> list[str]:
    if not option:
        return []
    return [option] if option in FLAGS else [option, value.replace("..", ",") if option == "--range" else value]


def _computed(value: str) -> bool:
    """Return whether a value is a property that is computed: "ease=flesch(source)" has an option of its own."""
    return re.search(r"=\w+\(", value) is not None


def parse_signature(signature: str) -> dict[str, str]:
    r"""Return the parts of a signature by their names, the kind left out.

    >>> parse_signature(r"fit|formula:y ~ (1 \| g)|v:1")
    {'formula': 'y ~ (1 | g)', 'v': '1'}
    """
    parts = re.findall(r"(?:[^|\\]|\\.)+", signature)[1:]  # a bar or a backslash in a part follows a backslash
    named = (re.sub(r"\\(.)", r"\1", part).partition(":") for part in parts)
    return {key: value for key, _, value in named}
