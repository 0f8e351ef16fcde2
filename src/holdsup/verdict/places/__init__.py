"""Systems in their places: by pairwise votes, or by one number over many tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdsup.lazy import load_lazily

if TYPE_CHECKING:
    from holdsup.verdict.places.aggregates import RunRanking as RunRanking, rank_runs as rank_runs
    from holdsup.verdict.places.preferences import VoteRanking as VoteRanking, rank_votes as rank_votes

__all__, __getattr__ = load_lazily(
    __name__, {"aggregates": "RunRanking rank_runs", "preferences": "VoteRanking rank_votes"}
)
