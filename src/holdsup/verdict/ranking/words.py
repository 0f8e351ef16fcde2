"""What a ranking says in words, made from its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from holdsup.rendering import Answer, Cell, Estimate, Interval, State, Table
from holdsup.rendering.numbers import format_counted, format_interval, format_number
from holdsup.results import Method, write_caveats
from holdsup.verdict.phrases import join_names, say_count, say_level, say_p, say_size
from holdsup.verdict.ranking.records import (
    DIFFERENCES,
    LEAST_SHARED,
    NOT_TESTED,
    WITH_RUNS,
    AnsweredQuestion,
    RankContrast,
    RankedSystem,
    RankingNumbers,
    TermVariance,
)

MOST_SYSTEMS = 10  # rows of the short answer, besides the last system
MOST_WORDS, MOST_LINES = 25, 30  # of a headline, and of the whole
MOST_SHARES, LONGEST_SHARES = 3, 70  # terms named where the variance is from, and characters that they may take


def write_answer(found: RankingNumbers) -> Answer:
    """Return who is best, and how sure that is; of many systems as many as fit a screen."""
    for most in range(MOST_SYSTEMS, 1, -1):
        answer = _shorten(found, most)
        if answer.text().count("\n") <= MOST_LINES:
            break
    return answer


def _shorten(found: RankingNumbers, most: int) -> Answer:
    """Return the answer with so many systems, besides the last."""
    return Answer(
        question=f"Is one system the best over many {found.items}?",
        state=find_state(found),
        headline=_headline(found),
        parts=(_places(found, most), tabulate_answers(found)),
        foot=(
            ("holds for", _scope(found)),
            *_raw(found),
            *write_caveats(found.cautions, most=2 if len(found.systems) < MOST_SYSTEMS else 1),
        ),
        more=("--full (pairs, tests, effects)", "holdsup report", "--plot figure.svg"),
        signature=found.signature,
        names=(*(s.name for s in found.systems), *(row.left_out for row in found.influence if row.kind == "dataset")),
        most_lines=MOST_LINES,
    )


def find_state(found: RankingNumbers) -> State:
    """Return yes if the first system is told from all others after adjustment for all pairs, else unclear."""
    unsure, behind = _rivals(found)
    return "yes" if "datasets" in found.covers and not unsure and not behind else "unclear"


def _rivals(found: RankingNumbers) -> tuple[list[str], list[str]]:
    """Return the systems that the leader can't be told from, and those that are better where both were scored."""
    own = [c for c in found.contrasts if c.left == found.systems[0].name]
    unsure = [c.right for c in own if not found.told(c.p_adjusted)]
    return unsure, [c.right for c in own if found.told(c.p_adjusted) and not found.ahead(c)]


def _headline(found: RankingNumbers) -> str:
    (leader, second), (unsure, behind) = found.systems[:2], _rivals(found)
    lead = {(c.left, c.right): c for c in found.contrasts}[leader.name, second.name]
    size = say_size(abs(lead.difference), lead.low_simultaneous, lead.high_simultaneous, se=lead.se)
    where = f" on {lead.datasets} shared {found.items}" if lead.datasets < found.datasets else ""
    sure = _evidence(found, lead)
    if "datasets" not in found.covers:
        cell = f"{found.system_name} x {found.dataset_name}"
        return f"{leader.name} leads {second.name} by {size}, but the formula has no {cell} term: its p is too small."
    if lead.difference != 0 and not found.ahead(lead):
        return f"{leader.name} has the best mean, but is {size} behind {second.name}{where} ({sure})."
    if not unsure and not behind:
        first = f"{leader.name} is best, {size} ahead of {second.name}{where} ({sure})."
        return _add(first, _clear_places(found))
    first = f"{leader.name} leads {second.name} by {size}{where} ({sure}), but "
    if behind and not unsure:
        return f"{first}is worse than {join_names(behind, most=2)} where both were scored."
    few = "it" if unsure == [second.name] else " or ".join(unsure)
    whom = f"{say_count(len(unsure))} others" if len(unsure) > 2 else few
    rest = len(found.systems) - 1 - len(unsure) - len(behind)
    beats = f"It beats the other{f' {say_count(rest)}' if rest > 1 else ''}." if rest else ""
    return _add(f"{first}can't be told apart from {whom}.", beats)


