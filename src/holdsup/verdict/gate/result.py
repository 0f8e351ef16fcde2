"""`Gate`, the answer of `gate_release`: pass, fail or inconclusive on one screen, and its table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from holdsup.rendering import Answer, Estimate, Gauge, Interval, Page, State, Table
from holdsup.rendering.numbers import format_count, format_counted, format_number
from holdsup.results import Method, find_scored, order_cautions
from holdsup.verdict.claims import Rule
from holdsup.verdict.gate.records import SURE, GateContrast, GateNumbers
from holdsup.verdict.phrases import join_names, name_items, say_level

STATES: dict[str, State] = {"pass": "yes", "fail": "no", "inconclusive": "unclear"}
LINES, LINES_OF_MANY, MOST_ROWS = 15, 24, 8
ORDER = ("fail", "inconclusive", "pass")
SIDES = ("candidate", "baseline")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate(GateNumbers):
    """Whether a candidate may replace a baseline."""

    def answer(self) -> Answer:
        """Return the outcome, the difference with its limits, and what would decide: as much as fits."""
        for left_out in (), ("rule",), ("rule", "more"), ("rule", "more", "settle it"), ("rule", "more", "caveat"):
            made = self._answer(left_out)
            if made.text().count("\n") <= made.most_lines:
                break
        return made

    def page(self) -> Page:
        """Return the whole result, ready to be rendered."""
        return replace(GateNumbers.page(self), answer=self._answer())

    def _answer(self, left_out: tuple[str, ...] = ()) -> Answer:
        one = len(self.contrasts) == 1
        return Answer(
            question="May the candidate replace the baseline?",
            state=STATES[self.outcome],
            headline=self._say(),
            parts=tuple(self._draw()) if one else (self._tabulate(MOST_ROWS),),
            foot=tuple(line for line in self._explain() if line[0] not in left_out),
            more=() if "more" in left_out else ("--full", "holdsup report", "--plot figure.svg"),
            signature=self.signature,
            names=tuple(name for c in self.contrasts for name in (c.metric, c.task) if name),
            most_lines=LINES if one else LINES_OF_MANY,
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the difference by each metric on each task."""
        return (self._tabulate(len(self.contrasts)), _list_sides(self))

    def describe_method(self) -> Method:
        """Return what was done, in words that a paper can print."""
        methods = join_names(list(dict.fromkeys(c.method for c in self.contrasts if c.method)))
        fail = f"{say_level(self.fail_level)}{' (adjusted)' if len(self.contrasts) > 1 else ''}"
        early = "looks" in self.asked.options or "peek" in self.asked.options
        said = (
            f"A candidate was gated against a baseline by non-inferiority: it passes if the one-sided "
            f"{say_level(self.level)} limit of its loss is within the drop, else it fails if it is worse at {fail}. "
            f"Limits are by a {methods or 'test that these data do not allow'}."
        )
        return Method(
            question="Is a candidate as good as a baseline, to within a drop?",
            sentences=(said,),
            citations=(("waudby2024",) if early and self.seed is not None else ("landemets1983",) if early else ())
            + (("welch1947",) if any(c.rule == Rule.TWO_WAY for c in self.contrasts) else ()),
        )

    def _say(self) -> str:
        if self.identical:
            return "PASS by identity, untested: both sides are the same table."
        if len(self.contrasts) == 1:
            return _say_one(self, self.contrasts[0])
        counts = {outcome: [c for c in self.contrasts if c.outcome == outcome] for outcome in ORDER}
        total = format_count(len(self.contrasts))
        every = "both" if len(self.contrasts) == 2 else f"all {total}"
        if self.outcome == "pass":
            worse = sum(1 for c in self.contrasts if c.best is not None and c.best < 0)
            small = f"; {worse} of them are worse, by less than that" if worse else ""
            return f"PASS: {every} differences are shown to be within their drop{small}."
        named = join_names([c.name for c in counts[self.outcome]], most=2)
        if self.outcome == "fail":
            return f"FAIL: the candidate is worse in {format_count(len(counts['fail']))} of {total} ({named})."
        open_ = format_count(len(counts["inconclusive"]))
        return f"INCONCLUSIVE: {open_} of {total} are neither shown to be within their drop nor to be worse ({named})."

    def _draw(self) -> Iterator[Gauge | Table]:
        (c,) = self.contrasts
        if c.low is not None and c.high is not None and c.low < c.high:
            sides = SIDES if c.lower_is_better else SIDES[::-1]
            yield Gauge(
                label="difference", low=c.low, high=c.high, estimate=c.difference, left=f"{sides[0]} better",
                right=f"{sides[1]} better", interval=f"{say_level(2 * self.level - 1)} CI", state=STATES[self.outcome],
                bound=c.drop if c.lower_is_better else -c.drop,
            )  # fmt: skip
        yield _list_sides(self)

    def _explain(self) -> Iterator[tuple[str, str]]:
        c = self.contrasts[0]
        yield "holds for", _holds_for(self)
        if not self.identical:
            end = "high" if c.lower_is_better else "low"
            yield "rule", f"PASS: {end} end within the drop; else FAIL: worse at {say_level(self.fail_level)}"
        if settle := _say_needed(self):
            yield "settle it", settle
        if grave := [each for each in order_cautions(self.cautions) if each.severity != "note"]:
            more = f" ({len(grave) - 1} more: --full)" if len(grave) > 1 else ""
            yield "caveat", f"{grave[0].message.rstrip('.')}{more}"

    def _tabulate(self, most: int) -> Table:
        rows = sorted(self.contrasts, key=lambda c: ORDER.index(c.outcome))[:most]
        left = len(self.contrasts) - len(rows)
        level, scored = say_level(2 * self.level - 1), find_scored(self).name()
        lower = [c.name for c in self.contrasts if c.lower_is_better]
        notes = [f"{left} more: --full."] if left else []
        notes += [f"Lower is better: {join_names(lower)}."] if 0 < len(lower) < len(self.contrasts) else []
        if len(self.contrasts) > 1:
            notes.append(f"All must be within their drop; one worse at {say_level(self.fail_level)}, adjusted, fails.")
        whose: dict[str, list[str]] = {}
        for c in rows:
            whose.setdefault(c.why, []).append(c.name)
        notes += [
            f"{join_names(names, most=2)}: {why}." if names[0] else f"{why}." for why, names in whose.items() if why
        ]
        return Table(
            name="contrasts",
            title="Candidate minus baseline",
            columns=("", "difference", f"{level} CI", "drop", "outcome"),
            rows=tuple(
                (
                    c.name or scored,
                    Estimate(c.difference, c.se),
                    Interval(c.low, c.high, drawn=False),
                    c.drop,
                    c.outcome.upper(),
                )
                for c in rows
            ),
            notes=tuple(notes),
        )


