"""The reproduction card: one page on one object and measurand, for an appendix."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from holdsup.errors import ResultError, list_names
from holdsup.measurements import Measurement, caution_reading
from holdsup.rendering import Page, Table
from holdsup.rendering.numbers import format_interval, format_number
from holdsup.results import order_cautions, write_file
from holdsup.verdict.phrases import say_level
from holdsup.verdict.reproduction import tables, words
from holdsup.verdict.reproduction.groups import Group, caution_scales
from holdsup.verdict.reproduction.records import Part
from holdsup.verdict.reproduction.result import Reproduction

ENDINGS = (".html", ".md", ".tex")
SHOWN_SPREAD = 3
COPIED = tuple(field.name for field in dataclasses.fields(Measurement))
LATEX_HEAD = "% Needs \\usepackage{booktabs,graphicx,longtable} in the preamble.\n\n"
# The page loads nothing: what it shows is in it. It looks like a report (`holdsup report`), light and dark.
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Reproduction card</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 1.5rem; max-width: 62rem; font: 1rem/1.55 system-ui, sans-serif; }
section + section { border-top: 1px solid; margin-top: 2.5rem; padding-top: 1.5rem; break-before: page; }
.headline { border-left: 4px solid light-dark(#0550ae, #79b8ff); padding-left: .9rem; max-width: 46rem; }
table { font-size: .9rem; font-variant-numeric: tabular-nums; }
thead:not(:has(th:not(:empty))) { display: none; }
.holdsup th, .holdsup td { padding: .3rem .7rem .3rem 0; overflow-wrap: normal; }
@media print { :root { color-scheme: light; } .holdsup .scroll { overflow: visible; } tr { break-inside: avoid; } }
</style>
</head>
<body>
"""


def make_cards(found: Reproduction) -> tuple[Page, ...]:
    """Return a card for each assessment, in their order."""
    return tuple(_card(found, part) for part in found.parts())


def write_card(found: Reproduction, path: str | Path) -> None:
    """Write the cards of a result, fresh or restored: .html is a whole page, .md and .tex go into another document."""
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise ResultError(f"cannot write a card to {file}: its name must end in {list_names(ENDINGS)}")
    cards = make_cards(found)
    if ending == ".html":
        text = f"{HEAD}{''.join(card.html(folded=False) for card in cards)}</body>\n</html>\n"
    elif ending == ".md":
        text = "\n---\n\n".join(card.markdown() for card in cards)
    else:
        text = LATEX_HEAD + "\\clearpage\n\n".join(card.latex() for card in cards)
    write_file(file, text.encode("utf-8", "backslashreplace"))


def _card(found: Reproduction, part: Part) -> Page:
    a = part.assessment
    facts = Table(
        name="assessments",
        title=f"Reproduction card: {a.object}, {a.measurand}",
        columns=("", ""),
        rows=tuple(_facts(part, found.level)),
    )
    measured = tuple(Measurement(**{name: getattr(m, name) for name in COPIED}) for m in part.measurements)
    cautions = order_cautions(
        (*caution_scales([Group(measured)]), *words.find_cautions([a]), *caution_reading(measured))
    )
    answer = words.answer_one(part, (), level=found.level, within=found.within, signature=found.signature)
    return Page(
        answer=dataclasses.replace(answer, parts=(), foot=()),
        tables=(
            facts,
            tables.tabulate_matrix([part]),
            *tables.tabulate_spread(part.spread[:SHOWN_SPREAD], each=True),
        ),
        cautions=tuple(caution.sentence() for caution in cautions),
        beside={},
        rows=f"{a.n} measurements.",
    )


def _facts(part: Part, level: float) -> Iterator[tuple[str, str]]:
    a = part.assessment
    ci = f"{say_level(level)} CI"
    unit = next((m.unit for m in part.measurements if m.unit), "")
    published = words.compare_published(a)
    yield "object", a.object
    yield "measurand", f"{a.measurand} ({unit})" if unit else a.measurand
    yield "values", ", ".join(format_number(m.value) for m in part.measurements)
    yield "assessed for", words.name_precision(a.repeatability)
    yield "CV*", f"{tables.show_cv(a.cv)}% of the mean, n = {a.n}"
    yield "mean, SD", f"{format_number(a.mean)}, {format_number(a.sd)} on a scale that starts at zero"
    yield "SD as published", f"{ci} {format_interval(a.sd_low, a.sd_high)} (Student's t)"
    yield "SD, exact", f"{ci} {format_interval(a.sd_low_chi2, a.sd_high_chi2)} (chi-square)"
    yield "SD/mean", f"{format_number(a.cv_plain)}%, {ci} {tables.show_cv_interval(a)}% (noncentral t)"
    yield "next measurement", f"{say_level(level)} prediction interval {format_interval(a.next_low, a.next_high)}"
    if published:
        yield "compared", f"{published} (Belz et al. 2022)"
    yield "what changed", words.show_conditions(a.differing) or "nothing that is reported"
    yield "what stayed the same", words.show_conditions(a.agreeing) or "nothing that is reported"
    if a.not_reported:
        yield "not reported", words.show_conditions(a.not_reported)
    yield "what to align next", a.align_next
