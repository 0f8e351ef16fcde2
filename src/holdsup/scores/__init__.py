"""The one long table: reading it, finding roles, auditing it."""

from holdsup.results.cautions import Caution
from holdsup.scores.audit import Audit, audit_scores
from holdsup.scores.reading import read_scores
from holdsup.scores.roles import Roles
from holdsup.scores.table import Scores

__all__ = ["Audit", "Caution", "Roles", "Scores", "audit_scores", "read_scores"]
