"""A design from a table that is read in batches, and the second pass: batches as the engine's samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from holdsup.columns import OpenTable
from holdsup.columns.batches import Batches
from holdsup.columns.books import LevelBook
from holdsup.design.batchrows import BatchColumns, BatchRows, complete_batch, read_batch
from holdsup.design.formulas import Formula
from holdsup.design.groups import LevelFinder
from holdsup.design.matrices import Design, build_design
from holdsup.design.rescaling import Derived
from holdsup.design.survey import Survey
from holdsup.design.transforms import Transform
from holdsup.design.variables import no_complete_row, represent
from holdsup.errors import ReadError
from holdsup.numerics.layout import Effects, Layout, Sample
from holdsup.numerics.moments import Moments
from holdsup.numerics.summation import MomentPart, MomentSum, PreparedRows
from holdsup.progress import Progress, no_progress


def read_moments(
    formula: Formula, source: Batches, *, weights: str | None = None, progress: Progress = no_progress
) -> tuple[Design, Moments]:
    """Return a design without rows, and its cross-products, in two passes over the batches."""
    needed = BatchColumns.of(formula, source.tables, weights)
    survey = source.fold(partial(Survey, needed), needed.columns(), label="surveying rows", progress=progress)
    if blank := survey.blanks():  # "NA" beside true and false is no label: known only now, so count again
        needed = replace(needed, blank=blank)
        survey = source.fold(partial(Survey, needed), needed.columns(), label="surveying rows", progress=progress)
    table, rows, books = survey.finish()
    if not rows.used:
        raise no_complete_row(formula)
    design = build_design(formula, represent(formula, table, weights, rows, survey.statistics()))
    make = partial(MomentBatches, BatchCoder.of(design, needed, books))
    total = source.fold(make, needed.columns(), label="adding up rows", progress=progress)
    moments = total.moments()
    if moments.n != rows.used:
        raise ReadError(f"the batches had {rows.used:,} complete rows when first read, and then {moments.n:,}")
    fixed = slice(moments.q2, moments.q2 + moments.p)
    return replace(design, gram=moments.C[fixed, fixed].copy()), moments


@dataclass(frozen=True, eq=False)
class BatchCoder:
    """What turns rows of a batch into the engine's layout and sample."""

    needed: BatchColumns  # which columns are read, and as what
    books: Mapping[str, LevelBook]  # the code of each level
    factors: tuple[str, ...]  # the column of each factor
    numbers: tuple[tuple[str, Transform, int], ...]  # the column, the function and the place of each numeric variable
    response: tuple[str, Transform]  # the column of the response and its function
    derived: tuple[Derived, ...]  # variables made from others
    shift: float  # what is taken off the response
    weight_unit: float  # what weights are divided by
    layout: Layout  # the model, without levels of rows
    # for each of its grouping factors with several columns, how the level of a row is found
    finders: tuple[LevelFinder | None, ...]
    total: int  # rows in all batches

    @classmethod
    def of(cls, design: Design, needed: BatchColumns, books: Mapping[str, LevelBook]) -> BatchCoder:
        """Return the coder of a design."""
        variables = design.variables
        named = {coded.factor: f.variable for f, coded in variables.coded.items() if coded.factor is not None}
        named.update({index: name for name, index in variables.grouping.items()})
        numbers = [
            (factor.variable, variables.transforms[factor], index)
            for factor, coded in variables.coded.items()
            for _, index in coded.numbers
        ]
        response = design.formula.response
        bare = tuple(replace(effects, codes=np.empty(0, np.int32)) for effects in design.layout.effects)
        return cls(
            needed=needed,
            books=books,
            factors=tuple(named[i] for i in range(len(variables.factors))),
            numbers=tuple(sorted(numbers, key=lambda number: number[2])),
            response=(response.variable, variables.transforms[response]),
            derived=design.derived,
            shift=design.shift,
            weight_unit=design.weight_unit,
            layout=replace(design.layout, effects=bare),
            finders=tuple(_finder(effects, design) for effects in design.layout.effects),
            total=design.rows.used,
        )

    def code(self, rows: BatchRows) -> tuple[Layout, Sample]:
        """Return complete rows as the engine sees them."""
        factors = tuple(rows.labels[name] for name in self.factors)
        numbers = [transform.apply(rows.numbers[name])[0] for name, transform, _ in self.numbers]
        for recipe in self.derived:
            numbers.append(recipe.of(numbers[recipe.number]))
        name, transform = self.response
        (response,) = transform.apply(rows.numbers[name])
        weights = rows.numbers[self.needed.weights] / self.weight_unit if self.needed.weights else None
        effects = []
        for known, finder in zip(self.layout.effects, self.finders, strict=True):
            codes = [factors[i] for i in known.factors]
            effects.append(replace(known, codes=finder.find(codes) if finder else codes[0]))
        sample = Sample(response - self.shift, weights, tuple(numbers), factors, self.total)
        return replace(self.layout, effects=tuple(effects)), sample


def _finder(effects: Effects, design: Design) -> LevelFinder | None:
    if len(effects.factors) == 1:  # its levels are those of the column
        return None
    counts = [design.variables.factors[i].count for i in effects.factors]
    return LevelFinder([design.sample.factors[i] for i in effects.factors], counts, effects.codes)


class MomentBatches:
    """The cross-products of the batches added so far."""

    def __init__(self, coder: BatchCoder) -> None:
        self.coder = coder
        self.books = {name: book.copy() for name, book in coder.books.items()}
        self.sum = MomentSum(coder.layout)

    def prepare(self, batch: OpenTable) -> MomentPart | PreparedRows | None:
        """Return a batch as it is added up, None if it has no complete row."""
        rows = complete_batch(read_batch(batch, self.coder.needed, self.books), self.coder.needed)
        return self.sum.prepare(*self.coder.code(rows)) if rows.rows.used else None

    def add(self, prepared: MomentPart | PreparedRows | None) -> None:
        """Add the cross-products of a batch."""
        if prepared is not None:
            self.sum.add(prepared)

    def part(self) -> MomentPart:
        """Return the cross-products of these batches."""
        return self.sum.part()

    def add_part(self, part: MomentPart) -> None:
        """Add the cross-products of other batches."""
        self.sum.add(part)

    def moments(self) -> Moments:
        """Return the cross-products of all batches."""
        return self.sum.moments()
