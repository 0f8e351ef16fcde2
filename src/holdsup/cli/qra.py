"""`holdsup qra`: how closely was a result reproduced?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from holdsup.cli.options import ROLES, GroupedCommand, join_properties, pairs_option, scores_options
from holdsup.cli.output import Output, name_file, output_options, show_progress

KINDS = ("values", "scores", "labels", "findings")
SCALES = ("nominal", "ordinal", "interval")
# What each option is of use for; elsewhere it is refused rather than ignored.
USES = {
    "example": ("values", "findings", "validate"),
    "where": ("values", "findings"),
    "within": ("values", "seeds"),
    "original": ("scores", "findings"),
    "study": ("scores", "labels"),
    "label": ("labels",),
    "scale": ("labels",),
    "scale_minimum": ("values", "seeds"),
    "card": ("values", "seeds"),
    **dict.fromkeys(ROLES, ("seeds",)),
    "score": ("seeds", "scores"),
    "item": ("seeds", "scores", "labels"),
}


def _read_percent(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """Return the number of ``--within 5%``; the sign may be left out."""
    try:
        return None if value is None else float(value.removesuffix("%"))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a percentage such as 5%.") from None


@click.command(
    "qra",
    cls=GroupedCommand,
    groups={
        "Question": "within kind seeds validate where no-reference card",
        "Data": "init example scale-minimum original study label scale",
    },
    epilog="""\b
    Examples:
      holdsup qra --init mine.csv                  or: qra mine.csv --validate
      holdsup qra mine.csv --within 5% --card card.html""",
)
@click.argument("data", required=False)
@click.option("--within", callback=_read_percent, metavar="P%", help="Did it reproduce within a CV* of P percent?")
@click.option(
    "--kind",
    type=click.Choice(KINDS),
    default="values",
    metavar="KIND",
    show_default=True,
    help="Compare values, scores, labels or findings.",
)
@click.option("--seeds", is_flag=True, help="DATA holds scores: assess the runs of each system.")
@click.option("--validate", is_flag=True, help="Only report what is missing or odd; exit 1 on errors.")
@pairs_option("--where", "object=PASS", metavar="NAME=VALUE", help="Use only this object, measurand or condition.")
@click.option(
    "--no-reference",
    "reference",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Don't compare with the paper's 18 results.",
)
@click.option("--card", callback=name_file, metavar="FILE", help="Also write a card: FILE.html, .md or .tex.")
@click.option("--init", "template", callback=name_file, metavar="FILE", help="Write an empty table: FILE.csv or .json.")
@click.option("--example", is_flag=True, help="Use the paper's 116 measurements as DATA.")
@click.option("--scale-minimum", type=float, metavar="N", help="Lowest possible value [0, or 1 if rated 1 to 7].")
@click.option("--original", metavar="STUDY", help="The study to compare with (scores, findings).")
@click.option("--study", metavar="COL", help="Who gave a score or label (scores, labels).")
@click.option("--label", metavar="COL", help="The label (labels).")
@click.option(
    "--scale", type=click.Choice(SCALES), metavar="SCALE", help="Scale of labels: nominal, ordinal or interval."
)
@scores_options
@output_options
def command(data: str | None, template: Path | None, shown: Output, **given: Any) -> None:
    """How closely was a result reproduced?

    DATA has one row per measurement: object, measurand, value, conditions.
    """
    if template is not None:
        if data is not None or given["example"]:
            raise click.UsageError("--init FILE only writes an empty table: leave out DATA and --example.")
        from holdsup.measurements import write_template

        write_template(template)
        click.echo(f"Wrote {template}. Fill it in, then: holdsup qra {template} --validate")
        return
    if (data is None) == (not given["example"]):
        raise click.UsageError("Give DATA, or --example for the paper's measurements, or --init FILE for a template.")
    asked = _what_is_asked(given)
    shown.refuse_to_overwrite([] if data is None else [data], given["card"])
    with show_progress(quiet=shown.quiet) as progress:
        result = _answer(asked, _source(data), {**given, "progress": progress})
    if given["card"] is not None:
        from holdsup.verdict import write_card

        write_card(result, given["card"])
    shown.emit(result)
    if asked == "validate" and result.state == "no":
        raise click.exceptions.Exit(1)


def _what_is_asked(given: dict[str, Any]) -> str:
    """Return the kind of question; options that do nothing for it are refused."""
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
                f"--{name.replace('_', '-')} has no effect here ({kind}); use it with {_listed(uses)}."
            )
    return kind


def _listed(uses: tuple[str, ...]) -> str:
    """Return how the questions are asked that an option is for."""
    return ", ".join(f"--{use}" if use in ("validate", "seeds") else f"--kind {use}" for use in uses)


def _source(data: str | None) -> Any:
    if data is not None:
        return data
    from holdsup.data import belz2022

    return belz2022()


def _answer(asked: str, source: Any, given: dict[str, Any]) -> Any:
    """Return the result that was asked for."""
    from holdsup import verdict

    common = {name: given[name] for name in ("within", "level", "reference", "seed", "progress")}
    named = {name: given[name] for name in ("study", "item")}
    if asked == "validate":
        return verdict.audit_measurements(source)
    if asked == "seeds":
        roles = join_properties({name: given[name] for name in ROLES})
        return verdict.assess_repeatability(source, scale_minimum=given["scale_minimum"], **common, **roles)
    if asked == "scores":
        given_names = {**named, "score": given["score"], "original": given["original"]}
        return verdict.compare_score_sets(source, level=given["level"], **given_names)
    if asked == "labels":
        return verdict.agree_on_labels(source, label=given["label"], scale=given["scale"] or "nominal", **named)
    if asked == "findings":
        return verdict.compare_findings(source, original=given["original"], where=given["where"])
    return verdict.assess_reproduction(source, where=given["where"], scale_minimum=given["scale_minimum"], **common)
