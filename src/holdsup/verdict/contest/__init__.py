"""Would another split of the corpus say the same?"""

from holdsup.verdict.contest.pairs import decide_sequentially
from holdsup.verdict.contest.partitions import Partition, Trained
from holdsup.verdict.contest.question import judge_contest
from holdsup.verdict.contest.records import Decision
from holdsup.verdict.contest.result import Contest

__all__ = ["Contest", "Decision", "Partition", "Trained", "decide_sequentially", "judge_contest"]
