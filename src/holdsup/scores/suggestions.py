"""Options that a message suggests: how to say that a column repeats runs, or is a setting."""

from __future__ import annotations

from collections.abc import Sequence

from holdsup.columns import Labels
from holdsup.errors import shell_names
from holdsup.scores.roles import bare_name, is_replicate
from holdsup.scores.table import Scores

__all__ = ["suggest_facets", "suggest_part", "suggest_replicates"]

PARTED = frozenset("split subset partition part portion fold_type data_split eval_split eval_set".split())
PARTS = ("test", "eval", "heldout", "holdout", "dev", "val", "train")  # the first are what is usually reported


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


def suggest_part(scores: Scores, names: Sequence[str]) -> str | None:
    """Return the option that chooses one part of the data, test before the others, where a column names such parts."""
    for name in names:
        column = scores.others.get(name)
        if bare_name(name) in PARTED and isinstance(column, Labels):
            order = [_find_part(label) for label in column.names]
            if max(order) < len(PARTS):
                return f"--where {shell_names([f'{name}={column.names[order.index(min(order))]}'])}"
    return None


def _find_part(label: str) -> int:
    plain = label.strip().lower().replace("-", "").replace("_", "")
    return next((place for place, part in enumerate(PARTS) if plain.startswith(part)), len(PARTS))


def _stated(scores: Scores) -> tuple[str, ...]:
    """Return the repetitions that are not known as such by their names."""
    return tuple(name for name in scores.roles.replicates if not is_replicate(name))
