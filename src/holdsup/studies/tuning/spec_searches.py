"""What a spec of kind "tune" asks for, checked before anything is trained, and the order in which that is done."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from holdsup.errors import SpecError, TuningError
from holdsup.experiment import Store
from holdsup.metrics import Metric, make_metric
from holdsup.numerics.tuning import AdaptivePlan
from holdsup.splits.copies import find_copies
from holdsup.studies.contests.fields import Field
from holdsup.studies.contests.signing import sign_field, sign_system
from holdsup.studies.contests.strategies import Strategy
from holdsup.studies.specs import Spec, read_spec
from holdsup.studies.specs.planning import try_splits
from holdsup.studies.specs.shapes import Place
from holdsup.studies.tuning.candidates import Params
from holdsup.studies.tuning.options import require_budget, require_folds
from holdsup.studies.tuning.pools import Pool
from holdsup.studies.tuning.scoring import ONE_METRIC
from holdsup.studies.tuning.trials import Trials, field_of_candidates, strategy_of_spec

__all__ = ["Search", "make_search"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """Candidates, partitions and a budget.

    Attributes
    ----------
    spec : where it is from
    field : the corpus, and the candidates as its systems
    candidates : their parameters
    strategy : how the corpus is split
    metric : what ranks candidates
    j : how many partitions, at most
    k : how many folds each has
    adaptive : whether candidates are dropped on the way
    margin : a difference in score that does not matter; None to find one
    budget : the most trainings, None for no limit
    level : confidence of limits
    """

    spec: Spec
    field: Field
    candidates: list[Params]
    strategy: Strategy
    metric: Metric
    j: int
    k: int
    adaptive: bool
    margin: float | None
    budget: int | None
    level: float

    @property
    def plan(self) -> AdaptivePlan | None:
        """Who is trained on which partition, if that is decided on the way."""
        if not self.adaptive:
            return None
        return AdaptivePlan(
            candidates=len(self.candidates), k=self.k, margin=self.margin, level=self.level, budget=self.budget,
            most=self.j,
        )  # fmt: skip

    def trials(self, store: Store, **options: Any) -> Trials:
        """Return what trains the candidates; see `Trials` for the options."""
        most = min(self.j * self.k * len(self.candidates), self.budget or math.inf)
        return Trials(field=self.field, strategy=self.strategy, j=self.j, store=store, most=int(most), **options)

    def find_different(self) -> list[int]:
        """Return the partitions that are no copies of earlier ones: a copy is no new evidence."""
        corpus = self.field.corpus
        splits = self.strategy.make(self.j).split(corpus.inputs, corpus.targets, corpus.groups)
        return sorted(set(find_copies(list(islice(splits, self.k)) for _ in range(self.j))))

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
        if self.plan is None:
            pool = pool.joined(trials.train(others, trials.everyone)) if others else pool
            return pool, self.j - len(different)
        sign = 1 if self.metric.higher_is_better else -1
        while (chosen := self.plan.next(sign * pool.means(ONE_METRIC))) and others:
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
        raise SpecError(f'{spec.file.name} is of the kind {spec.kind!r}: a tuning needs kind = "tune"')
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
