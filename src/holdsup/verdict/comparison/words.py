"""A comparison in words, by rule from its numbers: yes or no, one sentence, what it holds for, how it was made."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holdsup.columns.values import parse_number
from holdsup.rendering.numbers import format_count, format_counted, format_interval, format_number, format_percent
from holdsup.results import find_scored
from holdsup.results.direction_names import find_direction
from holdsup.verdict.comparison.adjusted_words import covers_raters
from holdsup.verdict.comparison.conditional_records import Conditional, Where
from holdsup.verdict.comparison.records import Compared, SystemContrast
from holdsup.verdict.comparison.standings import (
    UNLIKE_SCALES,
    better_of,
    compares_shared,
    decide_metric,
    find_contrasts,
    find_leader,
    is_equivalent,
    is_told,
    list_metrics,
)
from holdsup.verdict.phrases import join_names, name_items, say_count, say_level, say_p, say_runs, say_size
from holdsup.verdict.samples import OF_THESE_RUNS, THESE_ITEMS

SAME = 1e-12  # relative difference of two means below which it is the rounding of sums
MOST_NAMED = 3  # systems that a headline names
OPENINGS = ("No", "None", "All", "Metrics", "Runs", "On")  # that begin an answer, and are no names


def ask(found: Compared) -> str:
    """Return the question that is answered."""
    metrics = list_metrics(found)
    by = f" by {_all(len(metrics))} metrics" if len(metrics) > 1 else ""
    names = {s.name for s in found.systems}
    if len(names) == 2:
        leaders = [find_leader(found, metric) for metric in metrics]
        leader = max(dict.fromkeys(leaders), key=leaders.count)
        return f"Is {leader} better than {next(iter(names - {leader}))}{by}?"
    if found.baseline is not None:
        return f"Is any better than {found.baseline}{by}?"
    return f"Is one of the {say_count(len(names))} systems the best{by}?"


def headline(found: Compared) -> str:
    """Return the answer in one sentence or two: what it is over, where that is not runs and items, comes first."""
    over = [say_average(found)] if "average" in found.asked.options and found.datasets > 1 else []
    if found.claim in OF_THESE_RUNS and all(s.samples > 1 for s in found.systems):
        these = f" of these {name_items_of(found)}" if found.claim == THESE_ITEMS else ""
        over.append(f"over new samples{these}")
    said, start = _answer(found), ", ".join(over)
    if not over:
        return said
    said = f"{said[0].lower()}{said[1:]}" if said.partition(" ")[0] in OPENINGS else said
    return f"{start[0].upper()}{start[1:]}, {said}"


def say_average(found: Compared) -> str:
    """Return which mean over datasets this is, as a phrase."""
    kind, _, columns = found.average.partition(":")
    if kind == "weights":
        return f"by the mean weighted by {columns}"
    over = f"{found.datasets} {_name_datasets(found)}" if "," not in columns else columns.replace(",", " and ")
    return f"by the {kind} average over {over}"


def _say_weights(found: Compared) -> str:
    """Return what weighs how much in a mean over datasets, as a sentence."""
    kind, _, columns = found.average.partition(":")
    datasets = _name_datasets(found).capitalize()
    if kind == "weights":
        return f"{datasets} weigh by {columns}"
    if "," in columns:
        *outer, inner = columns.split(",")
        return f"Each {' and '.join(outer)} weighs the same, and each {inner} within it"
    return f"{name_items_of(found).capitalize() if kind == 'micro' else datasets} weigh the same"


def _answer(found: Compared) -> str:
    metrics = list_metrics(found)
    if len(metrics) > 1:
        return _say_metrics(found, metrics)
    if any(each.code == UNLIKE_SCALES for each in found.cautions):
        return "Runs seem to be on different scales (0-1 next to 0-100), so nobody can tell who is better."
    own = find_contrasts(found, metrics[0])
    if len(own) == 1:
        said = _say_pair(found, own[0])
    else:
        said = _say_baseline(found, own) if found.baseline is not None else _say_pairs(found, own)
    if found.baseline is None and compares_shared(own, found.ordered(metrics[0]), found.level):
        who = "both have" if len(own) == 1 else "systems share"
        return f"On the {name_items_of(found)} that {who}, {said}"
    return said


def _say_pair(found: Compared, c: SystemContrast) -> str:
    """Return who is ahead of two, by how much, how sure."""
    level, (better, worse) = found.level, better_of(c)
    (unit, lower), several = name_unit(found, c.metric), len({s.name for s in found.systems}) > 2
    if c.difference == 0 and not is_equivalent(c, level):
        evidence = _say_evidence(found, c, found.settled_by)
        return f"{c.left} and {c.right} scored the same{unit} here, but {evidence} can't rule out a difference."
    size = say_size(abs(c.difference), c.low, c.high, se=c.se)
    if is_told(c, level):
        than = f" than {worse}" if several else ""
        who = f"{worse} is worse than {better}" if better == found.baseline else f"{better} is better{than}"
        interval = format_interval(*sorted((abs(c.low), abs(c.high))))
        known = f"{say_level(level)} CI {interval}, {say_p(c.p_adjusted)}"
        said = f"{who} by {size}{unit} ({'lower is better; ' if lower else ''}{known})"
        return f"{said}{_say_margin(c, level)}."
    if is_equivalent(c, level) and c.equivalence is not None:
        margin = format_number(c.equivalence.margin)
        p = say_p(c.equivalence.p_equivalent_adjusted)
        return f"{c.left} and {c.right} are equivalent: they differ by less than {margin}{unit} ({p})."
    lead = f"{better} leads{f' {worse}' if several else ''} by {size}{unit}{' (lower is better)' if lower else ''}"
    p = say_p(c.p_adjusted)
    if not math.isfinite(c.low + c.high):
        return f"{lead}, but {_say_evidence(found, c, 'runs and items')} can't tell how far off that is ({p})."
    return f"{lead}, but {_say_evidence(found, c, found.settled_by)} can't rule out no difference ({p})."


def _say_margin(c: SystemContrast, level: float) -> str:
    if c.equivalence is None:
        return ""
    margin = format_number(c.equivalence.margin)
    if is_equivalent(c, level):
        return f", but smaller than the margin of {margin}"
    if c.equivalence.p_beyond_adjusted <= 1 - level:
        return f", more than the margin of {margin}"
    return f"; it may be more or less than the margin of {margin}"


def _say_evidence(found: Compared, c: SystemContrast, settled_by: str | None) -> str:
    """Return what the answer rests on: runs, items or datasets, whichever would settle it, or else decides."""
    own = [s for s in found.systems if s.metric == c.metric and s.name in (c.left, c.right)]
    counts = [s.runs for s in own]
    several = f"{' and '.join(map(format_count, counts))} {say_runs(found.asked)}"
    runs = several if len(set(counts)) > 1 else f"{format_count(counts[0])} {say_runs(found.asked)} each"
    items = f"{format_count(c.items)} {name_items_of(found)}"
    if c.claim == THESE_ITEMS:
        return f"{' and '.join(dict.fromkeys(format_count(s.samples) for s in own))} samples of {items}"
    if found.human:
        labels = next((h.labels for h in found.human if (h.metric, h.left, h.right) == (c.metric, c.left, c.right)), 0)
        return f"{format_count(labels)} human labels"
    if found.raters:
        count = next(r.count for r in found.raters if r.metric == c.metric)
        return f"{format_count(count)} raters on {items}" if c.claim == "new-raters" else items
    if found.unit is None or (settled_by == "runs" and c.claim not in OF_THESE_RUNS):
        return runs
    if found.unit == "items" and c.nested_runs is not None:
        return f"{format_count(found.datasets)} {_name_datasets(found)}"
    if settled_by == "runs and items" and c.claim not in OF_THESE_RUNS:
        return f"{runs} on {items}"
    decided = settled_by == "items" or found.unit == "datasets" or c.claim in OF_THESE_RUNS
    return items if decided else runs


def _say_pairs(found: Compared, own: Sequence[SystemContrast]) -> str:
    """Return who is best of many, or how many tie at the top, and how many pairs differ."""
    level, means = found.level, found.ordered(own[0].metric)
    leader, others = find_leader(found, own[0].metric), len(means) - 1
    differ = sum(is_told(c, level) for c in own)
    pairs = format_count(len(own))
    counted = f"{format_count(differ)} of {pairs} pairs {'differs' if differ == 1 else 'differ'}"
    counted = f"All {pairs} pairs differ" if differ == len(own) else counted
    if all(math.isclose(s.mean, means[0].mean, rel_tol=SAME) for s in means):
        return f"All {say_count(len(means))} systems scored the same here, so none can be called the best."
    first = [s.name for s in means if math.isclose(s.mean, means[0].mean, rel_tol=SAME)]
    best = f"{leader} has" if len(first) == 1 else f"{join_names(first, most=MOST_NAMED)} share"
    if not differ:
        return f"{best} the best mean, but none of {pairs} pairs can be told apart."
    told = {leader, *_told_from(own, leader, level)}
    alike = [s.name for s in means if s.name not in told]
    if not alike:
        return f"{leader} is better than {_all(others)} others. {counted}{_say_ties(found)}."
    if len(alike) < MOST_NAMED:
        return f"{join_names([leader, *alike])} can't be told apart at the top. {counted}."
    if len(alike) == others:
        return f"{best} the best mean, but no other can be told apart from it. {counted}."
    tied = f"{say_count(len(alike))} of {say_count(others)} others can't be told apart from it"
    return f"{leader} leads, but {tied}. {counted}."


def _told_from(own: Sequence[SystemContrast], leader: str, level: float) -> set[str]:
    told = ({c.left, c.right} for c in own if is_told(c, level) and leader in (c.left, c.right))
    return set().union(*told)


def _say_ties(found: Compared) -> str:
    """Return which places are not clear, where they are a single range of them."""
    means = found.ordered(found.systems[0].metric)
    tied = [i for i, s in enumerate(means, 1) if any(set(s.letters) & set(t.letters) for t in means if t is not s)]
    if not tied:
        return ""
    if tied != list(range(tied[0], tied[-1] + 1)):
        return f"; {say_count(len(tied))} systems share a place with another"
    if len(tied) == 2:
        return f"; ranks {tied[0]} and {tied[1]} can't be told apart"
    return f"; ranks {tied[0]} to {tied[-1]} can't all be told apart"


def _say_baseline(found: Compared, own: Sequence[SystemContrast]) -> str:
    """Return who is better than the baseline and who is worse, and nothing of the others among themselves."""
    level, base = found.level, found.baseline
    told = sorted((c for c in own if is_told(c, level)), key=lambda c: -abs(c.difference))
    better = [c.left for c in told if better_of(c)[0] == c.left]
    same = sum(is_equivalent(c, level) for c in own if c not in told)
    unsure, parts = len(own) - len(told) - same, {"worse": len(told) - len(better), "equivalent": same}
    rest = [f"{say_count(n)} {'is' if n == 1 else 'are'} {what}" for what, n in parts.items() if n]
    others = len(found.ordered(own[0].metric)) - 1
    rest += [f"{say_count(unsure)} can't be told apart from it"] if unsure else []
    if unsure == len(own):
        return f"None of the {say_count(others)} others can be told apart from {base}."
    rest += [f"{say_count(others - len(own))} can't be compared with it"] if len(own) < others else []
    if better:
        said = f"{join_names(better, most=MOST_NAMED)} {'is' if len(better) == 1 else 'are'} better than {base}"
    else:
        said = f"None of {say_count(others)} is shown to be better than {base}"
    return f"{'; '.join([said, *rest])}."


def _say_metrics(found: Compared, metrics: Sequence[str | None]) -> str:
    """Return by which of several metrics the answer is clear."""
    yes = [str(metric) for metric in metrics if decide_metric(found, metric) == "yes"]
    best = "better" if found.baseline is not None or len({s.name for s in found.systems}) == 2 else "best"
    if not yes:
        return f"No system is {best} by any of {say_count(len(metrics))} metrics."
    leaders = list(dict.fromkeys(find_leader(found, metric) for metric in metrics if str(metric) in yes))
    every = len(yes) == len(metrics)
    by = f"by {_all(len(metrics)) if every else f'{say_count(len(yes))} of {say_count(len(metrics))}'} metrics"
    if len(leaders) == 1:
        others = [str(metric) for metric in metrics if str(metric) not in yes]
        rest = (
            "" if every else f" ({join_names(yes, most=MOST_NAMED)}); {join_names(others, most=MOST_NAMED)} can't tell"
        )
        return f"{leaders[0]} is {best} {by}{rest}."
    return f"Metrics disagree: {join_names(leaders, most=MOST_NAMED)} are each {best} by some."


def _all(number: int) -> str:
    return "both" if number == 2 else f"all {say_count(number)}"


def name_unit(found: Compared, metric: str | None) -> tuple[str, bool]:
    """Return what a difference is counted in, to be put after a number, and whether a lower one is better."""
    scored = find_scored(found)
    name = metric or (scored.names[0] if len(scored.names) == 1 else "")
    lower = any(c.lower_is_better for c in found.contrasts if c.metric == metric)
    if not metric and (find_direction(name) is None or not name.isalnum()):
        return "", lower
    return f" {name.upper() if name.islower() and len(name) <= 2 else name}", lower


def name_items_of(found: Compared) -> str:
    """Return the user's word for what systems are scored on."""
    if found.unit != "items":
        return _name_datasets(found)
    column = found.asked.roles.get("item")
    return name_items(column if isinstance(column, str) else None)


