"""What a system can be, and the one line that answers what it may not return."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdsup.errors import TaskError
from holdsup.experiment import systems
from holdsup.experiment.systems import Examples, train_system
from holdsup.experiment.training import check_predictions
from waiting import is_running, wait_for

X, Y, UNSEEN = ["aa", "b", "cc", "d"], ["two", "one", "two", "one"], ["ee", "f", "g"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which import strings resolve."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def called(folder: Path, code: str, name: str, kind: str = "call", **settings: Any) -> Any:
    """Return the predictions of a system whose module holds `code`."""
    from holdsup.experiment.sources import digest_file

    (folder / "trained.py").write_text(code)
    modules = {"trained": digest_file(folder / "trained.py")}
    system = {"kind": kind, "source": f"trained:{name}", "settings": settings, "modules": modules, "pinned": True}
    return train_system(system, Examples(X, Y, UNSEEN, 3)).predictions


def program(folder: Path, code: str, *arguments: str, timeout: float | None = None, **settings: Any) -> list[Any]:
    """Return the predictions of a program that holds `code`."""
    (folder / "program.py").write_text(code)
    system = {
        "kind": "command",
        "source": ["{python}", "program.py", *(arguments or ("{train}", "{test}", "{out}", "{seed}"))],
        "settings": settings,
        "folder": str(folder),
        "timeout": timeout,
    }
    predictions: list[Any] = train_system(system, Examples(X, Y, UNSEEN, 3)).predictions
    return predictions


def test_a_function_is_given_inputs_targets_seed_and_settings(folder: Path) -> None:
    code = "def f(inputs, targets, *, seed, k): return lambda unseen: [(inputs, targets, seed, k, x) for x in unseen]"
    assert called(folder, code, "f", k=7) == [(X, Y, 3, 7, x) for x in UNSEEN]


def test_a_function_that_returns_no_function_is_one_line(folder: Path) -> None:
    with pytest.raises(TaskError, match=r"trained:f returned a list: return a function, predict"):
        called(folder, "def f(inputs, targets, *, seed): return [1, 2]", "f")


def test_code_that_changed_is_loaded_again(folder: Path) -> None:
    code = "def f(inputs, targets, *, seed): return lambda unseen: ['{}'] * len(unseen)"
    assert called(folder, code.format("first"), "f") == ["first"] * 3
    assert called(folder, code.format("a second one"), "f") == ["a second one"] * 3


def test_code_that_is_not_what_was_planned_is_refused(folder: Path) -> None:
    (folder / "edited.py").write_text("def f(inputs, targets, *, seed): return list")
    system = {"kind": "call", "source": "edited:f", "settings": {}, "modules": {"edited": "0" * 32}, "pinned": True}
    with pytest.raises(TaskError, match="edited has changed since the tasks were planned"):
        train_system(system, Examples(X, Y, UNSEEN, 3))
    assert train_system({**system, "pinned": False}, Examples(X, Y, UNSEEN, 3)).predictions == UNSEEN


def test_an_estimator_is_fitted_with_its_settings_and_the_seed_everywhere(folder: Path) -> None:
    code = """
class Part:
    def __init__(self, random_state=None, depth=1): self.random_state, self.depth = random_state, depth
    def get_params(self, deep=True): return {"random_state": None, "part__random_state": None, "depth": self.depth}
    def set_params(self, **parameters): self.parameters = parameters; return self
    def fit(self, X, y): self.fitted = (X, y); return self
    def predict(self, X): return [(self.fitted, self.parameters, self.depth, x) for x in X]
"""
    parameters = {"random_state": 3, "part__random_state": 3, "part__C": 10}
    found = called(folder, code, "Part", "estimator", depth=2, part__C=10)
    assert found == [((X, Y), parameters, 2, x) for x in UNSEEN]


def test_a_random_state_that_is_a_setting_is_kept(folder: Path) -> None:
    code = """
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

class Tree(DecisionTreeClassifier):
    def fit(self, X, y): self.fitted_ = True; return self
    def predict(self, X): return [self.random_state for _ in X]