def _add(first: str, more: str) -> str:
    """Return both sentences, or the first alone where they are too long for a headline."""
    both = f"{first} {more}".strip()
    return both if len(both.split()) <= MOST_WORDS else first


def _evidence(found: RankingNumbers, lead: RankContrast) -> str:
    """Return the CI of the lead and the p that belongs to it, or why there are none."""
    if lead.method == NOT_TESTED:
        few = lead.datasets < LEAST_SHARED
        return f"not tested: {f'too few {found.items} in common' if few else 'it is the same everywhere'}"
    p, level = lead.p_adjusted, say_level(found.level)
    if not math.isfinite(lead.low_simultaneous) or not math.isfinite(lead.high_simultaneous):
        return f"no {level} CI: too few {found.items}; {say_p(p)}"
    low, high = lead.low_simultaneous, lead.high_simultaneous
    interval = format_interval(low, high) if lead.difference >= 0 else format_interval(-high, -low)  # as what is named
    return f"{level} CI {interval}, {say_p(p)}"


def _clear_places(found: RankingNumbers) -> str:
    blurred = [s.rank for s in found.systems if s.rank_low != s.rank_high]
    if blurred:
        return f"Places {blurred[0]} to {blurred[-1]} can't all be told apart."
    return f"All {say_count(len(found.systems))} places are clear." if len(found.systems) > 2 else ""


def _places(found: RankingNumbers, most: int) -> Table:
    """Return the first systems and the last: their means, CIs drawn, and how often each is the best."""
    shown = found.systems if len(found.systems) <= most + 1 else (*found.systems[:most], found.systems[-1])
    left, right = ("better", "worse") if found.lower_is_better else ("worse", "better")
    errors = [c.se for c in found.contrasts if c.se > 0]
    counted = all(s.best_on is not None for s in shown)
    rows: list[tuple[Cell, ...]] = []
    for s in shown:
        known = math.isfinite(s.low) and math.isfinite(s.high)
        drawn = Interval(s.low, s.high, s.mean, written=False) if known else Interval(None, None, written=False)
        best = (f"{s.best_on} of {s.datasets}",) if counted else ()
        rows.append((name_places(s), s.name, Estimate(s.mean, min(errors, default=None)), drawn, *best))
    lacking = len(found.systems) - len(shown)
    return Table(
        name="systems",
        title=f"Systems by adjusted mean, {say_level(found.level)} CI",
        columns=(
            "place", "system", "mean", f"{left} | {say_level(found.level)} CI, {_kind(found)} | {right}",
            *(("best or tied",) if counted else ()),
        ),
        rows=tuple(rows),
        notes=(f"{lacking:,} more: --full",) if lacking else (),
    )  # fmt: skip


def name_places(s: RankedSystem) -> str:
    """Return the places that a system may have."""
    return f"{s.rank_low}" if s.rank_low == s.rank_high else f"{s.rank_low}-{s.rank_high}"


def _kind(found: RankingNumbers) -> str:
    """Return which datasets CIs of means are for."""
    return f"{'new' if found.scope == 'new datasets' else 'these'} {found.items}"


def tabulate_answers(found: RankingNumbers) -> Table:
    """Return the questions behind the ranking with their answers."""
    return Table(
        name="answers",
        title="The questions behind the ranking",
        columns=("", "", ""),
        rows=tuple(
            (f"{number} {each.question[0].lower()}{each.question[1:]}", (each.state or "").upper(), each.answer)
            for number, each in enumerate(answer_questions(found), start=1)
        ),
    )


