"""Time and peak memory of a piece of code, in a process of its own."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["RESULTS", "machine", "measure", "measure_program", "record"]

RESULTS = Path(__file__).parent / "results"
HARNESS = """
import json, resource, sys, time
{setup}
def run():
{body}
walls, cpus = [], []
for _ in range({repeats}):
    wall, cpu = time.perf_counter(), time.process_time()
    answer = run()
    walls.append(time.perf_counter() - wall)
    cpus.append(time.process_time() - cpu)
try:  # of this program alone: ru_maxrss is never below what the process had before it became this program
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
except (OSError, StopIteration):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({{"wall": min(walls), "cpu": min(cpus), "first": walls[0], "answer": answer, "peak_mb": peak / 1024}}))
"""


def measure(setup: str, body: str, *, repeats: int = 3, limit: float | None = None) -> dict[str, float]:
    """Return best wall and CPU seconds, the first wall time, peak memory and the `answer` that `body` returns.

    A process that takes longer than `limit` seconds is ended (subprocess.TimeoutExpired).
    """
    indented = "\n".join(f"    {line}" for line in body.splitlines())
    script = HARNESS.format(setup=setup, body=indented, repeats=repeats)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=limit)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


CHILD = """
import json, os, subprocess, sys
with open(os.devnull, "w") as nothing:
    child = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=nothing)
_, status, used = os.wait4(child.pid, 0)
print(json.dumps({"cpu": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024, "status": status}))
"""  # a small process in between: what a program's peak is counted from is what started it


def measure_program(words: list[str], repeats: int = 3) -> dict[str, float]:
    """Return the least CPU seconds and peak memory of a whole Python process, whatever it prints.

    Bytecode is cached, as it is where a package was installed.
    """
    with tempfile.TemporaryDirectory() as cache:
        known = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment = {**known, "PYTHONPYCACHEPREFIX": cache}
        found = []
        for _ in range(repeats + 1):  # the first fills the cache
            done = subprocess.run(
                [sys.executable, "-c", CHILD, *words], capture_output=True, text=True, check=True, env=environment
            )
            found.append(json.loads(done.stdout))
    if any(run["status"] for run in found):
        raise RuntimeError(f"{' '.join(words)} failed")
    return {name: min(run[name] for run in found[1:]) for name in ("cpu", "peak_mb")}


def machine() -> dict[str, object]:
    """Return what the numbers depend on."""
    return {"python": platform.python_version(), "machine": platform.machine(), "cores": os.cpu_count()}


def record(name: str, rows: list[dict[str, object]], file: Path | None = None) -> None:
    """Append one run to a file, by default benchmarks/results/NAME.jsonl."""
    file = file or RESULTS / f"{name}.jsonl"
    file.parent.mkdir(exist_ok=True)
    with file.open("a", encoding="utf-8") as stream:
        stream.write(json.dumps({"benchmark": name, **machine(), "rows": rows}) + "\n")
