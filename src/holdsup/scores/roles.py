"""Which column has which role: as the user or the table says, else by the names people give such columns."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import Any

from holdsup.columns import OpenTable
from holdsup.columns.typed import ROLES
from holdsup.errors import ColumnError, ScoresError, list_names, quote_names

NOTHING = "-"  # given for a role: no column has it, whatever the columns are called
FILE = "file"
WIDE = ("system", "metric", "dataset")  # what may have a score column each
ASIDE = (
    "wide",
    "replicates",
    "shared",
    "computed",
    "lower",
    "higher",
    "costs",
)  # fields that give no column a role of its own
RESPLIT = "resplit"  # numbers the splits of one corpus, in exports of contests and of repeated splits
REPLICATES = ("replication", "replicate", "replica", "rep", "trial", "rng", "random_state", RESPLIT)
TRIALS = ("trial",)  # repetitions of a training, or samples where it repeats items within a run
SAMPLES = re.compile(r"(sample|generation)(_(no|nr|num|number|index|idx|id))?")  # answers of one run to one item
NUMBERED = ("init",)  # repetitions if they are numbers: init 1, 2, 3, but not init xavier and he
SEED = re.compile(r"(.+_)?seeds?(_(id|no|nr|num|number|index|idx|value|rng))?")  # seed, random_seed, seed_id
# How far one training has come: step, global_step, epoch; but num_steps and epochs are settings, chosen before it.
PROGRESS = re.compile(
    r"((global|train|training|trainer|env|environment|optimizer|gradient|agent|current)_)*"
    r"(steps?|epoch|iterations?|iters?|checkpoints?|ckpt|timesteps?|updates?)(_(id|no|nr|num|number|index|idx))?"
)
# How long trainings were: chosen before, or found by early stopping; only the rows can tell.
LENGTH = re.compile(r"((num|n|total|best|last)_)?(train(ing)?_)?(epochs|steps|iterations|iters|updates)")
BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
SETTINGS = ("learning_rate", "lr", "batch_size", "dropout", "epochs", "weight_decay", "warmup", "temperature")

# The usual names, the more telling first. Names are compared in lower case with "_" for blanks, "-" and ".".
USUAL = {
    "system": "system model method framework agent classifier algorithm approach "
    "system_name system_id model_name model_id method_name classifier_name algorithm_name".split(),
    "item": "item item_id sentence_id segment_id seg_id example_id instance_id sample_id question_id qid summary_id "
    "prompt_id problem_id task_id case_id utterance_id utt_id utt doc_id document_id query_id item_index id item_name "
    "example instance question problem sample prompt sentence utterance segment seg idx uid guid line".split(),
    "run": "run run_id run_name run_uuid".split(),
    "dataset": "dataset data_set dataset_name task task_name benchmark corpus game test_set".split(),
    "metric": "metric metric_name measure measurand".split(),
    "cluster": "cluster document doc passage dialogue conversation".split(),
    "status": ["status"],
    "rater": [f"{name}{end}" for name in ("rater", "annotator", "judge") for end in ("", "_id", "_name")],
}
LAST_SYSTEMS = ("checkpoint", "ckpt")  # read as systems where nothing else is
SCORES = (
    ["score"],
    ["value", "result"],
    "accuracy acc f1 f1_score em exact_match bleu chrf ter comet bleurt meteor rouge rouge1 rouge2 rougel rouge_1 "
    "rouge_2 rouge_l bertscore auc mrr map ndcg wer cer loss logloss perplexity ppl mse rmse mae mcc precision recall "
    "iou correct is_correct passed is_passed resolved is_resolved solved pass@1 pass_rate win_rate reward mqm "
    "preference return y".split(),
)
# Words of a name that holds "score" and is no score's, most of them scikit-learn's: std_test_score, mean_score_time.
ABOUT_SCORES = frozenset("time times seconds std sd stdev stderr se var variance rank train".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The column of each role; None or empty where no column has it."""

    score: str | tuple[str, ...] | None = None  # the number that is compared; with `wide`, the columns that hold it
    system: str | None = None  # what is compared
    item: str | None = None  # what is scored
    run: str | None = None  # one trained and evaluated instance of a system
    dataset: str | None = None  # where the items come from
    metric: str | None = None  # what the score measures
    cluster: str | None = None  # items that belong together (sentences of a document)
    status: str | None = None  # "ok", or why there is no score
    sample: str | None = None  # which of several answers of one run to one item
    rater: str | None = None  # who scored it: a person or a judge, crossed with systems and items
    facets: tuple[str, ...] = ()  # named sources of variation between runs
    replicates: tuple[str, ...] = ()  # the facets that are mere repetitions
    shared: tuple[str, ...] = ()  # the facets whose levels are the same thing in every system
    properties: tuple[str, ...] = ()  # facts about an item (length, genre)
    # the properties among these that are computed from a text, such as "readability=flesch(source)"
    computed: tuple[str, ...] = ()
    # "system", "metric" or "dataset" when each of them has a score column of its own, else null
    wide: str | None = field(default=None)
    lower: tuple[str, ...] = ()  # metrics of which the table says that lower is better
    higher: tuple[str, ...] = ()  # metrics of which it says that higher is better
    costs: tuple[str, ...] = ()  # metrics of what an answer costs, asked about by name only

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

    def is_repetition(self, facet: str) -> bool:
        """Return whether the levels of a facet are mere repetitions, not settings."""
        return facet in self.replicates or is_replicate(facet)

    def stated_properties(self) -> tuple[str, ...]:
        """Return the properties as a user gives them: the name of a column, or name=function(column)."""
        stated = {expression.partition("=")[0]: expression for expression in self.computed}
        return tuple(stated.get(name, name) for name in self.properties)