def answer_questions(found: RankingNumbers) -> tuple[AnsweredQuestion, ...]:
    """Return the questions of Sanchez Carmona et al., each with yes, unclear or neither, and a few words."""
    asked = (
        ("Who is best?", _best(found)),
        (f"Do {found.items} matter?", _interaction(found)),
        ("What does each factor do?", _factors(found)),
        *([("What does each ingredient add?", _ingredients(found))] if found.contributions else []),
        ("Where is the variance from?", (None, _shares(found))),
        (f"Does it hold on new {found.items}?", _stability(found)),
    )
    return tuple(AnsweredQuestion(question=question, state=state, answer=said) for question, (state, said) in asked)


def _best(found: RankingNumbers) -> tuple[State, str]:
    leader, others, (unsure, behind) = found.systems[0].name, len(found.systems) - 1, _rivals(found)
    if not unsure and not behind:
        over = f"each of the other {say_count(others)}" if others > 1 else found.systems[1].name
        return find_state(found), f"{leader}, over {over}"
    rivals = [*behind, *unsure]
    if len(rivals) > 2:
        return "unclear", f"{leader} or any of {say_count(len(rivals))} others"
    return "unclear", " or ".join([", ".join([leader, *rivals[:-1]]), rivals[-1]])


def _interaction(found: RankingNumbers) -> tuple[State | None, str]:
    cells, name = found.find_cells(), f"{found.system_name} x {found.dataset_name}"
    if not cells and "datasets" not in found.covers:
        return None, f"the formula has no {name} term"
    if not cells:
        return None, f"can't be tested with one score per {found.system_name} and {found.dataset_name}"
    share = sum(r.percent_exact for r in cells)
    if all(r.p is None for r in cells):
        return None, f"{_percent(share)} of the variance is {name}"
    if any(found.told(r.p) for r in cells):
        return "yes", f"{_percent(share)} of the variance is {name}"
    names = {found.system_name, found.dataset_name}
    beyond = any(names < set(r.group.split(":")) for r in found.random)
    if share == 0:
        return "unclear", f"no {name} variance seen{' beyond settings' if beyond else ''}"
    p = max((r.p for r in cells if r.p is not None), default=1.0)
    return "unclear", f"{_percent(share)} of the variance is {name}, {say_p(p)}"


def _factors(found: RankingNumbers) -> tuple[State | None, str]:
    effects = [e for e in found.fixed if e.factor is not None]
    if effects:
        sure = sorted((e for e in effects if found.told(e.p)), key=lambda e: -abs(e.estimate))
        largest = list({e.factor: e for e in reversed(sure)}.values())[::-1]  # of each factor, its strongest level
        if not largest:
            return "unclear", f"none of {say_count(len(effects))} effects differs from zero"
        return "yes", _list_effects([(e.name, e.estimate, e.se) for e in largest])
    repeated = [t.name for t in found.treatments if t.treated == "random"]
    if not repeated:
        return None, f"only systems and {found.items} varied"
    terms = [r for r in found.random if set(r.group.split(":")) & set(repeated)]
    spread = max(terms, key=lambda r: r.percent_exact) if terms else found.random[-1]
    said = f"only {join_names(repeated)} varied: SD {format_number(spread.sd, uncertainty=spread.sd)}"
    return "yes" if found.told(spread.p) else "unclear", said if terms else f"{said} with chance"


def _ingredients(found: RankingNumbers) -> tuple[State, str]:
    sure = [(c.name, c.estimate, c.se) for c in found.contributions if found.told(c.p)]
    unsure = [c.name for c in found.contributions if not found.told(c.p)]
    if not sure:
        return "unclear", f"nothing that clearly differs from zero ({join_names(unsure, most=3)})"
    return "unclear" if unsure else "yes", _list_effects(sure)


def _list_effects(effects: Sequence[tuple[str, float, float]]) -> str:
    shown = [f"{name} {'+' * (size > 0)}{format_number(size, uncertainty=se)}" for name, size, se in effects[:2]]
    return ", ".join([*shown, *([f"{len(effects) - 2} more"] if len(effects) > 2 else [])])


