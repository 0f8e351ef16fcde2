"""The envelope of every answer: what was asked, what limits it, JSON, schemas, saving and restoring."""

from holdsup.results.asked import Asked
from holdsup.results.cautions import Caution, order_cautions, tabulate_findings, write_caveats
from holdsup.results.envelope import Method, Result, Rows
from holdsup.results.extras import find_extra, list_extras
from holdsup.results.files import write_file
from holdsup.results.kinds import KINDS
from holdsup.results.reading import read_result
from holdsup.results.schema import schema_of
from holdsup.results.scored import Scored, find_scored

__all__ = [
    "KINDS", "Asked", "Caution", "Method", "Result", "Rows", "Scored", "find_extra", "find_scored", "list_extras",
    "order_cautions", "read_result", "schema_of", "tabulate_findings", "write_caveats", "write_file",
]  # fmt: skip
