"""What the audit finds that would mislead a verdict, as a warning beside it."""

from __future__ import annotations

from collections.abc import Iterator

from holdsup.scores.row_faults import find_unlabelled
from holdsup.scores.run_faults import find_misread_runs
from holdsup.scores.score_faults import find_score_faults
from holdsup.scores.table import Scores

__all__ = ["caution_faults"]


def caution_faults(scores: Scores) -> Iterator[str]:
    """Yield one line with the faults of a table that make numbers wrong, and that numbers do not show.

    These are the cheap ones: each takes a pass or two over the scores. Other faults, such as rows that are repeated
    or missing, are the verdicts' own to tell.
    """
    labelled = scores.only(scores.labelled)
    found = list(find_unlabelled(scores))
    if len(labelled):
        found += [*find_misread_runs(labelled), *find_score_faults(labelled)]
    if found:
        messages = "; ".join(finding.message for finding in found)
        yield f"holdsup check says of this table: {messages}. Run it for what to do."