def is_replicate(column: str) -> bool:
    """Return whether a column is named like a mere repetition.

    >>> is_replicate("training seed"), is_replicate("Seed #"), is_replicate("seed_text")
    (True, True, False)
    """
    name = bare_name(column)
    return name in REPLICATES or SEED.fullmatch(name) is not None


def is_sample(column: str) -> bool:
    """Return whether a column is named like the answers of one run to one item, and no item has the name.

    >>> is_sample("sample"), is_sample("Generation #"), is_sample("samples_per_second")
    (True, True, False)
    """
    return SAMPLES.fullmatch(bare_name(column)) is not None


def is_progress(column: str) -> bool:
    """Return whether a column is named like the progress of one training: its values are no trainings of their own.

    >>> is_progress("trainer/global_step"), is_progress("Epoch"), is_progress("max_steps"), is_progress("epochs")
    (True, True, False, False)
    """
    return PROGRESS.fullmatch(bare_name(column)) is not None


def is_length(column: str) -> bool:
    """Return whether a column is named like the length of trainings, a setting or an outcome of early stopping.

    >>> is_length("epochs"), is_length("num_steps"), is_length("max_steps"), is_length("learning_rate")
    (True, True, False, False)
    """
    return LENGTH.fullmatch(bare_name(column)) is not None


def is_setting(column: str) -> bool:
    """Return whether a column is named like a setting that people vary between runs."""
    return bare_name(column) in SETTINGS


def is_about_scores(column: str) -> bool:
    """Return whether a column is named for what is about scores and is none: how long scoring took, how they spread.

    >>> is_about_scores("mean_score_time"), is_about_scores("rank_test_score"), is_about_scores("mean_test_score")
    (True, True, False)
    """
    words = bare_name(column).split("_")
    return bool(ABOUT_SCORES.intersection(words)) or re.fullmatch(r"split\d+", words[0]) is not None


def is_usual(role: str, column: str) -> bool:
    """Return whether a column is named like one of a role."""
    return plain_name(column) in USUAL[role]


def plain_name(column: str) -> str:
    """Return the name of a column in lower case, with "_" for blanks, "-" and "."."""
    return re.sub(r"[\s.\-]+", "_", column.strip().lower())


def bare_name(column: str) -> str:
    """Return the plain name of a column without its unit, which stands in brackets, and without signs.

    >>> bare_name("ROUGE-L (%)"), bare_name("F1 (macro)"), bare_name("Seed #")
    ('rouge_l', 'f1', 'seed')
    """
    return re.sub(r"\W+", "_", plain_name(BRACKETS.sub(" ", column))).strip("_")


MEAN = "mean_test_"  # what scikit-learn's cv_results_ calls the mean of a metric over the splits
ONE = ("score", *USUAL, "sample")  # roles of one column
SEVERAL = ("facets", "replicates")
OF_METRICS = ("lower", "higher", "costs")  # what a table says of metrics, by their names
METRIC_KIND = "metric.kind"  # the column in which a CSV file says the same, row by row: lower costs


def find_roles(asked: Roles, tables: list[OpenTable], *, virtual: Iterable[str] = ()) -> Roles:
    """Return `asked` with the roles that the user left open filled in: as the tables state, or by names of columns.

    `virtual` columns come from the names of the tables; one of them may be `file`. Without a column for
    the system, each file is a system. A column of lists or bytes gets no role by its name.
    """
    columns = tuple(dict.fromkeys((*(column for table in tables for column in table.columns), *virtual)))
    where = tables[0].name if len(tables) == 1 else f"these {len(tables)} tables"
    as_asked, asked = asked, fill_in(asked, find_stated(tables))
    refused = {role for role in (*USUAL, "sample") if getattr(asked, role) == NOTHING}
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
    answers = [c for c in columns if c not in taken and is_sample(c)]
    if answers and asked.sample is None and "sample" not in refused and (asked.item or "item" in found):
        numeric = {c for t in tables for c in t.columns if t.guess(c) == "number"}  # a text may be the answer itself
        found["sample"] = first = min(answers, key=lambda c: c not in numeric)
        taken.add(first)
    numbered = {c for t in tables for c in t.columns if bare_name(c) in NUMBERED and t.guess(c) == "number"}
    if not (as_asked.facets or as_asked.replicates or as_asked.shared) and "facets" not in refused:
        named = {c for c in columns if c not in taken and (is_replicate(c) or is_setting(c) or c in numbered)}
        found["facets"] = tuple(c for c in columns if c in {*asked.facets, *named})
        taken.update(found["facets"])
    lost = [role for role in ("system", "item") if getattr(asked, role) is None and role not in {*found, *refused}]
    if asked.score is None:
        found["score"] = _find_score([c for c in columns if c not in taken], tables, where, lost)
    _check_needed(as_asked, asked, lost, tables, virtual)
    roles = replace(asked, **found)  # type: ignore[arg-type]  # each name is a field, each value of its type
    repeated = (c for c in roles.facets if is_replicate(c) or c in numbered)
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
    facets = {*as_asked.facets, *as_asked.replicates, *as_asked.shared} - {NOTHING}
    given = dict.fromkeys(facets, "a facet") | dict.fromkeys(asked.properties, "a property (--by, --properties)")
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


