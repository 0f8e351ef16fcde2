"""What the runner needs of a store, as checks that any store can be put through."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from holdsup.experiment import Task
from holdsup.experiment.store import Failure, Store, Success


def check_store(open_store: Callable[[], Store]) -> None:
    """Put a store through its contract; an AssertionError says which promise is not kept.

    Parameters
    ----------
    open_store : opens the same store each time it is called; it must be empty the first time
    """
    tasks = [Task(f"{i:032x}", {"system": "A", "seed": i}, "module:work", {"seed": i}) for i in range(6)]
    _check_claims(open_store, tasks)
    _check_records(open_store, tasks)
    _check_failures(open_store, tasks)
    _check_what_stays(open_store, tasks)


def _check_claims(open_store: Callable[[], Store], tasks: list[Task]) -> None:
    ids = [task.id for task in tasks]
    with open_store() as store, open_store() as other:
        assert list(store.results()) == [], "the store is not empty to begin with"
        with store.begin({}) as run, other.begin({}) as rival:
            run.add_tasks(tasks)
            rival.add_tasks(tasks)
            assert run.claim(deque(ids), 2).mine == ids[:2], "tasks are claimed in order"
            claim = rival.claim(deque(ids), 9)
            assert claim.elsewhere == ids[:2], "what a live run has claimed is not claimed by another"
            assert claim.mine == ids[2:], "what nobody has claimed can be claimed"
            assert set(store.statuses(ids).values()) == {"running"}, "claimed tasks are running"
        assert set(store.statuses(ids).values()) == {"waiting"}, "what an ended run had claimed is free"


def _check_records(open_store: Callable[[], Store], tasks: list[Task]) -> None:
    reply = Success(tasks[0].id, 0.5, "done", "", '{"score":0.25}')
    undefined = Success(tasks[1].id, 0.5, "undefined", "no items", '{"score":{"not finite":"nan"}}')
    with open_store() as store, store.begin({}) as run:
        assert run.record([reply, undefined]) == 2, "new results are counted"
        assert run.record([reply]) == 0, "a second result of a task is not recorded"
        with open_store() as other:
            assert [r.values for r in other.results({tasks[0].id})] == [{"score": 0.25}], "others see it at once"
            assert [r.reason for r in other.results({tasks[1].id})] == ["no items"], "NaN keeps its reason"
        left = run.claim(deque(task.id for task in tasks), 9).mine
        assert left == [task.id for task in tasks[2:]], "a finished task is never claimed again"


def _check_failures(open_store: Callable[[], Store], tasks: list[Task]) -> None:
    task = tasks[2].id
    with open_store() as store, store.begin({}) as run:
        for attempt, final in ((1, False), (2, True)):
            assert not store.ledger.is_settled(task), "a task that may be tried again is not settled"
            run.record([], [Failure(task, 0.1, "ValueError", "no", "", attempt, final)])
        assert store.statuses([task]) == {task: "failed"}, "a task that was given up has failed"
        assert run.claim(deque([task]), 1).mine == [], "a failed task is not claimed unasked"
        forgiven = store.ledger.last_row("failures")
        assert run.claim(deque([task]), 1, forgiven=forgiven).mine == [task], "and claimed when its failure is forgiven"


def _check_what_stays(open_store: Callable[[], Store], tasks: list[Task]) -> None:
    with open_store() as store:
        found = {result.task: result for result in store.results()}
        assert list(found) == [tasks[0].id, tasks[1].id], "results stay when the store is closed"
        assert found[tasks[0].id].labels == tasks[0].labels, "a result knows the labels of its task"
        assert [f.attempt for f in store.failures()] == [1, 2], "failures stay, each attempt of them"
        assert not store.damage, "nothing is damaged"
