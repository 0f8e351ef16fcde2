"""`Comparison`, the answer of `compare_systems`, and what it says on one screen: a picture or a small table, a foot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from holdsup.rendering import Answer, Estimate, Gauge, Interval, Page, PValue, Table
from holdsup.rendering.numbers import format_count, format_counted, format_interval, format_number
from holdsup.results import Method, write_caveats
from holdsup.results.cautions import find_grave
from holdsup.verdict.comparison.adjusted_words import explain_labels, explain_raters
from holdsup.verdict.comparison.method import describe_method
from holdsup.verdict.comparison.records import Compared, SystemContrast, SystemMean
from holdsup.verdict.comparison.standings import (
    better_of,
    decide,
    decide_metric,
    find_contrasts,
    find_leader,
    is_told,
    list_metrics,
)
from holdsup.verdict.comparison.tables import tabulate
from holdsup.verdict.comparison.words import (
    ask,
    explain_conditions,
    explain_estimate,
    explain_margin,
    headline,
    holds_for,
    name_items_of,
)
from holdsup.verdict.phrases import say_level, say_p, say_runs

LINES_OF_TWO, LINES = 16, 24  # at most, the signature included
MOST_STAIRS = 10  # letters that have a column each; of more, the first and the last of a system are shown
# What is shown, the most first: caveats, hints, advice, and rows of the table. The first that fits is taken.
SIZES = ((2, 1, 1, 10), (1, 1, 1, 10), (1, 0, 1, 10), (1, 0, 0, 10), (1, 0, 0, 6), (1, 0, 0, 3), (0, 0, 0, 3))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Compared):
    """Systems compared with each other."""

    def answer(self) -> Answer:
        """Return what the comparison says in ten seconds: as much of it as fits a screen."""
        for size in SIZES:
            made = answer_at(self, size)
            if made.text().count("\n") <= made.most_lines:
                break
        return made

    def page(self) -> Page:
        """Return the whole result, ready to be rendered."""
        return replace(Compared.page(self), answer=answer_at(self))

    def tables(self) -> tuple[Table, ...]:
        """Return the systems, their differences, the tests of all at once, and what was asked of properties."""
        return tuple(tabulate(self))

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        return describe_method(self)


def answer_at(found: Compared, size: tuple[int, int, int, int] = SIZES[0]) -> Answer:
    """Return the answer with so many caveats, hints, pieces of advice and rows."""
    caveats, hints, settled, rows = size
    state = decide(found)
    foot = [("holds for", holds_for(found)), *explain_estimate(found)]
    foot += [("margin", said) for said in explain_margin(found)]
    foot += [("raters", said) for said in explain_raters(found)]
    foot += [("judge", said) for said in explain_labels(found, name_items_of(found))]
    foot += [("where", said) for said in explain_conditions(found)]
    decided = state == "yes" and (found.settled_by == "runs" or found.baseline is not None)
    what = "next" if decided else "settle it"
    foot += [(what, said.rstrip(".")) for said in found.next[:settled] if state != "no"]
    return Answer(
        question=ask(found), state=state, headline=headline(found),
        parts=tuple(_draw_pair(found)) if len(found.contrasts) == 1 else (_tabulate(found, rows),),
        foot=(*foot, *write_caveats(found.cautions, most=caveats, counted=not hints)),
        more=tuple(_list_hints(found, caveats)) if hints else (),
        signature=found.signature, names=tuple(_list_names(found)),
        most_lines=LINES_OF_TWO if len(found.contrasts) == 1 else LINES,
    )  # fmt: skip


def _list_names(found: Compared) -> Iterator[str]:
    """Yield what the answer may name: systems, metrics, the column of the score and properties."""
    for s in found.systems:
        yield from (s.name, s.metric or "")
    for column in found.asked.roles.values():
        yield from (column,) if isinstance(column, str) else column or ()
    yield from (each.property for each in found.conditional)


def _list_hints(found: Compared, caveats: int) -> Iterator[str]:
    more = max(0, len(find_grave(found.cautions)) - caveats)
    unsaid = f", {format_counted(more, 'more caveat')}" if more else ""
    if len(found.contrasts) == 1:
        yield from (f"--full (tests, model{unsaid or ', method'})", "holdsup report", "--plot figure.svg")
        return
    if found.baseline is None and len({s.name for s in found.systems}) > 2:
        yield "--baseline SYSTEM"
    yield f"--full ({format_counted(len(found.contrasts), 'pair')}, tests{unsaid})"
    yield "holdsup report"


def _draw_pair(found: Compared) -> Iterator[Gauge | Table]:
    """Yield the difference of two systems as a picture, and a line for each of them."""
    (c,) = found.contrasts
    sides = (c.left, c.right) if c.lower_is_better else (c.right, c.left)
    if math.isfinite(c.low + c.high) and c.low < c.high:
        yield Gauge(
            label="difference", low=c.low, high=c.high, estimate=c.difference, left=f"{sides[0]} better",
            right=f"{sides[1]} better", interval=f"{say_level(found.level)} CI", state=decide(found),
        )  # fmt: skip
    systems = [s for s in found.ordered() if s.name in (c.left, c.right)]
    yield Table(
        name="systems",
        title="Systems",
        columns=("system", "mean", "interval", "data"),
        rows=tuple(
            (s.name, Estimate(s.mean, s.se), _say_interval(s, found.level), _say_data(found, s)) for s in systems
        ),
        headless=True,
    )


def _say_interval(s: SystemMean, level: float) -> str:
    if not math.isfinite(s.low + s.high):
        return f"no {say_level(level)} CI"
    return f"{say_level(level)} CI {format_interval(s.low, s.high)}"


def _say_data(found: Compared, s: SystemMean) -> str:
    """Return how much there is of a system, and what was averaged or is missing."""
    counted = [(s.runs, say_runs(found.asked))] if s.runs > 1 or s.samples < 2 else []
    counted += [(s.samples, "samples")] if s.samples > 1 else []
    parts = [f"{format_count(count)} {noun.removesuffix('s') if count == 1 else noun}" for count, noun in counted]
    of_all = f" of {format_count(s.items + s.lacking)}" if s.lacking else ""
    said = " x ".join([*parts, *([f"{format_count(s.items)}{of_all} {name_items_of(found)}"] if s.items else [])])
    if s.averaged:
        means = f"means of {format_count(s.runs + s.averaged)} scores"  # of runs, where no column names the items
        said += f", {format_counted(s.averaged, 'duplicate') if s.items else means}"
    said += ", deterministic" if s.deterministic else ""
    return said + (f", {format_count(s.missing)} missing" if s.missing else "")


def _tabulate(found: Compared, most: int) -> Table:
    metrics = list_metrics(found)
    if len(metrics) > 1:
        return _tabulate_metrics(found, metrics, most)
    return _tabulate_places(found, most) if found.baseline is None else _tabulate_baseline(found, most)


def _ends(rows: Sequence[int], most: int) -> list[int]:
    """Return the first few and the last."""
    return list(rows) if len(rows) <= most + 1 else [*rows[:most], rows[-1]]


def _head(found: Compared, *, lower: bool) -> str:
    sides = ("better", "worse") if lower else ("worse", "better")
    return f"{sides[0]} | {say_level(found.level)} CI | {sides[1]}"


def _tabulate_places(found: Compared, most: int) -> Table:
    """Return the systems, the best first, with letters; two that share one can't be told apart."""
    means, pairs = found.ordered(), format_count(len(found.contrasts))
    shown = [means[i] for i in _ends(range(len(means)), most)]
    lettered = any(s.letters for s in means)
    known = list(dict.fromkeys(letter for s in means for letter in s.letters))
    known.sort(key=lambda letter: (len(letter), letter))
    more = f"{format_count(len(means) - len(shown))} more: --full. " if len(shown) < len(means) else ""
    unlike = f" or weren't compared ({format_counted(found.left_out, 'pair')})" if found.left_out else ""
    note = f"{more}Systems that share a letter can't be told apart{unlike} (adjusted for all {pairs} pairs)."
    if more:
        note = f"{more}Same letter: can't be told apart (all {pairs} pairs)."
    heads = ("#", "system", "mean", _head(found, lower=found.lower_is_better), "group")
    rows = [
        (place, s.name, Estimate(s.mean, s.se), _drawn(s.low, s.high, s.mean), _show_letters(s.letters, known))
        for place, s in ((means.index(s) + 1, s) for s in shown)
    ]
    return Table(
        name="systems",
        title="Systems, the best first",
        columns=heads if lettered else heads[:-1],
        rows=tuple(row if lettered else row[:-1] for row in rows),
        notes=(note,) if lettered else ((more.strip(),) if more else ()),
    )


