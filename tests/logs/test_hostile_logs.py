"""Whatever stands in a log in the place of what its tool writes: it is read, or refused in one line that a person can
read, and nothing else happens."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lm_eval_layout import make_lines, write_run
from made import MAKERS
from test_inspect import make_log, sample, write_eval, write_json
from test_promptfoo import answer, write_file

from holdsup import read_scores
from holdsup.errors import HoldsupError


def make_lm_eval(folder: Path) -> None:
    write_run(folder, {"arc": make_lines({"acc": [1.0, 0.0, 1.0]}), "gsm": make_lines({"em": [1.0, 0.0]}, "strict")})


def make_inspect(folder: Path) -> None:
    log = make_log([sample(place, grade) for place, grade in enumerate("CIC")], means={"accuracy": 2 / 3})
    write_json(folder, log)
    write_eval(folder, log)


def make_promptfoo(folder: Path) -> None:
    write_file(folder, [answer(word, place, side=side) for side in (0, 1) for place, word in enumerate("abc")])


EVERY: dict[str, Callable[[Path], None]] = {
    **MAKERS, "lm_eval": make_lm_eval, "inspect": make_inspect, "promptfoo": make_promptfoo
}  # fmt: skip
OTHERS: list[Any] = [
    None, 0, -1, 1e308, float("nan"), "x", "", [], {}, [1], [None], {"a": 1}, True, 10**400, "é😀\ud800", "a:b,c=d", [[]],
]  # fmt: skip
# What Python, Arrow and their like say of our code, and nothing of the log.
INTERNAL = re.compile(
    r"NoneType|subscriptable|has no attribute|\w+Error\b|<class|codec|unhashable|invalid literal|could not convert"
    r"|positional|must be real|not iterable|not supported between|unpack|zip\(\)|object of type|Arrow|too large to conv"
)
CHANGES = 20  # of each kind of file


def list_places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*place, key)
        yield from list_places(each, (*place, key))


def change(document: Any, place: tuple[Any, ...], rng: random.Random) -> Any:
    """Return a document in which one value is another, gone, or there twice."""
    changed = json.loads(json.dumps(document))
    holder = changed
    for key in place[:-1]:
        holder = holder[key]
    how = rng.random()
    if how < 0.15:
        del holder[place[-1]]
    elif how < 0.3 and isinstance(holder, list):
        holder.insert(place[-1], holder[place[-1]])
    else:
        holder[place[-1]] = rng.choice(OTHERS)
    return changed


def alter(file: Path, rng: random.Random) -> Iterator[bytes]:
    """Yield what may be left of a file, or stand in its place."""
    data = file.read_bytes()
    for share in (0, 0.02, 0.5, 0.98):
        yield data[: int(share * len(data))]
    middle = len(data) // 2
    yield from (bytes(len(data)), data * 2, rng.randbytes(300), data[:middle] + b"\xff\x00" + data[middle:])
    try:
        lines = [json.loads(line) for line in data.splitlines()] if file.suffix in (".jsonl", ".log") else None
        document = lines if lines else json.loads(data)
    except ValueError:
        return
    places = list(list_places(document))
    for _ in range(CHANGES):
        made = change(document, rng.choice(places), rng)
        text = "".join(f"{json.dumps(each)}\n" for each in made) if lines else json.dumps(made)
        yield text.encode()


@pytest.mark.parametrize("name", EVERY)
def test_any_log_is_read_or_refused_in_one_line_for_people(tmp_path: Path, name: str) -> None:
    folder, rng = tmp_path / "logs", random.Random(name)
    folder.mkdir()
    EVERY[name](folder)
    kinds = {(each.suffix, each.name[:4], each.stat().st_size // 512): each for each in folder.rglob("*.*")}
    said = []
    for file in [each for _, each in sorted(kinds.items()) if each.is_file()][:3]:
        whole = file.read_bytes()
        for data in alter(file, rng):
            file.write_bytes(data)
            try:
                said += [caution.message for caution in read_scores(folder).notes]
            except HoldsupError as error:
                said.append(str(error))
        file.write_bytes(whole)
    assert said
    assert not [each for each in said if "\n" in each or INTERNAL.search(each)]
