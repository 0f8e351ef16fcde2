"""A gate as JUnit XML, which continuous integration shows beside the tests: a test case for each metric and task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from holdsup.rendering.numbers import format_interval, format_number
from holdsup.rendering.table import visible
from holdsup.results import write_file

if TYPE_CHECKING:
    from holdsup.verdict.gate import Gate

TAGS = {"fail": "failure", "inconclusive": "skipped"}


def write_junit(found: Gate, path: str | Path) -> None:
    """Write a gate as JUnit XML: what fails is a failure, what is inconclusive is skipped."""
    counts = {outcome: sum(c.outcome == outcome for c in found.contrasts) for outcome in TAGS}
    suite = ET.Element(
        "testsuite", name="holdsup gate", tests=str(len(found.contrasts)), failures=str(counts["fail"]),
        skipped=str(counts["inconclusive"]), errors="0",
    )  # fmt: skip
    for c in found.contrasts:
        case = ET.SubElement(suite, "testcase", classname="holdsup.gate", name=visible(c.name or "score"))
        if c.outcome in TAGS:
            limits = "" if c.low is None or c.high is None else f" ({format_interval(c.low, c.high)})"
            size = format_number(c.difference, uncertainty=c.se or None)
            said = f"{c.outcome.upper()}: candidate minus baseline {size}{limits}, drop {format_number(c.drop)}"
            ET.SubElement(case, TAGS[c.outcome], message=visible(f"{said}. {c.why}".strip()))
    ET.SubElement(suite, "system-out").text = "\n".join(visible(line) for line in found.answer().text().splitlines())
    ET.indent(suite)
    write_file(path, ET.tostring(suite, encoding="utf-8", xml_declaration=True) + b"\n")
