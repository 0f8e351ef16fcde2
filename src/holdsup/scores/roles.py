"""Which column has which role: as the user says, else by the names people give such columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace

from holdsup.columns import OpenTable
from holdsup.errors import ColumnError, ScoresError, list_names

__all__ = [
    "FILE",
    "NOTHING",
    "REPLICATES",
    "RESPLIT",
    "WIDE",
    "Roles",
    "find_roles",
    "is_replicate",
    "is_setting",
    "is_usual",
    "plain_name",
]

NOTHING = "-"  # given for a role: no column has it, whatever the columns are called
FILE = "file"
WIDE = ("system", "metric", "dataset")  # what may have a score column each
ASIDE = ("wide", "replicates", "shared", "computed")  # fields that give no column a role of its own
RESPLIT = "resplit"  # numbers the splits of one corpus, in exports of contests and of repeated splits
REPLICATES = ("replication", "replicate", "rep", "trial", "rng", "random_state", RESPLIT)
SEED = re.compile(r"(.+_)?seeds?(_(id|no|number|index|idx))?")  # seed, random_seed, training_seed, seed_id
SETTINGS = ("learning_rate", "lr", "batch_size", "dropout", "epochs", "weight_decay", "warmup", "temperature")

# The usual names, the more telling first. Names are compared in lower case with "_" for blanks, "-" and ".".
USUAL = {
    "system": "system model method framework agent classifier algorithm approach "
    "system_name system_id model_name model_id".split(),
    "item": "item item_id sentence_id segment_id seg_id example_id instance_id sample_id question_id qid summary_id "
    "doc_id document_id query_id item_index id item_name example instance sample question sentence segment seg idx "
    "uid guid line".split(),
    "run": "run run_id run_name run_uuid".split(),
    "dataset": "dataset data_set dataset_name task task_name benchmark corpus game test_set".split(),
    "metric": "metric metric_name measure measurand".split(),
    "cluster": "cluster document doc passage dialogue conversation".split(),
    "status": ["status"],
}
LAST_SYSTEMS = ("checkpoint", "ckpt")  # taken for systems where nothing else is
SCORES = (
    ["score"],
    ["value", "result"],
    "accuracy acc f1 f1_score em exact_match bleu chrf ter comet bleurt meteor rouge rouge1 rouge2 rougel rouge_1 "
    "rouge_2 rouge_l bertscore auc mrr map ndcg wer cer loss logloss perplexity ppl mse rmse mae mcc precision recall "
    "iou correct is_correct reward return y".split(),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The column of each role; None or empty where no column has it.

    Attributes
    ----------
    score : the number that is compared; with `wide`, the columns that hold it
    system : what is compared
    item : what is scored
    run : one trained and evaluated instance of a system
    dataset : where the items come from
    metric : what the score measures
    cluster : items that belong together (sentences of a document)
    status : "ok", or why there is no score
    facets : named sources of variation between runs
    replicates : the facets that are mere repetitions
    shared : the facets whose levels are the same thing in every system
    properties : facts about an item (length, genre)
    computed : the properties among these that are computed from a text, such as "readability=flesch(source)"
    wide : "system", "metric" or "dataset" when each of them has a score column of its own, else null
    """

    score: str | tuple[str, ...] | None = None
    system: str | None = None
    item: str | None = None
    run: str | None = None
    dataset: str | None = None
    metric: str | None = None
    cluster: str | None = None
    status: str | None = None
    facets: tuple[str, ...] = ()
    replicates: tuple[str, ...] = ()
    shared: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    computed: tuple[str, ...] = ()
    wide: str | None = field(default=None)

    @property
    def score_columns(self) -> tuple[str, ...]:
        """The columns that hold scores: one, unless the table is wide."""
        if self.score is None:
            return ()
        return (self.score,) if isinstance(self.score, str) else self.score

    def columns(self) -> dict[str, str]:
        """Return each column that has a role."""
        found = dict.fromkeys(self.score_columns, "score")
        for role in fields(self):
            value = getattr(self, role.name)
            if role.name in ("score", *ASIDE) or value is None:
                continue
            named = (value,) if isinstance(value, str) else value
            found.update(dict.fromkeys(named, {"facets": "facet", "properties": "property"}.get(role.name, role.name)))
        return found

    def stated_properties(self) -> tuple[str, ...]:
        """Return the properties as a user gives them: the name of a column, or name=function(column)."""
        stated = {expression.partition("=")[0]: expression for expression in self.computed}
        return tuple(stated.get(name, name) for name in self.properties)


