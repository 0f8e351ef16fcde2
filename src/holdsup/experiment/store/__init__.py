"""The store: one SQLite file that only grows, every row with a checksum, shared by any number of processes."""

from holdsup.experiment.store.database import Store
from holdsup.experiment.store.recording import OpenRun
from holdsup.experiment.store.records import Damage, Failure, Recorded, RecordedFailure, Success
from holdsup.experiment.store.rescue import rescue_store

__all__ = ["Damage", "Failure", "OpenRun", "Recorded", "RecordedFailure", "Store", "Success", "rescue_store"]
