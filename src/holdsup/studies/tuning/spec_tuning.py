"""The tuning of a spec on the runner, and J and K for it: nothing is trained twice."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

from holdsup.errors import SpecError, TuningError
from holdsup.experiment import Plan, RunReport, Store, Task, read_status, run_plan
from holdsup.experiment.export import rows_by_run
from holdsup.experiment.sources import import_from
from holdsup.metrics import Metric, make_metric
from holdsup.numerics.tuning_plans import AdaptiveSchedule
from holdsup.progress import Progress, no_progress
from holdsup.results import order_cautions
from holdsup.splits import make_splitter
from holdsup.studies.contests.fields import Field, Strategy, choose_strategy, field_of_spec, sign_field, sign_system
from holdsup.studies.contests.training import open_store
from holdsup.studies.specs import Spec, read_spec
from holdsup.studies.specs.planning import try_splits, vary
from holdsup.studies.specs.spec import Place
from holdsup.studies.tuning.options import ONE_METRIC, require_budget, require_folds
from holdsup.studies.tuning.pools import Pool, collect_pool
from holdsup.studies.tuning.training import Outcome, Params
from holdsup.verdict.tuning import Tuning, TuningAdvice, advise_tuning, judge_tuning

FOLDS = (3, 5, 10)  # K that advice tries, besides the spec's own
LOOKED_AT = 2  # partitions of each; fewer have no variance


def run_tuning_spec(
    spec: Spec | str | Path,
    *,
    store: str | Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
    level: float = 0.95,
) -> Tuning:
    """Run the tuning of a spec; what its store holds is not trained again, whatever J was before.

    Parameters
    ----------
    spec : what `read_spec` returns, or the path of a spec
    store : a file instead of the spec's store
    executor : where trainings run, any `concurrent.futures.Executor`
    progress : called with the number of trainings done
    retry_failed : whether to try again what failed before
    level : confidence of what is said

    Raises
    ------
    SpecError : a spec of another kind, or one that cannot work
    TuningError : every candidate failed
    """
    search = make_search(spec, level=level)
    with Store(store or search.spec.store) as opened:
        pool, copies = search.go(
            Trials(search=search, store=opened, executor=executor, progress=progress, retry_failed=retry_failed)
        )
    return judge_tuning(
        pool.means(ONE_METRIC), search.candidates, k=search.k, metric_name=search.metric.name,
        higher_is_better=search.metric.higher_is_better, level=level, margin=search.margin, budget=search.budget,
        seed=search.spec.seed, fits=pool.fits, failures=pool.failures, schedule=search.schedule,
        copies=copies, grouped=search.field.corpus.groups is not None,
        cautions=search.metric.cautions, signed=search.signed(),
    )  # fmt: skip


def read_tuning_status(spec: Spec | str | Path, *, store: str | Path | None = None) -> RunReport:
    """Return how far a tuning has come; of an adaptive one, with the partitions that are known to be needed."""
    search = make_search(spec)
    there = store or (search.spec.store if search.spec.store.exists() else None)  # before the first run there is none
    with open_store(there, writing=False) as opened:
        trials = Trials(search=search, store=opened, reading=True)
        if not search.adaptive:
            return read_status(trials.plan(search.find_different(), trials.everyone), opened)
        with suppress(Unfinished):
            search.go(trials)
        asked = trials.plan([0], trials.everyone)
        return read_status(Plan(tuple(trials.tasks), asked.description, asked.folder), opened)


def advise_tuning_spec(
    spec: Spec | str | Path,
    *,
    store: str | Path | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    retry_failed: bool = False,
) -> TuningAdvice:
    """Return the J and K that the budget of a spec is best spent on.

    All candidates are trained on two partitions for each of some K, as far as the budget pays for that. Those of the K
    that is chosen are the first of the tuning to come. Without a budget, it is what the J and K of the spec take.

    Parameters
    ----------
    spec, store, executor, progress, retry_failed : as for `run_tuning_spec`
    """
    search = make_search(spec)
    budget = search.budget or search.j * search.k * len(search.candidates)
    looks = _choose_looks(search, budget)
    samples, fits = {}, 0
    with Store(store or search.spec.store) as opened:
        for look in looks:
            pool, _ = look.go(
                Trials(search=look, store=opened, executor=executor, progress=progress, retry_failed=retry_failed)
            )
            for failure in pool.failures:
                raise TuningError(
                    f"advice needs scores of all candidates, but {search.name(failure.candidate)} failed: "
                    f"{failure.error}. Leave it out"
                )
            samples[look.k] = pool.means(ONE_METRIC)
            fits += pool.fits
    advice = advise_tuning(
        samples, budget=budget, metric_name=search.metric.name, higher_is_better=search.metric.higher_is_better
    )
    return replace(advice, spent=fits, cautions=order_cautions((*search.metric.cautions, *advice.cautions)))


def _choose_looks(search: Search, budget: int) -> list[Search]:
    """Return the search with a few partitions of each K that the corpus allows, as far as the budget pays for all."""
    looks, fits = [], 0
    for k in dict.fromkeys((search.k, *FOLDS)):
        takes = LOOKED_AT * k * len(search.candidates)
        if fits + takes <= budget and _allows(search, k):
            strategy, _ = strategy_of_spec(search.spec, k)
            looks.append(replace(search, strategy=strategy, k=k, j=LOOKED_AT, adaptive=False, budget=None))
            fits += takes
    if not looks:
        least = min(search.k, *FOLDS)
        raise Place(search.spec.file.name, "budget").refuse(
            f"advice takes two partitions, {LOOKED_AT * least * len(search.candidates):,} fits with K={least}, but the "
            f"budget is {budget:,}: raise it, or give fewer candidates"
        )
    return looks


def _allows(search: Search, k: int) -> bool:
    """Return whether the corpus has items and groups enough for so many folds."""
    other = replace(search.spec, splits={**search.spec.splits, "k": k})
    try:
        try_splits(other, search.field.dataset, search.field.data)
    except SpecError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Candidates, partitions and a budget."""

    spec: Spec  # where it is from
    field: Field  # the corpus, and the candidates as its systems
    candidates: list[Params]  # their parameters
    strategy: Strategy  # how the corpus is split
    metric: Metric  # what ranks candidates
    j: int  # how many partitions, at most
    k: int  # how many folds each has
    adaptive: bool  # whether candidates are dropped on the way
    margin: float | None  # a difference in score that does not matter; None to find one
    budget: int | None  # the most trainings, None for no limit
    level: float  # confidence of limits

    @property
    def schedule(self) -> AdaptiveSchedule | None:
        """Who is trained on which partition, if that is decided on the way."""
        if not self.adaptive:
            return None
        return AdaptiveSchedule(
            candidates=len(self.candidates), k=self.k, margin=self.margin, level=self.level, budget=self.budget,
            most=self.j,
        )  # fmt: skip

    def find_different(self) -> list[int]:
        """Return the partitions that are no copies of earlier ones."""
        return self.field.find_different(self.strategy, self.j)

    def go(self, trials: Trials) -> tuple[Pool, int]:
        """Return what the candidates scored, and how many partitions that were wanted besides are copies of others.

        The first partition goes before the others: what makes every candidate fail is found out there. The others
        follow all at once, or look by look.
        """
        try:
            require_budget(self, len(self.candidates))
        except TuningError as error:
            raise Place(self.spec.file.name, "budget").refuse(str(error)) from error
        pool = trials.train([0], trials.everyone)
        self._require_score(pool)
        _, *others = different = self.find_different()
        if self.schedule is None:
            pool = pool.joined(trials.train(others, trials.everyone)) if others else pool
            return pool, self.j - len(different)
        sign = 1 if self.metric.higher_is_better else -1
        while (chosen := self.schedule.next(sign * pool.means(ONE_METRIC))) and others:
            pool = pool.joined(trials.train([others.pop(0)], chosen))
        return pool, self.j - len(different) if chosen else 0

    def _require_score(self, pool: Pool) -> None:
        if pool.failed.all():
            first = pool.failures[0]
            raise TuningError(
                f"{self.spec.file.name}: all {len(self.candidates)} candidates failed; {self.name(first.candidate)} on "
                f"{first.place}: {first.error}"
            )

    def signed(self) -> dict[str, object]:
        """Return what the signature says about corpus, splits and the system that is tuned."""
        name, source = next(iter(self.spec.systems.items()))
        described = next(iter(self.field.systems.values()))
        system = sign_system(name, {**described, "settings": dict(source.settings)})
        split = sign_field(self.field, self.strategy.make(self.j))
        return {**split, "system": f"{name}={system}", "spec": self.spec.file.name}

    def name(self, candidate: int) -> str:
        """Return the name of a candidate, as tasks have it."""
        return list(self.field.systems)[candidate]


