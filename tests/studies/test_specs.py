"""Specs: what a TOML file may say, and the one line that answers what it may not."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import holdsup
from holdsup.errors import SpecError
from holdsup.studies.specs import make_plan, read_spec

COMMAND = '[systems.program]\ncommand = ["{python}", "tag.py", "{train}", "{test}", "{out}", "{seed}"]\n'


def edit(spec: Path, old: str, new: str) -> Path:
    """Replace a piece of the spec that is there."""
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))
    return spec


def refusal(spec: Path) -> str:
    """Return the one line with which a spec is refused, by reading it or by planning it."""
    with pytest.raises(SpecError) as refused:
        make_plan(read_spec(spec))
    message = str(refused.value)
    assert "\n" not in message
    assert spec.name in message
    return message


def test_a_spec_is_read_as_it_is_written(study: Path) -> None:
    spec = read_spec(study)
    assert (spec.kind, spec.seed, spec.store) == ("run", 5, study.parent / "runs.db")
    assert spec.data["toy"].path == study.parent / "toy.jsonl"
    assert (spec.data["toy"].input, spec.data["toy"].target, spec.data["toy"].group) == ("text", "label", None)
    assert list(spec.systems) == ["length", "majority"]
    assert spec.systems["length"].source == "systems:train_length"
    assert spec.facets == {"seed": (1, 2, 3)}


def test_the_contest_of_the_contract_is_read_but_for_its_kind(tmp_path: Path) -> None:
    file = tmp_path / "contest.toml"
    file.write_text("""
holdsup = 1
kind = "run"
seed = 1
store = "runs.db"

[data.conll]
path = "train.jsonl"
input = "tokens"
target = "tags"
group = "document"

[metric]
name = "chunk_f1"
scheme = "iob2"

[splits]
name = "blocked"
m = 3
repeats = 10

[systems.iob2]
call = "systems:train_crf"
settings = { c2 = 1.0 }