def make(): return make_pipeline(Tree())
"""
    assert called(folder, code, "make", "estimator") == [3] * len(UNSEEN)
    assert called(folder, code, "make", "estimator", tree__random_state=7) == [7] * len(UNSEEN)


def test_a_pipeline_of_scikit_learn_predicts_what_it_predicts_without_us(folder: Path) -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    code = """
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

def make(): return make_pipeline(CountVectorizer(analyzer="char"), DecisionTreeClassifier(splitter="random"))
"""
    own = make_pipeline(CountVectorizer(analyzer="char"), DecisionTreeClassifier(splitter="random", random_state=3))
    assert called(folder, code, "make", "estimator").tolist() == own.fit(X, Y).predict(UNSEEN).tolist()


def test_what_is_no_estimator_is_one_line(folder: Path) -> None:
    with pytest.raises(TaskError, match=r"returned a dict without fit, predict, get_params, set_params"):
        called(folder, "def make(): return {}", "make", "estimator")


def test_a_program_is_given_files_without_the_targets_of_the_test(folder: Path) -> None:
    code = """
import json, sys
train, test, out, seed, rate, on = sys.argv[1:]
rows = [json.loads(line) for line in open(train)], [json.loads(line) for line in open(test)]
with open(out, "w") as file:
    for _ in rows[1]: file.write(json.dumps([rows, seed, rate, on]) + "\\n")
"""
    train = [{"input": x, "target": y} for x, y in zip(X, Y, strict=True)]
    test = [{"input": x} for x in UNSEEN]
    found = program(folder, code, "{train}", "{test}", "{out}", "{seed}", "{rate}", "{on}", rate=0.5, on=True)
    assert found == [[[train, test], "3", "0.5", "true"]] * 3


def test_arguments_never_reach_a_shell(folder: Path) -> None:
    code = "import json, sys\nopen(sys.argv[1], 'w').write('\\n'.join([json.dumps(sys.argv[2])] * 3))"
    nasty = "$(touch pwned); `id` && echo {oops} *"
    assert program(folder, code, "{out}", nasty) == [nasty] * 3
    assert not (folder / "pwned").exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import sys; print('too bad', file=sys.stderr); sys.exit(3)",
            r"program.py ended with code 3; it said: too bad",
        ),
        ("", r"program.py wrote no file \{out\}"),
        ("import sys; open(sys.argv[3], 'w').write('1\\nwhat?\\n3')", r"line 2 that .* is not JSON: 'what\?'"),
        ("import sys; open(sys.argv[3], 'wb').write(b'\\xff\\xfe')", r"line 1 that .* is not JSON"),
        ("import sys; open(sys.argv[3], 'w').write('[' * 100000)", r"line 1 that .* is not JSON"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", r"program.py ended with code 139"),
    ],
)
def test_a_program_that_fails_or_prints_garbage_is_one_line(folder: Path, code: str, said: str) -> None:
    with pytest.raises(TaskError, match=said) as refused:
        program(folder, code)
    assert "\n" not in str(refused.value)


def test_a_program_that_is_not_there_is_one_line(folder: Path) -> None:
    system = {"kind": "command", "source": ["no-such-program"], "settings": {}, "folder": str(folder), "timeout": None}
    with pytest.raises(TaskError, match="ended with code 127; it said: cannot start 'no-such-program': No such file"):
        train_system(system, Examples(X, Y, UNSEEN, 3))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks up processes in /proc")
def test_a_program_that_hangs_is_killed_with_all_that_it_started(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
print("still here", flush=True)
open("child.txt", "w").write(f"{child.pid}\\n")
time.sleep(600)
"""
    noted = folder / "child.txt"

    class Impatient(subprocess.Popen[bytes]):  # its seconds are over when the program hangs, not before
        def wait(self, timeout: float | None = None) -> int:
            if timeout is None:
                return super().wait()
            wait_for(lambda: noted.exists() and noted.read_text().endswith("\n"))
            raise subprocess.TimeoutExpired("program", timeout)

    monkeypatch.setattr(systems.subprocess, "Popen", Impatient)
    with pytest.raises(TaskError, match=r"was stopped after 3 seconds: raise its timeout; it said: still here"):
        program(folder, code, timeout=3)
    child = int(noted.read_text())
    wait_for(lambda: not is_running(child))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks up processes in /proc")
