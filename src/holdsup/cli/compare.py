"""`holdsup compare`: is one system better than another?"""

from __future__ import annotations

from typing import Any

import click

from holdsup.cli.options import (
    GroupedCommand,
    direction_option,
    join_properties,
    looking_options,
    names_option,
    rows_options,
    scores_options,
)
from holdsup.cli.output import Output, output_options

CLAIMS = click.Choice(
    ["these-items", "these-runs", "these-datasets", "new-runs", "new-settings", "these-raters", "new-raters"]
)
SCALES = click.Choice(["score", "logit"])


@click.command(
    "compare",
    short_help="Is one system better than another?",
    help="Is one system better than another? DATA is a table with a row per score, a file per system, or logs.",
    cls=GroupedCommand,
    groups={"Question": "claim baseline margin by adjust scale deterministic best human bootstrap peek looks"},
    epilog="""\b
    Examples: holdsup compare scores.csv     holdsup compare a.txt b.txt     holdsup compare logs/""",
)
@click.argument("data", nargs=-1, required=True)
@click.option("--claim", type=CLAIMS, metavar="CLAIM", help="these-items, these-runs, new-runs, new-raters, ...")
@click.option("--baseline", metavar="SYSTEM", help="Compare all with this system, or a score: 0.5.")
@click.option("--margin", type=float, metavar="D", help="Differences below D don't matter: test equivalence.")
@names_option("--by", metavar="PROPS", help="Does the lead depend on these item properties?")
@names_option("--adjust", metavar="PROPS", hidden=True, help="Win rates at equal length (length, reference_length).")
@click.option("--scale", type=SCALES, default="score", metavar="SCALE", help="With --by: score, or logit for log-odds.")
@names_option("--deterministic", metavar="SYSTEMS", help="Another run of these would score the same.")
@click.option("--best", metavar="COL", help="Compare each system's best run by COL: dev_score.")
@click.option("--human", metavar="COL", help="Human labels of some items; the score is a judge's.")
@click.option("--human-weight", metavar="COL", hidden=True, help="How many items each labelled item stands for.")
@click.option(
    "--bootstrap",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    hidden=True,  # a check that few need; the page on compare has it
    help="Check the likelihood ratio by N simulations.",
)
@names_option("--counts", metavar="COLS", hidden=True)
@names_option("--references", metavar="FILES", hidden=True)
@names_option("--predictions", metavar="COLS", hidden=True)
@looking_options
@rows_options
@direction_option
@names_option("--lower", metavar="METRICS", help="Lower is better for these metrics: ter,wer.")
@click.option("--average", metavar="HOW", help="Over datasets: macro, micro, weights:COL, macro:GROUP,TASK.")
@names_option("--estimate", metavar="WHAT", help="pass@5,pass^3 of samples; bleu, wer, ... of a corpus.")
@scores_options
@output_options
def command(
    data: tuple[str, ...],
    lower: tuple[str, ...],
    lower_is_better: bool | None,
    shown: Output,
    jobs: int,
    **given: Any,
) -> None:
    """Compare the systems in DATA."""
    from holdsup.verdict import compare_systems

    if lower and lower_is_better is not None:
        raise click.UsageError("--lower-is-better and --higher-is-better apply to every metric: leave out --lower.")
    processes = jobs if jobs > 1 else None
    arguments = {**join_properties(given), "lower_is_better": lower or lower_is_better, "processes": processes}
    shown.answer(compare_systems, data, **arguments)
