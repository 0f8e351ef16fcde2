"""`decompose_variance`: where does the variance of the scores come from, and how reliable are they?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from holdsup.arguments import check_count, check_level, check_levels, check_processes, check_progress, list_names_given
from holdsup.errors import ScoresError, list_names
from holdsup.progress import Progress, no_progress
from holdsup.results import Asked, Caution, order_cautions
from holdsup.results.extras import find_extra, list_extras
from holdsup.scores.audit import list_roles
from holdsup.scores.faults import refuse
from holdsup.scores.raters import take_raters_as_facet
from holdsup.scores.refusals import find_item_facets, find_measured_facets
from holdsup.verdict.evaluation import Evaluation, lay_out
from holdsup.verdict.intake import Where, caution_missing, leave_out, list_where, take_in
from holdsup.verdict.items import find_dead_items, find_notable
from holdsup.verdict.phrases import join_names
from holdsup.verdict.planning import PairPlan
from holdsup.verdict.repeats import caution_repeats, check_repeats, leave_out_copies
from holdsup.verdict.scales import find_scale
from holdsup.verdict.trainings import caution_facets, nest_facets
from holdsup.verdict.variance.fits import Decomposed, LeftOut, decompose_system
from holdsup.verdict.variance.latent import find_latent
from holdsup.verdict.variance.properties import cross_with_property
from holdsup.verdict.variance.records import JIANG, Reliability, StudyPlan, VarianceComponent
from holdsup.verdict.variance.reliability import BOOTSTRAP, Intervals, find_intervals, name_band, reaches
from holdsup.verdict.variance.result import Decomposition
from holdsup.verdict.variance.study import list_plans, say_worth, study_pair

Levels: TypeAlias = Mapping[str, Sequence[int]] | None
DRAWS = 1000  # of the bootstrap
FEW = 5  # levels, below which a variance is barely known


def decompose_variance(
    data: Any,
    *,
    interactions: Iterable[str] | str | None = (),
    where: Where = None,
    last: str | None = None,
    nested_runs: bool = False,
    by: Iterable[str] | str | None = (),
    levels: Levels = None,
    threshold: float = JIANG,
    level: float = 0.95,
    seed: int = 0,
    processes: int | None = None,
    progress: Progress = no_progress,
    **roles: Any,
) -> Decomposition:
    """Return the components of the variance of each system's scores, and how reliable the scores are.

    The model is ``score ~ 1 + (1 | item) + (1 | facet) + ...``, by REML, for one system at a time. Where items lie in
    clusters or datasets, these have variances of their own, and the reliability coefficient counts them with the items.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes
    interactions : further components, such as "seed:learning_rate" or "item:seed"
    where : columns and the values that rows must have, such as ``{"system": "A"}``
    last : a column that counts, such as "step": of each run on each dataset only the rows at its largest value are used
    nested_runs : whether each dataset has training runs of its own, though their names recur: seed 1 of two datasets is
        then two trainings; by default a run whose name recurs is one training that was evaluated on all
    by : properties of the items; how each facet's effect changes with them is added
    levels : numbers of levels of facets to plan for, such as ``{"seed": [5, 10]}``; by default some usual ones
    threshold : the reliability that a single score should have
    level : coverage of intervals
    seed : of the bootstrap that gives intervals where the profile likelihood cannot
    roles : passed on to `read_scores`

    Examples
    --------
    >>> from holdsup import simulate_scores
    >>> table = simulate_scores({"A": 0.7}, items=100, runs=4, sd_item=0.1, sd_run=0.05, sd_system_item=0, seed=1)
    >>> found = decompose_variance(table)
    >>> [component.name for component in found.components], found.reliability.band
    (['item', 'seed', 'Residual'], 'poor to good')
    """
    check_level(level)
    check_count(seed, "seed")
    check_processes(processes)
    check_progress(progress)
    check_level(threshold, argument="threshold")
    interactions, by = list_names_given(interactions, "interactions"), list_names_given(by, "by")
    planned = check_levels(levels)
    # Which way is better is no matter here: nothing is said of it.
    taken = take_in(data, roles, where=where, last=last, lower_is_better=False, raters=True, progress=progress)
    chosen = take_raters_as_facet(nest_facets(taken.scores) if nested_runs else taken.scores)
    usable = chosen.only(chosen.usable)
    refuse((*find_item_facets(usable, usable.facets), *find_measured_facets(usable)))
    evaluations = lay_out(chosen)
    for evaluation in evaluations:
        check_repeats(evaluation, averaged=False)
    said = [*taken.cautions, *caution_missing(taken.scores), *caution_facets(chosen, declared=nested_runs)]
    said.extend(repeat for each in evaluations for repeat in caution_repeats(each, averaged=False))
    asked = [(evaluation, name) for evaluation in evaluations for name in evaluation.scores.system.names]
    tried = [decompose_system(evaluation, name, interactions, said, level=level) for evaluation, name in asked]
    everyone = [one for one in tried if isinstance(one, Decomposed)]
    left_out = [one for one in tried if isinstance(one, LeftOut)]
    if not everyone:
        raise _nothing_left(left_out)
    said.extend(one.caution() for one in left_out)
    study = list_extras(
        "the plans of other numbers of levels",
        lambda: (plan for one in everyone if one.item for plan in _plans(one, planned)), said, asked=True,
    )  # fmt: skip
    properties = list_extras(
        f"how effects depend on {list_names(by)}",
        lambda: (each for one in everyone for name in by for each in cross_with_property(one, name, level, said)),
        said, asked=True,
    )  # fmt: skip
    scales = {each.metric: find_scale(each.scores, each.metric) for each in evaluations} if properties else {}
    properties = tuple(replace(p, points=tuple(map(scales[p.metric].limit, p.points))) for p in properties)
    found: list[tuple[Decomposed, Intervals]] = []
    for i, one in enumerate(everyone):
        progress(i, len(everyone), f"intervals for {one.system}")
        intervals = find_intervals(
            one.fit, first=max(1, len(one.measured)), level=level, draws=DRAWS, seed=seed, items=bool(one.item),
            processes=processes,
        )  # fmt: skip
        found.append((one, intervals))
    drawn = any(intervals.method == BOOTSTRAP for _, intervals in found)
    pairs = [pair for evaluation in evaluations for pair in _pairs(evaluation, everyone, said)]
    differences = list_extras(
        "the plans for differences", lambda: (plan for pair in pairs for plan in list_plans(pair)), said
    )
    advice = list_extras("the advice on what to do next", lambda: map(say_worth, pairs), said)
    latent = list_extras(
        "the latent scale", lambda: (each for one in everyone for each in find_latent(one, said)), said
    )  # fmt: skip
    notable = list_extras("the hardest items", lambda: find_notable(evaluations), said)
    reliabilities = tuple(_reliability(one, intervals) for one, intervals in found if one.item)
    components = tuple(c for one, intervals in found for c in _components(one, intervals))
    return Decomposition(
        asked=Asked.about(
            "variance",
            data=taken.scores.digest,
            roles=list_roles(taken.scores),
            interactions=interactions,
            where=list_where(where),
            last=last,
            nested_runs=nested_runs or None,
            by=by,
            levels={facet: tuple(map(str, counts)) for facet, counts in planned.items()},
            threshold=None if threshold == JIANG else threshold,
            method="reml",
            level=level,
            draws=DRAWS if drawn else None,
            seed=seed if drawn else None,
        ),
        seed=seed if drawn else None,
        cautions=order_cautions((*said, *_few_levels(components))),
        rows=leave_out(taken.rows(), sum(one.scores for one in left_out), "a system that is left out"),
        threshold=threshold,
        level=level,
        systems=tuple(one.summary() for one in everyone),
        components=components,
        reliability=reliabilities[0] if reliabilities else None,
        reliabilities=reliabilities,
        study=study,
        properties=properties,
        differences=differences,
        next=advice,
        latent=latent,
        dead=tuple(find_dead_items(evaluations)),
        items=notable,
    )


def _nothing_left(left_out: Sequence[LeftOut]) -> ScoresError:
    """Return the error for a table none of whose systems can be decomposed, by the reason of the first."""
    first = left_out[0]
    names = list_names([one.system for one in left_out if one.why == first.why], most=3)
    return ScoresError(f"there is no variance to decompose in the scores of {names}: {first.why}; {first.advice}")


def _components(one: Decomposed, intervals: Intervals) -> Iterator[VarianceComponent]:
    total = sum(one.variances)
    names = [*((term.name, term.levels.count) for term in one.terms), ("Residual", len(one.scores))]
    groups = [component.group for component in one.fit.random]
    for (name, count), variance, group in zip(names, one.variances, groups, strict=True):
        low, high = intervals.variances[group]
        yield VarianceComponent(
            system=one.system,
            metric=one.metric,
            name=name,
            levels=count,
            variance=variance,
            percent=100 * variance / total,
            low=min(low, variance),
            high=high,
            method=intervals.method,
        )


def _reliability(one: Decomposed, intervals: Intervals) -> Reliability:
    low, high = intervals.share
    return Reliability(
        system=one.system,
        metric=one.metric,
        phi=sum(one.variances[: len(one.measured)]) / sum(one.variances),
        low=low,
        high=high,
        band=name_band(low, high),
        above_80=reaches(low, high),
        method=intervals.share_method,
    )


def _plans(one: Decomposed, asked: Mapping[str, Sequence[int]]) -> Iterator[StudyPlan]:
    """Yield the rows of the decision study, each once."""
    study = one.study()
    seen: list[Mapping[str, int]] = []
    for counts in study.plans(asked):
        if counts in seen:
            continue
        seen.append(counts)
        yield StudyPlan(
            system=one.system,
            metric=one.metric,
            counts=counts,
            repeats=study.repeats,
            current=counts == study.facets,
            phi=study.phi(counts),
            se=study.error(counts) ** 0.5,
            se_mean=study.standard_error(counts),
        )


def _pairs(evaluation: Evaluation, found: Sequence[Decomposed], said: list[Caution]) -> Iterator[PairPlan]:
    """Yield the study of each system and the one next to it by their means; `said` gets a line where there is none."""
    evaluation = leave_out_copies(evaluation).evaluation  # as `compare` does, for whose test the plans are
    by = f"{evaluation.metric}: " if evaluation.metric else ""
    here = [one.system for one in found if one.metric == evaluation.metric]
    able = [name for name in here if evaluation.system(name).repeats and not evaluation.per_run]
    if evaluation.datasets is not None and len(able) > 1:
        said.append(
            Caution(
                code="no-difference-plan",
                severity="note",
                about="table:differences",
                message=f"{by}No plan for differences: with several datasets, these decide how many you need.",
            )
        )
        return
    for left, right in itertools.pairwise(sorted(able, key=lambda name: -evaluation.system(name).mean())):
        name = f"{by}the plan for the difference of {left} and {right}"
        if (study := find_extra(name, partial(study_pair, evaluation, left, right), said, None)) is not None:
            yield study


def _few_levels(components: Sequence[VarianceComponent]) -> Iterator[Caution]:
    """Yield one caution for each source with few levels, whatever the system."""
    few = [c for c in components if c.levels < FEW]
    for name in dict.fromkeys(c.name for c in few):
        own = [c for c in few if c.name == name]
        names, everyone = ([*dict.fromkeys(c.system for c in some)] for some in (own, components))
        whose = "" if len(everyone) == 1 else " in every system" if names == everyone else f" in {join_names(names)}"
        yield Caution(
            code="few-levels",
            about="table:components",
            message=f"Only {min(c.levels for c in own)} levels of {name}{whose}: its variance is barely known.",
            advice=f"Add levels of {name}: five or more.",
            count=len(own),
        )
