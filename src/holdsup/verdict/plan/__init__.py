"""What must an evaluation have so that it can answer: how many runs, items or datasets?"""

from holdsup.verdict.plan.question import plan_evaluation
from holdsup.verdict.plan.result import EvaluationPlan

__all__ = ["EvaluationPlan", "plan_evaluation"]
