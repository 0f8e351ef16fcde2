"""`rank_votes`: which system do people, or judges, prefer?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse, special
from scipy.sparse import csgraph

from holdsup.arguments import check_level, check_progress, list_names_given
from holdsup.errors import FitError, ScoresError, list_names
from holdsup.numerics.bradley_terry import Ratings, rate
from holdsup.numerics.distributions import t_quantile
from holdsup.numerics.layout import Floats
from holdsup.numerics.shares import SPLIT, join_levels
from holdsup.progress import Progress, no_progress
from holdsup.rendering import Cell, Estimate, Interval, Percent, Table
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results import Asked, Caution, Method, order_cautions
from holdsup.verdict.intake import list_where
from holdsup.verdict.phrases import join_names, name_items, say_count, say_level
from holdsup.verdict.places.places import PlacedPair, PlacedSystem, Places, draw_interval, name_places, place_pairs
from holdsup.verdict.places.votes import ITSELF, NO_WINNER, Votes, read_votes

FEW_DF = 4.0  # below which limits are wide for want of annotators or prompts
ELO = 400 / math.log(10)  # points of Elo's scale for one unit of log-odds


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedSystem(PlacedSystem):
    """A system with its share of wins and its rating."""

    votes: int  # votes that it was in
    points: float  # of these, those it won, a tie counting half
    rating: float  # log-odds, which sum to zero over systems; null where it won, or lost, every vote
    rating_low: float  # interval of the rating; null where it has no end
    rating_high: float  # its upper end
    swept: str | None  # "won" or "lost" where it won, or lost, every vote against the others; else null


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteEffect:
    """What moves votes besides the systems."""

    name: str  # "order", the advantage of who is shown first; or a property, whose larger value may win
    estimate: float  # log-odds; of a property, between two answers a standard deviation of the difference apart
    low: float  # its interval
    high: float  # its upper end


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteRanking(Places):
    """Systems ranked by pairwise votes."""

    kind: ClassVar[str] = "votes"
    main_table: ClassVar[str] = "systems"
    counted: ClassVar[str] = "vote"

    systems: tuple[RatedSystem, ...]  # the systems from best to worst
    effects: tuple[VoteEffect, ...]  # who was shown first, and properties
    ties: int  # votes that were ties
    annotators: int | None  # how many people or judges voted; null where nothing says so
    prompts: int | None  # on how many prompts; null where nothing says so
    prompt_column: str | None  # the column of the prompts
    df: float  # degrees of freedom of the tests

    def ask(self) -> str:
        """Return the question."""
        count = len(self.systems)
        if count == 2:
            return f"Is {self.systems[0].name} preferred to {self.systems[1].name}?"
        return f"Is one of the {say_count(count)} systems preferred to all others?"

    def say_lead(self, lead: PlacedPair, *, best: bool) -> str:
        """Return how many votes the leader wins against the second, and how sure that is."""
        leader, second = lead.left, lead.right
        share, low, high = (_percent(v) for v in (lead.difference, lead.low_simultaneous, lead.high_simultaneous))
        if not math.isfinite(lead.difference):
            known = math.isfinite(lead.low_simultaneous)
            interval = f"{low} to 100%" if known else None
            won = f"won every vote against {second} {self.say_evidence(interval, lead)}"
            return f"{leader} is best: it {won}" if best else f"{leader} {won}"
        wins = f"wins {share} against {second} {self.say_evidence(f'{low} to {high}', lead)}"
        return f"{leader} is best: it {wins}" if best else f"{leader} {wins}"

    def explain(self) -> tuple[tuple[str, str], ...]:
        """Return what the answer holds for, and who is helped by being shown first."""
        what = name_items(self.prompt_column, "prompts")
        drawn = [f"new {what} like these {format_count(self.prompts)}"] if self.prompts else []
        drawn += (
            [f"new annotators like these {format_count(self.annotators)}"]
            if self.annotators is not None and self.annotators > 1
            else []
        )
        fixed = [role for role, count in (("annotators", self.annotators), ("prompts", self.prompts)) if not count]
        holds = f"{', '.join(drawn) or 'new votes like these'}; not new {' or '.join([*fixed, 'kinds of prompts'])}"
        lines = [("holds for", holds)]
        for effect in self.effects:
            share, low, high = map(_percent, (effect.estimate, effect.low, effect.high))
            who = "the first shown" if effect.name == "order" else f"one SD more {effect.name}"
            told = "" if effect.low > 0 or effect.high < 0 else "; may be nothing"
            said = f"{who} wins {share} between equals ({say_level(self.level)} CI {low} to {high}){told}"
            lines.append((effect.name, said))
        return tuple(lines)

    def tabulate_places(self, shown: Sequence[RatedSystem], notes: tuple[str, ...] = ()) -> Table:
        """Return places, and the share of votes that each system wins against the others, drawn."""
        ci = f"loses | {say_level(self.level)} CI | wins"
        rows = tuple((name_places(s), s.name, Percent(100 * s.estimate), draw_interval(s), s.votes) for s in shown)
        own = "Wins: of votes against a system as strong as the others on average, a tie half."
        return Table(
            name="systems", title=f"Systems by share of wins, {say_level(self.level)} CI",
            columns=("place", "system", "wins", ci, "votes"), rows=rows, notes=(" ".join((own, *notes)),),
        )  # fmt: skip

    def tables(self) -> tuple[Table, ...]:
        """Return the systems with their ratings, and all pairs."""
        level = say_level(self.level)

        def rate_in_points(s: RatedSystem) -> tuple[Cell, ...]:
            low, high = ELO * s.rating_low, ELO * s.rating_high
            if math.isfinite(low + high):
                return Estimate(ELO * s.rating, (high - low) / 2), Interval(low, high, drawn=False)
            return "no end", f"above {low:.0f}" if math.isfinite(low) else f"below {high:.0f}"

        columns = ("place", "system", "wins", f"{level} CI", "Elo points", f"{level} CI of points", "votes", "group")
        systems = Table(
            name="systems", title=f"Systems by share of wins, {level} CI", columns=columns,
            rows=tuple(
                (name_places(s), s.name, Percent(100 * s.estimate), Interval(100 * s.low, 100 * s.high, drawn=False),
                 *rate_in_points(s), s.votes, " ".join(s.letters)) for s in self.systems
            ),
            notes=("Wins: percent of votes against a system as strong as the others on average, a tie counting half.",
                   "Elo points: log-odds times 400/ln 10, with mean zero. Same letter: can't be told apart."),
        )  # fmt: skip

        def pair(c: PlacedPair) -> tuple[Cell, ...]:
            low, high = (100 * _share(e) for e in (c.low_simultaneous, c.high_simultaneous))
            return Percent(100 * _share(c.difference)), Interval(low, high, drawn=False)

        pairs = self.list_contrasts(("left wins", f"{level} CI, percent"), pair, "Wins: of votes, a tie counting half.")
        return systems, pairs

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        ways = [w for w, n in (("annotator", self.annotators), ("prompt", self.prompts)) if n]
        clustered = f" clustered by {' and '.join(ways)}" if ways else ""
        besides = join_names([f"the {e.name} of the answers" for e in self.effects])
        more = f", besides {besides}" if besides else ""
        return Method(
            question="Which system do annotators prefer?",
            sentences=(
                f"Systems were rated by the Bradley-Terry model of {format_count(self.rows.used)} votes{more}; "
                f"each of {format_counted(self.ties, 'tie')} counts as half a win of each side.",
                f"Standard errors are robust{clustered}; all pairs are compared at once (single-step max-t).",
            ),
            citations=("bradley1952", "cameron2011", "mogstad2024"),
        )


def _share(log_odds: float) -> float:
    """Return log-odds as a chance; what has no end is certain."""
    return 1.0 if math.isnan(log_odds) else float(special.expit(log_odds))


def _percent(log_odds: float) -> str:
    return f"{100 * _share(log_odds):.0f}%"


def rank_votes(
    data: Any,
    *,
    adjust: Iterable[str] | str = (),
    order: bool = True,
    annotator: str | None = None,
    prompt: str | None = None,
    where: Mapping[str, Iterable[str] | str] | None = None,
    level: float = 0.95,
    progress: Progress = no_progress,
) -> VoteRanking:
    """Return systems ranked by pairwise votes: Bradley and Terry's ratings, robust to annotators and prompts.

    Parameters
    ----------
    data : a table with a row for each vote: two columns of systems (model_a and model_b, a and b, left and right ...)
        and the winner: its name, its side, or a tie, which is half a win of each
    adjust : properties of answers, such as "length" for the columns length_a and length_b: ratings are then those at
        equal length
    order : whether the two columns say who was shown first, so that its advantage is taken out
    annotator, prompt : the columns that tell which votes go together; by default found by their names, "-" for none
    where : columns and the values that rows must have
    level : coverage of the intervals

    Examples
    --------
    >>> votes = {"a": ["x", "y", "x", "y"] * 10, "b": ["y", "x"] * 20, "winner": ["x", "x", "y", "tie"] * 10}
    >>> found = rank_votes(votes)
    >>> found.systems[0].name, round(found.systems[0].estimate, 2), found.state
    ('x', 0.63, 'unclear')
    """
    check_level(level)
    check_progress(progress)
    adjust = list_names_given(adjust, "adjust")
    votes = read_votes(data, annotator=annotator, prompt=prompt, adjust=adjust, where=list_where(where))
    progress(0, 1, "rating")
    _check_graph(votes)
    said = list(_caution_rows(votes))
    names, extra = _regressors(votes, order=order)
    ways = {"annotator": votes.annotator, "prompt": votes.prompt}
    counts = {role: int(way[1].max()) + 1 for role, way in ways.items() if way is not None}
    clusterings = [way[1] for role, way in ways.items() if way is not None and counts[role] > 1]
    shown = (votes.first, votes.second, votes.outcome, len(votes.names))
    try:
        found = rate(*shown, extra, clusterings, 1 - level)
    except FitError:
        if not order:
            raise
        names, extra = names[1:], extra[:, 1:]
        found = rate(*shown, extra, clusterings, 1 - level)
        said.append(Caution(
            code="order-unknown", advice="Show some pairs in both orders.",
            message="Being shown first can't be told from being better: each system is always on one side.",
        ))  # fmt: skip
    said += _caution_clusters(counts, found.df)
    contrasts, placed = place_pairs([votes.names[i] for i in found.order], found.pairs, level)
    systems = tuple(_list_systems(votes, found, placed))
    if lone := [s for s in systems if s.swept]:
        whose = f"Votes of {join_names([s.name for s in lone])} all went one way"
        said.append(Caution(code="swept", about="table:systems", advice="More votes against near rivals would tell.",
                            message=f"{whose}: ratings have a limit on one side only."))  # fmt: skip
    half = t_quantile((1 + level) / 2, found.df) * found.effect_se
    return VoteRanking(
        asked=Asked.about(
            "votes", data=votes.digest, roles={k: v for k, v in (("cluster", annotator), ("item", prompt)) if v},
            where=list_where(where), adjust=adjust, no_order=None if order else True, level=level,
        ),
        seed=None, rows=votes.rows, cautions=order_cautions(said), level=level, lower_is_better=False,
        systems=systems, contrasts=contrasts, ties=int((votes.outcome == 0.5).sum()),
        effects=tuple(
            VoteEffect(name=name, estimate=float(e), low=float(e - h), high=float(e + h))
            for name, e, h in zip(names, found.effects, half, strict=True) if math.isfinite(e)
        ),
        annotators=counts.get("annotator"), prompts=counts.get("prompt"), df=found.df,
        prompt_column=None if votes.prompt is None else votes.prompt[0],
    )  # fmt: skip


def _list_systems(votes: Votes, found: Ratings, placed: Sequence[dict[str, Any]]) -> Iterator[RatedSystem]:
    """Yield the systems; a share is against the others' mean rating, m / (m - 1) below where m ratings sum to zero."""
    count, finite = len(votes.names), int(np.isfinite(found.ratings).sum())
    shown = np.bincount(votes.first, minlength=count) + np.bincount(votes.second, minlength=count)
    points = np.bincount(votes.first, votes.outcome, count) + np.bincount(votes.second, 1 - votes.outcome, count)
    for i, place, *rating in zip(found.order, placed, found.ratings, found.low, found.high, strict=True):
        widen = finite / (finite - 1) if math.isfinite(rating[0]) and finite > 1 else 1.0
        share, low, high = (float(special.expit(widen * each)) for each in rating)
        yield RatedSystem(
            **place, estimate=share, low=low, high=high, votes=int(shown[i]), points=float(points[i]),
            rating=_plain(rating[0]), rating_low=_plain(rating[1]), rating_high=_plain(rating[2]),
            swept=None if math.isfinite(rating[0]) else "won" if rating[0] > 0 else "lost",
        )  # fmt: skip


