"""How to redo a result: the command line that its signature stands for, where it tells all of it."""

from __future__ import annotations

import re
import shlex

from holdsup.results import Result, parse_signature

__all__ = ["command_of"]

ROLES = "score system item run dataset metric cluster status facets shared replicates names wide".split()
# What a part of a signature is on the command line; "" is a part that the data or the program give by themselves.
OPTIONS: dict[str, dict[str, str]] = {
    "check": {"data": "", "rows": "", "v": "", "range": "--range", "lower_is_better": "--lower-is-better"},
    "compare": {
        "data": "", "v": "", "seed": "--seed", "claim": "--claim", "baseline": "--baseline", "best": "--best",
        "by": "--by", "level": "--level", "margin": "--margin", "average": "--average",
        "lower_is_better": "--lower-is-better", "bootstrap": "--bootstrap", "properties": "--properties",
        "where": "--where",
    },
    "contest": {"level": "--level", "curve": "--learning-curve", "sequential": "--sequential"},
    "fit": {"method": "--ml", "weights": "--weights", "level": "--level", "n": "", "criterion": "", "v": ""},
    "qra": {
        "data": "", "measurements": "", "v": "", "level": "--level", "measures": "--measures", "seed": "--seed",
        "where": "--where",
    },
    "rank": {
        "data": "", "v": "", "seed": "--seed", "form": "--paper", "formula": "--formula", "level": "--level",
        "contribution": "--contribution", "pair": "--pair", "treat": "--treat", "where": "--where",
        "predict": "--predict", "forms": "--forms", "lower_is_better": "--lower-is-better", "method": "",
        "folds": "--folds", "properties": "--properties",
    },
    "tune": {"level": "--level"},
    "variance": {
        "data": "", "v": "", "seed": "--seed", "method": "", "draws": "", "level": "--level", "by": "--by",
        "interactions": "--interactions", "properties": "--properties", "where": "--where",
    },
}  # fmt: skip
for _kind in ("check", "compare", "rank", "variance"):
    OPTIONS[_kind] |= {role: f"--{role}" for role in ROLES} | {"last": "--last", "nested_runs": "--nested-runs"}
OPTIONS["rank"]["facets"] = "--nuisance"  # it signs as facets what it took for nuisance factors
SPECIFIED = ("contest", "tune")  # a file says all that is asked but for the options above
# What goes without saying.
USUAL = {("level", "0.95"), ("claim", "auto"), ("seed", "0"), ("method", "reml"), ("form", "default"),
         ("form", "formula"), ("folds", "10")}  # fmt: skip
FLAGS = {"--ml", "--lower-is-better", "--measures", "--learning-curve", "--sequential", "--paper", "--forms",
         "--nested-runs"}  # fmt: skip
REPEATED = {"--treat", "--where"}  # an option for each of NAME=VALUE,NAME=VALUE


def command_of(result: Result) -> str | None:
    """Return the command that gives a result again, from DATA or its spec.

    None where the signature does not tell all of it, or where there is no such command: of what was asked in Python.
    """
    parts = parse_signature(result.signature)
    known = OPTIONS.get(result.kind, {})
    if result.kind in SPECIFIED:
        given = [parts["spec"]] if "spec" in parts else []
        parts = {key: value for key, value in parts.items() if key in known}
    else:
        given = [parts.pop("formula"), "DATA"] if result.kind == "fit" and "formula" in parts else ["DATA"]
    if result.kind == "rank":
        parts.setdefault("folds", "0")
        if "formula" in parts:  # it names its nuisance factors itself
            parts.pop("facets", None)
    if not given or not known or not parts.keys() <= known.keys() or any(map(_is_unclear, parts.items())):
        return None
    options = [word for key, value in parts.items() if (key, value) not in USUAL for word in _words(known[key], value)]
    return shlex.join(["holdsup", result.kind, *given, *options])


def _words(option: str, value: str) -> list[str]:
    if not option:
        return []
    if option == "--lower-is-better" and value != "True":  # not at all, or metrics are named
        return ["--higher-is-better"] if value == "False" else ["--lower", value]
    if option in REPEATED:
        return [word for pair in value.split(",") for word in (option, pair)]
    return [option] if option in FLAGS else [option, value.replace("..", ",") if option == "--range" else value]


def _is_unclear(part: tuple[str, str]) -> bool:
    """Return whether a part of a signature cannot be told back into options.

    A property that is computed, "ease=flesch(source)", has an option of its own; of several pairs it must be plain
    where each ends, and several values of one column are not.
    """
    key, value = part
    if key in ("treat", "where"):
        return "/" in value or not all("=" in pair for pair in value.split(","))
    return re.search(r"=\w+\(", value) is not None
