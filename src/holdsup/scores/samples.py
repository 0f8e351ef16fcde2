"""Samples: several answers of one trained system to one item, which say nothing about other trainings of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.errors import shell_names
from holdsup.results.cautions import Caution
from holdsup.scores.roles import TRIALS, Roles, bare_name

MOST_OWN = 0.5  # of the rows may have a value of their own: with more a column holds the answers themselves


def settle_samples(
    roles: Roles, labels: Mapping[str, Labels], cells: Collection[Labels | None], known: Collection[str | None]
) -> tuple[Roles, list[Caution]]:
    """Return the roles with samples where a column tells answers to one item apart, and what has to be said of it.

    A column found by its name is none where it tells nothing apart. A trial that repeats the items of a run was a
    repetition of the training before, and is none: five of them would pass for five trainings.

    Parameters
    ----------
    cells : the labels that, with a run, make an item that a run has scores of, by one metric or several
    known : columns that were asked for or stated, which are what they are said to be
    """
    if roles.sample is not None and roles.sample not in known and not _tells(roles, roles.sample, labels, cells):
        roles = replace(roles, sample=None)
    trials = [name for name in roles.facets if bare_name(name) in TRIALS and name not in known]
    if not trials or roles.sample is not None or roles.item is None or not _tells(roles, trials[0], labels, cells):
        return roles, []
    name = trials[0]
    facets, replicates = (tuple(c for c in columns if c != name) for columns in (roles.facets, roles.replicates))
    said = Caution(
        code="trials-as-samples",
        about="data",
        message=f"Each {name} counts as a sample of one trained system, not as a training run.",
        effect="The answer covers new samples, and not new training runs.",
        advice=f"If each {name} was trained anew, give --replicates {shell_names([name])}.",
    )
    return replace(roles, sample=name, facets=facets, replicates=replicates), [said]


def _tells(roles: Roles, column: str, labels: Mapping[str, Labels], cells: Collection[Labels | None]) -> bool:
    """Return whether a column tells apart what else would be scores of the same run and item, of most items."""
    runs = [roles.run] if roles.run else [name for name in roles.facets if name != column]
    alone = cross(*cells, *(labels[name] for name in runs), rows=len(labels[column].codes))
    own = labels[column].count > MOST_OWN * len(labels[column].codes)
    apart = cross(alone.codes, labels[column])
    each = np.bincount(alone.codes[apart.first])  # how many levels the cells have
    return not own and apart.count > alone.count and 2 * int((each > 1).sum()) > alone.count
