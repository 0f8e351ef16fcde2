"""`holdsup qra`: did other people reproduce this result, and how closely?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from holdsup.cli.options import ROLES, scores_options, split_pairs, split_roles
from holdsup.cli.output import emit, name_file, output_options, refuse_to_overwrite

__all__ = ["command"]

KINDS = ("values", "scores", "labels", "findings")
SCALES = ("nominal", "ordinal", "interval")
# What each option is of use for; elsewhere it is refused rather than ignored.
USES = {
    "example": ("values", "findings", "validate"),
    "where": ("values", "findings"),
    "original": ("scores", "findings"),
    "study": ("scores", "labels"),
    "label": ("labels",),
    "scale": ("labels",),
    "scale_minimum": ("values", "seeds"),
    "measures": ("values", "seeds"),
    "card": ("values", "seeds"),
    "export": ("values",),
    **dict.fromkeys(ROLES, ("seeds",)),
    "score": ("seeds", "scores"),
    "item": ("seeds", "scores", "labels"),
}


@click.command(
    "qra",
    epilog="""\b
    Examples:
      holdsup qra --init mine.csv                    then fill it in
      holdsup qra mine.csv --validate                what is missing?
      holdsup qra mine.csv --card card.html          the answer, and a page for the appendix
      holdsup qra --example --where measurand=wF1    the paper's essay scorers: its Table 6
      holdsup qra --seeds scores.csv                 repeatability of your own runs
      holdsup qra ratings.csv --kind scores --original "first study"
      holdsup qra mine.csv --kind findings""",
)
@click.argument("data", required=False)
@click.option(
    "--init",
    "template",
    callback=name_file,
    metavar="FILE",
    help="Write an empty table to fill in, with explanations (FILE.csv or FILE.json), and stop.",
)
@click.option(
    "--validate", is_flag=True, help="Say what is missing or odd, and stop; the exit code is 1 if there are errors."
)
@click.option("--example", is_flag=True, help="Use the 116 measurements of the paper instead of DATA.")
@click.option("--seeds", is_flag=True, help="DATA are scores, as for `holdsup check`: assess the runs of each system.")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="values",
    show_default=True,
    help="What is compared: measured values; scores or labels that studies gave the same items; findings "
    "(which object is ahead of which).",
)
@click.option(
    "--where",
    metavar="NAME=VALUE",
    multiple=True,
    help="Keep measurements with this object, measurand, source or condition. May be repeated; several "
    "values of one name are joined.",
)
@click.option("--original", metavar="STUDY", help="The study that others are compared with (scores, findings).")
@click.option("--study", metavar="COL", help="Who gave a score or label (scores, labels). Found by name if left out.")
@click.option("--label", metavar="COL", help="The label (labels).")
@click.option(
    "--scale",
    type=click.Choice(SCALES),
    help="Of the labels, for Krippendorff's alpha (labels); nominal if left out.",
)
@click.option(
    "--scale-minimum",
    type=float,
    metavar="NUMBER",
    help="The lowest value there can be, where no column scale_minimum says it; by default 0, or 1 where all are whole "
    "numbers from 1 to 7.",
)
@click.option("--measures", is_flag=True, help="Add the other measures of precision of the paper's section 3.2.")
@click.option(
    "--reference/--no-reference",
    default=True,
    show_default=True,
    help="Say how many of the paper's 18 results are less reproducible.",
)
@click.option(
    "--card",
    callback=name_file,
    metavar="FILE",
    help="Write the reproduction card, too: FILE.html, FILE.md or FILE.tex.",
)
@click.option(
    "--export",
    callback=name_file,
    metavar="FILE",
    help="Write the measurements, too, as they were understood: FILE.csv or FILE.json.",
)
@scores_options
@output_options
def command(
    data: str | None,
    template: Path | None,
    style: str,
    output: Path | None,
    picture: Path | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Assess how closely measurements of the same thing by different people agree.

    DATA has a row for each measurement: object, measurand, value, and the conditions under which it was
    measured (code, compile_training, specification, implementation, procedure, test_set, performed_by, and any
    other). CV* is the spread in percent of the mean (Belz et al. 2022): repeatability if all conditions agree,
    reproducibility otherwise. The conditions matrix shows what differed, and which condition the spread goes
    with; the card puts it all on one page.
    """  # fmt: skip
    if template is not None:
        if data is not None or given["example"]:
            raise click.UsageError("--init FILE writes an empty table and reads none: leave out DATA and --example.")
        from holdsup.measurements import write_template

        write_template(template)
        click.echo(f"Wrote {template}. Fill it in, then: holdsup qra {template} --validate")
        return
    if (data is None) == (not given["example"]):
        raise click.UsageError("Give DATA, or --example for the paper's measurements, or --init FILE for a template.")
    asked = _what_is_asked(given)
    refuse_to_overwrite([] if data is None else [data], output, picture, given["card"], given["export"])
    from holdsup.cli.bar import show_progress

    with show_progress(quiet=quiet) as progress:
        result = _answer(asked, _source(data), {**given, "progress": progress})
    if given["card"] is not None:
        from holdsup.verdict import write_card

        write_card(result, given["card"])
    emit(result, style=style, output=output, picture=picture)
    if asked == "validate" and any(finding.severity == "error" for finding in result.findings):
        raise click.exceptions.Exit(1)


def _what_is_asked(given: dict[str, Any]) -> str:
    """Return the kind of question; options that have no part in it are refused."""
    asked = [
        *(name for name in ("validate", "seeds") if given[name]),
        *([given["kind"]] if given["kind"] != "values" else []),
    ]
    if len(asked) > 1:
        raise click.UsageError("Give one of --validate, --seeds and --kind.")
    kind = asked[0] if asked else "values"
    for name, uses in USES.items():
        is_given = bool(given[name]) or isinstance(given[name], float)  # 0 is something, too
        if is_given and kind not in uses:
            raise click.UsageError(
                f"--{name.replace('_', '-')} has no part in this question ({kind}); it goes with {_listed(uses)}."
            )
    return kind


def _listed(uses: tuple[str, ...]) -> str:
    """Return how the questions are asked that an option has a part in."""
    return ", ".join(f"--{use}" if use in ("validate", "seeds") else f"--kind {use}" for use in uses)


def _source(data: str | None) -> Any:
    if data is not None:
        return data
    from holdsup.data import belz2022

    return belz2022()


def _answer(asked: str, source: Any, given: dict[str, Any]) -> Any:
    """Return the result that was asked for."""
    from holdsup import verdict

    common = {name: given[name] for name in ("level", "measures", "reference", "seed", "progress")}
    named = {name: given[name] for name in ("study", "item")}
    where = dict(split_pairs(given["where"], "--where", "object=PASS"))
    if asked == "validate":
        return verdict.audit_measurements(source)
    if asked == "seeds":
        roles = split_roles({name: given[name] for name in ROLES})
        return verdict.assess_repeatability(source, scale_minimum=given["scale_minimum"], **common, **roles)
    if asked == "scores":
        given_names = {**named, "score": given["score"], "original": given["original"]}
        return verdict.compare_score_sets(source, level=given["level"], **given_names)
    if asked == "labels":
        return verdict.agree_on_labels(source, label=given["label"], scale=given["scale"] or "nominal", **named)
    if asked == "findings":
        return verdict.compare_findings(source, original=given["original"], where=where)
    if given["export"] is not None:
        from holdsup.measurements import read_measurements, write_measurements

        source = read_measurements(source, scale_minimum=given["scale_minimum"])
        write_measurements(source, given["export"])
    return verdict.assess_reproduction(source, where=where, scale_minimum=given["scale_minimum"], **common)