def _list_sides(found: GateNumbers) -> Table:
    """Return the mean of each side, and how much there is of it."""
    rows = []
    for c in found.contrasts:
        for side, own in zip(SIDES, (found.candidate, found.baseline), strict=True):
            mean, runs = (
                (c.candidate_mean, c.candidate_runs) if side == "candidate" else (c.baseline_mean, c.baseline_runs)
            )
            items = f" x {format_count(c.items)} {_name_items(found)}" if c.items else ""
            named = "" if own == side else f" ({own})"
            where = f"{c.name}: " if c.name and len(found.contrasts) > 1 else ""
            rows.append((f"{where}{side}", Estimate(mean, c.se), f"{format_counted(runs, 'run')}{items}{named}"))
    return Table(name="sides", title="Both sides", columns=("side", "mean", "data"), rows=tuple(rows), headless=True)


def _name_items(found: GateNumbers) -> str:
    role = "dataset" if found.unit == "datasets" else "item"
    column = found.asked.roles.get(role)
    return name_items(column if isinstance(column, str) else None, f"{role}s")


def _say_one(found: GateNumbers, c: GateContrast) -> str:
    unit = find_scored(found).name(c.metric)
    unit = "" if unit == "score" else f" {unit}"
    sure, drop = f"{say_level(found.level)} sure", format_number(c.drop)
    if c.why:
        return f"INCONCLUSIVE: {c.why}."

    worst, best = c.worst, c.best
    half = None if c.low is None or c.high is None else (c.high - c.low) / 2 or None

    def write(value: float) -> str:
        return format_number(abs(value), uncertainty=half)

    if c.outcome == "fail" and best is not None:
        return (
            f"FAIL: the candidate is worse by {write(c.gain)}{unit}, at least {write(best)} ({say_level(SURE)} sure)."
        )
    if worst is None:
        return "INCONCLUSIVE: too few runs to say how far scores vary by chance."
    if c.outcome == "inconclusive":
        return f"INCONCLUSIVE: the candidate may lose up to {write(worst)}{unit} ({sure}), and {drop} is allowed."
    if best is not None and best < 0:
        return f"PASS: the candidate is worse, but by at most {write(worst)}{unit} ({sure}); {drop} is allowed."
    if worst > 0:
        return f"PASS: the candidate is better, by at least {write(worst)}{unit} ({sure})."
    return f"PASS: the candidate loses at most {write(worst)}{unit} ({sure}), and {drop} is allowed."


def _say_needed(found: GateNumbers) -> str:
    """Return what would decide, in words."""
    need = found.needed
    if need is None:
        return "more runs of the candidate" if found.outcome == "inconclusive" else ""
    of = next((f" ({c.name})" for c in found.contrasts if c.name and len(found.contrasts) > 1
               and (c.metric, c.task) == (need.metric, need.task)), "")  # fmt: skip
    if need.next_look is not None:
        return f"the next planned look, at {format_count(need.next_look)} runs of the candidate"
    ways = [f"{format_counted(need.runs, 'run')} of each side"] if need.runs else []
    ways += [f"{format_count(need.items)} {_name_items(found)}"] if need.items else []
    if any(c.why for c in found.contrasts) and "peek" in found.asked.options and found.seed is not None:
        return "say that these runs are what you ask about (--claim these-runs or --deterministic), or use --looks"
    if any(c.why for c in found.contrasts):
        return f"{' or '.join(ways)}{of}, or say why one run is enough (--same-noise, --deterministic)"
    then = f"{need.outcome.upper()} if the true difference is the one found"
    if ways:
        return f"{' or '.join(ways)} in all{of}: {then}"
    if "peek" in found.asked.options:
        return "evaluate the next items in the order of the seed, and look again"
    return f"no number of runs or {_name_items(found)} alone{of}: the difference found is too near what decides"


def _holds_for(found: GateNumbers) -> str:
    items = f", new {_name_items(found)} like these" if found.contrasts[0].items else " on the same test data"
    tasks = " of these tasks" if len({c.task for c in found.contrasts}) > 1 else ""
    claims = {c.claim for c in found.contrasts}
    if claims == {"these-runs"}:
        again = "; another run would score the same" if "deterministic" in found.asked.options else ""
        return f"these runs{items}{tasks}{again or '; not new runs, settings or datasets'}"
    if claims == {"these-datasets"}:
        return f"new runs, new {_name_items(found)} of these tasks; not other tasks or settings"
    return f"new runs{items}{tasks}; not other settings or datasets"
