"""The envelope of every answer: JSON, schemas, signature, saving and restoring."""

from holdsup.results.envelope import Result, Rows
from holdsup.results.files import write_file
from holdsup.results.reading import KINDS, read_result
from holdsup.results.schema import schema_of
from holdsup.results.scored import Scored, find_scored
from holdsup.results.signature import parse_signature, sign

__all__ = [
    "KINDS", "Result", "Rows", "Scored", "find_scored", "parse_signature", "read_result", "schema_of", "sign",
    "write_file",
]  # fmt: skip
