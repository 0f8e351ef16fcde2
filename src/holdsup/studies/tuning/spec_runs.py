"""The tuning of a spec on the runner, and J and K for it: nothing is trained twice."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from holdsup.errors import SpecError, TuningError
from holdsup.experiment import Plan, RunReport, Store, read_status
from holdsup.progress import Progress, no_progress
from holdsup.rendering.numbers import format_counted
from holdsup.studies.specs import Spec
from holdsup.studies.specs.planning import try_splits
from holdsup.studies.specs.shapes import Place
from holdsup.studies.tuning.scoring import ONE_METRIC
from holdsup.studies.tuning.spec_searches import Search, make_search
from holdsup.studies.tuning.trials import Unfinished, strategy_of_spec
from holdsup.verdict.tuning import Tuning, TuningAdvice, advise_tuning, judge_tuning

__all__ = ["advise_tuning_spec", "read_tuning_status", "run_tuning_spec"]

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
            search.trials(opened, executor=executor, progress=progress or no_progress, retry_failed=retry_failed)
        )
    return judge_tuning(
        pool.means(ONE_METRIC), search.candidates, k=search.k, metric_name=search.metric.name,
        higher_is_better=search.metric.higher_is_better, level=level, margin=search.margin, budget=search.budget,
        seed=search.spec.seed, fits=pool.fits, failures=pool.failures, plan=search.plan,
        copies=copies, grouped=search.field.corpus.groups is not None,
        cautions=search.metric.cautions, signed=search.signed(),
    )  # fmt: skip


def read_tuning_status(spec: Spec | str | Path, *, store: str | Path | None = None) -> RunReport:
    """Return how far a tuning has come; of an adaptive one, with the partitions that are known to be needed."""
    search = make_search(spec)
    with _open_to_read(search.spec, store) as opened:
        trials = search.trials(opened, reading=True)
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
                look.trials(opened, executor=executor, progress=progress or no_progress, retry_failed=retry_failed)
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
    spent = f"This rests on {format_counted(fits, 'fit')}; those with K={advice.k} are the first of the tuning to come."
    said = (*search.metric.cautions, *advice.warnings)
    return replace(advice, verdict=f"{advice.verdict} {spent}", warnings=said)


@contextmanager
def _open_to_read(spec: Spec, store: str | Path | None) -> Iterator[Store]:
    """Give the store; before the first run the spec's own is one that holds nothing."""
    if store is not None or Path(spec.store).exists():
        with Store(store or spec.store, writing=False) as opened:
            yield opened
        return
    with tempfile.TemporaryDirectory(prefix="holdsup-") as folder, Store(Path(folder) / "tune.db") as opened:
        yield opened


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
