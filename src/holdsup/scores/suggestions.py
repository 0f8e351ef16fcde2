"""Options that a message suggests: how to say that a column repeats runs, or is a setting."""

from __future__ import annotations

from collections.abc import Sequence

from holdsup.errors import shell_names
from holdsup.scores.roles import is_replicate
from holdsup.scores.table import Scores

__all__ = ["suggest_facets", "suggest_replicates"]


def suggest_facets(scores: Scores, names: Sequence[str]) -> str:
    """Return the options that name columns as settings; the facets that the table has are named as well."""
    stated = _stated(scores)
    repeated = f" --replicates {shell_names(stated)}" if stated else ""
    kept = [name for name in scores.facets if name not in (*stated, *names)]
    return f"--facets {shell_names((*kept, *names))}{repeated}"


def suggest_replicates(scores: Scores, names: Sequence[str]) -> str:
    """Return the options that name columns as mere repetitions; the facets that the table has stay what they are."""
    repeated = (*_stated(scores), *names)
    kept = [name for name in scores.facets if name not in repeated]
    facets = f"--facets {shell_names(kept)} " if kept else ""
    return f"{facets}--replicates {shell_names(repeated)}"


def _stated(scores: Scores) -> tuple[str, ...]:
    """Return the repetitions that are not known as such by their names."""
    return tuple(name for name in scores.roles.replicates if not is_replicate(name))
