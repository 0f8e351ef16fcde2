"""Would the conclusion survive another split of the corpus?"""

from holdsup.verdict.contest.judging import judge_contest
from holdsup.verdict.contest.partitions import Partition, Trained
from holdsup.verdict.contest.report import Contest
from holdsup.verdict.contest.sequential import Decision, decide_sequentially

__all__ = ["Contest", "Decision", "Partition", "Trained", "decide_sequentially", "judge_contest"]
