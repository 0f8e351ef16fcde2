"""`holdsup gate`: may the candidate replace the baseline?"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from holdsup.cli.endings import forget_output, say_why
from holdsup.cli.options import (
    GroupedCommand,
    direction_option,
    join_properties,
    looking_options,
    names_option,
    rows_options,
    scores_options,
)
from holdsup.cli.output import Output, name_file, output_options, show_progress

CLAIMS = click.Choice(["these-runs", "these-datasets", "new-runs"])
CODES = {"pass": 0, "fail": 1, "inconclusive": 3}
NO_ANSWER = 4
SUMMARY = "GITHUB_STEP_SUMMARY"  # a file whose Markdown GitHub shows on the page of a run


def read_drops(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> float | dict[str, float]:
    """Return the drop of all metrics, or that of each that is named."""
    drops: dict[str, float] = {}
    for each in given:
        name, _, value = each.rpartition("=")
        if name.strip() in drops:
            raise click.BadParameter(f"{each!r}: there are two drops for the same: give one.")
        try:
            drops[name.strip()] = float(value)
        except ValueError:
            raise click.BadParameter(f"{each!r} is no number, and not of the form METRIC=NUMBER.") from None
    if "" in drops and len(drops) > 1:
        raise click.BadParameter("give one drop for all metrics, or METRIC=D for each of them.")
    return drops.get("", drops)


@contextmanager
def without_answer() -> Iterator[None]:
    """End with 4 whatever prevents an answer: nothing but a candidate that fails may end with 1."""
    try:
        yield
    except (click.ClickException, click.Abort):
        raise
    except click.exceptions.Exit as end:
        raise click.exceptions.Exit(NO_ANSWER) from end
    except Exception as error:
        if not say_why(error):
            traceback.print_exc()
        raise click.exceptions.Exit(NO_ANSWER) from error


@click.command(
    "gate",
    cls=GroupedCommand,
    groups={"Question": "drop claim deterministic same-noise sides peek looks junit"},
    epilog="""\b
    Examples: holdsup gate new.csv baseline.parquet --drop 0.01
              holdsup gate logs/new logs/old --drop accuracy=0.01 --drop ter=0.5
    Exit codes: 0 PASS, 1 FAIL, 3 INCONCLUSIVE, 2 wrong usage, 4 no answer.""",
)
@click.argument("candidate")
@click.argument("baseline")
@click.option("--drop", multiple=True, required=True, callback=read_drops, metavar="[METRIC=]D",
              help="How much worse the candidate may be.")  # fmt: skip
@click.option("--claim", type=CLAIMS, metavar="CLAIM", help="these-runs, these-datasets (their mean), new-runs.")
@click.option("--deterministic", is_flag=True, help="Another run of either would score the same: one is enough.")
@click.option("--same-noise", is_flag=True, help="Runs of both vary alike, so one of the candidate is enough.")
@names_option("--sides", metavar="NEW,OLD", help="Which system of each table, if there are several.")
@looking_options
@click.option("--junit", callback=name_file, metavar="FILE", help="Write JUnit XML as well.")
@rows_options
@direction_option
@names_option("--lower", metavar="METRICS", help="Lower is better for these metrics: ter,wer.")
@scores_options
@output_options
def command(
    candidate: str,
    baseline: str,
    lower: tuple[str, ...],
    lower_is_better: bool | None,
    junit: Path | None,
    shown: Output,
    jobs: int,
    **given: Any,
) -> None:
    """Is the candidate as good as the baseline, to within a drop?

    CANDIDATE and BASELINE are each a table or a folder of logs, of one system. PASS: the candidate's loss is within the
    drop, with 95% certainty. FAIL: it is worse, with 99.5% certainty. INCONCLUSIVE: neither, and what would decide.
    """
    if lower and lower_is_better is not None:
        raise click.UsageError("--lower-is-better and --higher-is-better apply to every metric: leave out --lower.")
    with without_answer():
        from holdsup.report.junit import write_junit
        from holdsup.verdict.gate import gate_release

        shown.refuse_to_overwrite([candidate, baseline], junit)
        arguments = {**join_properties(given), "lower_is_better": lower or lower_is_better}
        with show_progress(quiet=shown.quiet) as progress:
            found = gate_release([candidate], [baseline], progress=progress, **arguments)
        if junit is not None:
            write_junit(found, junit)
        if summary := os.environ.get(SUMMARY):
            with Path(summary).open("a", encoding="utf-8") as file:
                file.write(found.answer().markdown())
        try:
            shown.emit(found)
        except BrokenPipeError:  # the reader has seen enough, and the outcome stands
            forget_output()
    raise click.exceptions.Exit(CODES[found.outcome])