[systems.iobes]
command = ["{python}", "crf.py", "{train}", "{test}", "{out}", "{seed}"]
timeout = 600
""")
    spec = read_spec(file)
    assert spec.data["conll"].group == "document"
    assert spec.splits == {"name": "blocked", "m": 3, "repeats": 10}
    assert spec.systems["iob2"].settings == {"c2": 1.0}
    assert spec.systems["iobes"].timeout == 600
    assert spec.facets == {}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("holdsup = 1", "holdsup = 2", "this version reads specs of version 1"),
        ("holdsup = 1\n", "", "holdsup is missing"),
        ("holdsup = 1", "holdsup = true", "holdsup is True; it must be 1"),
        ("[data.toy]", '[data." "]', "whose name is empty"),
        ('kind = "run"', 'kind = "rum"', "kind is 'rum'; it can be 'run'"),
        ("seed = 5", "seed = -1", "seed is -1; it must be a whole number from 0"),
        ("seed = 5", "seeds = 5", "'seeds' is not a key here; the keys are 'holdsup', 'kind', 'seed', 'store'"),
        ("seed = 5", "seeds = 5", "Did you mean 'seed'?"),
        ("[metric]", "[metrics]", "Did you mean 'metric'?"),
        ('input = "text"', 'inputs = "text"', "[data.toy]: 'inputs' is not a key here"),
        ('input = "text"', "input = 3", "input is 3; it must be the name of a column, or a list of names"),
        ('target = "label"\n', "", "target is missing"),
        ('path = "toy.jsonl"', 'path = "https://example.org/toy.jsonl"', "a URL: download"),
        ('path = "toy.jsonl"', 'path = "none.jsonl"', "No such file"),
        ('target = "label"', 'target = "labels"', "Did you mean 'label'?"),
        ('name = "accuracy"', 'name = "acuracy"', "Did you mean 'accuracy'?"),
        ('name = "accuracy"', 'name = "accuracy"\nscheme = "iob2"', "[metric]: "),
        ('name = "accuracy"', 'kind = "accuracy"', "[metric]: name is missing"),
        ('name = "accuracy"', 'name = "mse"', "toy.jsonl has 'short' as 'label', which is not a number"),
        ('name = "accuracy"', 'name = "chunk_f1"\nscheme = "iob2"', "chunk_f1 does not fit these targets: "),
        ('name = "accuracy"', 'name = "f1"\npositive = "zzz"', "no target is 'zzz'; there are 'long', 'short'"),
        ('name = "holdout"', 'name = "holdouts"', "unknown splitter 'holdouts'"),
        ("test = 0.25", "tests = 0.25", "'tests'"),
        ("test = 0.25", "test = 0.25\nseed = 2", "the seed of the header is used"),
        ('name = "holdout"\ntest = 0.25', 'name = "kfold"\nk = 61', "toy cannot be split: "),
        ('call = "systems:train_length"', "", "it has none of them: give one of 'call', 'estimator', 'command'"),
        ('call = "systems:train_length"', 'call = "a:b"\nestimator = "a:b"', "it has call and estimator"),
        ('call = "systems:train_length"', 'call = "systems.train_length"', 'write "module:function"'),
        ('call = "systems:train_length"', 'call = "systemz:train"', "there is no module 'systemz'"),
        ('call = "systems:train_length"', 'call = "systems:train"', "systems has no 'train'"),
        ('call = "systems:train_length"', 'call = "systems:SYSTEMS"', "systems has no 'SYSTEMS'"),
        ('"systems:train_length"', '"systems:train_length"\nsettings = { flor = 1 }', "unexpected keyword argument 'flor'"),
        ('"systems:train_length"', '"systems:train_length"\nsettings = { seed = 1 }', "keep one"),
        ('"systems:train_length"', '"systems:train_length"\ntimeout = 0', "it must be a number of seconds"),
        ('"systems:train_length"', '"systems:train_length"\ncode = ["*.pyx"]', "matches no file"),
        ('"systems:train_length"', '"systems:train_length"\ncode = ["/etc/*"]', "not a pattern inside the spec's folder"),
        ('"systems:train_length"', '"systems:train_majority"', "are the same training on the same data"),
        ("seed = [1, 2, 3]", "seed = [1, 1]", "a value more than once"),
        ("seed = [1, 2, 3]", 'seed = ["a"]', "seeds are whole numbers"),
        ("seed = [1, 2, 3]", "seed = 1", "it must be a list"),
        ("seed = [1, 2, 3]", "system = [1]", "'system' cannot name a facet"),
        ("seed = [1, 2, 3]", "rate = [0.1]", "unexpected keyword argument 'rate'"),
        ("[facets]", COMMAND.replace("{seed}", "{sed}") + "[facets]", "Did you mean 'seed'?"),
        ("[facets]", COMMAND.replace(', "{seed}"', "") + "[facets]", "command lacks {seed}"),
        ("[facets]", COMMAND.replace(', "{out}"', "") + "[facets]", "command lacks {out}"),
        ("[facets]", COMMAND.replace("tag.py", "-c") + "[facets]", "set key ="),
        ("[facets]", COMMAND + "settings = { a = [1] }\n[facets]", "cannot fill a placeholder"),
    ],
)  # fmt: skip
def test_what_a_spec_may_not_say_is_refused_in_one_line(study: Path, old: str, new: str, said: str) -> None:
    assert said in refusal(edit(study, old, new))


def test_text_that_is_no_toml_and_files_that_are_not_there_are_one_line(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    with pytest.raises(SpecError, match="cannot read"):
        read_spec(file)
    for text in (b"kind = ", b"\xff\xfe", b"a = " + b"[" * 100_000):
        file.write_bytes(text)
        with pytest.raises(SpecError, match=r"run.toml is not TOML"):
            read_spec(file)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise ValueError('no')", "importing systems fails: ValueError: no"),
        ("import nowhere", "there is no module 'nowhere', which systems imports"),
        ("train_length = 3\ntrain_majority = 3", "it is a int, which cannot be called"),
        ("import os\nos._exit(3)", "ended Python (exit code 3)"),
        ("raise SystemExit(4)", "SystemExit"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_line(study: Path, code: str, said: str) -> None:
    (study.parent / "systems.py").write_text(code)
    assert said in refusal(study)


def test_tasks_are_all_combinations_of_datasets_systems_facets_and_splits(study: Path) -> None:
    edit(study, 'name = "holdout"\ntest = 0.25', 'name = "kfold"\nk = 4')
    edit(study, "seed = [1, 2, 3]", "seed = [1, 2]\nfloor = [0, 1, 2]")
    edit(study, "[metric]", '[data.more]\npath = "toy.jsonl"\ninput = "label"\ntarget = "label"\n\n[metric]')
    plan = make_plan(study)
    labels = [tuple(task.labels.values()) for task in plan.tasks]
    wanted = [
        (dataset, system, seed, floor, split)
        for dataset in ("toy", "more")
        for system in ("length", "majority")
        for seed in (1, 2)
        for floor in (0, 1, 2)
        for split in (1, 2, 3, 4)
    ]
    assert labels == wanted
    assert len({task.id for task in plan.tasks}) == len(wanted)
    assert list(plan.tasks[0].labels) == ["dataset", "system", "seed", "floor", "split"]


def test_a_seed_facet_replaces_the_header_s_for_training_and_leaves_the_split(study: Path) -> None:
    first, second, *_ = make_plan(study).tasks
    assert (first.arguments["seed"], second.arguments["seed"]) == (1, 2)
    assert (
        first.arguments["split"]
        == second.arguments["split"]
        == {"name": "holdout", "test": 0.25, "seed": 5, "index": 0}
    )
    edit(study, "[facets]\nseed = [1, 2, 3]", "")
    assert {task.arguments["seed"] for task in make_plan(study).tasks} == {5}


def test_facets_and_settings_arrive_together(study: Path) -> None:
    edit(study, '"systems:train_length"', '"systems:train_length"\nsettings = { floor = 2 }')
    task = make_plan(study).tasks[0]
    assert task.arguments["system"]["settings"] == {"floor": 2}


def test_planning_leaves_the_user_s_modules_out_of_this_process(study: Path) -> None:
    sys.modules.pop("systems", None)
    make_plan(study)
    assert "systems" not in sys.modules


def test_reading_a_spec_runs_nothing_of_the_user_s(study: Path) -> None:
    (study.parent / "systems.py").write_text("raise SystemExit('ran')")
    assert holdsup.read_spec(study).systems["length"].kind == "call"
