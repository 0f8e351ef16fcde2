"""The verdict in words, by rule from the numbers: the claim, the evidence, how sure, what is not covered."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdsup.rendering.numbers import format_count, format_counted, format_interval, format_number
from holdsup.verdict.comparison.records import SystemContrast, SystemMean
from holdsup.verdict.comparison.standings import better_of, describe_pairs
from holdsup.verdict.phrases import join_names, say_level, say_p

__all__ = ["COVERS", "Coverage", "write_verdict"]

USUAL = 0.95  # the level that needs no word
COVERS = {
    "these-runs": "for these trained runs, over new {unit} like these",
    "new-runs": "over new {unit} like these and new training runs, settings as they are",
    "new-settings": "over new {unit} like these, new training runs and new settings",
}
LEAVES_OUT = {
    "these-runs": "other training runs, settings or datasets",
    "new-runs": "other settings or datasets",
    "new-settings": "other datasets",
}
LEAVES_OUT_OF_DATASETS = {
    "these-runs": "other training runs or settings",
    "new-runs": "other settings",
    "new-settings": "datasets of another kind",
}


@dataclass(frozen=True, slots=True)
class Coverage:
    """What claims cover.

    Attributes
    ----------
    unit : what systems are scored on, items or datasets; None where runs have one score each
    datasets : number of datasets
    clusters : the column of the clusters that items come in, None if there are none
    by_items : whether items of several datasets weigh the same, not datasets
    left_out : number of pairs that cannot be compared
    repeats : number of scores that repeat a run and an item, and were averaged, where they are many
    """

    unit: str | None
    datasets: int
    clusters: str | None = None
    by_items: bool = False
    left_out: int = 0
    repeats: int = 0

    def sentence(self, contrasts: Sequence[SystemContrast]) -> str:
        """Return what is claimed and of what, and what went into it."""
        return " ".join([self._claims(contrasts), *self._weights(), *self._driven(len(contrasts))])

    def _weights(self) -> Iterator[str]:
        if self.datasets > 1 and self.unit == "items" and self.by_items:
            yield "Items weigh the same, so that large datasets count for more."
        elif self.datasets > 1 and self.unit == "items":
            yield "Datasets weigh the same (--average micro: items do)."

    def _driven(self, compared: int) -> Iterator[str]:
        if self.left_out:
            pairs = f"{format_count(self.left_out)} of {format_count(self.left_out + compared)} pairs"
            yield f"{pairs} could not be compared, and nothing is said of {'it' if self.left_out == 1 else 'them'}."
        if self.repeats:
            cell = "a run" if self.unit is None else f"a run and {'an item' if self.unit == 'items' else 'a dataset'}"
            yield f"{format_counted(self.repeats, 'score')} that repeat {cell} were averaged."

    def _claims(self, contrasts: Sequence[SystemContrast]) -> str:
        """Return what is claimed, and what is not; of which pairs, where they carry different claims."""
        claims = list(dict.fromkeys(c.claim for c in contrasts))
        if len(claims) == 1:
            return f"Claim: {self._covered(claims[0])}."
        said = []
        for claim in claims:
            pairs = [
                f"{c.left} - {c.right}{f' ({c.metric})' if c.metric else ''}" for c in contrasts if c.claim == claim
            ]
            said.append(f"Claim for {join_names(pairs)}: {self._covered(claim)}.")
        return " ".join(said)

    def _covered(self, claim: str) -> str:
        covers, leaves_out = self._words(claim)
        return f"{claim}, {covers}; nothing is said about {leaves_out}"

    def _words(self, claim: str) -> tuple[str, str]:
        if self.unit is None:
            return "over new training runs, on the same test data", "other test data or settings"
        covers = COVERS[claim].format(unit=self.unit if self.clusters is None else name_several(self.clusters))
        if self.unit == "datasets":
            return covers, LEAVES_OUT_OF_DATASETS[claim]
        if self.datasets > 1 and claim == "these-runs":
            unit = "items" if self.clusters is None else name_several(self.clusters)
            return f"for these trained runs, over new {unit} of these {self.datasets} datasets", LEAVES_OUT[claim]
        if self.datasets > 1:
            return f"over new datasets like these {self.datasets}, new items and new training runs", "other settings"
        return covers, LEAVES_OUT[claim]


def name_several(column: str) -> str:
    """Return what a column of clusters names, in the plural; a name that is no word stays as it is.

    >>> name_several("document"), name_several("Story"), name_several("doc_id"), name_several("cluster")
    ('documents', 'stories', 'clusters (doc_id)', 'clusters')
    """
    word = column.lower()
    if not (word.isascii() and word.isalpha()):
        return f"clusters ({column})"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return word if word.endswith("s") else f"{word}s"


def write_verdict(
    contrasts: Sequence[SystemContrast],
    systems: Sequence[SystemMean],
    covered: Coverage,
    *,
    baseline: str | None,
    level: float,
) -> str:
    """Return the sentences that stand above the tables."""
    if len(contrasts) == 1:
        said = _about_two(contrasts[0], _lacking(systems, covered), level)
    elif baseline is not None:
        said = _about_baseline(contrasts, baseline, level)
    else:
        said = describe_pairs(contrasts, systems, level=level)
    margin = "" if len(contrasts) == 1 else _about_margins(contrasts, level)
    held = "" if level == USUAL else f" Here p counts as small up to {1 - level:.2g}, for --level is {level:g}."
    return f"{said}{margin}{held} {covered.sentence(contrasts)}"


def _lacking(systems: Sequence[SystemMean], covered: Coverage) -> str:
    """Return what there is too little of to measure a spread."""
    counts = {"runs": min(s.runs for s in systems)}
    if covered.unit is not None:
        counts[covered.unit] = min(s.items for s in systems)
    if covered.unit == "items" and covered.datasets > 1:
        counts["datasets"] = covered.datasets
    fewest = min(counts.values())
    return join_names([name for name in ("datasets", "items", "runs") if counts.get(name) == fewest])


def _about_two(c: SystemContrast, lacking: str, level: float) -> str:
    better, worse = better_of(c)
    metric = f" {c.metric}" if c.metric else ""
    if c.difference == 0:
        return f"{c.left} and {c.right} have the same mean{metric}.{_about_margin(c, level)}"
    size = format_number(abs(c.difference), uncertainty=min(c.se, abs(c.difference)) or None)
    limits = format_interval(*sorted((abs(c.low), abs(c.high)))) if c.low * c.high > 0 else ""
    shown = say_p(c.p_adjusted, c.log10_p_adjusted)
    margin = _about_margin(c, level)
    measured = math.isfinite(c.high)
    if c.p_adjusted <= 1 - level and (limits or not measured):
        strength = (
            "" if c.p_adjusted < (1 - level) / 5 else " The evidence is not strong: a repetition may well miss it."
        )
        evidence = f"({say_level(level)} limits {limits}, {shown})" if measured else f"({shown})"
        return f"{better} is better than {worse} by {size}{metric} {evidence}.{strength}{margin}"
    lead = f"Whether {better} or {worse} is better cannot be told: {better} is ahead by {size}{metric}, but"
    if not measured:
        return f"{lead} so few {lacking} do not tell how far off that may be ({shown}).{margin}"
    ahead = (c.low, c.high) if c.difference > 0 else (-c.high, -c.low)  # as the lead of the one that is ahead
    return f"{lead} the lead may be anything in {format_interval(*ahead)} ({say_level(level)} limits, {shown}).{margin}"


def _about_margin(c: SystemContrast, level: float) -> str:
    if c.equivalence is None:
        return ""
    e = c.equivalence
    margin = format_number(e.margin)
    if e.p_beyond <= 1 - level:
        return f" {better_of(c)[0]} is better by more than {margin} ({say_p(e.p_beyond)})."
    if e.p_equivalent <= 1 - level:
        return f" They are equivalent within {margin} ({say_p(e.p_equivalent)})."
    if e.p_not_worse <= 1 - level:
        return f" {c.left} is not worse than {c.right} by {margin} or more ({say_p(e.p_not_worse)})."
    return (
        f" Neither equivalence within {margin}, nor non-inferiority of {c.left}, nor a lead beyond {margin} is shown."
    )


def _about_margins(contrasts: Sequence[SystemContrast], level: float) -> str:
    """Say for how many of several pairs the margin tests show something."""
    tested = [c.equivalence for c in contrasts if c.equivalence is not None]
    if not tested:
        return ""
    equivalent = sum(e.p_equivalent_adjusted <= 1 - level for e in tested)
    not_worse = sum(e.p_not_worse_adjusted <= 1 - level for e in tested)
    beyond = sum(e.p_beyond_adjusted <= 1 - level for e in tested)
    return (
        f" Within a margin of {format_number(tested[0].margin)}, after Holm's adjustment, equivalence is shown for "
        f"{equivalent} of {len(tested)} differences, that the first is not worse for {not_worse}, and a difference "
        f"beyond the margin for {beyond}."
    )


def _about_baseline(contrasts: Sequence[SystemContrast], baseline: str, level: float) -> str:
    """Say who differs from the baseline, and nothing of the others among themselves."""
    told = [c for c in contrasts if c.p_adjusted <= 1 - level]
    shown = {c: f"{c.left} ({c.metric})" if c.metric else c.left for c in contrasts}
    better = [shown[c] for c in told if better_of(c)[0] == c.left]
    worse = [shown[c] for c in told if better_of(c)[0] == baseline]
    parts = [f"better than {baseline}: {', '.join(better)}" if better else f"none is better than {baseline}"]
    parts += [f"worse: {', '.join(worse)}"] if worse else []
    unsure = [shown[c] for c in contrasts if c.p_adjusted > 1 - level]
    parts += [f"cannot be told: {', '.join(unsure)}"] if unsure else []
    return f"After Holm's adjustment at {1 - level:.2g}, {'; '.join(parts)}."
