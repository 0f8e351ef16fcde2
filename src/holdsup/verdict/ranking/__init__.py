"""Which of several systems is best over many datasets, once nuisance factors are isolated?"""

from holdsup.verdict.ranking.question import rank_systems
from holdsup.verdict.ranking.result import Ranking

__all__ = ["Ranking", "rank_systems"]
