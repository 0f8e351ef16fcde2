"""A table of scores written to a file that says what its columns are, so that nobody has to say it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from holdsup.columns.layout import STATED_FACET
from holdsup.columns.typed import ROLES
from holdsup.errors import ResultError
from holdsup.rendering.spreadsheet import disarm_text
from holdsup.results import write_file
from holdsup.scores.roles import METRIC_KIND, OF_METRICS, ONE, SEVERAL, USUAL, Roles, is_replicate
from holdsup.scores.table import Scores, as_arrow

ENDINGS = (".parquet", ".csv")


def export_table(scores: Scores) -> pa.Table:
    """Return scores with the contract's column names and all other columns, their roles stated.

    Rows without a score are there, too, with the reason as their status.
    """
    table = scores.to_arrow()
    if scores.roles.run is None and "run" in table.column_names:  # a run is then what the facets say
        table = table.drop_columns(["run"])
    for name, column in scores.others.items():
        if name not in table.column_names:
            table = table.append_column(name, as_arrow(column))
    named: dict[str, Any] = {role: role for role in ("score", *USUAL, "sample") if role in table.column_names}
    facets = scores.roles.facets
    roles = Roles(
        **named, facets=facets, replicates=tuple(name for name in scores.roles.replicates if name in facets),
        lower=scores.roles.lower, higher=scores.roles.higher, costs=scores.roles.costs,
    )  # fmt: skip
    return state_roles(table, roles)


def check_ending(path: Path) -> None:
    """Raise if the name of a file does not say what to write."""
    if path.suffix.lower() not in ENDINGS:
        raise ResultError(f"cannot write scores to {path}: its name must end in {' or '.join(ENDINGS)}")


def write_scores(table: pa.Table, path: Path) -> None:
    """Write a table of scores, whole or not at all."""
    check_ending(path)
    sink = pa.BufferOutputStream()
    if path.suffix.lower() == ".parquet":
        import pyarrow.parquet as pq  # only here: it brings file systems, TLS and more

        pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    else:
        pa_csv.write_csv(state_in_names(_disarm(table)), sink)
    write_file(path, sink.getvalue().to_pybytes())


def state_roles(table: Any, roles: Roles) -> Any:
    """Return an Arrow table whose metadata, which Parquet files keep, state the roles of its columns."""
    stated = {role: value for role in (*ONE, *SEVERAL, *OF_METRICS) if (value := getattr(roles, role))}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), ROLES: json.dumps(stated)})


def state_in_names(table: Any) -> Any:
    """Return an Arrow table whose columns state their roles, as in CSV files: facets.rate, and metric.kind."""
    stated = json.loads((table.schema.metadata or {}).get(ROLES.encode(), b"{}"))
    facets = stated.get("facets", ())
    if stated.get("metric") in table.column_names and any(role in stated for role in OF_METRICS):
        names = table[stated["metric"]].to_pylist()
        kinds = {n: " ".join(role for role in OF_METRICS if n in stated.get(role, ())) for n in set(names)}
        said = [kinds[name] for name in names]
        table = table.append_column(METRIC_KIND, pa.array(said, pa.string()))
    return table.rename_columns(
        [f"{STATED_FACET}{c}" if c in facets and not is_replicate(c) else c for c in table.column_names]
    )


def _disarm(table: pa.Table) -> pa.Table:
    """Return a table whose texts no spreadsheet runs; `read_scores` takes them back to what they were."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_dictionary(field.type):
            texts = [text if text is None else disarm_text(text) for text in table[place].to_pylist()]
            table = table.set_column(place, field.name, pa.array(texts, pa.string()))
    return table
