"""The engine's fits, and what can be asked of them."""

from holdsup.fit.lmm import LmmFit, fit_lmm

__all__ = ["LmmFit", "fit_lmm"]
