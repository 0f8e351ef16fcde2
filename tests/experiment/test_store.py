"""The store: append-only, checked row by row, shared, migrated, rescued."""

from __future__ import annotations

import math
import shutil
import sqlite3
from collections import deque
from pathlib import Path

import errands
import pytest

from holdsup.errors import StoreError, TaskError
from holdsup.experiment import Store, read_status, rescue_store, run_plan
from holdsup.experiment.store import Success
from holdsup.experiment.store.connection import DamagedStore
from holdsup.experiment.store.pages import count_sound_frames, find_rows
from holdsup.experiment.store.records import decode_values, encode_values
from holdsup.testing import check_store


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store with the results of 40 tasks."""
    run_plan(errands.make_plan("give", 40), tmp_path / "runs.db")
    return tmp_path / "runs.db"


def change(path: Path, statement: str) -> None:
    """Change a store as no program of ours would."""
    connection = sqlite3.connect(path, isolation_level=None)
    triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER {name}")
    connection.execute(statement)
    for _, sql in triggers:
        connection.execute(sql)
    connection.close()


def test_our_store_keeps_the_contract(tmp_path: Path) -> None:
    check_store(lambda: Store(tmp_path / "runs.db"))


def test_what_went_in_comes_out(filled: Path) -> None:
    with Store(filled, writing=False) as store:
        results = list(store.results())
        assert len(store.environments()) == 1
    assert [r.values for r in results] == [{"score": i + 0.5} for i in range(40)]
    assert [r.labels for r in results] == [{"system": "S", "seed": i} for i in range(40)]
    assert results[3].tables["items"].to_pydict() == {"item": [0, 1], "value": [3, -3]}
    assert results[3].arguments == {"number": 3}


@pytest.mark.parametrize("statement", ["UPDATE results SET content = '{}'", "DELETE FROM results"])
def test_a_recorded_row_cannot_be_changed(filled: Path, statement: str) -> None:
    connection = sqlite3.connect(filled)
    with pytest.raises(sqlite3.IntegrityError, match="a store only grows"):
        connection.execute(statement)
    connection.close()


def test_nothing_in_a_store_is_a_pickle(filled: Path) -> None:
    rows = list(find_rows(filled))
    blobs = [value for row in rows for value in row.values if isinstance(value, bytes) and len(value) > 16]
    assert len(blobs) >= 40
    assert all(blob.startswith(b"\xff\xff\xff\xff") for blob in blobs)  # an Arrow stream


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 0.1, -0.0, 2**70, None, "\ud800é", [1, [math.nan]]])
def test_every_value_survives_json(value: object) -> None:
    assert repr(decode_values(encode_values({"value": value}))) == repr({"value": value})


def test_values_that_json_cannot_hold_are_refused() -> None:
    with pytest.raises(TaskError, match=r"values\.a\[1\] is a set, which JSON cannot hold"):
        encode_values({"a": [1, {2}]})


def test_a_damaged_row_is_listed_and_never_returned(filled: Path) -> None:
    change(filled, "UPDATE results SET content = replace(content, '7.5', '8.5') WHERE task = 'task-7'")
    with Store(filled, writing=False) as store:
        found = {result.task: result.values["score"] for result in store.results()}
        assert [(lost.place, lost.row, lost.task) for lost in store.damage] == [("results", 8, "task-7")]
    assert found == {f"task-{i}": i + 0.5 for i in range(40) if i != 7}
    report = read_status(errands.make_plan("give", 40), filled)
    assert report.statuses["waiting"] == 1
    assert "The store has damaged rows, which are not used: 1." in " ".join(report.warnings)


def test_a_row_that_is_gone_is_listed(filled: Path) -> None:
    change(filled, "DELETE FROM results WHERE task = 'task-7'")
    with Store(filled, writing=False) as store:
        assert [(lost.place, lost.row, lost.reason) for lost in store.damage] == [("results", 8, "the row is gone")]


def test_a_table_that_is_gone_takes_its_result_with_it(filled: Path) -> None:
    change(filled, "UPDATE attachments SET content = content || x'00' WHERE result = 8")
    with Store(filled, writing=False) as store:
        assert {"task-7"} == {f"task-{i}" for i in range(40)} - {result.task for result in store.results()}
        assert {(lost.place, lost.row) for lost in store.damage} == {("attachments", 8), ("results", 8)}


def test_a_damaged_store_is_not_written_to_but_rescued(filled: Path, tmp_path: Path) -> None:
    change(filled, "UPDATE results SET seconds = -1.0 WHERE task = 'task-7'")
    with pytest.raises(DamagedStore, match=r"^the store .* has 1 damaged row \(row 8 of results: its checksum.*rescue"):
        run_plan(errands.make_plan("give", 40), filled)
    lost = rescue_store(filled, tmp_path / "fresh.db")
    assert [(damage.place, damage.task) for damage in lost] == [("results", "task-7")]
    report = run_plan(errands.make_plan("give", 40), tmp_path / "fresh.db")
    assert (report.executed, report.statuses["done"], report.damage) == (1, 40, ())


@pytest.mark.parametrize("place", [0, 3, 17, 28, 60, 64, 70])  # magic, magic, page size, pages, version, freelist, id
def test_a_damaged_header_hides_no_result(filled: Path, place: int) -> None:
    content = bytearray(filled.read_bytes())
    content[place] ^= 0x41
    filled.write_bytes(content)
    with Store(filled, writing=False) as store:
        assert {result.values["score"] for result in store.results()} == {i + 0.5 for i in range(40)}


def test_a_damaged_name_in_the_schema_is_one_line_and_hides_no_row(filled: Path) -> None:
    """SQLite's message quotes the name, which is no text any more."""
    content = bytearray(filled.read_bytes())
    place = content.index(b"CREATE TABLE results") + len(b"CREATE TABLE ")
    content[place - 1 : place + 2] = b"\xcf\xcf\xcf"
    filled.write_bytes(content)
    with pytest.raises(DamagedStore, match="is damaged"):
        Store(filled)
    with Store(filled, writing=False) as store:
        assert len(list(store.results())) == 40
        assert store.damage