def _drawn(low: float, high: float, estimate: float) -> Interval:
    if not math.isfinite(low + high):
        return Interval(None, None, written=False)
    return Interval(low, high, estimate, written=False)


def _show_letters(own: Sequence[str], known: Sequence[str]) -> str:
    """Return letters as a stair; of very many a range, or the first and the last."""
    if len(known) <= MOST_STAIRS:
        return "".join(letter if letter in own else " " for letter in known).rstrip()
    first, last = known.index(own[0]), known.index(own[-1])
    if len(own) < 3:
        return ",".join(own)
    return f"{own[0]}-{own[-1]}" if last - first == len(own) - 1 else f"{own[0]}..{own[-1]}"


def _tabulate_baseline(found: Compared, most: int) -> Table:
    """Return what each system is ahead of the baseline, the best first."""
    ordered = sorted(found.contrasts, key=lambda c: c.difference if c.lower_is_better else -c.difference)
    shown = [ordered[i] for i in _ends(range(len(ordered)), most)]
    more = f"{format_count(len(ordered) - len(shown))} more: --full. " if len(shown) < len(ordered) else ""
    count = format_counted(len(ordered), "comparison")
    ahead = "difference" if found.lower_is_better else "lead"  # where lower is better a leader's difference is negative
    return Table(
        name="contrasts",
        title=f"Systems against {found.baseline}",
        columns=("system", ahead, _head(found, lower=found.lower_is_better), "p", ""),
        rows=tuple(
            (c.left, Estimate(c.difference, c.se),
             _drawn(c.low_simultaneous, c.high_simultaneous, c.difference),
             PValue(c.p_adjusted), _judge(c, found.level))
            for c in shown
        ),
        notes=(f"{more}p and CI are adjusted for {count}.",),
    )  # fmt: skip


