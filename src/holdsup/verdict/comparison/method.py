"""How a comparison was made, in words that a paper can print, and whom to cite."""

from __future__ import annotations

from collections.abc import Iterable

from holdsup.numerics.families import MAX_T
from holdsup.rendering.numbers import format_counted
from holdsup.results import Method
from holdsup.verdict.claims import Rule
from holdsup.verdict.comparison.records import Compared
from holdsup.verdict.comparison.standings import say_adjusted
from holdsup.verdict.comparison.words import holds_for
from holdsup.verdict.phrases import join_names


def describe_method(found: Compared) -> Method:
    """Return how the answer was made, and whom to cite."""
    tests = _listed(c.p_method for c in found.contrasts)
    number = len(found.contrasts)
    against = f" with {found.baseline}" if found.baseline is not None else " pair by pair" if number > 1 else ""
    adjusted = say_adjusted(found)
    names = format_counted(len({s.name for s in found.systems}), "system")
    sentences = [f"{names} were compared{against} by a {tests}{adjusted}. The answer covers {holds_for(found)}."]
    for each in found.raters:
        if each.model:
            sentences.append(f"Variances of raters and items are those of {each.model}.")
    if found.human:
        sentences.append("Human labels are a random sample of the items, or weighted to be one.")
    models = _listed(test.model for test in found.tests if test.model)
    draws = max(test.bootstrap_draws for test in found.tests)
    simulated = f", with a parametric bootstrap of {draws:,} draws" if draws else ""
    if models:
        sentences.append(f"As a check, the likelihood ratio of the systems in {models} is reported{simulated}.")
    if (made := found.estimate) is not None:
        how = f" ({made.signature})" if made.signature else ""
        sentences.append(
            f"The score is {made.name} of the corpus{how}: each item counts by its jackknife influence value."
        )
        sentences.append(f"A paired bootstrap of items ({made.draws:,} samples) is reported for these runs.")
    if found.papers:
        sentences.append("The test as published is reported as well.")
    if found.conditional:
        properties = _listed(each.property for each in found.conditional)
        sentences.append(f"Whether differences depend on {properties} was tested, for all values at once.")
    citations = ["hagmann2023"]
    citations += ["welch1947"] if any(c.rule in (Rule.WELCH, Rule.TWO_WAY) for c in found.contrasts) else []
    citations += ["westfall1993"] if any(c.adjusted_by == MAX_T for c in found.contrasts) else []
    citations += ["efron1981", "koehn2004"] if found.estimate else []
    citations += ["bates2015"] if models or found.raters else []
    citations += ["bell2002"] if found.raters else []
    citations += ["angelopoulos2023"] if found.human else []
    return Method(
        question="Is one system better than another, beyond these runs?",
        sentences=tuple(sentences),
        citations=tuple(citations),
    )


def _listed(names: Iterable[str | None]) -> str:
    return join_names(list(dict.fromkeys(name for name in names if name)))
