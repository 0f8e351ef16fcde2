"""The reproduction card: one page on one object and measurand, for an appendix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from holdsup.errors import ResultError, list_names
from holdsup.measurements import Measurement, reading_notes
from holdsup.rendering import Page, Table
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.results import write_file
from holdsup.verdict.reproduction.matrix_tables import tabulate_matrix
from holdsup.verdict.reproduction.parts import Part, split_result
from holdsup.verdict.reproduction.records import Assessment, MeasuredValue
from holdsup.verdict.reproduction.report import Reproduction, tabulate_pairs, tabulate_spread
from holdsup.verdict.reproduction.sentences import (
    find_cautions,
    name_precision,
    show_conditions,
    write_reproduction_verdict,
)

__all__ = ["make_cards", "write_card"]

ENDINGS = (".html", ".md", ".tex")
SHOWN_SPREAD = 3
# The page loads nothing: what it shows is in it.
LATEX_HEAD = "% Needs \\usepackage{booktabs} in the preamble.\n\n"
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Reproduction card</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #1a1a1a; }
section + section { border-top: 2px solid #ccc; margin-top: 2em; padding-top: 1em; break-before: page; }
table { border-collapse: collapse; margin: 1em 0; }
caption { text-align: left; font-weight: 600; padding: .3em 0; }
th, td { padding: .2em .8em .2em 0; text-align: left; vertical-align: top; border-bottom: 1px solid #ddd; }
th.number, td.number { text-align: right; }
code { overflow-wrap: anywhere; }
</style>
</head>
<body>
"""


def make_cards(found: Reproduction) -> tuple[Page, ...]:
    """Return a card for each assessment, in their order."""
    return tuple(_card(found, part) for part in split_result(found))


def write_card(found: Reproduction, path: str | Path) -> None:
    """Write the cards of a result, fresh or restored: .html is a whole page, .md and .tex go into another document."""
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise ResultError(f"cannot write a card to {file}: its name must end in {list_names(ENDINGS)}")
    cards = make_cards(found)
    if ending == ".html":
        text = f"{HEAD}{''.join(card.html() for card in cards)}</body>\n</html>\n"
    elif ending == ".md":
        text = "\n---\n\n".join(card.markdown() for card in cards)
    else:
        text = LATEX_HEAD + "\\clearpage\n\n".join(card.latex() for card in cards)
    write_file(file, text.encode("utf-8", "backslashreplace"))


def _card(found: Reproduction, part: Part) -> Page:
    a = part.assessment
    facts = Table(
        title=f"Reproduction card: {a.object}, {a.measurand}",
        columns=("", " "),
        rows=tuple(_facts(found, part)),
    )
    return Page(
        verdict=write_reproduction_verdict([a], level=found.level),
        tables=(
            facts,
            tabulate_matrix([part]),
            *tabulate_spread(part.spread[:SHOWN_SPREAD], each=True),
            *tabulate_pairs(part.pairs),
        ),
        warnings=(*reading_notes([_measurement(m) for m in part.measurements]), *find_cautions([a])),
        rows=f"{a.n} measurements.",
        signature=found.signature,
    )


def _measurement(m: MeasuredValue) -> Measurement:
    """Return a measurement as it was read; a restored result has only what it says about it."""
    return Measurement(
        object=m.object,
        measurand=m.measurand,
        value=m.value,
        scale_minimum=m.scale_minimum,
        conditions=m.conditions,
        source=m.source,
        time=m.time,
        unit=m.unit,
        reported=m.reported,
    )


def _facts(found: Reproduction, part: Part) -> Iterator[tuple[str, str]]:
    a = part.assessment
    limits = f"{found.level:.0%} limits"
    unit = next((m.unit for m in part.measurements if m.unit), "")
    yield "object", a.object
    yield "measurand", f"{a.measurand} ({unit})" if unit else a.measurand
    yield "values", ", ".join(format_number(m.value) for m in part.measurements)
    yield "assessed as", name_precision(a.repeatability)
    yield "CV*", f"{format_number(a.cv, uncertainty=0.01)} over n = {a.n}"
    yield "mean, stdev", f"{format_number(a.mean)}, {format_number(a.sd)} on a scale that starts at zero"
    yield "stdev as published", f"{limits} {format_interval(a.sd_low, a.sd_high)} (Student's t)"
    yield "stdev, exact", f"{limits} {format_interval(a.sd_low_chi2, a.sd_high_chi2)} (chi-square)"
    yield "stdev/mean", f"{format_number(a.cv_plain)}%, {limits} {_percent_limits(a)} (noncentral t)"
    yield "next measurement", f"{limits} {format_interval(a.next_low, a.next_high)}"
    if a.of is not None:
        yield "compared", f"more reproducible than {a.more_reproducible_than} of {a.of} results of Belz et al. (2022)"
    yield "what changed", show_conditions(a.differing) or "nothing that is reported"
    yield "what stayed the same", show_conditions(a.agreeing) or "nothing that is reported"
    if a.not_reported:
        yield "not reported", show_conditions(a.not_reported)
    yield "what to align next", a.align_next


def _percent_limits(a: Assessment) -> str:
    if not math.isfinite(a.cv_high):
        return f"above {format_number(a.cv_low)}%"
    return f"{format_interval(a.cv_low, a.cv_high)}%"
