"""Specs of kind "contest": read, refused, run, and run again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdsup import Contest, SpecError, read_spec
from holdsup.experiment import ProcessExecutor
from holdsup.studies import run_contest_spec

DESIGN = """
holdsup = 1
kind = "contest"
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
repeats = 2

[systems.iob2]
call = "systems:train_tagger"
settings = { least = 1 }

[systems.iobes]
command = ["{python}", "crf.py", "{train}", "{test}", "{out}", "{seed}"]
timeout = 600
"""
SYSTEMS = """
from collections import Counter


def train_tagger(inputs, targets, *, seed, least):
    seen = Counter((w, t) for words, tags in zip(inputs, targets) for w, t in zip(words, tags))
    best = {}
    for (word, tag), count in sorted(seen.items()):
        if count >= least and count > seen.get((word, best.get(word)), 0):
            best[word] = tag
    return lambda unseen: [[best.get(word, "O") for word in words] for words in unseen]
"""
PROGRAM = """
import json
import sys

with open(sys.argv[3], "w") as out:
    for line in open(sys.argv[2]):
        words = json.loads(line)["input"]
        out.write(json.dumps(["B-X" if word[0].isupper() else "O" for word in words]) + "\\n")
"""


@pytest.fixture
def contest(tmp_path: Path) -> Path:
    """The contest of the design, on 48 sentences of 12 documents."""
    folder = tmp_path / "contest"
    folder.mkdir()
    names = ["Ann", "Bob", "Cyd", "the", "a", "May", "bob"]
    rows = []
    for i in range(48):
        words = [names[(i * k + k) % len(names)] for k in range(1, 6)]
        rows.append({"tokens": words, "tags": ["B-X" if w in ("Ann", "Bob", "Cyd", "bob") else "O" for w in words],
                     "document": f"d{i % 12}"})  # fmt: skip
    (folder / "train.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "systems.py").write_text(SYSTEMS)
    (folder / "crf.py").write_text(PROGRAM)
    (folder / "contest.toml").write_text(DESIGN)
    return folder / "contest.toml"


def change(spec: Path, old: str, new: str) -> Path:
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new))
    return spec


def test_a_contest_is_read_with_its_options(contest: Path) -> None:
    spec = read_spec(change(contest, "timeout = 600\n", "timeout = 600\n[contest]\nrepeats = 30\nmargin = 0.01\n"))
    assert (spec.kind, dict(spec.splits)) == ("contest", {"name": "blocked", "m": 3, "repeats": 2})
    assert dict(spec.contest) == {"repeats": 30, "margin": 0.01}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '[systems.iob2]\ncall = "systems:train_tagger"\nsettings = { least = 1 }\n',
            "",
            "between two systems or more",
        ),
        (
            "[metric]",
            '[data.more]\npath = "train.jsonl"\ninput = "tokens"\ntarget = "tags"\n[metric]',
            "2 \\[data.X\\]",
        ),
        ("timeout = 600\n", "timeout = 600\n[contest]\nrepeat = 3\n", "Did you mean 'repeats'"),
        ("timeout = 600\n", "timeout = 600\n[contest]\nrepeats = 0\n", "repeats is 0; it must be"),
        ("timeout = 600\n", "timeout = 600\n[facets]\nseed = [1]\n", "'facets' is not a key here"),
    ],
)
def test_a_contest_that_cannot_be_is_refused(contest: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        read_spec(change(contest, old, new))


def test_a_spec_of_another_kind_is_no_contest(study: Path) -> None:
    with pytest.raises(SpecError, match=r"run.toml has kind = 'run'"):
        run_contest_spec(study)


@pytest.mark.slow  # starts processes
def test_the_contest_of_the_design_runs_and_votes_on_tags(contest: Path) -> None:
    done = run_contest_spec(contest)
    assert isinstance(done, Contest)
    assert done.rows.used == 24
    assert {vote.system: vote.votes for vote in done.votes} == {"iob2": 480, "iobes": 480}
    assert done.seed == 1
    with ProcessExecutor(2) as executor:
        assert run_contest_spec(contest, executor=executor, store=contest.parent / "other.db") == done


@pytest.mark.slow  # starts processes
def test_more_repeats_of_a_spec_train_only_what_is_new(contest: Path) -> None:
    text = contest.read_text()
    start = text.index("[systems.iobes]")
    contest.write_text(text[:start] + '[systems.rare]\ncall = "systems:train_tagger"\nsettings = { least = 3 }\n')
    first = run_contest_spec(contest)
    change(contest, "repeats = 2", "repeats = 3")
    totals: list[int] = []

    def progress(done: int, total: int | None, label: str) -> None:
        totals.append(done)

    more = run_contest_spec(contest, progress=progress)
    assert more.rows.used == 36
    assert min(totals) >= 24  # those of before are done from the start
    assert more.scores[:24] == first.scores


@pytest.mark.slow  # starts processes
def test_the_signature_of_a_spec_names_groups_settings_and_the_metric_with_its_options(contest: Path) -> None:
    grouped = run_contest_spec(contest).signature
    assert "|groups:document|" in grouped
    assert "|metric:chunk_f1,scheme=iob2|" in grouped
    assert "iob2=systems:train_tagger(least=1)#" in grouped
    alone = run_contest_spec(change(contest, 'group = "document"\n', "")).signature
    corpora = [part for one in (grouped, alone) for part in one.split("|") if part.startswith("corpus:")]
    assert len(set(corpora)) == 2
    changed = run_contest_spec(change(contest, "least = 1", "least = 2")).signature
    assert "iob2=systems:train_tagger(least=2)#" in changed


def test_a_contest_without_splits_is_blocked(contest: Path) -> None:
    assert dict(read_spec(change(contest, '[splits]\nname = "blocked"\nm = 3\nrepeats = 2\n', "")).splits) == {
        "name": "blocked", "m": 3,
    }  # fmt: skip


def test_a_table_that_is_missing_is_named_with_its_brackets(contest: Path) -> None:
    with pytest.raises(SpecError, match=r"metric is missing; it must be a table, \[metric\]"):
        read_spec(change(contest, '[metric]\nname = "chunk_f1"\nscheme = "iob2"\n', ""))


@pytest.mark.parametrize("kind", ["contest", "tune"])
def test_an_empty_target_of_a_csv_file_is_refused(tmp_path: Path, kind: str) -> None:
    from holdsup.studies.tuning import run_tuning_spec

    lines = [f"{i},{'' if i == 4 else 'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["x,label", *lines]))
    (tmp_path / "systems.py").write_text(
        "def train(inputs, targets, *, seed, n=1):\n    return lambda unseen: unseen\n"
    )
    head = (
        f'holdsup = 1\nkind = "{kind}"\n[data.d]\npath = "data.csv"\ninput = "x"\ntarget = "label"\n'
        '[metric]\nname = "accuracy"\n[systems.a]\ncall = "systems:train"\n'
    )
    rest = {
        "contest": '[systems.b]\ncall = "systems:train"\nsettings = { n = 2 }\n',
        "tune": '[splits]\nname = "jkfold"\nj = 2\nk = 3\n[candidates]\nn = [1, 2]\n',
    }[kind]
    (tmp_path / "spec.toml").write_text(head + rest)
    run = run_contest_spec if kind == "contest" else run_tuning_spec
    with pytest.raises(
        SpecError, match=r"(line|row) [56] of .*data.csv has no 'label': fill it in, or leave the row out"
    ):
        run(tmp_path / "spec.toml")
