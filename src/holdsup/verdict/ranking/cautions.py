"""What limits a ranking: how the table was read, what the design cannot carry, and what the fit found."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from holdsup.columns import Labels
from holdsup.errors import list_names, shell_names
from holdsup.results import Caution
from holdsup.scores import Scores
from holdsup.scores.roles import is_setting, is_usual
from holdsup.scores.settings import find_outcomes, say_outcome
from holdsup.verdict.phrases import join_names, say_p
from holdsup.verdict.ranking.confounding import find_bends, find_confounded
from holdsup.verdict.ranking.fits import LEAST_DATASETS, RankFits
from holdsup.verdict.ranking.records import LEAST_SHARED, NOT_TESTED, RankContrast, TermVariance
from holdsup.verdict.ranking.table import RunTable, find_spellings, is_named_setting
from holdsup.verdict.ranking.words import name_term
from holdsup.verdict.repeats import caution_rows
from holdsup.verdict.trainings import Limited, caution_reading, is_moved

NIL = 1e-6  # of its standard error: a difference so small stands no way round
FEW = 5  # systems or datasets, below which their variance is barely known
MOST_PAIRS = 3  # that are named


def caution_table(scores: Scores, runs: RunTable, *, chosen: bool, aside: Sequence[str | None]) -> Iterator[Caution]:
    """Yield what was averaged, repeated, left aside or doubtful in a table.

    Parameters
    ----------
    chosen : whether nuisance columns were named, so that no other column was meant
    aside : columns that are used for something else
    """
    if runs.items:
        yield Caution(
            code="items-averaged", severity="note", about="data",
            message=f"Scores of items were averaged to {len(runs):,} means, one for each system, dataset and run.",
        )  # fmt: skip
    yield from runs.pairing.cautions()
    yield from caution_rows(scores.only(scores.usable), runs.factors, averaged=runs.items > 0)
    yield from _copies(runs)
    yield from _other_datasets(scores)
    yield from _spellings(scores, runs)
    if chosen:
        return
    outcomes = [name for name in find_outcomes(scores) if is_named_setting(name) and name not in runs.factors]
    for name in outcomes:
        if not is_setting(name):  # or else it was said when the table was read
            said = say_outcome(name, "--nuisance", (*runs.factors, name))
            yield Caution(code="outcome-column", severity="note", about="data", message=said)
    left = [name for name in scores.others if name not in (*runs.factors, *runs.ingredients, *outcomes, *aside)]
    if left:
        yield Caution(
            code="unused-columns", about="data",
            message=f"Columns not looked at: {join_names(left, most=5)} (--nuisance).",
            advice=f"If runs differ in one, name it: --nuisance {shell_names((*runs.factors, left[0]))}.",
        )  # fmt: skip


def _spellings(scores: Scores, runs: RunTable) -> Iterator[Caution]:
    """Yield the numbers of nuisance columns that are written in several ways."""
    columns = {**scores.others, **scores.properties, **scores.facets}
    for name in runs.factors:
        column = columns[name]
        twice = find_spellings(column) if isinstance(column, Labels) else []
        if twice:
            said = "; ".join(" and ".join(spellings) for spellings in twice[:3])
            yield Caution(
                code="number-spellings", severity="note", about="data", count=len(twice),
                message=f"Different spellings of a number count as one level of {name}: {said}.",
            )  # fmt: skip


def _copies(runs: RunTable) -> Iterator[Caution]:
    """Yield how many runs have the scores of another run of their system and setting on every dataset.

    They stay: without them levels would be spread unevenly, and a system with one run left has no spread of runs. A run
    whose scores are all equal may be at a ceiling, and is no copy.
    """
    scores: dict[tuple[int, int, int], list[tuple[int, float]]] = defaultdict(list)
    columns = (runs.system.codes, runs.settings, runs.trainings, runs.dataset.codes, runs.score)
    for system, setting, training, dataset, score in zip(*(column.tolist() for column in columns), strict=True):
        scores[system, setting, training].append((dataset, score))
    varied = {key: tuple(sorted(own)) for key, own in scores.items() if len({score for _, score in own}) > 1}
    seen = Counter((system, setting, own) for (system, setting, _), own in varied.items())
    copies: Counter[int] = Counter()
    for (system, _, _), count in seen.items():
        copies[system] += count - 1
    if said := [f"{count:,} of {runs.system.names[system]}" for system, count in sorted(copies.items()) if count]:
        yield Caution(
            code="copied-runs",
            about="data",
            message=f"Runs with exactly the scores of another run still count: {join_names(said, most=3)}.",
            effect="With one run a system has no spread of runs, and p would be smaller. compare counts them as one.",
            advice="Unless the system is deterministic, remove the copies.",
            count=sum(copies.values()),
        )


def _other_datasets(scores: Scores) -> Iterator[Caution]:
    """Yield a doubt where another column than that of the datasets is named like one."""
    taken = scores.roles.dataset
    if taken is None or is_usual("dataset", taken):
        return
    others = [name for name in (*scores.others, *scores.facets, *scores.properties) if is_usual("dataset", name)]
    if others:
        yield Caution(
            code="unusual-datasets",
            message=f"Datasets are the levels of {taken}, as asked, not of {join_names(others)}.",
            effect=f"The answer is about new levels of {taken}.",
        )


def caution_fits(
    fits: RankFits, contrasts: Sequence[RankContrast], random: Sequence[TermVariance]
) -> Iterator[Caution]:
    """Yield what a reader of the ranking must know, the gravest first."""
    yield from _not_converged(fits)
    yield from find_confounded(fits)
    yield from find_bends(fits)
    yield from _few(fits.runs)
    yield from _read_runs(fits, contrasts)
    yield from _untested(fits, contrasts)
    yield from _turned(contrasts)
    yield from _signed_ranks(contrasts[0], fits.means.level, len(contrasts))
    yield from _incomplete(fits.runs)
    yield from _no_variance(random)
    yield from fits.form.cautions


def _not_converged(fits: RankFits) -> Iterator[Caution]:
    for fit in (fits.means, fits.variances):
        if not fit.converged:
            yield Caution(
                code="not-converged",
                severity="error",
                message=f"The fit did not converge ({fit.optimizer.reason}): do not rely on its numbers.",
                effect=f"Model: {fit.formula}.",
            )
        if fit.dropped:
            yield Caution(
                code="dropped-columns",
                about="table:fixed",
                message=f"Dropped, as combinations of other columns: {join_names(list(fit.dropped))}.",
            )


def _few(runs: RunTable) -> Iterator[Caution]:
    if runs.dataset.count < FEW:
        yield Caution(
            code="few-datasets",
            message=f"{runs.dataset.count} datasets say little about new ones.",
            effect="CIs are wide, and the system x dataset variance is rough.",
            advice=f"Use {FEW} or more.",
        )
    if runs.system.count < FEW:
        yield Caution(
            code="few-systems",
            severity="note",
            about="table:random",
            message=f"{runs.system.count} systems say very little about the variance of systems.",
            effect="Its share and the shrunken means are rough; pairs don't depend on it.",
        )


def _read_runs(fits: RankFits, contrasts: Sequence[RankContrast]) -> Iterator[Caution]:
    """Yield how runs on several datasets were read, where it matters, and what the other reading gives."""
    level, read = fits.means.level, [c for c in contrasts if c.p_other_reading is not None]
    moved = (c for c in read if c.p_other_reading and is_moved(c.p, c.p_other_reading, level, len(contrasts)))
    c = next(moved, read[0] if read else None)
    if c is None or c.low_other_reading is None or c.high_other_reading is None or c.p_other_reading is None:
        return
    other = Limited(c.low_other_reading, c.high_other_reading, c.p_other_reading)
    yield caution_reading(
        f"{c.left} - {c.right}", fits.runs.nested_runs, Limited(c.low, c.high, c.p, c.log10_p), other,
        declared=fits.runs.declared, level=fits.means.level, pairs=len(contrasts),
    )  # fmt: skip


def _untested(fits: RankFits, contrasts: Sequence[RankContrast]) -> Iterator[Caution]:
    """Yield the pairs and systems that have no spread of their own."""
    if fits.form.averages and not fits.averages:
        yield Caution(
            code="uneven-levels",
            about="table:contrasts",
            message=f"Random levels of {join_names(sorted(fits.form.drawn))} are spread unevenly over the cells.",
            effect="Pairs are tested by the mixed model, with one system x dataset variance for all systems.",
        )
    none = [c for c in contrasts if c.method == NOT_TESTED]
    for code, lacks, why in (
        ("few-shared-datasets", True, "share fewer than two datasets"),
        ("constant-difference", False, "differ by the same amount on every dataset (is one a copy?)"),
    ):
        pairs = [f"{c.left} - {c.right}" for c in none if (c.datasets < LEAST_SHARED) == lacks]
        if pairs:
            yield Caution(
                code=code,
                about=f"pair:{pairs[0]}" if len(pairs) == 1 else "table:contrasts",
                message=f"Not tested, as they {why}: {list_names(pairs, most=MOST_PAIRS)}.",
                effect="There is no CI, and p is 1.",
                count=len(pairs),
            )
    names = [name for name, placed in zip(fits.runs.system.names, fits.placed, strict=True) if not placed]
    if names:
        yield Caution(
            code="too-few-to-lead",
            about=f"system:{names[0]}" if len(names) == 1 else "table:systems",
            message=f"Ranked last, with fewer than {LEAST_DATASETS} datasets: {join_names(names)}.",
            effect="Their means may be better than those above them.",
            count=len(names),
        )


def _turned(contrasts: Sequence[RankContrast]) -> Iterator[Caution]:
    """Yield the pairs that stand one way by their adjusted means and the other way on the datasets of both."""
    turned = [
        f"{c.left} - {c.right}"
        for c in contrasts
        if c.difference * c.pooled_difference < 0 and min(abs(c.difference), abs(c.pooled_difference)) > NIL * c.se
    ]
    if turned:
        yield Caution(
            code="turned-pairs",
            about=f"pair:{turned[0]}" if len(turned) == 1 else "table:contrasts",
            message=f"The order reverses on the datasets both have: {list_names(turned, most=MOST_PAIRS)}.",
            effect="The ranking is by adjusted means, which use all datasets.",
            count=len(turned),
        )


def _signed_ranks(lead: RankContrast, level: float, pairs: int) -> Iterator[Caution]:
    """Yield where the signed-rank test and the t-test disagree about the first two systems.

    With so few datasets that no order of signs gives a small p, ranks have no say.
    """
    p = lead.p_signed_rank_adjusted
    if (
        p is None
        or pairs * 2.0 ** (1 - lead.datasets) > 1 - level
        or (p <= 1 - level) == (lead.p_adjusted <= 1 - level)
    ):
        return
    tells = "tells" if p <= 1 - level else "doesn't tell"
    yield Caution(
        code="signed-rank",
        about=f"pair:{lead.left} - {lead.right}",
        message=f"A signed-rank test {tells} {lead.left} from {lead.right} ({say_p(p)}), unlike the t-test.",
        effect="The answer goes by the t-test, which is about the mean difference, not the median.",
        advice="Look for datasets on which the difference is far from the others.",
    )


def _incomplete(runs: RunTable) -> Iterator[Caution]:
    cells = runs.cells()
    empty = int((cells == 0).sum())
    if empty:
        yield Caution(
            code="empty-cells",
            message=f"{empty:,} of {cells.size:,} cells (system x dataset) have no score.",
            effect="Pairs are compared on the datasets both have; means cover all of them, through the model.",
            count=empty,
        )


def _no_variance(random: Sequence[TermVariance]) -> Iterator[Caution]:
    nil = [name_term(row) for row in random if row.variance == 0]
    if nil:
        yield Caution(
            code="no-variance",
            severity="note",
            about="table:random",
            message=f"No variance of {join_names(nil)} is visible: the fit puts it at zero.",
        )
