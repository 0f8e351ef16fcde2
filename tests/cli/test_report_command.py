"""`holdsup report`."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import holdsup
from holdsup.results import Result


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    holdsup.audit_scores(holdsup.simulate_scores({"A": 0.5, "B": 0.6}, items=5)).write_json(tmp_path / "check.json")
    return tmp_path / "check.json"


def test_a_page_a_document_and_a_folder_are_written(run: Callable[..., object], saved: Path) -> None:
    page, folder = saved.with_name("page.html"), saved.with_name("paper")
    done = run("report", saved, "-o", page, "--paper", folder, "--title", "Ours")
    assert done == (0, "", "")
    assert "<title>Ours</title>" in page.read_text(encoding="utf-8")
    assert "Read from check.json." in page.read_text(encoding="utf-8")
    assert (folder / "references.bib").is_file()
    assert run("report", saved, "-o", saved.with_name("page.md")) == (0, "", "")


def test_results_stand_in_the_order_given_and_files_of_one_name_are_told_apart(
    run: Callable[..., object], saved: Path
) -> None:
    other = saved.parent / "other" / "check.json"
    other.parent.mkdir()
    holdsup.audit_scores(holdsup.simulate_scores({"C": 0.5}, items=7)).write_json(other)
    page = saved.with_name("page.html")
    assert run("report", other, saved, "-o", page) == (0, "", "")
    text = page.read_text(encoding="utf-8")
    assert -1 < text.index(f"Read from {other}.") < text.index(f"Read from {saved}.")


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("no json", "is not JSON, so it isn't a saved result"),
        ('{"a": 1}', "is JSON, but no result of holdsup"),
        ('{"kind": "oracle", "schema": 1}', "results of kind 'oracle' are not known to this version"),
        (
            '{"kind": "check", "schema": 99}',
            "it was saved with schema 99, and this version reads schemas 1 to 2: update holdsup",
        ),
    ],
)
def test_what_is_no_result_is_one_clear_line(
    run: Callable[..., object], tmp_path: Path, written: str, message: str
) -> None:
    (tmp_path / "bad.json").write_text(written)
    code, out, err = run("report", tmp_path / "bad.json", "-o", tmp_path / "p.html")  # type: ignore[misc]
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert message in err
    assert not (tmp_path / "p.html").exists()


def test_wrong_requests_are_one_clear_line(run: Callable[..., object], saved: Path) -> None:
    page = saved.with_name("page.html")
    for args, code, message in (
        ((saved.with_name("none.json"), "-o", page), 1, "cannot read"),
        ((saved, saved, "-o", page), 1, "is given twice: give each result once"),
        ((saved, "-o", saved.with_name("page.pdf")), 1, "its name must end in .html or .md"),
        ((saved,), 2, "Nothing to write"),
        (("-o", page), 2, "RESULT.json"),
    ):
        done = run("report", *args)
        assert done[0] == code  # type: ignore[index]
        assert message in done[2]  # type: ignore[index]
        assert not page.exists()


def test_a_result_is_never_overwritten(run: Callable[..., object], saved: Path) -> None:
    named_so = saved.with_name("page.html")
    named_so.write_bytes(saved.read_bytes())
    code, _, err = run("report", named_so, "-o", named_so)  # type: ignore[misc]
    assert code == 1
    assert "it is one of the results to read; use another name" in err
    assert json.loads(named_so.read_text())["kind"] == "check"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-32"])
def test_results_are_read_in_any_unicode_with_its_mark_or_without(
    run: Callable[..., object], saved: Path, encoding: str
) -> None:
    saved.write_bytes(saved.read_text(encoding="utf-8").encode(encoding))
    assert run("report", saved, "-o", saved.with_name("page.html")) == (0, "", "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_result_is_read_from_a_pipe_which_gives_it_once(run: Callable[..., object], saved: Path) -> None:
    pipe = saved.with_name("pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(saved.read_bytes()), daemon=True)
    writer.start()
    assert run("report", pipe, "-o", saved.with_name("page.html")) == (0, "", "")


def test_a_ranking_that_was_edited_and_names_an_unknown_system_is_one_clear_line(
    run: Callable[..., object], results: list[Result], tmp_path: Path
) -> None:
    ranking = next(result for result in results if result.kind == "rank")
    whole = json.dumps(ranking.to_dict())
    name = json.loads(whole)["systems"][0]["name"]
    for part in ("systems", "interactions", "companion"):
        plain = json.loads(whole)
        edited = plain[part]["ranks"][0] if part == "companion" else plain[part][0]
        edited["name" if part == "systems" else "system"] = "nobody"
        (tmp_path / "edited.json").write_text(json.dumps(plain))
        code, out, err = run("report", tmp_path / "edited.json", "-o", tmp_path / "p.html")  # type: ignore[misc]
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert "edited.json can't be shown: its parts contradict each other" in err
        assert name in err or "nobody" in err
