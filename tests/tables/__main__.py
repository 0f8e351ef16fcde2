"""Do the laws hold on N random tables?

python -m tests.tables --tables 2000 --seed 0
"""

from __future__ import annotations

import argparse
import collections
import time
import traceback
from concurrent.futures import ProcessPoolExecutor

from .drawing import draw_table
from .laws import find_broken


def try_table(seed: int) -> tuple[int, str, list[str], list[str], float]:
    """Return what one table breaks, what it is refused for, and its CPU seconds."""
    begun = time.process_time()
    drawn = draw_table(seed)
    try:
        broken, refused = find_broken(drawn)
    except Exception:
        broken, refused = [traceback.format_exc()], []
    return seed, drawn.words, broken, refused, time.process_time() - begun


def main() -> None:
    """Print each broken law and a count at the end; exit 1 if there is one."""
    parser = argparse.ArgumentParser(prog="python -m tests.tables", description=__doc__)
    parser.add_argument("--tables", type=int, default=150, help="how many (150)")
    parser.add_argument("--seed", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    asked = parser.parse_args()
    seeds = range(asked.seed, asked.seed + asked.tables)
    bad, refusals, seconds = 0, collections.Counter[str](), 0.0
    with ProcessPoolExecutor(asked.jobs) as pool:
        for seed, words, broken, refused, took in pool.map(try_table, seeds):
            seconds += took
            refusals.update(line.split(":", 1)[0] for line in refused)
            if broken:
                bad += 1
                print(f"{seed} ({words})", *broken[:8], sep="\n    ", flush=True)
    told = ", ".join(f"{kind} {count}" for kind, count in sorted(refusals.items())) or "none"
    print(
        f"{asked.tables} tables from seed {asked.seed}: {bad} broke a law; refused in one line: {told}; {seconds:.0f} s CPU"
    )
    raise SystemExit(bad > 0)


if __name__ == "__main__":
    main()