def _shares(found: RankingNumbers) -> str:
    """Return the largest shares of the variance, and what is left to chance."""
    ordered = sorted(found.random[:-1], key=lambda r: -r.percent_exact)
    seen = {name for r in found.random for name in r.group.split(":")}
    hidden = [t.name for t in found.treatments if t.treated == "random" and t.name not in seen]
    chance = f"{join_names([*hidden, 'chance'])} {_percent(found.random[-1].percent_exact)}"
    shown = [f"{name_term(r)} {_percent(r.percent_exact)}" for r in ordered[:MOST_SHARES]]
    while len(shown) > 1 and len(", ".join([*shown, chance])) > LONGEST_SHARES:
        shown.pop()
    return ", ".join([*shown, chance])


def _percent(share: float) -> str:
    return "under 1%" if 0 < share < 0.5 else f"{share:.0f}%"


def name_term(row: TermVariance) -> str:
    """Return a random term in words: a slope with what it varies between, an intercept by that alone."""
    group = row.group.replace(":", " x ")
    if row.term in ("(Intercept)", ""):
        return group
    return f"{row.term.removeprefix('center(').removesuffix(')')} by {group}"


def _stability(found: RankingNumbers) -> tuple[State | None, str]:
    if "datasets" not in found.covers:
        return "unclear", f"the formula is about these {found.items} alone"
    rows = [row for row in found.influence if row.kind == "dataset"]
    if not rows:
        return None, "not tried"
    other = [row for row in rows if row.leader != found.systems[0].name]
    if other:
        more = f" ({len(other) - 1} more)" if len(other) > 1 else ""
        return "unclear", f"without {other[0].left_out}, {other[0].leader} leads{more}"
    same = "same leader" if any(row.changed for row in rows) else "same order"
    if find_state(found) == "yes":
        return "yes", f"leave out any of the {len(rows)}: {same}"
    return "unclear", f"{same} without any one, but see 1"


def _scope(found: RankingNumbers) -> str:
    """Return what the answer is for, and what it is not."""
    by = {how: [t for t in found.treatments if t.treated == how] for how in ("fixed", "numeric", "log", "random")}
    drawn = [t.name for t in by["random"] if any(r.group == t.name for r in found.random)]
    repeated = [f"{t.name}s" for t in by["random"] if t.name not in drawn and t.name.isalpha()]
    datasets = f"new {found.items} like these" if "datasets" in found.covers else f"only these {found.items}:"
    parts = [f"{datasets} {found.datasets}"]
    if "runs" in found.covers:
        parts.append(f"new {join_names(repeated) or 'runs'}")
    if by["fixed"]:
        parts.append(f"the values of {join_names([t.name for t in by['fixed']], most=3)} tried, equally weighted")
    parts += [f"{t.name} at its mean" for t in (*by["numeric"], *by["log"])]
    parts += [f"{name} like these" for name in drawn]
    return f"{', '.join(parts)}; not {'' if 'runs' in found.covers else 'new runs, '}other settings or systems"


def _raw(found: RankingNumbers) -> Iterator[tuple[str, str]]:
    """Yield who would lead by the means of the rows as they are, if that is another."""
    best = (min if found.lower_is_better else max)(found.systems, key=lambda s: s.raw_mean)
    if best.raw_mean != found.systems[0].raw_mean:
        yield "raw means", f"{best.name} is first, but raw means don't adjust for {found.items} and settings"


def describe_method(found: RankingNumbers) -> Method:
    """Return what was done, for a paper."""
    names, datasets = format_counted(len(found.systems), "system"), f"{found.datasets:,} {found.items}"
    methods = {c.method for c in found.contrasts}
    test = "t-tests of the differences between datasets, pair by pair" if DIFFERENCES in methods else (
        "two-way Welch t-tests (datasets and runs, conservative df)" if WITH_RUNS in methods
        else "Satterthwaite's t-tests of that model"
    )  # fmt: skip
    return Method(
        question=f"Which system is best over many {found.items}, once nuisance factors are isolated?",
        sentences=(
            f"{names} were ranked over {datasets} by adjusted means of the linear mixed model {found.means_formula}, "
            f"fitted by REML.",
            f"Pairs are compared by {test}, adjusted by Bonferroni's method.",
            f"Shares of the variance are those of {found.formula}.",
        ),
        citations=("sanchez2025", "bates2015"),
    )
