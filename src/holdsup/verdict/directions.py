"""Which way a metric is better: as the user says, by the names of our own errors, and where that is doubtful."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from holdsup.errors import ScoresError, list_names, quote_names, shell_names
from holdsup.scores import Scores
from holdsup.scores.roles import plain_name
from holdsup.verdict.phrases import join_names

__all__ = ["Directions", "LowerIsBetter", "choose_directions", "sign_direction"]

LowerIsBetter: TypeAlias = bool | str | Collection[str]
OURS = frozenset("mse rmse mae".split())  # the errors that `holdsup run` computes
LOWER = OURS | frozenset(
    "ter wer cer per eer loss logloss log_loss nll cross_entropy ppl perplexity error error_rate brier fid mindcf "
    "latency".split()
)
HIGHER = frozenset(
    "accuracy acc balanced_accuracy token_accuracy f1 f1_score micro_f1 macro_f1 chunk_f1 precision recall "
    "chunk_precision chunk_recall em exact_match bleu chrf comet bleurt meteor rouge rouge1 rouge2 rougel rouge_1 "
    "rouge_2 rouge_l bertscore auc roc_auc mrr map ndcg mcc iou correct is_correct reward".split()
)

PARTS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Directions:
    """Which metrics are better when they are lower.

    Attributes
    ----------
    names : how each metric is called; None, a table's only metric, by the column of the scores
    lower : the metrics of which a lower one is better
    by_name : those among them that nobody asked for: our own errors
    """

    names: dict[str | None, str]
    lower: frozenset[str | None]
    by_name: tuple[str, ...]

    def is_lower(self, metric: str | None) -> bool:
        """Return whether a lower score is a better one."""
        return metric in self.lower

    def of_all(self, option: str) -> bool:
        """Return the same for all metrics; `option` is what cannot be had where they differ."""
        if 0 < len(self.lower) < len(self.names):
            raise ScoresError(
                f"{option}: lower is better by {join_names([self.names[m] for m in self.names if m in self.lower])}, "
                "and not by the others: compare one metric at a time"
            )
        return bool(self.lower)

    def doubt(self) -> str:
        """Return a doubt that stands before the verdict: who is better turns around if the direction is wrong."""
        said = [
            f"This takes a {way} {join_names(names)} for better: {remedy} if it is not. "
            for way, names, remedy in self._doubtful()
        ]
        return "".join(said)

    def cautions(self) -> Iterator[str]:
        """Yield what is known by name alone, and names that speak against the direction asked for."""
        if self.by_name:
            yield f"By {join_names(self.by_name)} lower is better: an error, as its name says."
        for way, names, remedy in self._doubtful():
            yield f"A {way} {join_names(names)} is called better here, against its name: {remedy} if it is not."

    def _doubtful(self) -> Iterator[tuple[str, list[str], str]]:
        """Yield the direction, the metrics whose names speak against it, and what to do."""
        errors = [n for metric, n in self.names.items() if metric not in self.lower and _speaks_of(n, LOWER)]
        if errors:
            several = f"give --lower {shell_names(errors)}"
            yield "higher", errors, several if len(self.names) > 1 else "give --lower-is-better"
        gains = [n for metric, n in self.names.items() if metric in self.lower and _speaks_of(n, HIGHER)]
        if gains:
            several = "name the metrics of which a lower one is better with --lower"
            yield "lower", gains, several if len(self.names) > 1 else "leave --lower-is-better out"


def choose_directions(scores: Scores, asked: LowerIsBetter) -> Directions:
    """Return which metrics of a table are better when lower: all, those named, or our own errors."""
    score = scores.roles.score
    alone = score if isinstance(score, str) else "score"
    names: dict[str | None, str] = {None: alone} if scores.metric is None else {m: m for m in scores.metric.names}
    everything = list(names.values()) if asked is True else ()
    told = _named(names, everything if isinstance(asked, bool) else asked)
    ours = [m for m in names if m is not None and scores.roles.metric is not None and _plain(m) in OURS]
    return Directions(names, frozenset((*told, *ours)), tuple(m for m in ours if m not in told))


def sign_direction(asked: LowerIsBetter) -> str | bool | None:
    """Return how a signature says what was asked for."""
    if isinstance(asked, bool | str):
        return asked or None
    return quote_names(asked) or None


def _named(names: dict[str | None, str], asked: object) -> set[str | None]:
    """Return the metrics that are asked for by name."""
    given = [asked] if isinstance(asked, str) else list(asked) if isinstance(asked, Collection) else None
    if given is None or not all(isinstance(name, str) for name in given):
        raise ScoresError(f"lower_is_better is {asked!r:.60}: give True, False, or the names of metrics")
    found = {name: metric for metric, name in names.items()}
    if unknown := [str(name) for name in given if name not in found]:
        raise ScoresError(
            f"lower is better by {list_names(unknown)}, which is no metric here; there "
            f"{'is' if len(found) == 1 else 'are'} {list_names(found)}"
        )
    return {found[str(name)] for name in given}


def _plain(name: str) -> str:
    """Return the name of a metric without its options, which follow a comma."""
    return plain_name(name.partition(",")[0])


def _speaks_of(name: str, words: frozenset[str]) -> bool:
    """Return whether a name is one of these, or has a word that is: "WER (%)", "eval/loss", "test_accuracy"."""
    plain = _plain(name)
    return plain in words or any(len(part) > 2 and part in words - {"per", "map"} for part in PARTS.split(plain))