def _judge(c: SystemContrast, level: float) -> str:
    if not is_told(c, level):
        return "can't tell"
    return "better" if better_of(c)[0] == c.left else "worse"


def _tabulate_metrics(found: Compared, metrics: Sequence[str | None], most: int) -> Table:
    """Return a line for each metric: who leads, by how much, and whether it is clear."""
    rows = []
    for metric in metrics[: most + 1]:
        leader = find_leader(found, metric)
        own = [c for c in find_contrasts(found, metric) if leader in (c.left, c.right)]
        c = min(own, key=lambda c: abs(c.difference))
        other = c.right if c.left == leader else c.left
        size = format_number(abs(c.difference), uncertainty=min(c.se, abs(c.difference)) or None)
        lead = f"{leader}, {size} {'ahead of' if better_of(c)[0] == leader else 'behind'} {other}"
        rows.append((metric, lead, say_p(c.p_adjusted), decide_metric(found, metric).upper()))
    more = f"{format_counted(len(metrics) - most - 1, 'more metric')}: --full. " if len(metrics) > most + 1 else ""
    return Table(
        name="tests",
        title="Metrics",
        columns=("metric", "leader", "p", "clear?"),
        rows=tuple(rows),
        notes=(f"{more}p is adjusted for {format_counted(len(found.contrasts), 'difference')} by all metrics.",),
    )
