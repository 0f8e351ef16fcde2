"""Which column has which role, and the names people give such columns."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields

__all__ = [
    "ASIDE",
    "FILE",
    "LAST_SYSTEMS",
    "NOTHING",
    "NUMBERED",
    "REPLICATES",
    "RESPLIT",
    "SCORES",
    "USUAL",
    "WIDE",
    "Roles",
    "bare_name",
    "is_about_scores",
    "is_length",
    "is_progress",
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
REPLICATES = ("replication", "replicate", "replica", "rep", "trial", "rng", "random_state", RESPLIT)
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
LAST_SYSTEMS = ("checkpoint", "ckpt")  # read as systems where nothing else is
SCORES = (
    ["score"],
    ["value", "result"],
    "accuracy acc f1 f1_score em exact_match bleu chrf ter comet bleurt meteor rouge rouge1 rouge2 rougel rouge_1 "
    "rouge_2 rouge_l bertscore auc mrr map ndcg wer cer loss logloss perplexity ppl mse rmse mae mcc precision recall "
    "iou correct is_correct reward return y".split(),
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
    facets: tuple[str, ...] = ()  # named sources of variation between runs
    replicates: tuple[str, ...] = ()  # the facets that are mere repetitions
    shared: tuple[str, ...] = ()  # the facets whose levels are the same thing in every system
    properties: tuple[str, ...] = ()  # facts about an item (length, genre)
    # the properties among these that are computed from a text, such as "readability=flesch(source)"
    computed: tuple[str, ...] = ()
    # "system", "metric" or "dataset" when each of them has a score column of its own, else null
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
