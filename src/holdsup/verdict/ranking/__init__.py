"""Which of several systems is best over many datasets, once nuisance factors are isolated?"""

from holdsup.verdict.ranking.ranking import rank_systems
from holdsup.verdict.ranking.report import Ranking

__all__ = ["Ranking", "rank_systems"]
