"""What a reproduction compares: measurements with their conditions, read from files and checked."""

from holdsup.measurements.audit import MeasurementAudit, audit_measurements
from holdsup.measurements.reading import read_measurements
from holdsup.measurements.record import CONDITIONS, Condition, Measurement, digest_measurements
from holdsup.measurements.validation import caution_reading, validate
from holdsup.measurements.writing import write_measurements, write_template

__all__ = [
    "CONDITIONS",
    "Condition",
    "Measurement",
    "MeasurementAudit",
    "audit_measurements",
    "caution_reading",
    "digest_measurements",
    "read_measurements",
    "validate",
    "write_measurements",
    "write_template",
]
