"""What a decomposition says in words, made from its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdsup.rendering import Answer, Cell, Estimate, Interval, Percent, State, Table
from holdsup.results import Method, write_caveats
from holdsup.verdict.phrases import join_names, judge_intervals, name_items, say_level, say_runs, say_threshold
from holdsup.verdict.variance.records import DecompositionNumbers, Reliability, StudyPlan, VarianceComponent, name_of

MOST_SYSTEMS, FEWER = 10, 5  # rows of the short answer, and where it would be too long
MOST_LINES = 25  # of the whole
MOST_SOURCES = 4  # columns of shares; of more, the largest
NOISE = "noise"  # the residual, in a word


def write_answer(found: DecompositionNumbers) -> Answer:
    """Return whether a single score is reliable, and where the variance comes from; of many systems what fits."""
    answer = _shorten(found, MOST_SYSTEMS)
    return answer if answer.text().count("\n") <= MOST_LINES else _shorten(found, FEWER)


def _shorten(found: DecompositionNumbers, most: int) -> Answer:
    """Return the answer with so many systems."""
    items, runs = _name_items(found), say_runs(found.asked)
    inside = "".join(f" of new {name}s" for name in found.list_objects()[1:])
    covers = (
        f"single scores of new {items}{inside} like these in new {runs}"
        if found.reliabilities
        else f"{runs} like these"
    )
    question = f"Is one score of this evaluation reliable (phi at least {say_threshold(found.threshold)})?"
    return Answer(
        question=question if found.reliabilities else "Where does the variance come from?",
        state=find_state(found),
        headline=_about_phi(found, items) if found.reliabilities else _about_shares(found, items),
        parts=(_show_systems(found, items, most) if len(found.systems) > 1 else _show_sources(found, items),),
        foot=(
            ("holds for", f"{covers}; not which system is better"),
            *(("settle it", said) for said in _settle(found)),
            *write_caveats(found.cautions),
        ),
        more=("--full (CIs, decision study, plans)", "holdsup report", "--plot figure.svg"),
        signature=found.signature,
        names=tuple(name for c in found.components for name in (c.system, c.metric or "", c.name)),
        most_lines=MOST_LINES,
    )


def _name_items(found: DecompositionNumbers) -> str:
    column = found.asked.roles.get("item")
    return name_items(column if isinstance(column, str) else None, "items" if column else "datasets")


def find_state(found: DecompositionNumbers) -> State | None:
    """Return whether every system's interval is above the threshold; None without items."""
    intervals = [(r.low, r.high) for r in found.reliabilities]
    return judge_intervals(intervals, found.threshold) if intervals else None


def find_decisive(found: DecompositionNumbers) -> Reliability | None:
    """Return the reliability that the answer rests on: the lowest of those that make it yes, no or unclear."""
    below = [r for r in found.reliabilities if r.high < found.threshold]
    spanning = [r for r in found.reliabilities if r.low < found.threshold]
    return min(below or spanning or found.reliabilities, key=lambda r: r.phi, default=None)


def _about_phi(found: DecompositionNumbers, items: str) -> str:
    one = find_decisive(found)
    assert one is not None
    cut = say_threshold(found.threshold)
    low, high, phi = (_say_phi(value, found.threshold) for value in (one.low, one.high, one.phi))
    state = find_state(found)
    if len(found.reliabilities) == 1:
        said = f"phi is {phi} ({say_level(found.level)} CI {low} to {high})"
        return {
            "yes": f"Single scores mostly tell {items} apart: {said}, all above {cut}.",
            "no": f"Single scores say too little about their {items}: {said}, below {cut}.",
        }.get(state or "", f"Too uncertain to tell whether single scores reach {cut}: {said}.")
    said = f"phi is {phi} for {name_of(one.system, one.metric)} ({say_level(found.level)} CI {low} to {high})"
    return {
        "yes": f"Single scores mostly tell {items} apart: {_count_reaching(found)} {cut}; the lowest {said}.",
        "no": f"Single scores say too little about their {items}: {_count_reaching(found)} {cut}; {said}.",
    }.get(state or "", f"Too uncertain to tell: {_count_reaching(found)} {cut}; {said}.")


def _count_reaching(found: DecompositionNumbers) -> str:
    """Return how many systems reach the threshold, with their whole CI."""
    everyone = len(found.reliabilities)
    reaching = sum(r.low >= found.threshold for r in found.reliabilities)
    what = "systems" if len({r.metric for r in found.reliabilities}) == 1 else "cases"
    if reaching == everyone:
        return f"both {what} reach" if everyone == 2 else f"all {everyone} {what} reach"
    if not reaching:
        return (
            f"neither of the {what} clearly reaches" if everyone == 2 else f"none of {everyone} {what} clearly reaches"
        )
    return f"{reaching} of {everyone} {what} clearly {'reaches' if reaching == 1 else 'reach'}"


def _say_phi(value: float, threshold: float) -> str:
    """Return phi to two decimals, or as many as show on which side of the threshold it is."""
    shown = (f"{value:.{digits}f}" for digits in range(2, 10))
    return next((text for text in shown if (float(text) >= threshold) == (value >= threshold)), repr(value))


