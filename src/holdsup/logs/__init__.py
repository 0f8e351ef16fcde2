"""Logs of the tools people evaluate with, as tables of scores: one module a format, and one registry."""

from holdsup.logs.contract import Found, Reader, Rows, TaskLog
from holdsup.logs.opening import Opened, open_data

__all__ = ["Found", "Opened", "Reader", "Rows", "TaskLog", "open_data"]