def find_roles(asked: Roles, tables: list[OpenTable], *, virtual: Iterable[str] = ()) -> Roles:
    """Return `asked` with the roles that the user left open filled in by the names of the columns.

    `virtual` columns come from the names of the tables; one of them may be `file`. Without a column for
    the system, each file is a system. A column of lists or bytes gets no role by its name.
    """
    columns = tuple(dict.fromkeys((*(column for table in tables for column in table.columns), *virtual)))
    where = tables[0].name if len(tables) == 1 else f"these {len(tables)} tables"
    as_asked = asked
    refused = {role for role in USUAL if getattr(asked, role) == NOTHING}
    asked = replace(asked, **dict.fromkeys(refused))  # type: ignore[arg-type]  # roles that may be None
    if asked.facets == (NOTHING,):
        refused.add("facets")
        asked = replace(asked, facets=())
    asked = replace(asked, facets=tuple(dict.fromkeys((*asked.facets, *asked.replicates, *asked.shared))))
    _check_asked(asked, columns, where)
    _check_needed(as_asked, asked, ("score",), tables, virtual)
    taken = {*asked.columns(), *(c for table in tables for c in table.columns if table.guess(c) == "other")}
    found: dict[str, str | tuple[str, ...]] = {}
    for role, names in USUAL.items():
        if getattr(asked, role) is None and role not in {asked.wide, *refused}:
            column = _first(names, (c for c in columns if c not in taken))
            if column:
                found[role] = column
                taken.add(column)
    if "system" not in found and asked.system is None and asked.wide != "system" and FILE in columns:
        found["system"] = FILE
        taken.add(FILE)
    last = _first(LAST_SYSTEMS, (c for c in columns if c not in taken))
    if last and asked.system is None and "system" not in {asked.wide, *found, *refused}:
        found["system"] = last
        taken.add(last)
    if not asked.facets and "facets" not in refused:
        found["facets"] = tuple(c for c in columns if c not in taken and (is_replicate(c) or is_setting(c)))
        taken.update(found["facets"])
    if asked.score is None:
        found["score"] = _find_score([c for c in columns if c not in taken], tables, where)
    lost = [role for role in ("item", "system") if role not in found and getattr(asked, role) is None]
    _check_needed(as_asked, asked, lost, tables, virtual)
    roles = replace(asked, **found)  # type: ignore[arg-type]  # each name is a field, each value of its type
    repeated = (c for c in roles.facets if is_replicate(c))
    return replace(roles, replicates=tuple(dict.fromkeys((*roles.replicates, *repeated))))


def _check_asked(asked: Roles, columns: tuple[str, ...], where: str) -> None:
    there = set(columns)
    for column in asked.columns():
        if column not in there:
            raise ColumnError.not_found(column, columns, where=where)
    uses = Counter(c for role in fields(asked) for c in _uses(asked, role.name))
    twice = [column for column, count in uses.items() if count > 1]
    if twice:
        raise ColumnError(f"one column cannot have two roles: {list_names(twice)}")


def _check_needed(
    as_asked: Roles, asked: Roles, needed: Iterable[str], tables: list[OpenTable], virtual: Iterable[str]
) -> None:
    """Refuse a column for a role if by its name it is the only one for a role that scores need."""
    given = dict.fromkeys(asked.facets, "a facet") | dict.fromkeys(asked.properties, "a property (--by, --properties)")
    given |= {asked.cluster: "the cluster"} if asked.cluster is not None else {}
    if not given or not needed:
        return
    bare = replace(as_asked, facets=(), replicates=(), shared=(), properties=(), cluster=None)
    try:
        found = find_roles(bare, tables, virtual=virtual)
    except ColumnError:  # only with these columns out of the way can the roles be found
        return
    for role in needed:
        column = getattr(found, role)
        # Systems may be a facet where their variance is asked for; files are systems for want of a column.
        free = role == "system" and (column == FILE or given.get(column) == "a facet")
        if column in given and not free:
            raise ColumnError(
                f"{column!r} is asked for as {given[column]}, but by its name it is the column of the {role}: give "
                f"another column, or name the {role} with --{role}"
            )


def _uses(asked: Roles, role: str) -> tuple[str, ...]:
    value = getattr(asked, role)
    if role in ASIDE or value is None:
        return ()
    return (value,) if isinstance(value, str) else tuple(value)


def is_replicate(column: str) -> bool:
    """Return whether a column is named like a mere repetition.

    >>> is_replicate("training seed"), is_replicate("rep"), is_replicate("seed_text")
    (True, True, False)
    """
    name = plain_name(column)
    return name in REPLICATES or SEED.fullmatch(name) is not None


def is_setting(column: str) -> bool:
    """Return whether a column is named like a setting that people vary between runs."""
    return plain_name(column) in SETTINGS


def is_usual(role: str, column: str) -> bool:
    """Return whether a column is named like one of a role."""
    return plain_name(column) in USUAL[role]


def plain_name(column: str) -> str:
    """Return the name of a column in lower case, with "_" for blanks, "-" and "."."""
    return re.sub(r"[\s.\-]+", "_", column.strip().lower())


def _first(names: Iterable[str], columns: Iterable[str]) -> str | None:
    by_name: dict[str, str] = {}
    for column in columns:
        by_name.setdefault(plain_name(column), column)
    return next((by_name[name] for name in names if name in by_name), None)


def _find_score(columns: list[str], tables: list[OpenTable], where: str) -> str:
    """Return the one column that is named like a score; several candidates are an error, not a guess."""
    numeric = {c for table in tables for c in table.columns if table.guess(c) == "number"}
    named = [[c for c in columns if plain_name(c) in names] for names in SCORES]
    named.append([c for c in columns if c in numeric and "score" in plain_name(c)])
    for candidates in named:
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            first = candidates[0]
            raise ColumnError(
                f"{list_names(candidates)} in {where} all look like scores: choose one with --score {first}, "
                f"or take them as metrics with --wide metric={','.join(candidates)}"
            )
    every = list(dict.fromkeys(c for table in tables for c in table.columns))
    if not every:
        raise ScoresError(f"{where} has no columns")
    hint = " Does its first line hold the names of the columns?" if any(_is_numeral(c) for c in every) else ""
    raise ColumnError(
        f"no column of {where} is named like a score; it has {list_names(every)}. "
        f"Name the score with --score, or columns that are systems with --wide system=A,B.{hint}"
    )


def _is_numeral(column: str) -> bool:
    return column.replace(",", ".").replace(".", "", 1).lstrip("-").isdigit()