def make_search(spec: Spec | str | Path, *, level: float = 0.95) -> Search:
    """Return what a spec asks for; its data are read, and its system is imported in another process.

    Parameters
    ----------
    spec : what `read_spec` returns, or the path of a spec
    level : confidence of limits
    """
    spec = spec if isinstance(spec, Spec) else read_spec(spec)
    if spec.kind != "tune":
        raise SpecError(f'{spec.file.name} has kind = {spec.kind!r}: a tuning needs kind = "tune"')
    strategy, j = strategy_of_spec(spec)
    field, candidates = field_of_candidates(spec)
    try_splits(spec, field.dataset, field.data)
    try:
        require_folds(strategy.folds, len(field.corpus))
    except TuningError as error:
        raise Place(spec.file.name, "splits").refuse(str(error)) from error
    return Search(
        spec=spec, field=field, candidates=candidates, strategy=strategy, metric=make_metric(**spec.metric), j=j,
        k=strategy.folds, adaptive=spec.tuning.get("adaptive", False), margin=spec.tuning.get("margin"),
        budget=spec.tuning.get("fits"), level=level,
    )  # fmt: skip


class Unfinished(TuningError):
    """A store that is only read lacks trainings that come next."""


@dataclasses.dataclass(slots=True, kw_only=True)
class Trials:
    """Trains candidates on partitions, as far as the store does not hold them."""

    search: Search  # what is asked for
    store: Store  # where results are kept
    executor: Executor | None = None  # where trainings run
    progress: Progress | None = None  # told how far they are
    retry_failed: bool = False  # whether to try again what failed before
    reading: bool = False  # whether to train nothing, and to end where a training is missing
    tasks: list[Task] = dataclasses.field(default_factory=list)  # the trainings that were asked for so far

    @property
    def everyone(self) -> range:
        """The places of all candidates."""
        return range(len(self.search.candidates))

    def plan(self, partitions: Sequence[int], chosen: Sequence[int]) -> Plan:
        """Return the trainings of some candidates on some partitions, both counted from 0."""
        search, named = self.search, list(self.search.field.systems.items())
        field = replace(search.field, systems=dict(named[c] for c in chosen))
        return field.plan(search.strategy, partitions, search.j)

    def train(self, partitions: Sequence[int], chosen: Sequence[int]) -> Pool:
        """Return what some candidates score on some partitions."""
        plan = self.plan(partitions, chosen)
        before, most = len(self.tasks), self.search.j * self.search.k * len(self.search.candidates)
        progress, most = self.progress or no_progress, min(most, self.search.budget or most)
        self.tasks += plan.tasks
        if not self.reading:
            run_plan(
                plan, self.store, self.executor, lambda done, _, label: progress(before + done, most, label),
                retry_failed=self.retry_failed,
            )  # fmt: skip
        elif {"running", "waiting"} & set(self.store.statuses([task.id for task in plan.tasks]).values()):
            raise Unfinished("some trainings are still to be done")
        return self._read(plan, partitions)

    def _read(self, plan: Plan, partitions: Sequence[int]) -> Pool:
        """Return the scores of a plan's trainings by the metric asked for; the store may hold those of another."""
        import_from(plan.folder)
        field, strategy, tasks = self.search.field, self.search.strategy, {task.id: task for task in plan.tasks}
        names = {name: place for place, name in enumerate(field.systems)}
        outcomes = []
        for row in rows_by_run(tasks, self.store, field.metric, {task: task for task in tasks}):
            place = strategy.place(tasks[row.task].arguments["split"]["index"])
            outcome = Outcome({}, error=row.reason) if row.score is None else Outcome({ONE_METRIC: row.score})
            candidate = names[str(tasks[row.task].labels["system"])]
            outcomes.append((partitions.index(place.partition), place.fold - 1, candidate, outcome))
        outcomes.sort(key=itemgetter(0, 1, 2))
        return collect_pool(outcomes, (len(partitions), strategy.folds, len(names)))


def field_of_candidates(spec: Spec) -> tuple[Field, list[Params]]:
    """Return the candidates of a spec as systems that compete, and their parameters, in the order of the spec."""
    field = field_of_spec(spec)
    (described,) = field.systems.values()
    candidates: list[Params] = list(vary(spec.facets))
    systems = {
        ", ".join(f"{name}={value!r}" for name, value in each.items()): {
            **described,
            "settings": {**described["settings"], **each},
        }
        for each in candidates
    }
    return replace(field, systems=systems), candidates


def strategy_of_spec(spec: Spec, k: int | None = None) -> tuple[Strategy, int]:
    """Return how a spec splits its corpus, with other folds if asked for, and its J."""
    folds = {} if k is None else {"k": k}
    return choose_strategy(make_splitter(**{**spec.splits, **folds}, seed=spec.seed))
