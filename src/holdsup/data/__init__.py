"""What ships with the package: simulators whose truth is known."""

from holdsup.data.simulation import simulate_scores

__all__ = ["simulate_scores"]
