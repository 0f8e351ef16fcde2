"""What is lost when processes are killed, many write at once, the disk is full, or bits flip?

    python benchmarks/faults.py                       # everything, full size: about a quarter of an hour
    python benchmarks/faults.py --kills 8 --writers 4 --sizes 4 --flips 40
    python benchmarks/faults.py --only kills

Every line counts what must be 0, and what shows that something was tried at all. Exits with 1 when a count that must be
0 is not. Results go to benchmarks/results/faults.jsonl.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from holdsup.errors import StoreError
from holdsup.experiment import Store, run_plan
from measuring import record
from witness import is_true, make_plan, name

PROGRAM = [sys.executable, str(Path(__file__).with_name("witness.py"))]
MUST_BE_0 = ("lost", "twice", "run again", "wrong", "errors", "unclear", "silent")
Row = dict[str, object]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--sizes", type=int, default=20)
    parser.add_argument("--flips", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=("kills", "writers", "room", "damage"))
    options = parser.parse_args()
    parts: dict[str, Callable[[Path], Row]] = {
        "kills": lambda folder: kill_runs(folder, options.kills, seed=options.seed),
        "writers": lambda folder: write_together(folder, options.writers),
        "room": lambda folder: fill_up(folder, options.sizes),
        "damage": lambda folder: damage_stores(folder, options.flips, seed=options.seed),
    }
    rows = []
    for part, measure in parts.items():
        if options.only in (None, part):
            with tempfile.TemporaryDirectory() as folder:
                rows.append({"part": part, **measure(Path(folder))})
            print(", ".join(f"{key} {value}" for key, value in rows[-1].items()), flush=True)
    record("faults", rows)
    if any(row.get(key) for row in rows for key in MUST_BE_0):
        sys.exit("something that must be 0 is not")


def kill_runs(folder: Path, kills: int, *, tasks: int = 1_500, seconds: float = 0.01, seed: int = 1) -> Row:
    """Kill the whole process group of runs at random moments, resuming each time, on as many stores as it takes."""
    rng = random.Random(seed)
    found: Counter[str] = Counter()
    while found["kills"] < kills:
        place = folder / f"store-{found['stores']}"
        place.mkdir()
        found["stores"] += 1
        finished: set[str] = set()
        while len(finished) < tasks:
            begun_before = len(lines(place / "began"))
            programs = start(place, tasks, seconds, mode=rng.randrange(3))
            if found["kills"] < kills:
                if rng.random() < 0.75:  # else anywhere: it may still be opening its store
                    found["in the middle of work"] += wait_for_work(place / "began", begun_before, programs)
                found["kills"] += kill_at(programs, rng.uniform(0, 1))
            for program in programs:
                program.wait()
            now = stored(place, found)
            found["lost"] += len(set(lines(place / "recorded")) - now)
            begun = Counter(name(int(line.split()[1])) for line in lines(place / "began")[begun_before:])
            found["run again"] += sum(begun[task] for task in finished)
            found["interrupted tasks"] += sum(begun.values()) - len(now - finished)
            finished = now
        found["wrong"] += count_wrong(place, tasks)
        found["tasks"] += tasks
    return {
        key: found[key]
        for key in ("kills", "in the middle of work", "stores", "tasks", "interrupted tasks", *MUST_BE_0[:4])
    }


def start(place: Path, tasks: int, seconds: float, *, mode: int) -> list[subprocess.Popen[bytes]]:
    """Start a run in this mode: in process, with two worker processes, or two runs at once; each group its own."""
    command = [*PROGRAM, str(place), str(tasks), str(seconds), "2" if mode == 1 else "0"]
    return [subprocess.Popen(command, start_new_session=True) for _ in range(2 if mode == 2 else 1)]


def wait_for_work(began: Path, before: int, programs: list[subprocess.Popen[bytes]]) -> bool:
    """Wait until a run has begun its first task, and return whether it did."""
    while len(lines(began)) <= before:
        if all(program.poll() is not None for program in programs):
            return False
        time.sleep(0.01)
    return True


def kill_at(programs: list[subprocess.Popen[bytes]], seconds: float) -> bool:
    """Kill the process groups after some seconds; return whether there was something left to kill."""
    time.sleep(seconds)
    alive = any(program.poll() is None for program in programs)
    for program in programs:
        try:
            os.killpg(program.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    return alive


def stored(place: Path, found: Counter[str]) -> set[str]:
    """Return the tasks that a store has a result of, counting those with two."""
    if not (place / "runs.db").exists():
        return set()
    with Store(place / "runs.db", writing=False) as store:
        tasks = Counter(task for (task,) in store.connection.execute("SELECT task FROM results"))
        found["twice"] += sum(count - 1 for count in tasks.values())
        found["lost"] += len(store.damage)
        return set(tasks)


def count_wrong(place: Path, tasks: int) -> int:
    """Return how many tasks lack the result that is right."""
    with Store(place / "runs.db", writing=False) as store:
        return tasks - sum(is_true(recorded) for recorded in store.results())


def write_together(folder: Path, writers: int, *, tasks: int = 2_000, seconds: float = 0.002) -> Row:
    """Let many runs share one store from the first moment on."""
    command = [*PROGRAM, str(folder), str(tasks), str(seconds), "0", str(writers)]
    began = time.monotonic()
    programs = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(writers)]
    said = [program.communicate()[1] for program in programs]
    taken = time.monotonic() - began
    found: Counter[str] = Counter()
    found["lost"] = tasks - len(stored(folder, found))
    begun = Counter(line.split()[1] for line in lines(folder / "began"))
    workers = {line.split()[0] for line in lines(folder / "began")}
    return {
        "writers": writers,
        "that worked": len(workers),
        "tasks": tasks,
        "seconds": round(taken, 1),
        "errors": sum(bool(text) for text in said),
        "lost": found["lost"],
        "twice": found["twice"],
        "run again": sum(begun.values()) - len(begun),
        "wrong": count_wrong(folder, tasks),
    }


def fill_up(folder: Path, sizes: int, *, tasks: int = 600) -> Row:
    """Run with files that cannot grow beyond a size, then resume with room."""
    found: Counter[str] = Counter()
    for i in range(sizes):
        place = folder / str(i)
        place.mkdir()
        size = 20_000 + 2_000_000 * i // sizes

        def limit(size: int = size) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        command = [*PROGRAM, str(place), str(tasks), "0", "0"]
        done = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False)
        if done.returncode:
            found["stopped"] += 1
            clear = done.stderr.count("\n") == 1 and "cannot be written" in done.stderr
            found["unclear"] += not clear
        before = stored(place, found)
        found["recorded before"] += len(before)
        found["lost"] += len(set(lines(place / "recorded")) - before)
        begun = len(lines(place / "began"))
        run_plan(make_plan(place, tasks, 0), place / "runs.db")
        again = {name(int(line.split()[1])) for line in lines(place / "began")[begun:]}
        found["run again"] += len(again & before)
        found["wrong"] += count_wrong(place, tasks)
    return {"sizes": sizes, **{key: found[key] for key in ("stopped", "recorded before", *MUST_BE_0[:4], "unclear")}}


def damage_stores(folder: Path, flips: int, *, tasks: int = 300, seed: int = 1) -> Row:
    """Flip a bit, or cut the file off, in copies of a store; half of them with a log that was never put away."""
    rng = random.Random(seed)
    closed = folder / "closed"
    closed.mkdir()
    run_plan(make_plan(closed, tasks, 0), closed / "runs.db")
    logged = leave_log(folder / "logged", tasks)
    found: Counter[str] = Counter()
    for i in range(flips):
        copy = folder / "copy"
        shutil.copytree(logged if i % 2 else closed, copy)
        victims = [file for file in copy.glob("runs.db*") if file.stat().st_size and not file.name.endswith("-shm")]
        victim = rng.choices(victims, [file.stat().st_size for file in victims])[0]
        harm(victim, rng, cut=i % 5 == 4)
        examine(copy / "runs.db", tasks, found, cut_off=victim.stat().st_size == 0)
        shutil.rmtree(copy)
    shown = ("unharmed", "read in part", "unreadable", "rows listed", "results read", "refused to write")
    return {
        "copies": flips,
        "results in all": flips * tasks,
        **{key: found[key] for key in (*shown, "wrong", "silent")},
    }


def leave_log(place: Path, tasks: int) -> Path:
    """Return the folder of a store whose last run was killed when its log held most of it."""
    place.mkdir()
    program = subprocess.Popen([*PROGRAM, str(place), str(tasks + 1), "0.003", "0"], start_new_session=True)
    while len(lines(place / "recorded")) < tasks:
        time.sleep(0.01)
    os.killpg(program.pid, signal.SIGKILL)
    program.wait()
    for left in place.glob("runs.db.lock-*"):
        left.unlink()
    return place


def harm(file: Path, rng: random.Random, *, cut: bool) -> None:
    """Cut a file off somewhere, or flip one bit of it."""
    size = file.stat().st_size
    if cut:
        os.truncate(file, rng.randrange(size))
        return
    place = rng.randrange(size)
    with file.open("r+b") as stream:
        stream.seek(place)
        byte = stream.read(1)[0]
        stream.seek(place)
        stream.write(bytes([byte ^ 1 << rng.randrange(8)]))


def examine(path: Path, tasks: int, found: Counter[str], *, cut_off: bool) -> None:
    """Read a harmed store: what it gives must be right, and what it does not give must be listed."""
    try:
        with Store(path, writing=False) as store:
            results = list(store.results())
            listed = len(store.damage)
    except StoreError as error:
        found["unreadable"] += 1
        found["unclear"] += "\n" in str(error)
        return
    true = sum(is_true(recorded) for recorded in results)
    whole = true >= tasks
    found["results read"] += min(true, tasks)
    found["wrong"] += len(results) - true
    found["rows listed"] += listed
    found["unharmed" if whole and not listed else "read in part"] += 1
    found["silent"] += not whole and not listed and not cut_off
    try:
        Store(path).close()
    except StoreError:
        found["refused to write"] += 1
        return
    found["silent"] += not whole  # a run would go on as if nothing had been there


def lines(file: Path) -> list[str]:
    """Return the whole lines of a file, none if it is not there."""
    return [line for line in _text(file).splitlines(keepends=False) if line]


def _text(file: Path) -> str:
    return file.read_text() if file.exists() else ""


if __name__ == "__main__":
    main()