def _plain(value: float) -> float:
    """Return a number; one without end as NaN, which a saved result writes alike."""
    return float(value) if math.isfinite(value) else math.nan


def _check_graph(votes: Votes) -> None:
    """Refuse votes that don't tie all systems to each other, and those between groups that all went one way."""
    count = len(votes.names)
    graph = sparse.csr_array((np.ones(len(votes.first)), (votes.first, votes.second)), shape=(count, count))
    parts = csgraph.connected_components(graph, directed=False)[1]
    apart, why = parts != parts[0], "no vote compares {} with {}, not even through others"
    if not apart.any():
        levels = join_levels(votes.first, votes.second, votes.outcome, count)
        apart = levels == SPLIT
        why = "votes between {} and {} all went one way, or went through a system that won or lost them all"
        parts = np.where(apart, 1, np.where(levels == 0, 0, 2))
        if not apart.any():
            return
    names = np.array(votes.names)
    groups = [list_names(names[side].tolist()) for side in (parts == 0, apart)]
    raise ScoresError(
        f"{why.format(*groups)}: no scale joins them. Collect votes between them, or rank each group by itself"
    )


def _regressors(votes: Votes, *, order: bool) -> tuple[list[str], Floats]:
    """Return what moves votes besides the systems: who is first, and tanh of each difference over its spread."""
    n = len(votes.first)
    found: dict[str, Floats] = {"order": np.ones(n)} if order else {}
    if order and (votes.outcome == votes.outcome[0]).all() and votes.outcome[0] != 0.5:
        raise ScoresError(
            f"every vote went to {votes.columns.first if votes.outcome[0] else votes.columns.second}: the columns say "
            "who won, not who was shown first; --no-order takes them so"
        )
    for name, difference in votes.differences.items():
        spread = float(np.sqrt((difference**2).mean()))
        if not spread:
            raise ScoresError(f"--adjust {name}: both answers have the same {name} in every vote; leave it out")
        found[name] = np.tanh(difference / spread) / np.tanh(1.0)
    return list(found), np.stack(list(found.values()), axis=1) if found else np.zeros((n, 0))


