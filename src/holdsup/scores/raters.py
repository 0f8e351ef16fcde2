"""Who rated what: a column of raters as questions take it."""

from __future__ import annotations

from dataclasses import replace

from holdsup.columns import Labels
from holdsup.columns.crossing import cross
from holdsup.results import Caution
from holdsup.scores.table import Scores


def settle_raters(scores: Scores, said: list[Caution]) -> Scores:
    """Return scores whose raters are two or more; of a single one `said` gets that it tells nothing."""
    usable = scores.only(scores.usable)
    if usable.rater is None or cross(usable.rater).count > 1:
        return scores
    name = usable.rater.names[usable.rater.codes[0]] if len(usable) else ""
    said.append(
        Caution(
            code="one-rater",
            about="claim",
            message=f"All scores are by one {scores.roles.rater}, {name}: the answer is about how {name} scores.",
            advice="With three raters or more, some on the same items, it can speak of new ones.",
        )
    )
    return set_raters_aside(scores)


def set_raters_aside(scores: Scores) -> Scores:
    """Return scores whose column of raters has no role, for questions that don't adjust for raters."""
    if scores.rater is None:
        return scores
    others = {**scores.others, str(scores.roles.rater): scores.rater}
    return replace(scores, rater=None, others=others, roles=replace(scores.roles, rater=None))


def take_raters_as_items(scores: Scores) -> Scores:
    """Return scores without items whose raters are what systems are scored on: each gives one score."""
    return replace(
        scores, rater=None, item=scores.rater, roles=replace(scores.roles, rater=None, item=scores.roles.rater)
    )


def take_raters_as_facet(scores: Scores) -> Scores:
    """Return scores whose raters are a facet of runs that is crossed with systems and repeats their scores."""
    if scores.rater is None:
        return scores
    name, roles = str(scores.roles.rater), scores.roles
    both = cross(scores.run, scores.rater)
    parts = [[*labels.names, ""] for labels in (scores.run, scores.rater)]
    codes = [labels.codes[both.first].tolist() for labels in (scores.run, scores.rater)]
    runs = Labels.of(both.codes, [f"{parts[0][run]}/{parts[1][rater]}" for run, rater in zip(*codes, strict=True)])
    return replace(
        scores,
        rater=None,
        run=runs,
        facets={**scores.facets, name: scores.rater},
        roles=replace(
            roles, rater=None, facets=(*roles.facets, name), replicates=(*roles.replicates, name),
            shared=(*roles.shared, name),
        ),
    )  # fmt: skip
