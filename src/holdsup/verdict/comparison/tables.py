"""A comparison as tables, all of it: the systems, their differences, tests, and what depends on properties."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias, TypeVar

from holdsup.rendering import Estimate, Percent, PValue, Table
from holdsup.rendering.numbers import format_count, format_number
from holdsup.rendering.table import Cell
from holdsup.verdict.comparison.adjusted_words import tabulate_labels, tabulate_raters
from holdsup.verdict.comparison.conditional_records import Conditional, ConditionalTest, PaperConditional
from holdsup.verdict.comparison.records import PAPER, Compared, CorpusEstimate, SystemContrast, SystemMean, SystemTest
from holdsup.verdict.comparison.standings import find_contrasts, list_metrics, say_adjusted
from holdsup.verdict.items import tabulate_dead
from holdsup.verdict.phrases import NO_INTERVAL, join_names, say_level, show_interval

MOST_SHOWN = 500  # pairs; of more, those of the leader and of neighbours are shown
UNCERTAIN = 0.01  # percent: the nearest to nothing, and to certainty, that an estimated chance is said to come
Row = TypeVar("Row")
Columns: TypeAlias = dict[str, Callable[[Row], Cell]]
HOLM = (
    "p adjusted: Holm's method over all properties and metrics. Where differences hold is shown only if the adjusted p "
    "of any difference is small enough."
)


def tabulate(found: Compared) -> Iterator[Table]:
    """Yield the systems, their differences, the tests of all at once, and what was asked of properties."""
    yield _systems(found)
    yield from _contrasts(found)
    yield from tabulate_raters(found)
    yield from tabulate_labels(found)
    yield _tests(found)
    if found.estimate is not None:
        yield _bootstrap(found.estimate, found.level)
    papers = [(paper.metric, each) for paper in found.papers for each in paper.conditional]
    for each in found.conditional:
        own = [paper for metric, paper in papers if (metric, paper.property) == (each.metric, each.property)]
        yield from _conditional(each, own, adjusted=len(found.conditional) > 1, level=found.level)
    yield from tabulate_dead(found.dead)


def _fill(rows: Sequence[Row], columns: Columns[Row]) -> tuple[tuple[Cell, ...], ...]:
    return tuple(tuple(cell(row) for cell in columns.values()) for row in rows)


def _systems(found: Compared) -> Table:
    shown: Columns[SystemMean] = {"system": lambda s: s.name}
    if len(found.tests) > 1:
        shown["metric"] = lambda s: s.metric
    claims = dict.fromkeys(s.claim for s in found.systems)
    if len(claims) > 1:
        shown["claim"] = lambda s: s.claim
    shown["mean"] = lambda s: Estimate(s.mean, s.se)
    shown[f"{say_level(found.level)} CI"] = lambda s: show_interval(s.low, s.high, s.mean, scale=s.metric or "")
    shown["runs"] = lambda s: s.runs
    if found.unit:
        shown[found.unit] = lambda s: s.items
    if any(s.letters for s in found.systems) and len(found.systems) > 2:
        shown["group"] = lambda s: " ".join(s.letters)
    covered = f"({next(iter(claims))})" if len(claims) == 1 else "for what its own runs can carry"
    notes = []
    for why in dict.fromkeys(s.note for s in found.systems if s.note):
        names = [f"{s.name} ({s.metric})" if s.metric else s.name for s in found.systems if s.note == why]
        notes.append(f"No CI for the mean of {join_names(names)}: {why}.")
    if "group" in shown:
        notes.append("Systems that share a letter can't be told apart by their adjusted p.")
    for scale in dict.fromkeys(s.scale for s in found.systems if s.scale):
        notes.append(f"Scores are {scale}; the CIs end with that scale.")
    return Table(
        name="systems",
        title=f"Systems, the best first; {say_level(found.level)} CI of each mean {covered}",
        columns=tuple(shown),
        rows=_fill(found.ordered(), shown),
        notes=tuple(notes),
    )


def _contrasts(found: Compared) -> Iterator[Table]:
    """Yield the differences; of several, sizes are a table of their own, which keeps both narrow enough to read."""
    columns, sizes = _differences(found), _sizes(found)
    title, notes = f"Differences, {say_level(found.level)} CI", tuple(_difference_notes(found))
    if len(found.contrasts) > 1:
        yield _table(found, "contrasts", title, columns, notes)
        if sizes:
            yield _table(found, "sizes", "Sizes of the differences", sizes, tuple(_size_notes(sizes, found)))
    else:
        yield _table(found, "contrasts", title, columns | sizes, (*notes, *_size_notes(sizes, found)))
    if found.contrasts[0].equivalence is not None:
        yield _margins(found)


def _table(found: Compared, name: str, title: str, columns: Columns[SystemContrast], notes: tuple[str, ...]) -> Table:
    if len(found.tests) > 1:
        columns = {"metric": lambda c: c.metric, **columns}
    shown: Sequence[SystemContrast] = found.contrasts
    if found.baseline is None and len(shown) > MOST_SHOWN:
        shown = [c for metric in list_metrics(found) for c in _find_near(find_contrasts(found, metric))]
    if len(shown) < len(found.contrasts):
        counts = f"{format_count(len(shown))} of {format_count(len(found.contrasts))} pairs"
        notes = (f"This table shows {counts}: those of the best system and of neighbours. The JSON has all.", *notes)
    columns = {"": lambda c: f"{c.left} - {c.right}", **columns}
    return Table(name=name, title=title, columns=tuple(columns), rows=_fill(shown, columns), notes=notes)


def _bootstrap(made: CorpusEstimate, level: float) -> Table:
    floor = 1 / (made.draws + 1)
    rows: list[tuple[Cell, ...]] = [
        (
            f"{b.left} - {b.right}",
            show_interval(b.low, b.high, drawn=False),
            *(PValue(p, at_most=p <= floor) for p in (b.p, b.p_sacrebleu)),
        )
        for b in made.bootstrap
    ]
    return Table(
        name="bootstrap",
        title=f"Paired bootstrap of items, these runs: {made.name} of the corpus",
        columns=("", f"{say_level(level)} CI", "p", "p, one side"),
        rows=tuple(rows),
        notes=(
            f"{format_count(made.draws)} samples of the items; runs are as they are, so it says nothing of new ones.",
            "sacrebleu prints the p of one side.",
        ),
    )


def _find_near(contrasts: Sequence[SystemContrast]) -> list[SystemContrast]:
    """Return the pairs that a reader looks for first: all, or of many those of the leader and of neighbours."""
    if len(contrasts) <= MOST_SHOWN:
        return list(contrasts)
    order = list(dict.fromkeys(name for c in contrasts for name in (c.left, c.right)))
    near = set(itertools.pairwise(order))
    return [c for c in contrasts if order[0] in (c.left, c.right) or (c.left, c.right) in near]


def _differences(found: Compared) -> Columns[SystemContrast]:
    several, shown = len(found.contrasts) > 1, dict[str, Callable[[SystemContrast], Cell]]()
    if len({c.claim for c in found.contrasts}) > 1:
        shown["claim"] = lambda c: c.claim
    if len({s.items for s in found.systems} | {c.items for c in found.contrasts}) > 1:
        shown[f"{found.unit} of both"] = lambda c: c.items
    shown["difference"] = lambda c: Estimate(c.difference, c.se)
    shown["CI, this pair" if several else f"{say_level(found.level)} CI"] = lambda c: show_interval(
        c.low, c.high, c.difference, scale=c.metric or ""
    )
    if several:
        shown["CI, all pairs"] = lambda c: show_interval(c.low_simultaneous, c.high_simultaneous, drawn=False)
    shown["p"] = lambda c: PValue(c.p_adjusted)
    return shown


def _difference_notes(found: Compared) -> Iterator[str]:
    methods = "; ".join(
        f"{method}, {_degrees([c.df for c in found.contrasts if c.p_method == method])}"
        for method in dict.fromkeys(c.p_method for c in found.contrasts)
    )
    yield f"p by {methods}{say_adjusted(found)}."
    if len(found.contrasts) > 1:
        yield (
            "CI, this pair: from its two systems alone. CI, all pairs, and p: for all of them at once, with the run "
            "variances of all systems, so that a CI may be the narrower one."
        )
    if any(not math.isfinite(c.high_simultaneous) for c in found.contrasts):
        yield NO_INTERVAL


def _sizes(found: Compared) -> Columns[SystemContrast]:
    """Return the columns of sizes that have something to say."""
    shown: Columns[SystemContrast] = {}
    if any(c.effect_size is not None for c in found.contrasts):
        shown["d"] = lambda c: c.effect_size
    if any(c.p_superior is not None for c in found.contrasts):
        shown["P(new run better)"] = lambda c: _chance(c.p_superior)
    return shown


def _chance(p: float | None) -> Percent | None:
    """Return a chance that is never shown as certain: it is an estimate."""
    return None if p is None else Percent(min(max(100 * p, UNCERTAIN), 100 - UNCERTAIN))


def _size_notes(shown: Columns[SystemContrast], found: Compared) -> Iterator[str]:
    if "d" in shown:
        yield f"d: difference over the residual SD of the model of {PAPER}, eq. 4."
    if "P(new run better)" in shown:
        settings = ", settings drawn anew" if any(c.claim == "new-settings" for c in found.contrasts) else ""
        yield (
            "P(new run better): chance that a new run of the first has a better mean than one of the "
            f"second{settings}; an estimate without a CI."
        )


def _margins(found: Compared) -> Table:
    """Return the tests against the margin."""
    margin = next(c.equivalence.margin for c in found.contrasts if c.equivalence is not None)
    columns: Columns[SystemContrast] = {
        "equivalent p": lambda c: PValue(c.equivalence.p_equivalent_adjusted) if c.equivalence else None,
        "first not worse p": lambda c: PValue(c.equivalence.p_not_worse_adjusted) if c.equivalence else None,
        "beyond p": lambda c: PValue(c.equivalence.p_beyond_adjusted) if c.equivalence else None,
    }
    note = "Small p: the difference is smaller than the margin; the first is not worse by it; the difference is larger"
    title, notes = f"Tests against a margin of {format_number(margin)}", (f"{note}{say_adjusted(found)}.",)
    return _table(found, "margins", title, columns, notes)


def _degrees(df: Sequence[float]) -> str:
    """Return degrees of freedom in words, of several the range."""
    known = sorted(each for each in df if math.isfinite(each))
    if not known:
        return "no spread"
    low, high = (f"{each:,.1f}".removesuffix(".0") for each in (known[0], known[-1]))
    return f"{low} df" if low == high else f"{low} to {high} df"


def _tests(found: Compared) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for test in found.tests:
        by = f" ({test.metric})" if test.metric else ""
        claims = dict.fromkeys(c.claim for c in found.contrasts if c.metric == test.metric)
        rows.append((f"holdsup, {' and '.join(claims)}{by}", None, None, PValue(test.p), test.p_method))
        rows.extend(_likelihood_ratios(test))
    for paper in found.papers:
        by = f" ({paper.metric})" if paper.metric else ""
        rows.append((f"{PAPER}, eqs. 3-4{by}", paper.statistic, paper.df, PValue(paper.p), "chi-square"))
    notes = dict.fromkeys(
        f"holdsup: {test.model}" if test.model else f"No likelihood ratio by holdsup: {test.note}."
        for test in found.tests
    )
    papers = [f"{PAPER}: {paper.alternative}. {paper.note}".strip() for paper in found.papers[:1]]
    advice = tuple(f"To settle it: {advice}" for advice in found.next)
    columns = ("test", "statistic", "df", "p", "by")
    told = {column: i for i, column in enumerate(columns) if any(row[i] is not None for row in rows)}
    return _pick(told, rows, name="tests", title="All systems at once", notes=(*notes, *papers), advice=advice)


def _pick(
    columns: dict[str, int], rows: Sequence[tuple[Cell, ...]], *, name: str, title: str, notes: Sequence[str],
    advice: tuple[str, ...] = (),
) -> Table:  # fmt: skip
    """Return a table of some of the cells of each row."""
    shown = tuple(tuple(row[i] for i in columns.values()) for row in rows)
    return Table(name=name, title=title, columns=tuple(columns), rows=shown, notes=tuple(notes), advice=advice)


def _likelihood_ratios(test: SystemTest) -> Iterator[tuple[Cell, ...]]:
    """Yield the likelihood ratio of our model with each reference it has."""
    if test.model is None:
        return
    name, chi2 = "  its likelihood ratio", PValue(test.p_chi2)
    yield name, test.statistic, test.df, chi2, "chi-square"
    if test.p_bootstrap is not None:
        floor = test.p_bootstrap <= 1 / (test.bootstrap_draws + 1)
        failed = f", {test.bootstrap_failed} failed" if test.bootstrap_failed else ""
        what = f"{test.bootstrap_draws:,} simulated nulls{failed}"
        yield name, test.statistic, test.df, PValue(test.p_bootstrap, at_most=floor), what


def _conditional(
    each: Conditional, papers: Sequence[PaperConditional], *, adjusted: bool, level: float
) -> Iterator[Table]:
    """Yield the tests, the trends and the ranges of a property."""
    title = f"By {each.property}" + (f" ({each.metric})" if each.metric else "")
    yield _conditional_tests(each, papers, title, adjusted=adjusted)
    if each.classes:
        yield _class_means(each, title, level)
    yield _classes(each, title, level) if each.classes else _slopes(each, title, level)
    if not each.classes and each.significant_where:
        rows = tuple(
            (f"{w.left} - {w.right}", w.better, w.low, w.high, w.items, Percent(w.percent))
            for w in each.significant_where
        )
        heads = ("", "better", "from", "to", "items", "share")
        yield Table(name="significant_where", title=f"{title}: where differences hold", columns=heads, rows=rows,
                    notes=(_simultaneous(each),))  # fmt: skip


def _conditional_tests(each: Conditional, papers: Sequence[PaperConditional], title: str, *, adjusted: bool) -> Table:
    rows = [*_ours("any difference", each.joint), *_ours("differences change", each.interaction)]
    if each.given_others is not None:
        rows += _ours("  given the other properties", each.given_others)
    for p in papers:
        rows += [
            (f"{PAPER}, eqs. 6-7", p.statistic, p.df, PValue(p.p), None, "chi-square"),
            (f"{PAPER}, interaction alone", p.interaction_statistic, p.interaction_df,
             PValue(p.interaction_p), None, "chi-square"),
        ]  # fmt: skip
    notes = [HOLM] if adjusted else []
    notes += [f"holdsup: {each.model}"] if each.model else []
    notes += [f"{PAPER}: {p.alternative}" for p in papers]
    columns = ("test", "statistic", "df", "p", "p adjusted", "by")
    shown = {column: i for i, column in enumerate(columns) if adjusted or column != "p adjusted"}
    about = " and ".join(dict.fromkeys(d.claim for d in each.differences))
    about += ", log-odds" if each.scale == "logit" else ""
    return _pick(shown, rows, name="conditional", title=f"{title}: tests ({about})", notes=notes)


def _ours(name: str, test: ConditionalTest) -> list[tuple[Cell, ...]]:
    holm = PValue(test.p_adjusted)
    rows: list[tuple[Cell, ...]] = [(name, None, None, PValue(test.p), holm, test.p_method)]
    if test.p_chi2 is not None:
        rows.append(("  its likelihood ratio", test.statistic, test.df, PValue(test.p_chi2), None, "chi-square"))
    return rows


def _slopes(each: Conditional, title: str, level: float) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (s.system, s.claim, Estimate(s.slope, s.se), show_interval(s.low, s.high, s.slope), None) for s in each.slopes
    ]
    rows += [
        (f"{d.left} - {d.right}", d.claim, Estimate(d.slope, d.se), show_interval(d.low, d.high, d.slope),
         PValue(d.p_interaction))
        for d in each.differences
    ]  # fmt: skip
    columns = ("", "claim", "slope", f"{say_level(level)} CI", "p")
    shown = {name: i for i, name in enumerate(columns) if name != "claim" or len({row[i] for row in rows}) > 1}
    notes = ("p and CI are for each row alone.",)
    return _pick(shown, rows, name="slopes", title=f"{title}: change of {_unit(each)} with one unit", notes=notes)


def _classes(each: Conditional, title: str, level: float) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for d in each.differences:
        for place, value, low, high in zip(d.line.at, d.line.value, d.line.low, d.line.high, strict=True):
            size = each.sizes[int(place)]
            shown = Estimate(value, min(abs(value), (high - low) / 2))  # two digits, however wide the interval is
            rows.append(
                (f"{d.left} - {d.right}", each.classes[int(place)], shown, show_interval(low, high, value), size,
                 Percent(100 * size / each.items))
            )  # fmt: skip
    unknown = any(not math.isfinite(low) for d in each.differences for low in d.line.low)
    return Table(
        name="differences",
        title=f"{title}: differences{' of log-odds' if each.scale == 'logit' else ''}",
        columns=("", each.property, "difference", f"{say_level(level)} CI", "items", "share"),
        rows=tuple(rows),
        notes=(_simultaneous(each), *([NO_INTERVAL] if unknown else [])),
    )


def _class_means(each: Conditional, title: str, level: float) -> Table:
    """Return the mean of every system in every class."""
    rows = [
        (s.system, each.classes[int(place)], Estimate(value, (high - low) / 2), show_interval(low, high, value))
        for s in each.slopes
        for place, value, low, high in zip(s.line.at, s.line.value, s.line.low, s.line.high, strict=True)
    ]
    rows.sort(key=lambda row: each.classes.index(row[1]))
    return Table(
        name="means",
        title=f"{title}: means",
        columns=("system", each.property, "mean", f"{say_level(level)} CI"),
        rows=tuple(rows),
        notes=("Each CI is for its row alone.",),
    )


def _unit(each: Conditional) -> str:
    return "log-odds" if each.scale == "logit" else "the score"


def _simultaneous(each: Conditional) -> str:
    values = "classes" if each.classes else "values"
    pairs = " and pairs" if len(each.differences) > 1 else ""
    return f"For all {values}{pairs} at once: {each.limits}."