def _first(names: Iterable[str], columns: Iterable[str]) -> str | None:
    """Return the column with the first of these names; one with a unit or a sign if none has the name alone."""
    by_name: dict[str, str] = {}
    there = list(columns)
    for column, name in [(c, form(c)) for form in (plain_name, bare_name) for c in there]:
        by_name.setdefault(name, column)
    return next((by_name[name] for name in names if name in by_name), None)


def _find_score(columns: list[str], tables: list[OpenTable], where: str, lost: Iterable[str]) -> str:
    """Return the one column that is named like a score; several candidates are an error, not a guess.

    The error names all at once that was not found: `lost` are the other roles for which there is no column.
    """
    numeric = {c for table in tables for c in table.columns if table.guess(c) == "number"}
    named = [[c for c in columns if plain_name(c) in names] for names in SCORES]
    named.extend([c for c in columns if c in numeric and bare_name(c) in names] for names in SCORES)  # ROUGE-L (%)
    named.append([c for c in columns if c in numeric and "score" in plain_name(c) and not is_about_scores(c)])
    means = {c: bare_name(c).removeprefix(MEAN) for c in columns if c in numeric and bare_name(c).startswith(MEAN)}
    named.append([c for c, metric in means.items() if any(metric in names for names in SCORES)])
    named.append([c for c in columns if any(bare_name(c) in names for names in SCORES)])  # its cells may be 82.2%
    for candidates in named:
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            first = shlex.quote(candidates[0])
            raise ColumnError(
                f"{list_names(candidates)} in {where} all look like scores: choose one with --score {first}, "
                f"or take them as metrics with --wide {shlex.quote(f'metric={quote_names(candidates)}')}"
            )
    every = list(dict.fromkeys(c for table in tables for c in table.columns))
    if not every:
        raise ScoresError(f"{where} has no columns")
    hint = " Does its first line hold the names of the columns?" if any(_is_numeral(c) for c in every) else ""
    missing = " or ".join(["a score", *({"system": "a system", "item": "an item"}[role] for role in lost)])
    options = " and ".join(f"--{role}" for role in ("score", *lost))
    raise ColumnError(
        f"no column of {where} is named like {missing}; it has {list_names(every)}. Name {'them' if lost else 'it'} "
        f"with {options}, or columns that are systems with --wide system=A,B.{hint}"
    )


def _is_numeral(column: str) -> bool:
    return column.replace(",", ".").replace(".", "", 1).lstrip("-").isdigit()


def find_stated(tables: list[OpenTable]) -> Roles:
    """Return the roles that tables state for columns that they have; the first one that states a role decides."""
    found: dict[str, Any] = {}
    for table in tables:
        stated = _check(table)
        for role in ONE:
            if stated.get(role) in table.columns:
                found.setdefault(role, stated[role])
        for role in SEVERAL:
            there = [column for column in stated.get(role, ()) if column in table.columns]
            found[role] = tuple(dict.fromkeys((*found.get(role, ()), *there)))
        for role in OF_METRICS:
            found[role] = tuple(dict.fromkeys((*found.get(role, ()), *stated.get(role, ()))))
    return Roles(**found)


def fill_in(asked: Roles, stated: Roles) -> Roles:
    """Return what the user asks for, and for roles that are left open what the tables state of the other columns."""
    taken = {*asked.columns(), *asked.replicates, *asked.shared}
    free = [role for role in ONE if getattr(asked, role) is None and role != asked.wide]
    found: dict[str, Any] = {role: column for role in free if (column := getattr(stated, role)) not in taken}
    found |= {role: getattr(stated, role) for role in OF_METRICS}
    if not (asked.facets or asked.replicates or asked.shared):
        found |= {role: tuple(c for c in getattr(stated, role) if c not in taken) for role in SEVERAL}
    return replace(asked, **found)


def _check(table: OpenTable) -> dict[str, Any]:
    """Return the roles that a table states; refuse what cannot be roles."""
    stated = table.stated
    named = [field.name for field in fields(Roles)]
    right = isinstance(stated, dict) and all(
        role in named and (_is_names(value) if role in (*SEVERAL, *OF_METRICS) else isinstance(value, str))
        for role, value in stated.items()
    )
    if not right:
        raise ColumnError(
            f"the metadata {ROLES} of {table.name} are {stated!r:.80}: give each role a column, such as "
            '{"system": "model", "facets": ["rate"]}'
        )
    return dict(stated)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)