def _name_datasets(found: Compared) -> str:
    column = found.asked.roles.get("dataset")
    return name_items(column if isinstance(column, str) else None, "datasets")


def holds_for(found: Compared) -> str:
    """Return what the answer covers, and what it does not."""
    said = covers_raters(found, name_items_of(found)) if found.raters else _covers(found, found.claim)
    others = [c for c in found.contrasts if c.claim != found.claim]
    if others:
        whose = f"{format_count(len(others))} of {format_count(len(found.contrasts))} pairs"
    if others and found.raters:
        said += f" ({whose}: {'these raters only' if others[0].claim == 'these-raters' else 'new raters, too'})"
    elif others:
        said += f" ({whose}: these runs only)" if others[0].claim == "these-runs" else f" (for {whose} new runs, too)"
    ordered = found.ordered(found.systems[0].metric)
    fixed = [s.name for s in ordered if s.deterministic and parse_number(s.name) is None]  # a score goes without saying
    if fixed and len(found.contrasts) > 1:  # of two, a line of their own says so
        said += f". Declared deterministic: {join_names(fixed, most=MOST_NAMED)}"
    if found.datasets > 1 and found.unit == "items" and not (found.raters or found.human):
        said += f". {_say_weights(found)}"
    return said


def _covers(found: Compared, claim: str) -> str:
    runs, items, datasets = say_runs(found.asked), name_items_of(found), _name_datasets(found)
    cluster = found.asked.roles.get("cluster")
    if isinstance(cluster, str) and found.unit == "items":
        items = name_items(cluster, f"clusters ({cluster})")
    these = "these picked runs on " if found.best else ""
    anew = f"new samples of {'both' if len({s.name for s in found.systems}) == 2 else 'all'} systems"
    if claim == THESE_ITEMS:
        scored = format_count(max(s.items for s in found.systems))
        return f"{anew} on these {scored} {items}; not other {items}, {runs}, settings or datasets"
    if claim == "these-runs" and all(s.samples > 1 for s in found.systems):
        these += f"{anew}, "
    if found.unit is None:
        return f"new {runs} on the same test data; not other test data or settings"
    if claim == "these-datasets" and found.unit == "items":
        return f"new {runs}, new {items} of these {found.datasets} {datasets}; not other {datasets} or settings"
    if found.unit == "datasets" or (found.datasets > 1 and claim != "these-runs"):
        number = found.datasets if found.unit == "items" else max(s.items for s in found.systems)
        drawn = f"new {datasets} like these {format_count(number)}"
        drawn += f", new {items}" if found.unit == "items" else ""
        return {
            "these-runs": f"{these}{drawn}; not new {runs} or settings",
            "these-datasets": f"new {runs} on these {number:,} {datasets}; not other {datasets} or settings",
            "new-runs": f"{drawn}, new {runs}; not other settings",
            "new-settings": f"{drawn}, new {runs}, new settings; not {datasets} of another kind",
        }[claim]
    if found.datasets > 1:
        return f"{these}new {items} of these {found.datasets} {datasets}; not new {runs}, settings or {datasets}"
    compared = (
        min(c.items for c in found.contrasts) if len(found.contrasts) == 1 else max(s.items for s in found.systems)
    )
    size = f" {format_count(compared)}" if cluster is None else ""
    return {
        "these-runs": f"{these}new {items} like these{size}; not new {runs}, settings or datasets",
        "new-runs": f"new {runs}, new {items} like these; not other settings or datasets",
        "new-settings": f"new settings, new {runs}, new {items} like these; not other datasets",
    }[claim]


