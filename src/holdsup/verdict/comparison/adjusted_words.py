"""What raters and human labels do to a comparison, in words and as tables."""

from __future__ import annotations

from collections.abc import Iterator

from holdsup.rendering import Estimate, PValue, Table
from holdsup.rendering.numbers import format_count, format_interval, format_number, format_percent
from holdsup.verdict.comparison.records import Compared
from holdsup.verdict.phrases import name_items, say_level, say_runs, show_interval


def covers_raters(found: Compared, items: str) -> str:
    """Return what an answer that is adjusted for raters covers."""
    cluster, count = found.asked.roles.get("cluster"), max(each.count for each in found.raters)
    items = name_items(cluster, f"clusters ({cluster})") if isinstance(cluster, str) else items
    if found.claim == "new-raters":
        if len(found.contrasts) == 1:  # who rated one system only says nothing about new raters
            count = min((o.raters for each in found.raters for o in each.other), default=count)
        return f"new raters like these {format_count(count)}, new {items}; not new {say_runs(found.asked)} or settings"
    return f"these {format_count(count)} raters, new {items}; not new raters, {say_runs(found.asked)} or settings"


def explain_raters(found: Compared) -> Iterator[str]:
    """Yield how much raters disagree, and what the answer is by the claim that is not made."""
    for each in found.raters:
        said = []
        if len(found.contrasts) == len(each.other) == 1:
            other = each.other[0]
            size = format_number(other.difference, uncertainty=(other.high - other.low) / 2)
            ci = f"{say_level(found.level)} CI {format_interval(other.low, other.high)}"
            said.append(f"for {'these' if other.claim == 'these-raters' else 'new'} raters {size} ({ci})")
        if each.percent is not None and each.percent_interaction is not None:
            taste = format_percent(each.percent_interaction)
            said.append(f"severity {format_percent(each.percent)}, taste {taste} of a score's variance")
        if each.icc is not None:
            said.append(f"ICC {each.icc:.2f}")
        yield f"{each.metric}: " * bool(each.metric) + "; ".join(said)


def explain_labels(found: Compared, noun: str) -> Iterator[str]:
    """Yield what a judge adds to human labels: how much narrower intervals are."""
    kept = {(c.metric, c.left, c.right): c for c in found.contrasts}
    widths = [(h, h.high_alone - h.low_alone, kept[h.metric, h.left, h.right]) for h in found.human]
    known = [(h, alone, c.high - c.low) for h, alone, c in widths if alone > 0]
    if not known:
        return
    ratios = sorted(now / alone for _, alone, now in known)
    on = f"{format_count(known[0][0].labels)} labels of {format_count(known[0][0].items)} {noun}"
    if len(known) == 1:
        _, alone, now = known[0]
        does = "narrows the interval" if now < alone else "doesn't narrow the interval, which goes"
        size = f"from {format_number(alone, uncertainty=alone)} (labels alone) to {format_number(now, uncertainty=now)}"
        judge = known[0][0].judge
        yield f"{does} {size}; {on}; by its own scores the difference is {format_number(judge, uncertainty=alone)}"
    else:
        change = 100 * (1 - ratios[len(ratios) // 2])
        how = f"narrows intervals by {format_percent(change)}" if change > 0 else "doesn't narrow intervals"
        yield f"{how} (median of {format_count(len(known))} pairs); {on}"


def tabulate_raters(found: Compared) -> Iterator[Table]:
    """Yield the raters, and the differences by the claim that is not made."""
    for each in found.raters:
        of = f" by {each.metric}" if each.metric else ""
        yield Table(
            name="raters", title=f"Raters{of}", columns=(each.column, "effect", "scores", "systems"),
            rows=tuple((r.name, r.effect, r.scores, r.systems) for r in each.raters),
            notes=("effect: how much higher than the average rater it scores, the same systems and items given.",),
        )  # fmt: skip
        if each.other:
            yield Table(
                name="other_raters", title=f"Differences{of} for the other claim, each pair alone",
                columns=("", "claim", "difference", f"{say_level(found.level)} CI", "p", "raters of both"),
                rows=tuple(
                    (f"{o.left} - {o.right}", o.claim, Estimate(o.difference, (o.high - o.low) / 4),
                     show_interval(o.low, o.high, o.difference), PValue(o.p), o.raters) for o in each.other
                ),
            )  # fmt: skip


def tabulate_labels(found: Compared) -> Iterator[Table]:
    """Yield what human labels alone say, and the judge alone."""
    if found.human:
        ci = f"{say_level(found.level)} CI"
        yield Table(
            name="labels", title="Human labels and the judge",
            columns=("", "labels", "items", "labels alone", ci, "judge alone", "weight of the judge"),
            rows=tuple(
                (f"{h.left} - {h.right}", h.labels, h.items, Estimate(h.alone, (h.high_alone - h.low_alone) / 4),
                 show_interval(h.low_alone, h.high_alone, h.alone), h.judge, h.tuning) for h in found.human
            ),
            notes=("The judge alone may be biased: its difference has no interval that holds for labels.",),
        )  # fmt: skip
