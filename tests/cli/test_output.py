"""Where output goes: files, links, pipes, devices, standard output; and what is never overwritten."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdsup.cli import main

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clean table of scores in a folder of its own, where the test runs."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{s},{i},{seed},0.{ord(s) % 10}{i}{seed}" for s in "AB" for i in range(4) for seed in (1, 2)]
    Path("scores.csv").write_text("\n".join(["system,item,seed,score", *rows, ""]))


def test_a_dash_means_standard_output(run: Run) -> None:
    assert run("check", "scores.csv", "-o", "-") == run("check", "scores.csv")
    assert not Path("-").exists()


@pytest.mark.parametrize("option", ["-o", "--plot"])
@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_name_of_a_file_is_wrong_usage(run: Run, option: str, name: str) -> None:
    done = run("check", "scores.csv", option, name)
    assert done.code == 2
    assert "is empty" in done.err


@pytest.mark.parametrize("device", ["/dev/null", "/dev/stdout"])
def test_a_device_is_written_through_and_not_replaced(run: Run, device: str) -> None:
    before = os.stat(device).st_mode  # noqa: PTH116
    assert run("check", "scores.csv", "-o", device).code == 0
    assert os.stat(device).st_mode == before  # noqa: PTH116


def test_standard_output_by_its_name_may_be_a_pipe(run: Run) -> None:
    command = [sys.executable, "-m", "holdsup", "check", "scores.csv", "-o", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout.splitlines()[1]) == (0, "", "No problems found.")


def test_a_pipe_is_written_through(run: Run) -> None:
    os.mkfifo("pipe")
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_text()))
    reader.start()
    assert run("check", "scores.csv", "-o", "pipe").code == 0
    reader.join()
    assert read[0].splitlines()[1] == "No problems found."
    assert Path("pipe").is_fifo()


@pytest.mark.parametrize("exists", [True, False])
def test_a_link_is_followed_and_its_target_replaced(run: Run, exists: bool) -> None:
    Path("folder").mkdir()
    if exists:
        Path("folder/real.txt").write_text("old")
        Path("folder/real.txt").chmod(0o600)
    Path("link.txt").symlink_to("folder/real.txt")
    assert run("check", "scores.csv", "-o", "link.txt").code == 0
    assert Path("link.txt").is_symlink()
    assert Path("folder/real.txt").read_text().splitlines()[1] == "No problems found."
    assert [f.name for f in Path("folder").iterdir()] == ["real.txt"]
    if exists:
        assert Path("folder/real.txt").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("asked", ["scores.csv", "*.csv", ".", "../{folder}/scores.csv", "copy.csv"])
def test_no_input_is_ever_overwritten(run: Run, tmp_path: Path, asked: str) -> None:
    before = Path("scores.csv").read_text()
    Path("copy.csv").symlink_to("scores.csv")
    done = run("check", asked.format(folder=tmp_path.name), "-o", "scores.csv")
    assert (done.code, done.err.count("\n")) == (1, 1)
    assert "it is one of the files to read" in done.err
    assert Path("scores.csv").read_text() == before


def test_a_picture_does_not_overwrite_an_input(run: Run) -> None:
    Path("scores.csv").rename("scores.svg")
    done = run("check", "scores.svg", "--plot", "scores.svg")
    assert (done.code, "it is one of the files to read" in done.err) == (1, True)


def test_a_folder_is_no_output(run: Run) -> None:
    Path("folder").mkdir()
    done = run("check", "scores.csv", "-o", "folder")
    assert (done.code, done.err) == (1, "holdsup: cannot write folder: Is a directory\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
@pytest.mark.parametrize("arguments", ["check scores.csv", "demo", "--help", "check scores.csv -o /dev/full"])
def test_a_full_disk_is_one_line(run: Run, arguments: str) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "holdsup", *arguments.split()],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("holdsup: cannot write ")
    assert done.stderr.endswith("No space left on device\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [["demo"], ["check", "scores.csv"]])
def test_a_negative_seed_is_wrong_usage(run: Run, command: list[str]) -> None:
    done = run(*command, "--seed", "-1")
    assert done.code == 2
    assert "--seed" in done.err


def test_strict_exits_with_1_after_the_output_when_there_are_errors(run: Run) -> None:
    assert run("check", "scores.csv", "--strict").code == 0
    text = Path("scores.csv").read_text()
    Path("twice.csv").write_text(text + text.splitlines()[1] + "\n")
    assert run("check", "twice.csv").code == 0
    done = run("check", "twice.csv", "--strict")
    assert done.code == 1
    assert done.out == run("check", "twice.csv").out
    assert done.err == "holdsup: the table has errors (duplicates), and --strict was given\n"


def test_options_that_take_columns_may_be_repeated(run: Run) -> None:
    text = Path("scores.csv").read_text().splitlines()
    Path("lr.csv").write_text("\n".join([f"{text[0]},lr", *(f"{line},0.1" for line in text[1:]), ""]))
    repeated = run("check", "lr.csv", "--facets", "seed", "--facets", "lr").out
    assert repeated == run("check", "lr.csv", "--facets", "seed,lr").out
    assert "|facets:seed,lr|" in repeated


def test_an_unknown_command_is_answered_with_the_near_one(run: Run) -> None:
    done = run("chek")
    assert (done.code, "Did you mean 'check'?" in done.err) == (2, True)
    assert "Did you mean" not in run("frobnicate").err


def test_columns_are_taken_from_the_names_of_files(run: Run) -> None:
    for system in "AB":
        Path(system).mkdir()
        for seed in (1, 2):
            lines = [f"{i},0.{ord(system) % 10}{i}{seed}" for i in range(4)]
            Path(system, f"seed{seed}.csv").write_text("\n".join(["item,score", *lines, ""]))
    out = run("check", "A", "B", "--names", "{system}/seed{seed}").out
    assert out.splitlines()[-1].startswith("check|data:")
    assert (
        out.splitlines()[-1].partition("|score")[0]
        == run("check", "scores.csv").out.splitlines()[-1].partition("|score")[0]
    )


def test_a_status_column_is_named_or_refused_by_an_option(run: Run) -> None:
    Path("s.csv").write_text("system,item,score,state\nA,1,0.5,Success\nA,2,0.25,crashed\n")
    assert "1 with status 'crashed'" in run("check", "s.csv", "--status", "state").out
    assert "2 of 2 rows used" in run("check", "s.csv").out


@pytest.mark.parametrize("style", ["text", "json"])
def test_a_stand_in_for_standard_output_need_know_no_encoding(monkeypatch: pytest.MonkeyPatch, style: str) -> None:
    class Bare:
        def __init__(self) -> None:
            self.parts: list[str] = []

        def write(self, text: str) -> int:
            self.parts.append("" + text)  # refuses bytes, as a text stream does
            return len(text)

        def flush(self) -> None: ...

    for stand_in, read in ((io.StringIO(), io.StringIO.getvalue), (Bare(), lambda bare: "".join(bare.parts))):
        monkeypatch.setattr(sys, "stdout", stand_in)
        with pytest.raises(SystemExit) as ended:
            main(["check", "scores.csv", "--format", style])
        assert ended.value.code == 0
        assert "duplicate" in read(stand_in) or "No problems" in read(stand_in)