def test_a_store_that_was_cut_off_gives_the_rest(filled: Path) -> None:
    run_plan(errands.make_plan("give", 400), filled)
    content = filled.read_bytes()
    filled.write_bytes(content[: len(content) * 9 // 10])
    with Store(filled, writing=False) as store:
        found = {result.task: result.values["score"] for result in store.results()}
        assert store.damage
    assert 40 <= len(found) < 400
    assert all(score == int(task.removeprefix("task-")) + 0.5 for task, score in found.items())


@pytest.mark.parametrize("share", [2 / 3, 0.8])
def test_what_a_cut_off_store_has_lost_is_listed_task_by_task(filled: Path, tmp_path: Path, share: float) -> None:
    content = filled.read_bytes()
    filled.write_bytes(content[: int(len(content) * share)])
    lost = rescue_store(filled, tmp_path / "fresh.db")
    connection = sqlite3.connect(tmp_path / "fresh.db")
    tasks, results = ({task for (task,) in connection.execute(f"SELECT task FROM {t}")} for t in ("tasks", "results"))
    kept = connection.execute("SELECT place, row, task, reason FROM damages ORDER BY id").fetchall()
    connection.close()
    gone = tasks - results
    assert gone
    assert gone <= {damage.task for damage in lost}
    assert lost[0].place == "file"
    pages = f"{int(len(content) * share) // 4096} of its {len(content) // 4096} pages are there"
    again = f"{len(gone)} tasks without a result will run again"
    assert lost[0].reason == f"the file is cut off ({pages}): how many rows are gone is unknown; {again}"
    assert kept == [(damage.place, damage.row, damage.task, damage.reason) for damage in lost]


def test_a_cut_within_a_page_shows_without_a_header(filled: Path, tmp_path: Path) -> None:
    content = filled.read_bytes()
    filled.write_bytes(bytes(100) + content[100:-1000])
    assert rescue_store(filled, tmp_path / "fresh.db")[0].reason.startswith("the file is cut off within a page: ")


def test_the_last_results_are_missed_though_no_number_is(filled: Path, tmp_path: Path) -> None:
    for table, column in (("results", "id"), ("attachments", "result")):
        change(filled, f"DELETE FROM {table} WHERE {column} > 37")
    connection = sqlite3.connect(filled)
    connection.execute("VACUUM")
    connection.close()
    lost = rescue_store(filled, tmp_path / "fresh.db")
    assert [(damage.place, damage.row, damage.task) for damage in lost] == [
        ("results", 0, "task-37"), ("results", 0, "task-38"), ("results", 0, "task-39"),
    ]  # fmt: skip
    assert {damage.reason for damage in lost} == {"it was never recorded, or it is gone"}


def test_the_status_of_a_cut_off_store_names_the_cut_once(filled: Path) -> None:
    content = filled.read_bytes()
    filled.write_bytes(content[: len(content) * 4 // 5])
    (warning,) = read_status(errands.make_plan("give", 40), filled).warnings
    assert warning.startswith("The store is damaged: the file is cut off (")
    assert warning.count("cut off") == 1


def test_tables_that_fill_many_pages_are_rescued(tmp_path: Path) -> None:
    run_plan(errands.make_plan("give_much", 6), tmp_path / "runs.db")  # from 8 bytes to 800 kB
    with Store(tmp_path / "runs.db", writing=False) as store:
        wanted = {r.task: r.tables["items"] for r in store.results()}
    content = (tmp_path / "runs.db").read_bytes()
    (tmp_path / "runs.db").write_bytes(bytes(100) + content[100:])  # no header
    assert rescue_store(tmp_path / "runs.db", tmp_path / "fresh.db") == ()
    with Store(tmp_path / "fresh.db") as store:
        assert {r.task: r.tables["items"] for r in store.results()} == wanted
    assert wanted["task-5"].nbytes == 800_000


def test_a_changed_schema_is_noticed(filled: Path) -> None:
    connection = sqlite3.connect(filled)
    connection.execute("DROP TRIGGER results_no_update")
    connection.close()
    with pytest.raises(StoreError, match="its schema was changed"):
        Store(filled)


def test_a_store_of_version_1_is_brought_up_to_date(tmp_path: Path) -> None:
    old = shutil.copy(Path(errands.FOLDER) / "stores" / "version-1.db", tmp_path / "runs.db")
    report = run_plan(errands.make_plan("give", 5), old)
    assert (report.executed, report.statuses["done"], report.statuses["failed"]) == (1, 4, 1)
    with Store(old, writing=False) as store:
        assert {r.task: r.values["score"] for r in store.results()} == {f"task-{i}": i + 0.5 for i in (0, 1, 2, 4)}
        assert {r.reason for r in store.results()} == {""}
        names = [name for (name,) in store.connection.execute("SELECT name FROM migrations ORDER BY id")]
    assert names == ["create", "add_reasons_and_damages"]


def test_a_store_of_version_1_can_be_read_as_it_is(tmp_path: Path) -> None:
    old = Path(shutil.copy(Path(errands.FOLDER) / "stores" / "version-1.db", tmp_path / "runs.db"))
    before = old.read_bytes()
    with Store(old, writing=False) as store:
        assert [result.values["score"] for result in store.results()] == [0.5, 1.5, 2.5]
    assert old.read_bytes() == before


def test_a_migration_does_not_bless_a_damaged_row(tmp_path: Path) -> None:
    old = Path(shutil.copy(Path(errands.FOLDER) / "stores" / "version-1.db", tmp_path / "runs.db"))
    change(old, "UPDATE results SET content = '{\"score\":9.5}' WHERE task = 'task-1'")
    with Store(old, writing=False) as store:
        assert [result.values["score"] for result in store.results()] == [0.5, 2.5]
        assert [lost.task for lost in store.damage] == ["task-1"]


def test_a_newer_store_is_refused(filled: Path) -> None:
    connection = sqlite3.connect(filled, isolation_level=None)
    connection.execute("INSERT INTO migrations VALUES (2, 99, 'later', x'00')")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    for writing in (True, False):
        with pytest.raises(StoreError, match=r"has version 99, but this holdsup reads up to 2: update holdsup$"):
            Store(filled, writing=writing)


def test_what_is_no_store_is_refused_in_one_line(tmp_path: Path) -> None:
    text, empty, other = tmp_path / "a.txt", tmp_path / "b.db", tmp_path / "c.db"
    text.write_text("no store\n" * 1000)
    empty.touch()
    sqlite3.connect(other).execute("CREATE TABLE t (x)").connection.close()
    for file, said in [
        (text, r"a\.txt is not a holdsup store: give another file$"),
        (empty, "is empty, not a store"),
        (other, "is a database, but not a holdsup store"),
        (tmp_path, "is a folder, not a store"),
        (tmp_path / "none.db", "there is no store"),
    ]:
        with pytest.raises(StoreError, match=said) as caught:
            Store(file, writing=False)
        assert "\n" not in str(caught.value)


def test_a_text_file_is_no_damaged_store_and_stays_as_it_is(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("no store\n" * 1000)
    with pytest.raises(StoreError, match=r"a\.txt is not a holdsup store: give another file$"):
        Store(text)
    assert text.read_text() == "no store\n" * 1000


def test_a_store_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"cannot create the store .*: No such file or directory"):
        Store(tmp_path / "nowhere" / "runs.db")


def test_a_result_is_recorded_once(tmp_path: Path) -> None:
    reply = Success("task-0", 0.1, "done", "", '{"score":1.0}')
    with Store(tmp_path / "runs.db") as one, Store(tmp_path / "runs.db") as two:
        with one.begin({}) as first, two.begin({}) as second:
            assert first.record([reply]) == 1
            assert second.record([reply]) == 0
        assert len(list(one.results())) == 1


def test_a_claim_holds_while_its_run_lives_and_not_longer(tmp_path: Path) -> None:
    plan = errands.make_plan("give", 4)
    with Store(tmp_path / "runs.db") as one, Store(tmp_path / "runs.db") as two:
        first, second = one.begin({}), two.begin({})
        first.add_tasks(plan.tasks)
        assert first.claim(deque(task.id for task in plan.tasks), 3).mine == ["task-0", "task-1", "task-2"]
        claim = second.claim(deque(task.id for task in plan.tasks), 9)
        assert claim == (["task-3"], ["task-0", "task-1", "task-2"])
        assert set(two.statuses(["task-0", "task-3"]).values()) == {"running"}
        first.end()
        assert second.claim(deque(claim.elsewhere), 9).mine == ["task-0", "task-1", "task-2"]
        second.end()
    assert not list(tmp_path.glob("*.lock-*"))


@pytest.fixture
def unclosed(tmp_path: Path) -> Path:
    """A store as a killed process leaves it: its results are in the log."""
    place = tmp_path / "left"
    place.mkdir()
    with Store(tmp_path / "runs.db") as store:
        run_plan(errands.make_plan("give", 40), store)
        for end in ("", "-wal", "-shm"):
            shutil.copy(tmp_path / f"runs.db{end}", place / f"runs.db{end}")
    return place / "runs.db"


def test_a_log_that_was_left_behind_is_part_of_the_store(unclosed: Path) -> None:
    assert unclosed.with_name("runs.db-wal").stat().st_size > 20 * 4096
    assert run_plan(errands.make_plan("give", 40), unclosed).executed == 0


def test_a_bit_flipped_in_the_log_hides_no_row(unclosed: Path) -> None:
    log = unclosed.with_name("runs.db-wal")
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    with pytest.raises(DamagedStore, match="is damaged and hides rows of"):
        Store(unclosed)
    with Store(unclosed, writing=False) as store:
        found = {result.task: result.values["score"] for result in store.results()}
        assert store.damage[0].place == "file"
    assert len(found) >= 38  # a flip harms one page at most, of which there may be other copies
    assert all(score == int(task.removeprefix("task-")) + 0.5 for task, score in found.items())


def test_a_log_is_sound_up_to_the_frame_that_was_changed(unclosed: Path) -> None:
    """SQLite itself, which must see all rows of a sound log, and none behind a changed frame, is the reference."""
    log = unclosed.with_name("runs.db-wal")
    content = bytearray(log.read_bytes())
    frames = (len(content) - 32) // (24 + 4096)
    assert count_sound_frames(unclosed) == frames > 20
    content[32 + 11 * (24 + 4096) + 500] ^= 1
    log.write_bytes(content)
    assert count_sound_frames(unclosed) == 11
    connection = sqlite3.connect(unclosed)
    busy, seen, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    connection.close()
    assert busy == 0
    assert 0 < seen <= 11  # frames of whole transactions


def test_a_log_that_was_cut_off_is_noticed(unclosed: Path) -> None:
    log = unclosed.with_name("runs.db-wal")
    log.write_bytes(log.read_bytes()[: 32 + 20 * (24 + 4096)])
    with pytest.raises(DamagedStore, match="is cut off"):
        Store(unclosed)
    with Store(unclosed, writing=False) as store:
        assert "cut off" in store.damage[0].reason


def test_a_commit_that_was_never_acknowledged_is_no_damage_where_another_process_reads(tmp_path: Path) -> None:
    """Killed after the log was written and before its index: with a reader attached SQLite does not see the commit."""
    place = tmp_path / "left"
    place.mkdir()
    with Store(tmp_path / "runs.db") as store:
        run_plan(errands.make_plan("give", 10), store)
        for end in ("", "-wal", "-shm"):
            shutil.copy(tmp_path / f"runs.db{end}", place / f"runs.db{end}")
        reader = sqlite3.connect(place / "runs.db")
        assert reader.execute("SELECT count(*) FROM results").fetchone() == (10,)
        run_plan(errands.make_plan("give", 20), store)
        before = (place / "runs.db-wal").read_bytes()
        after = (tmp_path / "runs.db-wal").read_bytes()
        assert after.startswith(before)
        (place / "runs.db-wal").write_bytes(after)
    assert reader.execute("SELECT count(*) FROM results").fetchone() == (10,)
    assert run_plan(errands.make_plan("give", 20), place / "runs.db").executed == 10
    reader.close()