def _caution_rows(votes: Votes) -> Iterator[Caution]:
    """Yield what was left out that somebody should look at."""
    for reason, code, advice in (
        (ITSELF, "votes-on-itself", "They say nothing about who is better: see how pairs were drawn."),
        (NO_WINNER, "votes-without-winner", "If they are ties, write tie."),
    ):
        if count := votes.rows.reasons.get(reason, 0):
            message = f"Left out: {format_counted(count, 'vote')} with {reason}."
            yield Caution(code=code, about="data", count=count, advice=advice, message=message)


def _caution_clusters(counts: Mapping[str, int], df: float) -> Iterator[Caution]:
    """Yield what the intervals can't know: who voted, on what, or with too few of them."""
    if counts.get("annotator") == 1:
        yield Caution(code="one-annotator", message="One annotator voted: the answer is about this one's taste.",
                      advice="Ask others on some of the same prompts.")  # fmt: skip
    missing = [role for role in ("annotator", "prompt") if role not in counts]
    if missing:
        yield Caution(
            code="votes-independent", severity="warning" if len(missing) == 2 else "note",
            message=f"No column says which {' or '.join(missing)} a vote is of: votes count as independent of it.",
            effect="If each has several votes, CIs are too narrow.",
            advice="Name the columns annotator and prompt, or use --cluster and --item.",
        )  # fmt: skip
    if counts and df < FEW_DF and min(counts.values()) > 1:
        few = min((count, role) for role, count in counts.items())[1]
        yield Caution(code="few-clusters", message=f"So few {few}s, or such unequal ones, make CIs wide.",
                      advice=f"More {few}s help more than more votes.")  # fmt: skip
