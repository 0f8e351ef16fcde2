"""A Dask data frame is added up on its workers, and the fit is that of the table in memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from holdsup.errors import ColumnError, ReadError
from holdsup.fit import LmmFit, fit_lmm
from waiting import LIMIT, wait_for

dask = pytest.importorskip("dask")
dataframe = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.slow
FORMULA = "y ~ system + (1 | item) + (1 | system:item) + (1 | seed)"
PARTS = 24


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n, items = 12_000, 200
    item, system, seed = rng.integers(0, items, n), rng.integers(0, 2, n), rng.integers(0, 6, n)
    y = 0.3 * system + rng.normal(size=(items, 2))[item, system] + rng.normal(size=items)[item]
    y = y + 0.3 * rng.normal(size=6)[seed] + rng.normal(size=n)
    y[5] = np.nan
    return pd.DataFrame({"y": y, "system": np.array(["A", "B"])[system], "item": item, "seed": seed, "other": 1})


@pytest.fixture(scope="module")
def wanted(frame: pd.DataFrame) -> LmmFit:
    return fit_lmm(FORMULA, frame)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A scheduler and two worker processes on this machine."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):  # fmt: skip
        yield client


def assert_same(found: LmmFit, wanted: LmmFit) -> None:
    assert (found.n, found.rows, found.levels, found.signature) == (
        wanted.n,
        wanted.rows,
        wanted.levels,
        wanted.signature,
    )
    assert found.criterion == pytest.approx(wanted.criterion, rel=1e-9)
    assert [e.estimate for e in found.fixed] == pytest.approx([e.estimate for e in wanted.fixed], rel=1e-9)


def test_threads_here_give_the_fit_of_the_table(frame: pd.DataFrame, wanted: LmmFit) -> None:
    with dask.config.set(scheduler="threads"):
        assert_same(fit_lmm(FORMULA, dataframe.from_pandas(frame, npartitions=PARTS)), wanted)


def test_a_killed_worker_loses_nothing(frame: pd.DataFrame, wanted: LmmFit, client: Any, tmp_path: Path) -> None:
    def linger(part: pd.DataFrame, folder: Path) -> pd.DataFrame:
        (folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
        time.sleep(0.1)
        return part

    victim, other = client.run(os.getpid).values()

    def kill() -> None:
        wait_for(lambda: list(tmp_path.glob(f"{victim}-*")))  # it has begun to work
        os.kill(victim, signal.SIGKILL)

    parts = dataframe.from_pandas(frame, npartitions=PARTS)
    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    found = fit_lmm(FORMULA, parts.map_partitions(linger, tmp_path, meta=parts._meta))
    killer.join(timeout=LIMIT)
    assert not killer.is_alive()
    assert list(tmp_path.glob(f"{other}-*"))
    assert_same(found, wanted)


def test_a_fault_in_a_partition_comes_back_as_one_line(frame: pd.DataFrame, client: Any) -> None:
    def spoil(part: pd.DataFrame) -> pd.DataFrame:
        return part.assign(y=["oops", *part["y"].astype(str)[1:]])

    parts = dataframe.from_pandas(frame, npartitions=3)
    with pytest.raises(
        ColumnError, match=r"^row 1 of partition \d has 'oops' in column 'y', which must hold numbers\. .*$"
    ):
        fit_lmm(FORMULA, parts.map_partitions(spoil, meta=parts._meta))


def test_workers_that_all_die_are_one_line(frame: pd.DataFrame, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdsup.columns.batches.LONELY", 10.0)  # a nanny may give up before Dask does

    def die(part: pd.DataFrame) -> pd.DataFrame:
        os.kill(os.getpid(), signal.SIGKILL)
        return part

    parts = dataframe.from_pandas(frame, npartitions=2)
    lost = (
        r"^Dask (could not read a partition, or lost its workers: KilledWorker, |has had no worker for 10 seconds).*$"
    )
    with pytest.raises(ReadError, match=lost):
        fit_lmm(FORMULA, parts.map_partitions(die, meta=parts._meta))


def test_partitions_may_be_empty_or_bring_new_types(frame: pd.DataFrame, wanted: LmmFit) -> None:
    first, second = frame.iloc[:7_000], frame.iloc[7_000:].astype({"item": "float64", "seed": "int8"})
    parts = dataframe.from_delayed(
        [dask.delayed(part) for part in (frame.iloc[:0], first, frame.iloc[:0], second)], meta=frame, verify_meta=False
    )
    with dask.config.set(scheduler="synchronous"):
        assert_same(fit_lmm(FORMULA, parts), wanted)


def test_a_column_that_is_not_there_is_named(frame: pd.DataFrame) -> None:
    with pytest.raises(ColumnError, match="no column 'z' in the Dask DataFrame given"):
        fit_lmm("y ~ z", dataframe.from_pandas(frame, npartitions=2))


def test_a_collection_that_is_no_table_is_refused() -> None:
    array = pytest.importorskip("dask.array")
    with pytest.raises(ReadError, match="a Dask Array is not a table"):
        fit_lmm("y ~ x", array.ones(3))


def test_dask_is_imported_for_its_own_collections_only() -> None:
    script = (
        "import sys, holdsup; holdsup.fit_lmm('y ~ 1 + (1 | g)', {'y': [1., 2., 4., 3., 9.], 'g': list('aabbb')});"
        "assert not {'dask', 'distributed'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
