"""Logs of the tools people evaluate with, as tables of scores: one module a format, and one registry."""
