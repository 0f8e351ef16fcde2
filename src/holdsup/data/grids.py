"""Scores of systems that were trained for this project, as real data for `compare`, `variance` and `rank`."""

from __future__ import annotations

from importlib.resources import as_file, files

import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["text_classifiers"]


def text_classifiers() -> pa.Table:
    """Return the accuracy of 3,840 trained text classifiers, a row each.

    4 families of classifiers (system) x 8 datasets x 5 seeds x 4 learning rates x 2 batch sizes x 3 numbers of epochs,
    each trained on 700 texts and tested on 300. `replications/text_grid` has the systems, the spec and how the datasets
    were cut.

    >>> table = text_classifiers()
    >>> table.num_rows, table.column_names
    (3840, ['dataset', 'system', 'seed', 'learning_rate', 'batch_size', 'epochs', 'score'])
    """
    with as_file(files("holdsup.data") / "text_classifiers.parquet") as path:
        return pq.read_table(path)
