"""Logs as one table of scores: systems, runs and samples put apart, means checked, pairing audited."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from holdsup import audit_scores, compare_systems, decompose_variance, read_result, read_scores
from holdsup.errors import ReadError, ScoresError

READERS = ["plain_reader"]


def write(folder: Path, name: str, system: str, scores: list[float | None], **more: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"item": f"q{i}", "metric": "acc", "score": score, **more.pop(f"row{i}", {})} for i, score in enumerate(scores)
    ]
    rows += more.pop("rows", [])
    file = folder / f"{name}.json"
    file.write_text(json.dumps({"plain": 1, "system": system, "rows": rows, **more}))
    return file


def draw(item: int, epoch: int) -> float:
    return (item * 37 + epoch * 61 + item * epoch * 17) % 101 / 101


def codes(found: Any) -> dict[str, str]:
    return {caution.code: caution.severity for caution in found.cautions}


GOOD = [1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
BAD = [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def test_two_logs_in_a_folder_are_two_systems_on_the_same_items(tmp_path: Path) -> None:
    write(tmp_path, "a", "A", GOOD, means={"acc": 0.9})
    write(tmp_path, "b", "B", BAD, means={"acc": 0.3})
    (tmp_path / "notes.txt").write_text("nothing")
    found = compare_systems(tmp_path, readers=READERS)
    assert found.contrasts[0].difference == pytest.approx(0.6)
    assert {s.name: s.mean for s in found.systems} == pytest.approx({"A": 0.9, "B": 0.3})
    said = {c.code: c.message for c in found.cautions}
    assert said["logs-read"] == "Read 2 Plain 1 logs. Both means match the ones the tool reported."
    assert said["unread-files"].startswith("1 other file")


def test_a_mean_that_is_not_the_tools_own_is_an_error_with_both_numbers(tmp_path: Path) -> None:
    write(tmp_path, "a", "A", GOOD, means={"acc": 0.9000001})
    with pytest.raises(ReadError, match=r"acc = 0\.9000001 on quiz, but the scores in the log have a mean of 0\.9:"):
        read_scores(tmp_path, readers=READERS)


def test_samples_of_an_item_are_averaged_before_items(tmp_path: Path) -> None:
    rows = [{"item": "q0", "metric": "acc", "score": s, "sample": str(i)} for i, s in enumerate([1.0, 0.0, 0.0])]
    one = [{"item": "q1", "metric": "acc", "score": 1.0, "sample": "0"}]
    write(tmp_path, "a", "A", [], rows=rows + one, extra=["sample"], means={"acc": (1 / 3 + 1) / 2})
    scores = read_scores(tmp_path, readers=READERS)
    assert scores.roles.sample == "sample"
    assert len(scores) == 4


def test_epochs_are_samples_of_a_system_and_the_answer_says_so(tmp_path: Path) -> None:
    for name, better in (("A", 0.2), ("B", 0.0)):
        rows = [
            {
                "item": f"q{i}",
                "metric": "acc",
                "score": float(draw(i, epoch) < 0.5 + better),
                "sample": str(epoch),
            }
            for i in range(40)
            for epoch in range(3)
        ]
        write(tmp_path, name, name, [], rows=rows, extra=["sample"])
    found = compare_systems(tmp_path, readers=READERS)
    assert found.claim == "these-runs"
    text = str(found)
    assert "3 samples x 40 items" in text
    assert "new samples of both systems, new items like these 40" in " ".join(text.split())
    assert not {"one-run-each", "repeated-scores"} & set(codes(found))
    by_item = {  # the paired t of item means, by hand
        "system": [s for s in "AB" for _ in range(40)], "item": list(range(40)) * 2,
        "score": [sum(draw(i, e) < 0.5 + b for e in range(3)) / 3 for b in (0.2, 0.0) for i in range(40)],
    }  # fmt: skip
    assert found.contrasts[0].p == pytest.approx(compare_systems(by_item).contrasts[0].p)


def test_logs_that_differ_in_a_seed_are_runs(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        for system, scores in (("A", GOOD), ("B", BAD)):
            scores = [1 - s if i == seed else s for i, s in enumerate(scores)]
            write(tmp_path, f"{system}{seed}", system, scores, facets={"seed": str(seed), "temperature": "0"})
    scores = read_scores(tmp_path, readers=READERS)
    assert scores.roles.facets == ("seed",)
    assert compare_systems(scores).claim == "new-runs"


def test_logs_of_one_system_with_other_settings_are_as_many_systems(tmp_path: Path) -> None:
    write(tmp_path, "a", "A", GOOD, conditions={"few-shot examples": "5"})
    write(tmp_path, "b", "A", BAD, conditions={"few-shot examples": "0"})
    found = compare_systems(tmp_path, readers=READERS)
    assert [s.name for s in found.systems] == ["few-shot examples 0", "few-shot examples 5"]
    assert codes(found)["settings-as-systems"] == "note"


def test_one_system_in_two_places_is_two_systems_named_after_them(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old", "x", "A", BAD), write(tmp_path / "new", "x", "A", GOOD)
    found = compare_systems([old.parent, new.parent], readers=READERS)
    assert [s.name for s in found.systems] == ["new", "old"]
    assert codes(found)["places-as-systems"] == "note"


def test_the_same_systems_in_two_places_are_told_apart_by_place(tmp_path: Path) -> None:
    for place, scores in (("before", BAD), ("after", GOOD)):
        for system in "AB":
            write(tmp_path / place, system, system, scores, identity=f"{place}{system}")
    found = compare_systems([tmp_path / "before", tmp_path / "after"], readers=READERS)
    assert {s.name: s.mean for s in found.systems} == pytest.approx(
        {"A (before)": 0.3, "B (before)": 0.3, "A (after)": 0.9, "B (after)": 0.9}
    )


def test_runs_with_another_seed_stay_runs_wherever_they_lie(tmp_path: Path) -> None:
    for place, scores in (("one", BAD), ("two", GOOD)):
        for system in "AB":
            write(tmp_path / place, system, system, scores, identity=f"{place}{system}", facets={"seed": place})
    found = compare_systems([tmp_path / "one", tmp_path / "two"], readers=READERS)
    assert {(s.name, s.runs) for s in found.systems} == {("A", 2), ("B", 2)}


def test_the_same_evaluation_again_is_another_sample_and_a_copy_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "a1", "A", GOOD, identity="1")
    write(tmp_path, "a1-copy", "A", GOOD, identity="1")
    write(tmp_path, "a2", "A", BAD, identity="2")
    scores = read_scores(tmp_path, readers=READERS)
    assert (len(scores), scores.sample is not None and scores.sample.names) == (20, ("1", "2"))
    assert {c.code for c in scores.notes} >= {"copied-log", "logs-as-samples"}


def test_other_items_under_one_id_are_refused_until_they_are_accepted(tmp_path: Path) -> None:
    for name, text in (("A", "old"), ("B", "new")):
        write(tmp_path, name, name, GOOD, extra=["content"], row3={"content": text}, row4={"content": "same"})
    code = "different-items-under-one-id"
    assert codes(audit_scores(tmp_path, readers=READERS))[code] == "error"
    with pytest.raises(ScoresError, match=f"1 id stands for different inputs or targets.*--accept {code}"):
        compare_systems(tmp_path, readers=READERS)
    assert codes(compare_systems(tmp_path, readers=READERS, accept=[code]))[code] == "warning"
    with pytest.raises(ScoresError, match="have no such error"):
        compare_systems(tmp_path, readers=READERS, accept=["no-shared-items"])


def test_other_items_under_one_id_refuse_questions_about_their_task_alone(tmp_path: Path) -> None:
    for task, texts in (("old", ("x", "y")), ("fine", ("x", "x"))):
        for name, text in zip("AB", texts, strict=True):
            scores = GOOD if name == "A" else BAD
            write(tmp_path, f"{task}{name}", name, scores, task=task, extra=["content"], row3={"content": text})
    with pytest.raises(ScoresError, match=r"old: 1 id stands for different inputs.*choose other tasks with --where"):
        compare_systems(tmp_path, readers=READERS)
    found = compare_systems(tmp_path, readers=READERS, where={"task": "fine"})
    assert found.contrasts[0].difference == pytest.approx(0.6)
    with pytest.raises(ScoresError, match="old: 1 id stands"):
        compare_systems(tmp_path, readers=READERS, where={"task": "old"})


def test_what_several_logs_have_alike_is_said_once_by_paths_within_the_folder(tmp_path: Path) -> None:
    for name in "ABCD":
        write(tmp_path, name, name, GOOD, said=[f"{tmp_path}/{name}.json was cut off."])
    for name in "ab":
        (tmp_path / f"broken-{name}.json").write_text('{"plain": 1, "rows": [')
    said = {c.code: c.message for c in read_scores(tmp_path, readers=READERS).notes}
    assert said["said"] == "A.json was cut off. The same is true of 3 others."
    assert said["unread-log"].startswith("2 logs could not be read; the first: broken-a.json")
    assert said["logs-read"] == "Read 4 Plain 1 logs. There was no mean of the tool to check the scores against."


def test_logs_of_one_system_in_one_place_are_told_how_to_be_compared(tmp_path: Path) -> None:
    files = [write(tmp_path, name, "A", scores) for name, scores in (("old", BAD), ("new", GOOD))]
    with pytest.raises(ScoresError, match="name each file or folder that you want to compare"):
        compare_systems(tmp_path, readers=READERS)
    assert {s.name for s in compare_systems(files, readers=READERS).systems} == {"old", "new"}


def test_a_log_that_cannot_be_read_is_why_there_is_one_system(tmp_path: Path) -> None:
    write(tmp_path, "a", "A", GOOD)
    (tmp_path / "b.json").write_text('{"plain": 1, "rows": [')
    with pytest.raises(
        ScoresError, match=r"only one system, 'A'.*: one log could not be read: b\.json is not whole JSON"
    ):
        compare_systems(tmp_path, readers=READERS)


def test_prompts_settings_limits_and_errors_are_said(tmp_path: Path) -> None:
    failed = {"extra": ["prompt", "error"], "row0": {"prompt": "x", "error": "timeout"}}
    write(tmp_path, "a", "A", GOOD, conditions={"limit": "10", "task version": "1"}, planned=12, **failed)
    write(tmp_path, "b", "B", BAD[:8], conditions={"limit": "8", "task version": "2"}, finished=False,
          extra=["prompt"], row0={"prompt": "y"})  # fmt: skip
    found = {c.code: c for c in compare_systems(tmp_path, readers=READERS).cautions}
    assert found["different-prompts"].message.startswith("1 item was prompted differently for different systems")
    assert "task version (1 for A, 2 for B)" in found["different-settings"].message
    assert found["unpaired-items"].message.endswith("(B has 8). The logs were run with different limits.")
    assert found["errors-as-wrong"].about == "system:A"
    assert found["errors-as-wrong"].examples == ("timeout",)
    assert [c.message for c in compare_systems(tmp_path, readers=READERS).cautions if c.code == "unfinished-log"] == [
        "The log of A on quiz has only 10 of 12 items.",
        "The evaluation of B on quiz did not finish: its log has 8 items.",
    ]


def test_logs_without_a_common_item_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "a", "A", GOOD)
    write(tmp_path, "b", "B", [], rows=[{"item": f"z{i}", "metric": "acc", "score": 1.0} for i in range(5)])
    with pytest.raises(ScoresError, match="'A', 'B' have no item in common"):
        compare_systems(tmp_path, readers=READERS)


def test_costs_are_compared_when_asked_for_and_lower_is_better(tmp_path: Path) -> None:
    for name, scores, tokens in (("A", GOOD, 100), ("B", BAD, 50)):
        rows = [{"item": f"q{i}", "metric": "tokens", "score": tokens + i % (tokens // 25)} for i in range(10)]
        write(tmp_path, name, name, scores, rows=rows, costs=["tokens"], lower_is_better=["tokens"])
    found = compare_systems(tmp_path, readers=READERS)
    assert {s.metric for s in found.systems} == {"acc"}
    assert "tokens" in next(c.message for c in found.cautions if c.code == "costs-aside")
    cheap = compare_systems(tmp_path, readers=READERS, where={"metric": "tokens"})
    assert cheap.headline.startswith("B is better")


def test_a_table_of_logs_keeps_its_roles(tmp_path: Path, run: Callable[..., Any]) -> None:
    for name, scores in (("A", GOOD), ("B", BAD)):
        rows = [
            {"item": f"q{i}", "metric": "acc", "score": s, "sample": str(e)}
            for i, s in enumerate(scores)
            for e in (1, 2)
        ]
        rows += [{"item": f"q{i}", "metric": "tokens", "score": 9 + i} for i in range(10)]
        write(
            tmp_path / "logs", name, name, [], rows=rows, extra=["sample"], costs=["tokens"], lower_is_better=["tokens"]
        )
    target = tmp_path / "scores.parquet"
    done = run("import", tmp_path / "logs", "-o", target, "--reader", "plain_reader")
    assert (done.code, done.err) == (0, "")
    assert pq.read_table(target).column_names[:6] == ["dataset", "system", "item", "metric", "score", "status"]
    again, direct = compare_systems(target), compare_systems(tmp_path / "logs", readers=READERS)
    assert again.contrasts[0].p == direct.contrasts[0].p
    assert again.systems == direct.systems
    assert run("import", tmp_path / "logs", "-o", tmp_path / "x.csv", "--reader", "plain_reader").code == 0
    as_text = compare_systems(tmp_path / "x.csv")  # where the name of the column says what it is
    assert as_text.systems == direct.systems
    assert run("import", tmp_path / "logs", "-o", tmp_path / "x.txt", "--reader", "plain_reader").code == 1


def test_a_csv_file_of_logs_keeps_costs_and_directions(tmp_path: Path, run: Callable[..., Any]) -> None:
    for name, scores in (("A", GOOD), ("B", BAD)):
        tokens = [{"item": f"q{i}", "metric": "tokens", "score": 9 + i} for i in range(10)]
        write(tmp_path / "logs", name, name, scores, rows=tokens, costs=["tokens"], lower_is_better=["tokens"])
    target = tmp_path / "scores.csv"
    assert run("import", tmp_path / "logs", "-o", target, "--reader", "plain_reader").code == 0
    again, direct = compare_systems(target), compare_systems(tmp_path / "logs", readers=READERS)
    assert [c.p for c in again.contrasts] == [c.p for c in direct.contrasts]
    assert compare_systems(target, where={"metric": "tokens"}).contrasts[0].lower_is_better


def test_a_result_of_logs_can_be_restored(tmp_path: Path) -> None:
    write(tmp_path, "a", "A", GOOD)
    write(tmp_path, "b", "B", BAD)
    found = compare_systems(tmp_path, readers=READERS)
    saved = tmp_path / "result.json"
    saved.write_text(found.to_json())
    assert read_result(saved).to_dict() == found.to_dict()


@pytest.mark.parametrize("asked", [audit_scores, decompose_variance])
def test_other_questions_read_logs_as_well(tmp_path: Path, asked: Callable[..., Any]) -> None:
    for seed in (1, 2, 3):
        scores = [1 - s if i == seed else s for i, s in enumerate(GOOD)]
        write(tmp_path, f"a{seed}", "A", scores, facets={"seed": str(seed)})
    assert "logs-read" in codes(asked(tmp_path, readers=READERS))


def test_links_that_lead_out_of_a_folder_and_hidden_files_are_not_followed(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", "b", "B", BAD)
    write(tmp_path / "logs", "a", "A", GOOD)
    write(tmp_path / "logs" / ".hidden", "c", "C", BAD)
    (tmp_path / "logs" / "b.json").symlink_to(outside)
    read = read_scores(tmp_path / "logs", readers=READERS)
    assert read.system.names == ("A",)
    assert [c.message for c in read.notes if c.code == "links-not-followed"] == [
        "1 link there leads out of the folder."
    ]


def test_a_reader_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    write(tmp_path, "a", "A", GOOD)
    for name in ("no_such_module", "json", "json:loads"):
        with pytest.raises(ReadError, match="--reader"):
            read_scores(tmp_path, readers=[name])


def test_a_folder_of_tables_is_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("system,item,score\nA,1,1\nB,1,0\nA,2,1\nB,2,1\n")
    assert len(read_scores(tmp_path)) == 4


def test_a_log_with_nothing_in_it_is_named(tmp_path: Path) -> None:
    """Two logs are left of three: the answer says that the third was not read."""
    write(tmp_path, "a", "A", GOOD)
    write(tmp_path, "b", "B", BAD)
    (tmp_path / "C.json").write_bytes(b"")
    (tmp_path / "D.json.gz").write_bytes(b"\x1f\x8bdamaged")
    found = compare_systems(tmp_path, readers=READERS)
    said = {each.code: each for each in found.cautions}
    assert said["empty-log"].severity == "warning"
    assert said["empty-log"].message == "'C.json', 'D.json.gz' are empty or damaged, and not read."


def test_scores_against_different_references_are_refused_until_accepted(tmp_path: Path) -> None:
    for name, reference in (("a", "davinci"), ("b", "davinci"), ("c", "gpt4")):
        write(tmp_path, name, name.upper(), GOOD, conditions={"reference": reference})
    with pytest.raises(ScoresError, match=r"reference \(davinci for A and B, gpt4 for C\)"):
        compare_systems(tmp_path, readers=READERS)
    found = compare_systems(tmp_path, readers=READERS, accept=["different-references"])
    assert "different-references" in {each.code for each in found.cautions}
