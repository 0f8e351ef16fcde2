"""TOML files as specs. Nothing is imported and no data are read here."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from holdsup.columns.limits import reason_of
from holdsup.errors import HoldsupError, SpecError, hint_at, list_names
from holdsup.experiment.sources import split_source
from holdsup.experiment.systems import FILLED, KINDS as SYSTEM_KINDS, find_placeholders
from holdsup.metrics import make_metric
from holdsup.splits import make_splitter
from holdsup.splits.splitters import list_options
from holdsup.studies.specs.spec import (
    BUDGET,
    CONTEST,
    DATA,
    HEADER,
    NAMED,
    SEARCH,
    SYSTEM,
    DataSource,
    Key,
    Place,
    Scalar,
    Spec,
    SystemSource,
    is_scalar,
    is_seed,
)

VERSION = 1
FIRST = ("holdsup", "kind")  # what says how to read the rest
LARGEST = 2**20  # bytes; a spec is written by hand
BLOCKED = {"name": "blocked", "m": 3}  # how a contest splits, unless it is told
PARTS = ("data", "systems")  # tables of tables
ALL = ("data", "metric", "splits", "systems")  # tables of every spec
KINDS = {  # and those that each kind of spec may have besides
    "run": ("facets",),
    "contest": ("contest",),
    "tune": ("candidates", "budget"),
}

FILES = ("train", "test", "out", "python")  # placeholders of commands that are no settings
# Columns that an exported table of scores has anyway, and what commands are given.
TAKEN = ("dataset", "system", "run", "item", "metric", "score", "status", "reason", "split", "resplit", *FILES)


def read_spec(path: str | Path) -> Spec:
    """Return the spec in a TOML file; paths in it resolve from its folder.

    Raises
    ------
    SpecError : the file is no TOML, a key is unknown or missing, a value is not what it must be
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            raw = stream.read(LARGEST + 1)
    except OSError as error:
        raise SpecError(f"cannot read {file}: {error.strerror or error}") from error
    if len(raw) > LARGEST:
        raise SpecError(f"{file} has more than {LARGEST >> 20} MiB: that is not a spec")
    try:
        tables = tomllib.loads(raw.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SpecError(f"{file} is not TOML: {reason_of(error)}") from error
    return _read(file.resolve(), tables)


def _read(file: Path, tables: Mapping[str, Any]) -> Spec:
    place = Place(file.name)
    start = place.check(
        {name: tables[name] for name in FIRST if name in tables}, {name: HEADER[name] for name in FIRST}
    )
    if start["holdsup"] != VERSION:
        raise place.refuse(f"holdsup is {start['holdsup']}: this version reads specs of version {VERSION}")
    if start["kind"] not in KINDS:
        raise place.refuse(f"kind is {start['kind']!r}; it can be {list_names(KINDS)}")
    if start["kind"] == "contest":
        tables = {"splits": BLOCKED, **tables}
    is_table = {name: Key(f"a table, [{name}{'.NAME' * (name in PARTS)}]", lambda value: isinstance(value, dict),
                          name in (*ALL, "candidates"))
                for name in (*ALL, *KINDS[start["kind"]])}  # fmt: skip
    header = place.check(tables, {**HEADER, **is_table})
    facets = read_facets(file.name, header["kind"], tables)
    systems = {name: _read_system(where, table, facets) for name, where, table in _parts(place, tables, "systems")}
    _require_fitting(place, header["kind"], len(systems), len(tables["data"]))
    splits, tuning = _part_splits(file, header["kind"], tables)
    return Spec(
        file=file,
        kind=header["kind"],
        seed=header.get("seed", 0),
        store=file.parent / header.get("store", f"{file.stem}.db"),
        data={name: _read_data(where, table, file.parent) for name, where, table in _parts(place, tables, "data")},
        metric=_read_options(Place(file.name, "metric"), tables["metric"], make_metric),
        splits=_read_options(Place(file.name, "splits"), splits, lambda **options: make_splitter(seed=0, **options)),
        systems=systems,
        facets=facets,
        contest=Place(file.name, "contest").check(tables.get("contest", {}), CONTEST),
        tuning=tuning,
    )


def _require_fitting(place: Place, kind: str, systems: int, datasets: int) -> None:
    """Refuse numbers of systems and datasets that a kind of spec has no answer for."""
    found = f"but there are {systems} [systems.X] and {datasets} [data.X]"
    if kind == "contest" and (systems < 2 or datasets != 1):
        raise place.refuse(f"a contest is between two systems or more on one corpus, {found}")
    if kind == "tune" and (systems, datasets) != (1, 1):
        raise place.refuse(f"a tuning is of one system on one corpus, {found}: write a spec for each")


def _part_splits(file: Path, kind: str, tables: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of the splitter, and those of a tuning, which are next to them and in [budget]."""
    if kind != "tune":
        return tables["splits"], {}
    place, given = Place(file.name, "splits"), tables["splits"]
    if given.get("name") != "jkfold":
        raise place.refuse(f'name is {given.get("name")!r:.40}: a tuning needs name = "jkfold"')
    keys = dict.fromkeys([*list_options("jkfold"), *SEARCH])
    for name in given:
        if name not in ("name", "seed", *keys):
            raise place.refuse(f"{name!r} is not a key here; the keys are {list_names(keys)}.{hint_at(name, keys)}")
    tuning = place.check({name: value for name, value in given.items() if name in SEARCH}, SEARCH)
    if "margin" in tuning and not tuning.get("adaptive"):
        raise place.refuse("margin needs adaptive = true")
    if "budget" in tables:
        where = Place(file.name, "budget")
        for name in set(SEARCH) & set(tables["budget"]):
            raise where.refuse(f"{name!r} is not a key here: put it in [splits], with j and k")
        tuning |= where.check(tables["budget"], BUDGET)
    return {name: value for name, value in given.items() if name not in SEARCH}, tuning


def _parts(place: Place, tables: Mapping[str, Any], name: str) -> Iterator[tuple[str, Place, Any]]:
    """Yield the tables [name.X]."""
    if not tables[name]:
        raise place.refuse(f"there is no [{name}.X]: name at least one")
    for part, table in tables[name].items():
        if not part.strip():
            raise place.refuse(f"there is a [{name}.X] whose name is empty: name it")
        yield part, Place(place.file, f"{name}.{part}"), table


def _read_data(place: Place, table: Any, folder: Path) -> DataSource:
    values = place.check(table, DATA)
    columns = values["input"]
    if "://" in values["path"]:
        raise place.refuse(f"path is {values['path']!r:.80}, a URL: download the file first")
    return DataSource(
        path=folder / values["path"],
        input=columns if isinstance(columns, str) else tuple(columns),
        target=values["target"],
        group=values.get("group"),
        item=values.get("item"),
    )


def _read_system(place: Place, table: Any, facets: Mapping[str, Any]) -> SystemSource:
    values = place.check(table, SYSTEM)
    kinds = [kind for kind in SYSTEM_KINDS if kind in values]
    if len(kinds) != 1:
        found = " and ".join(kinds) or "none of them"
        raise place.refuse(f"it has {found}: give one of {list_names(SYSTEM_KINDS)}")
    kind, source, settings = kinds[0], values[kinds[0]], values.get("settings", {})
    if twice := [name for name in settings if name in (*facets, "seed")]:
        raise place.refuse(
            f"settings has {list_names(twice)}, which [facets], [candidates] or the header has too: keep one"
        )
    if kind == "command":
        check_command(place, source, settings, facets)
        source = tuple(source)
    elif split_source(source) is None:
        raise place.refuse(f'{kind} is {source!r:.80}, which is not an import string: write "module:function"')
    return SystemSource(
        kind=kind,  # type: ignore[arg-type]  # one of KINDS, which are the kinds of systems
        source=source,
        settings=settings,
        timeout=values.get("timeout"),
        code=tuple(values.get("code", ())),
        key=values.get("key"),
    )


def check_command(place: Place, arguments: list[str], settings: Mapping[str, Any], facets: Mapping[str, Any]) -> None:
    """Refuse a command with a placeholder that nothing fills, or without one for something that it must know."""
    for name, value in settings.items():
        if name in FILES or not is_scalar(value):
            raise place.refuse(f"settings has {name} = {value!r:.60}, which cannot fill a placeholder of a command")
    asked = find_placeholders(arguments)
    known = dict.fromkeys([*FILLED, *settings, *facets])
    for name in sorted(asked - set(known)):
        raise place.refuse(
            f"command has {{{name}}}, which nothing fills; there are {list_names(known)}.{hint_at(name, known)}"
        )
    for name in ("test", "out", *settings, *facets):
        if name not in asked:
            what = "file" if name in ("test", "out") else "setting" if name in settings else "facet or parameter"
            raise place.refuse(f"command lacks {{{name}}}: the program would never see this {what}")


def _read_options(place: Place, table: Any, make: Any) -> dict[str, Any]:
    """Return the name and options of a metric or a splitter that can be made."""
    if not isinstance(table, dict) or "name" not in table:
        raise place.refuse(f"name is missing; it must be {NAMED.what}")
    if not NAMED.accepts(table["name"]):
        raise place.refuse(f"name is {table['name']!r:.60}; it must be {NAMED.what}, of one {place.table}")
    if "seed" in table:
        raise place.refuse("'seed' is not a key here: the seed of the header is used")
    try:
        make(**table)
    except HoldsupError as error:
        raise place.refuse(str(error)) from error
    except TypeError as error:
        raise place.refuse(f"{table['name']} does not take these options: {reason_of(error)}") from error
    return dict(table)


def read_facets(file: str, kind: str, tables: Mapping[str, Any]) -> dict[str, tuple[Scalar, ...]]:
    """Return the values of each facet; of a tuning, those of each parameter in [candidates]."""
    place = Place(file, "candidates" if kind == "tune" else "facets")
    found: dict[str, tuple[Scalar, ...]] = {}
    for name, values in tables.get(place.table, {}).items():
        _require_name(place, name)
        if not isinstance(values, list) or not values or not all(map(is_scalar, values)):
            raise place.refuse(f"{name} is {values!r:.80}; it must be a list of text, numbers or booleans")
        if len({(type(value), value) for value in values}) < len(values):
            raise place.refuse(f"{name} is {values!r:.80}, which has a value more than once")
        if name == "seed" and not all(map(is_seed, values)):
            raise place.refuse(f"seed is {values!r:.80}; seeds are whole numbers from 0")
        found[name] = tuple(values)
    if kind == "tune" and not found:
        raise place.refuse("there are no candidates: give at least one parameter a list of values")
    return found


def _require_name(place: Place, name: str) -> None:
    """Refuse a name that systems cannot be given; parameters become no columns, so more names will do."""
    if place.table == "candidates":
        if not name.isidentifier() or name in (*FILES, "seed"):
            raise place.refuse(f"{name!r} cannot name a parameter: use a keyword argument that the system takes")
    elif not name.isidentifier() or name in TAKEN:
        raise place.refuse(
            f"{name!r} cannot name a facet, which is a keyword argument and a column: choose another name"
        )