def _about_shares(found: DecompositionNumbers, items: str) -> str:
    most = max(found.components, key=lambda c: c.percent)
    source = f"between {items}" if most.name == "item" else f"due to {most.name}"
    return (
        f"{most.percent:.0f}% of the variance of {name_of(most.system, most.metric)}'s scores is "
        f"{NOISE if most.name == 'Residual' else source}. Without items there is no reliability."
    )


def _show_sources(found: DecompositionNumbers, items: str) -> Table:
    """Return the sources of one system's variance."""
    only = found.systems[0]
    return Table(
        name="components",
        title=f"Where the variance of {name_of(only.system, only.metric)}'s scores comes from",
        columns=("source", "levels", "share", "variance", f"{say_level(found.level)} CI"),
        rows=tuple(
            (_name_source(c.name, items), None if c.name == "Residual" else c.levels, Percent(c.percent), c.variance,
             Interval(c.low, c.high, drawn=False))
            for c in found.components
        ),
    )  # fmt: skip


def _show_systems(found: DecompositionNumbers, items: str, most: int) -> Table:
    """Return the shares of several systems side by side; of many, those with the lowest phi."""
    known = {(r.system, r.metric): r for r in found.reliabilities}
    owners = [(s.system, s.metric) for s in found.systems]
    if (more := len(owners) - most) > 0 and (decisive := find_decisive(found)) is not None:
        first = decisive.system, decisive.metric
        owners.sort(key=lambda owner: (owner != first, known[owner].phi if owner in known else 1.0))
    columns = _largest_sources(found.components)
    percent = {(c.system, c.metric, c.name): c.percent for c in found.components}
    rows: list[tuple[Cell, ...]] = []
    for owner in owners[:most]:
        r = known.get(owner)
        phi: tuple[Cell, ...] = (None, None)
        if r is not None:
            phi = (Estimate(r.phi, 0.1), Interval(r.low, r.high, r.phi, written=False))
        shares = (Percent(percent.get((*owner, name))) for name in columns)
        rows.append((name_of(*owner), *(phi if known else ()), *shares))
    return Table(
        name="components",
        title="Reliability, and where the variance comes from",
        columns=("system", *(("phi", f" | {say_level(found.level)} CI | ") if known else ()),
                 *(_name_source(name, items) for name in columns)),
        rows=tuple(rows),
        notes=(f"{more} more{' with higher phi' if known else ''}: --full",) if more > 0 else (),
    )  # fmt: skip


def _largest_sources(components: Sequence[VarianceComponent]) -> list[str]:
    total: dict[str, float] = {}
    for c in components:
        total[c.name] = total.get(c.name, 0.0) + c.percent
    largest = sorted(total, key=lambda name: -total[name])[:MOST_SOURCES]
    return [name for name in total if name in largest]


def _name_source(name: str, items: str) -> str:
    return {"item": items, "Residual": NOISE}.get(name, name)


def _settle(found: DecompositionNumbers) -> Iterator[str]:
    """Yield the cheapest average that would be reliable, of the system that the answer rests on."""
    one = find_decisive(found)
    if one is None or one.phi >= found.threshold:
        return
    plans = [p for p in found.study if (p.system, p.metric) == (one.system, one.metric) and _average_over(p)]
    whose = "" if len(found.reliabilities) == 1 else f"{name_of(one.system, one.metric)}: "
    if enough := [p for p in plans if p.phi >= found.threshold]:
        least = min(enough, key=lambda p: (sum(p.counts.values()), -p.phi))
        yield f"{whose}averages over {_average_over(least)} have phi {_say_phi(least.phi, found.threshold)}"
    elif plans:
        best = max(plans, key=lambda p: p.phi)
        phi = _say_phi(best.phi, found.threshold)
        yield f"{whose}even averages over {_average_over(best)} have phi {phi}, below {say_threshold(found.threshold)}"


def _average_over(plan: StudyPlan) -> str:
    """Return what a plan averages over, "" where that is one score."""
    return join_names([f"{count} levels of {facet}" for facet, count in plan.counts.items() if count > 1])


def describe_method(found: DecompositionNumbers) -> Method:
    """Return what was done, for a paper."""
    models = join_names(list(dict.fromkeys(s.model for s in found.systems)))
    intervals = join_names(list(dict.fromkeys(c.method for c in found.components)))
    sentences = [f"The variance of single scores was decomposed by REML fits of {models}; CIs are by {intervals}."]
    if found.reliabilities:
        objects = " and ".join(f"{name}s" for name in found.list_objects())
        sentences.append(
            f"Reliability phi is the share of the variance between {objects}; bands are those of Koo and Li (2016), "
            "for every value in the CI."
        )
    return Method(
        question="Where does the variance come from, and how reliable is this evaluation?",
        sentences=tuple(sentences),
        citations=("hagmann2023", *(["koo2016"] if found.reliabilities else []), "bates2015"),
    )
