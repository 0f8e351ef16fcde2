"""What a reproduction compares: measurements with their conditions, read from files and checked."""

from holdsup.measurements.oddities import reading_notes
from holdsup.measurements.reading import read_measurements
from holdsup.measurements.record import CONDITIONS, Condition, Measurement
from holdsup.measurements.template import write_template
from holdsup.measurements.units import conversion_notes
from holdsup.measurements.validation import validate
from holdsup.measurements.writing import write_measurements

__all__ = [
    "CONDITIONS",
    "Condition",
    "Measurement",
    "conversion_notes",
    "read_measurements",
    "reading_notes",
    "validate",
    "write_measurements",
    "write_template",
]
