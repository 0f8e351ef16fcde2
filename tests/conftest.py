"""What every test can use."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from holdsup.cli import main
from holdsup.results import Result

ROOT = Path(__file__).resolve().parent.parent

# How long an example takes is a fact about the machine, and about what else it does.
settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The real data that stand beside the project where it is developed; users do not have them."""
    folder = ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real data sets (../shared/data) are not on this machine")
    return folder


@pytest.fixture(scope="session")
def results() -> list[Result]:
    """A result of each kind that has sentences of its own in a report: check first, then compare, variance, ..."""
    from every_kind import make_results

    return make_results()


class Done(NamedTuple):
    """What a call of the command line left behind: exit code, standard output, standard error."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Done]:
    """A function that runs the command line with some arguments, in a terminal of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")

    def call(*args: object) -> Done:
        with pytest.raises(SystemExit) as stopped:
            main([str(arg) for arg in args])
        captured = capsys.readouterr()
        return Done(int(stopped.value.code or 0), captured.out, captured.err)

    return call


SYSTEMS = """
from collections import Counter


def train_majority(inputs, targets, *, seed, floor=0):
    top = Counter(targets).most_common(1)[0][0]
    return lambda unseen: [top] * len(unseen)


def train_length(inputs, targets, *, seed, floor=0):
    longest = {label: max(len(x) for x, y in zip(inputs, targets) if y == label) for label in set(targets)}
    cut = min(longest.values()) - floor
    return lambda unseen: ["long" if len(x) > cut else "short" for x in unseen]


def make_tree(max_depth=1):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import Pipeline
    from sklearn.tree import DecisionTreeClassifier

    return Pipeline([("count", CountVectorizer(analyzer="char")), ("tree", DecisionTreeClassifier(max_depth=max_depth))])
"""
PROGRAM = """
import json
import sys

train, test, out, seed = sys.argv[1:5]
with open(out, "w") as file:
    for line in open(test):
        file.write(json.dumps("long" if len(json.loads(line)["input"]) > 6 else "short") + "\\n")
"""
SPEC = """
holdsup = 1
kind = "run"
seed = 5
store = "runs.db"

[data.toy]
path = "toy.jsonl"
input = "text"
target = "label"

[metric]
name = "accuracy"

[splits]
name = "holdout"
test = 0.25

[systems.length]
call = "systems:train_length"

[systems.majority]
call = "systems:train_majority"

[facets]
seed = [1, 2, 3]
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A spec in a folder with 60 short texts, two functions, an estimator and a program to train."""
    folder = tmp_path / "study"
    folder.mkdir()
    texts = ["ab" * (1 + i * 7 % 6) for i in range(60)]
    rows = [
        f'{{"text": "{x}", "label": "{"long" if len(x) > 6 else "short"}", "doc": {i % 12}}}'
        for i, x in enumerate(texts)
    ]
    (folder / "toy.jsonl").write_text("\n".join(rows) + "\n")
    (folder / "systems.py").write_text(SYSTEMS)
    (folder / "tag.py").write_text(PROGRAM)
    (folder / "run.toml").write_text(SPEC)
    return folder / "run.toml"
