"""`holdsup plan`: how many runs and items does an evaluation need?"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import click

from holdsup.cli.options import F, GroupedCommand, add_options, join_properties, rows_options, scores_options
from holdsup.cli.output import Output, output_options

WHOLE = re.compile(r"[0-9]{1,30}|[0-9]{1,3}(,[0-9]{3}){1,9}")  # commas are between thousands


class RangeType(click.ParamType[int | tuple[int, int]]):
    """A number, or the smallest and the largest: 1000 or 500..5000."""

    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | tuple[int, int]:
        """Return the number, or both."""
        ends = [each.strip() for each in str(value).split("..")]
        if len(ends) > 2 or not all(WHOLE.fullmatch(each) for each in ends):
            self.fail(f"{value!r} is neither a whole number nor a range such as 500..5000.", param, ctx)
        low, high = (int(each.replace(",", "")) for each in (ends[0], ends[-1]))
        if low > high:
            self.fail(f"{value!r} is from more to fewer: give the smaller number first.", param, ctx)
        return low if len(ends) == 1 else (low, high)


number = partial(click.option, type=float)
share = partial(click.option, type=click.FloatRange(0, 1))
span = partial(click.option, type=RangeType(), metavar="A..B")


def plan_options(command: F) -> F:
    """Add the options of the command's own."""
    return add_options(
        command,
        [
            number("--detect", metavar="D", help="The difference to find."),
            number("--margin", metavar="D", help="Or: show that equal systems differ by less than D."),
            share("--reliability", metavar="PHI", help="Or: reach this reliability of item averages over runs."),
            share("--power", default=0.8, show_default=True, metavar="P", help="How often that should succeed."),
            click.option("--systems", type=int, metavar="N", help="Systems to compare, all pairs [the pilot's, or 2]."),
            click.option("--claim", default="new-runs", show_default=True, metavar="CLAIM",
                         help="new-runs, or these-runs for the trained ones alone."),
            span("--runs", help="Runs of each system [2..20]."),
            span("--items", help="Items [10..100000]."),
            span("--datasets", help="Datasets instead of items: a ranking for new ones."),
            number("--cost-run", metavar="C", help="Cost of one run of one system."),
            number("--cost-item", metavar="C", help="Cost of scoring one item in one run."),
            number("--budget", metavar="C", help="The most that all may cost."),
            click.option("--looks", type=int, default=1, metavar="N",
                         help="Look N times while runs come in, and stop when it is clear."),
            number("--sd-run", metavar="SD", help="Between the true means of a system's runs [0.005]."),
            share("--accuracy", metavar="P", help="Of scores that are right or wrong [0.8]."),
            share("--disagreement", metavar="P", help="Share of items on which two systems differ [P(1 - P)]."),
            number("--sd-item", metavar="SD", help="Of item differences, one run each, if scores are numbers."),
            number("--sd-dataset", metavar="SD", help="Of differences between datasets [0.05]."),
            share("--new-share", metavar="P", help="Share of item differences that is new in each run [0.5]."),
        ],
    )  # fmt: skip


@click.command(
    "plan",
    cls=GroupedCommand,
    groups={
        "Goal": "detect margin reliability power systems claim",
        "Limits and costs": "runs items datasets cost-run cost-item budget looks",
        "Known without a pilot": "sd-run accuracy disagreement sd-item sd-dataset new-share",
    },
    epilog="""\b
    Examples:
      holdsup plan scores.csv --detect 0.005 --cost-run 40 --cost-item 0.02 --budget 2000
      holdsup plan --detect 0.005 --sd-run 0.004 --accuracy 0.82 --items 500..5000
      holdsup plan pilot.csv --margin 0.01
      holdsup plan --detect 0.02 --datasets 5..50""",
)
@click.argument("data", nargs=-1)
@plan_options
@rows_options
@scores_options
@output_options
def command(data: tuple[str, ...], shown: Output, **given: Any) -> None:
    """How many runs and items does an evaluation need?

    DATA is a pilot: a table of scores of two systems or more, or logs. Without one, say what you know of the
    scores; typical values stand in for the rest.
    """
    from holdsup.verdict import plan_evaluation
    from holdsup.verdict.phrases import join_names

    asked = join_properties(given)
    del asked["seed"], asked["jobs"]  # nothing is drawn at random
    goals = [f"--{name}" for name in ("detect", "margin", "reliability") if given[name] is not None]
    if len(goals) != 1:
        found = f"{join_names(goals)} exclude each other" if goals else "a plan needs a goal"
        raise click.UsageError(f"{found}: give one of --detect, --margin and --reliability.")
    if data:
        shown.answer(plan_evaluation, data, **asked)
        return
    shown.refuse_to_overwrite(())
    shown.emit(plan_evaluation(**{name: value for name, value in asked.items() if value or value == 0}))