def explain_estimate(found: Compared) -> Iterator[tuple[str, str]]:
    """Yield what the score of a corpus is, and of two systems what a bootstrap of items says of these runs."""
    if (made := found.estimate) is None:
        return
    runs = " (mean of its runs)" if any(s.runs > 1 for s in found.systems) else ""
    better = "lower" if made.lower_is_better else "higher"
    yield "score", f"{made.name} of the corpus{runs}, {better} is better{f'; {made.signature}' * bool(made.signature)}"
    if len(made.bootstrap) == 1:
        (b,) = made.bootstrap
        interval = format_interval(*sorted((abs(b.low), abs(b.high)) if b.low * b.high > 0 else (b.low, b.high)))
        items = name_items_of(found)
        yield "these runs", f"paired bootstrap of {items}: {say_p(b.p)}, {say_level(found.level)} CI {interval}"


def explain_margin(found: Compared) -> Iterator[str]:
    """Yield for how many of several pairs the tests against a margin show something."""
    tested = [c.equivalence for c in found.contrasts if c.equivalence is not None]
    if (
        len(tested) == 1
        and tested[0].p_equivalent_adjusted > 1 - found.level
        and not is_told(found.contrasts[0], found.level)
    ):
        yield f"the difference may be more or less than {format_number(tested[0].margin)}"
    if len(tested) > 1:
        small = sum(e.p_equivalent_adjusted <= 1 - found.level for e in tested)
        large = sum(e.p_beyond_adjusted <= 1 - found.level for e in tested)
        margin, number = format_number(tested[0].margin), len(tested)
        if number in (small, large):
            yield f"all {format_count(number)} pairs differ by {'less' if small else 'more'} than {margin}"
            return
        rest = "" if small + large == number else "; the others can't tell"
        yield f"{small} of {format_count(number)} pairs differ by less than {margin}, {large} by more{rest}"