def test_a_program_does_not_outlive_a_killed_worker(folder: Path) -> None:
    (folder / "program.py").write_text(
        "import os, time\nopen('child.txt', 'w').write(str(os.getpid()))\ntime.sleep(600)"
    )
    system = {
        "kind": "command",
        "source": ["{python}", "program.py"],
        "settings": {},
        "folder": str(folder),
        "timeout": None,
    }
    script = f"from holdsup.experiment.systems import Examples, train_system\ntrain_system({system!r}, Examples(['a'], ['b'], ['c'], 1))"
    worker = subprocess.Popen([sys.executable, "-c", script])
    child = folder / "child.txt"
    wait_for(lambda: child.exists() and child.read_text() != "")
    worker.kill()
    worker.wait()
    process = int(child.read_text())
    wait_for(lambda: not is_running(process))


def test_the_folder_of_a_program_s_files_is_gone_afterwards(folder: Path) -> None:
    code = "import sys, os\nopen(sys.argv[3], 'w').write('\\n'.join([repr(len(os.path.dirname(sys.argv[3])))] * 3))\nopen('where.txt', 'w').write(os.path.dirname(sys.argv[3]))"
    program(folder, code)
    own = (folder / "where.txt").read_text()
    assert own
    assert not Path(own).exists()


@pytest.mark.parametrize(
    ("returned", "targets", "plain"),
    [
        (["a", "b"], ["a", "c"], ["a", "b"]),
        (("a", "b"), ["a", "c"], ["a", "b"]),
        (np.array([1, 2]), [1, 1], [1, 2]),
        (np.array(["a", "b"]), ["a", "c"], ["a", "b"]),
        ([np.float32(0.5), np.int64(2)], [0.1, 0.2], [0.5, 2]),
        ([("B", "I"), np.array(["O"])], [["B", "I"], ["O"]], [["B", "I"], ["O"]]),
        (np.array([True, False]), [True, True], [True, False]),
    ],
)
def test_predictions_of_any_sequence_become_plain_values(
    returned: Any, targets: Sequence[Any], plain: list[Any]
) -> None:
    found = check_predictions(returned, targets, source="s:f")
    assert found == plain
    assert json.loads(json.dumps(found)) == plain


@pytest.mark.parametrize(
    ("returned", "targets", "said"),
    [
        (["a"], ["a", "b"], "gave 1 predictions for 2 items"),
        ("ab", ["a", "b"], "predicts with a str"),
        (None, ["a", "b"], "predicts with a NoneType"),
        (iter("ab"), ["a", "b"], "predicts with a str_"),
        ({"a": 1, "b": 2}, ["a", "b"], "predicts with a dict"),
        (np.float64(3), [1.0], "predicts with a float64"),
        ([1.0, math.nan], [1.0, 2.0], "prediction 2 of s:f is nan"),
        ([1.0, math.inf], [1.0, 2.0], "prediction 2 of s:f is inf"),
        (np.array([np.nan, 1.0]), [1.0, 2.0], "prediction 1 of s:f is nan"),
        (["a", None], ["a", "b"], "prediction 2 of s:f is None"),
        (["a", b"b"], ["a", "b"], "prediction 2 of s:f is a bytes"),
        (["1", "2"], [1, 2], r"predicts text \('1', prediction 1\) where the targets are numbers \(1\)"),
        ([0.2, 0.9], ["a", "b"], "predicts numbers .* where the targets are text"),
        ([["a"], ["b"]], ["a", "b"], "predicts lists .* where the targets are text"),
    ],
)
def test_what_is_no_usable_prediction_is_refused_in_one_line(returned: Any, targets: Sequence[Any], said: str) -> None:
    with pytest.raises(TaskError, match=said) as refused:
        check_predictions(returned, targets, source="s:f")
    assert str(refused.value)[-1] not in ".?!"  # other sentences go on from there
    assert "\n" not in str(refused.value)


def test_the_interpreter_of_programs_is_this_one(folder: Path) -> None:
    code = "import json, sys\nopen(sys.argv[1], 'w').write('\\n'.join([json.dumps(sys.executable)] * 3))"
    assert program(folder, code, "{out}") == [sys.executable] * 3
