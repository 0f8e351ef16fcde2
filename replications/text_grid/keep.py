"""The exported grid, as the package keeps it: only the columns that differ, each in its smallest type.

python replications/text_grid/keep.py text_grid.parquet src/holdsup/data/text_classifiers.parquet
"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

SCHEMA = pa.schema(
    {
        "dataset": pa.string(),
        "system": pa.string(),
        "seed": pa.int8(),
        "learning_rate": pa.float64(),
        "batch_size": pa.int8(),
        "epochs": pa.int8(),
        "score": pa.float64(),
    }
)


def main(exported: Path, kept: Path) -> None:
    """Write the compact file; refuse a grid that is not complete."""
    table = pq.read_table(exported)
    if not pc.all(pc.equal(table["status"], "ok")).as_py():
        raise SystemExit(f"{exported} has tasks that failed or are left: finish the run first")
    pq.write_table(table.select(SCHEMA.names).cast(SCHEMA, safe=False), kept, compression="zstd")
    print(f"{kept}: {table.num_rows:,} rows, {kept.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
