"""`read_scores`: from any table a user has to `Scores`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from holdsup.arguments import check_progress, check_text
from holdsup.columns import OpenTable, read_columns
from holdsup.columns.sources import columns_in_names
from holdsup.errors import ColumnError, ScoresError, list_names, quote_names
from holdsup.logs import open_data
from holdsup.progress import Progress, no_progress
from holdsup.results.cautions import Caution
from holdsup.scores.assembly import assemble
from holdsup.scores.faults import note
from holdsup.scores.properties import TextProperty, split_properties
from holdsup.scores.roles import FILE, NOTHING, WIDE, Roles, find_roles, find_stated, is_replicate, is_setting
from holdsup.scores.table import Scores


def read_scores(
    data: Any,
    *,
    score: str | None = None,
    system: str | None = None,
    item: str | None = None,
    run: str | None = None,
    dataset: str | None = None,
    metric: str | None = None,
    cluster: str | None = None,
    facets: Iterable[str] = (),
    replicates: Iterable[str] = (),
    shared: Iterable[str] = (),
    properties: Iterable[str] = (),
    status: str | None = None,
    samples: str | None = None,
    rater: str | None = None,
    wide: Mapping[str, Iterable[Any]] | None = None,
    names: str | None = None,
    readers: Iterable[str] = (),
    accept: Iterable[str] = (),
    progress: Progress = no_progress,
) -> Scores:
    """Return the scores in files, folders, logs, patterns, frames, or several of these.

    Roles that are not given are those that the table states (exports of `holdsup run` do), else they are found
    by the usual names of columns (system or model, item or id, score or the name of a metric, seed, run ...);
    `print` the result to see how each column was read.

    Parameters
    ----------
    data : a path, a folder, a glob pattern, "-" for standard input; anything with an Arrow stream
        (pandas, polars, pyarrow, DuckDB); a dict of columns; a list of records; a list of these.
        Files without a header hold one score a line, or an id and a score; each is a system.
    score, system, item, run, dataset, metric, cluster : the column that has this role;
        "-" when none has, whatever the columns are called
    facets : columns that differ between runs of one system (seed, learning rate, ...)
    replicates : the facets that are mere repetitions; those named seed, rep, trial ... are anyway
    shared : the facets whose levels mean the same in every system (seed 3 gives the same data order)
    properties : columns that describe items (length, genre), or what is computed from a column of texts:
        "readability=flesch(source)", "rarity=rarity_mean(source)" or "rarity=rarity_mean(source, counts.csv)" with
        a table of word counts; the functions are flesch, words_per_sentence, length, characters, rarity_sum and
        rarity_mean
    status : the column that says "ok" (or success, completed, done ...), or why a score does not count
    samples : the column that tells several answers of one run to one item apart; found by the names sample and
        generation, and trial where it repeats items within a run
    rater : the column that says who gave each score: a person, or a judge
    wide : ``{"system": ["A", "B"]}`` or ``{"metric": ["bleu", "chrf"]}`` (or dataset) when each has a
        column of its own
    names : columns in the names of the files: with "{system}_seed{seed}" or "{system}/seed{seed}/preds"
        a file tells its system and its seed
    readers : modules with a reader of your own for logs: "package.module"
    accept : codes of errors in the pairing of logs that you know about, and want an answer in spite of
    progress : called as reading goes on

    Examples
    --------
    >>> scores = read_scores({"model": ["A", "A", "B", "B"], "id": [1, 2, 1, 2], "f1": [0.7, 0.8, 0.6, 0.9]})
    >>> scores.system.names, scores.item.names, len(scores)
    (('A', 'B'), ('1', '2'), 4)
    """
    check_text(names, "names")
    check_progress(progress)
    asked = _wide(
        Roles(**_one_each(score=score, system=system, item=item, run=run, dataset=dataset, metric=metric,
                          cluster=cluster, status=status, sample=samples, rater=rater),
              facets=_names(facets), replicates=_names(replicates), shared=_names(shared)),
        wide,
    )  # fmt: skip
    named_columns = bool(score or item or wide or names)
    opened = open_data(data, readers=_names(readers), as_table=named_columns, progress=progress)
    tables = opened.tables
    virtual = columns_of_tables(tables, names)
    there = dict.fromkeys(c for table in tables for c in table.columns)
    named = _names(properties)
    plain, computed = split_properties(() if named == (NOTHING,) else named, [*there, *virtual])
    roles = find_roles(replace(asked, properties=plain), tables, virtual=virtual)
    _check_scored(tables, roles)
    roled = roles.columns()
    texts = _text_columns(computed, roles)
    odd = dict.fromkeys(c for t in tables for c in t.columns if t.guess(c) == "other" and c not in roled)
    columns = read_columns(
        tables,
        labels=[c for c in there if c in texts or roled.get(c) not in ("score", "property", None)],
        numbers=roles.score_columns,
        either=[c for c in there if (c not in roled and c not in odd) or c in roles.properties],
        advice=" Is this the right column (--score)? A status column can say which runs failed.",
        progress=progress,
    )
    notes = _accept(opened.cautions, _names(accept))
    if odd:
        notes = (*notes, note("nested-columns", f"Columns of lists or bytes are left out: {list_names(odd)}."))
    stated = status not in (None, NOTHING)
    known = {*asked.facets, *asked.replicates, *asked.shared, *find_stated(tables).facets}
    guessed = [c for c in roles.facets if is_setting(c) and c not in known]
    scores = assemble(
        tables, roles, columns, virtual, computed, by_line=item != NOTHING, stated=stated, guessed=guessed, notes=notes,
        known={*known, asked.sample, find_stated(tables).sample},
    )  # fmt: skip
    return replace(scores, names=names)


def _accept(cautions: tuple[Caution, ...], codes: tuple[str, ...]) -> tuple[Caution, ...]:
    """Return what was found in logs, errors that the user accepts as warnings."""
    if unknown := [code for code in codes if code not in {each.code for each in cautions}]:
        raise ScoresError(f"--accept {unknown[0]}: these data have no such error; leave it out")
    return tuple(
        replace(each, severity="warning", advice="") if each.code in codes and each.severity == "error" else each
        for each in cautions
    )


def columns_of_tables(tables: list[OpenTable], names: str | None) -> dict[str, list[str]]:
    """Return columns with one value a table: those in its name, and `file`, which tells several apart."""
    found = columns_in_names(names, [table.name for table in tables]) if names else {}
    there = {column for table in tables for column in table.columns}
    if twice := [column for column in found if column in there]:
        raise ColumnError(f"the pattern {names!r} names {list_names(twice)}, which the tables have as well: rename one")
    if len(tables) > 1 and FILE not in {*there, *found}:
        stems = [table.stem for table in tables]
        alone = len(set(stems)) == len(stems)
        found[FILE] = stems if alone else [f"{i}: {table.name}" for i, table in enumerate(tables, start=1)]
    return found


def _one_each(**given: Any) -> dict[str, Any]:
    """Return the name of one column, or None, for each role; frames may have numbers as names."""
    for role, name in given.items():
        if not isinstance(name, str | int | None) or isinstance(name, bool):
            raise ColumnError(f"{role} is {name!r:.60}: give the name of one column")
    return {role: name if name is None else str(name) for role, name in given.items()}


def _names(given: Any) -> tuple[str, ...]:
    """Return the names of columns, which frames may have as numbers; one may be given bare, and None means none."""
    if given is None:
        return ()
    if not isinstance(given, str | int | Iterable):
        raise ColumnError(f"{given!r:.60} names no column: give a name, or a list of names")
    return (str(given),) if isinstance(given, str | int) else tuple(str(name) for name in given)


def _wide(asked: Roles, wide: Mapping[str, Iterable[Any]] | None) -> Roles:
    if not wide:
        return asked
    if not isinstance(wide, Mapping):
        raise ColumnError(f"wide is {wide!r:.60}: give a dict, such as {{'system': ['A', 'B']}}")
    (role, columns), *more = wide.items()
    if more or role not in WIDE or not isinstance(columns, Iterable):
        raise ColumnError(f"wide is {dict(wide)!r:.80}: give the columns of one of {', '.join(WIDE)}")
    named = _names(columns)
    if strange := [name for name in named if is_replicate(name) or is_setting(name)]:
        raise ColumnError(
            f"wide {role}={quote_names(named)}: by its name {strange[0]!r} tells runs apart and isn't a {role}: leave "
            "it out, or rename it"
        )
    if asked.score is not None or getattr(asked, role) is not None or len(named) < 1:
        raise ColumnError(
            f"with wide {role}={quote_names(named)} those columns hold the scores: leave score and {role} out"
        )
    return replace(asked, score=named, wide=role)


def _text_columns(computed: Iterable[TextProperty], roles: Roles) -> set[str]:
    """Return the columns from whose texts properties are computed."""
    for asked in computed:
        if asked.column in roles.score_columns:
            raise ColumnError(f"column {asked.column!r} holds the scores, not texts, so that there is no {asked.call}")
    return {asked.column for asked in computed}


def _check_scored(tables: list[OpenTable], roles: Roles) -> None:
    for table in tables:
        if not set(roles.score_columns) & set(table.columns):
            raise ColumnError.not_found(roles.score_columns[0], table.columns, where=table.name)