def explain_conditions(found: Compared) -> Iterator[str]:
    """Yield how differences depend on each property that was asked for."""
    for each in found.conditional:
        by = f" by {each.metric}" if each.metric else ""
        p = say_p(each.interaction.p_adjusted)
        depends = each.interaction.p_adjusted <= 1 - found.level
        what = "the lead" if len(each.differences) == 1 else "differences"
        what += " in log-odds" if each.scale == "logit" else ""
        verb = "depend" if len(each.differences) > 1 else "depends"
        said = f"{what} {verb} on {each.property}{by} ({p})" if depends else (
            f"no evidence that {what} {verb} on {each.property}{by} ({p})"
        )  # fmt: skip
        where = _say_where(each) if depends else ""
        yield f"{said}{f': {where}' if where else ', but nowhere can systems be told apart' if depends else ''}"


def _say_where(each: Conditional) -> str:
    """Return who is better where, or how many pairs differ somewhere."""
    if len(each.differences) > 1:
        pairs = len({(w.left, w.right) for w in each.significant_where})
        return f"{pairs} of {format_counted(len(each.differences), 'pair')} differ somewhere along it" if pairs else ""
    return ", ".join(_say_range(w) for w in each.significant_where)


def _say_range(w: Where) -> str:
    place = f"for {w.level}" if w.level is not None else f"from {format_number(w.low)} to {format_number(w.high)}"
    return f"{w.better} is better {place} ({format_percent(w.percent)} of items)"
