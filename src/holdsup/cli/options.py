"""Options that say what a table of scores holds, as the arguments of `read_scores`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
SEVERAL = ("facets", "replicates", "shared", "properties")
WIDE = ("system", "metric", "dataset")
# A name of a list: quoted, which may begin after "system=", or all up to the next comma.
LISTED = re.compile(r'\s*([^=",]*=\s*)?"((?:[^"]|"")*)"\s*(?=,|\Z)|([^,]+)')
ROLES = (
    "score",
    "system",
    "item",
    "run",
    *SEVERAL,
    "dataset",
    "metric",
    "cluster",
    "status",
    "samples",
    "property",
    "wide",
    "names",
    "readers",
    "accept",
)

COLUMNS = "Columns (found by name; comma-separated; '-' for none)"
# The group of each option that several commands have; a command names the groups of its own options.
GROUPS = {
    "Rows and scores": "where last lower-is-better higher-is-better lower average estimate nested-runs",
    COLUMNS: " ".join(ROLES),
    "Output": "full pairs format output plot figure plot-all",
    "Running": "level seed jobs quiet help",
}


class GroupedCommand(click.Command):
    """A command whose help lists its options in titled groups, a line for each that fits one.

    `groups` names the options of the command's own, by the titles of their groups: ``{"Question": "claim margin"}``.
    They come first; options that nobody named are in the last of them.
    """

    def __init__(self, *args: Any, groups: Mapping[str, str], **more: Any) -> None:
        super().__init__(*args, **more)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, group by group, all their texts in one column."""
        titles = {name: title for title, names in {**GROUPS, **self.groups}.items() for name in names.split()}
        shown: dict[str, list[tuple[str, str]]] = {title: [] for title in {**self.groups, **GROUPS}}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx) if isinstance(option, click.Option) else None
            if record is None or not isinstance(option, click.Option):
                continue
            name = max(option.opts, key=len).removeprefix("--")
            default = f" [{option.default}]" if option.show_default else ""
            shown[titles.get(name, list(self.groups)[-1])].append((record[0], f"{option.help}{default}"))
        width = max(len(first) for rows in shown.values() for first, _ in rows)
        for title, rows in shown.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl([(first.ljust(width), text) for first, text in rows], col_max=width + 2)


def direction_option(command: F) -> F:
    """Add the two options that say which scores are better, of which one at most can be given."""

    def choose(ctx: click.Context, _: click.Parameter, lower: bool) -> bool | None:
        higher = ctx.meta.get("higher_is_better", False)
        if lower and higher:
            raise click.UsageError("--lower-is-better and --higher-is-better exclude each other: give one.", ctx)
        return lower if lower or higher else None

    def note(ctx: click.Context, _: click.Parameter, higher: bool) -> None:
        ctx.meta["higher_is_better"] = higher

    higher = click.option(
        "--higher-is-better", is_flag=True, is_eager=True, expose_value=False, callback=note,
        help="Higher scores are better, for every metric.", hidden=True,
    )  # fmt: skip
    lower = click.option(
        "--lower-is-better", is_flag=True, callback=choose,
        help="Or --higher-is-better, of every metric [by name: ter].",
    )  # fmt: skip
    return lower(higher(command))


def add_options(command: F, options: Sequence[Callable[[F], F]]) -> F:
    """Add options that are listed in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def split_names(given: Iterable[str]) -> tuple[str, ...]:
    """Return the names in "a,b", given once or several times; one that holds commas is quoted, as in CSV.

    >>> split_names(['"A, v2",B', "C"])
    ('A, v2', 'B', 'C')
    >>> split_names(['system="A, v2",dataset=X'])
    ('system=A, v2', 'dataset=X')
    """
    names = []
    for before, quoted, bare in (field for text in given for field in LISTED.findall(text)):
        names.append(before.strip() + quoted.replace('""', '"') if quoted else bare.strip())
    return tuple(name for name in names if name)


def _read_names(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> tuple[str, ...]:
    return split_names(given)


names_option = partial(click.option, multiple=True, callback=_read_names)  # "a,b" names two, given once or twice


def split_pairs(given: Iterable[str], example: str) -> dict[str, list[str]]:
    """Return the values given for each name in NAME=VALUE; a name may come several times, and may be quoted.

    >>> split_pairs(['"lr (peak), x"=numeric', "seed=random"], "lr=fixed")
    {'lr (peak), x': ['numeric'], 'seed': ['random']}
    """
    found: dict[str, list[str]] = {}
    for pair in given:
        name, equals, value = (part.strip() for part in pair.partition("="))
        names = split_names([name]) if name.startswith('"') else (name,)
        if not (len(names) == 1 and names[0] and equals and value):
            raise click.BadParameter(f"{pair!r} is not of the form {example}.")
        found.setdefault(names[0], []).append(value)
    return found


def pairs_option(name: str, example: str, **more: Any) -> Callable[[F], F]:
    """Return an option for NAME=VALUE, which may be given several times: a dict of lists of values."""

    def read(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> dict[str, list[str]]:
        return split_pairs(given, example)

    return click.option(name, multiple=True, callback=read, **more)


def looking_options(command: F) -> F:
    """Add the options of whoever looks before all scores are there, and may look again."""

    def read(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> tuple[int, ...]:
        names = split_names(given)
        if not all(name.isdecimal() for name in names):
            raise click.BadParameter("give planned numbers of runs, such as 4,6,8.")
        return tuple(map(int, names))

    return add_options(
        command,
        [
            click.option("--peek", is_flag=True, help="Look early at items; the answer holds at each look."),
            click.option("--looks", multiple=True, callback=read, metavar="RUNS",
                         help="Look at planned numbers of runs: 4,6,8."),
        ],
    )  # fmt: skip


def rows_options(command: F) -> F:
    """Add the options that choose rows, and say what a run is."""
    return add_options(
        command,
        [
            pairs_option("--where", "system=A", metavar="COL=VALUE", help="Use only rows with this value; repeatable."),
            click.option("--last", metavar="COL", help="Use each run's last checkpoint: its largest COL."),
            click.option("--nested-runs", is_flag=True, help="A run name on two datasets means two trainings."),
        ],
    )


def scores_options(command: F) -> F:
    """Add the options that say which column has which role."""
    return add_options(
        command,
        [
            click.option("--score", metavar="COL", help="The score."),
            click.option("--system", metavar="COL", help="What is compared: system, model, ..."),
            click.option("--item", metavar="COL", help="What is scored: item, id, sentence_id, ..."),
            click.option("--run", metavar="COL", help="One training of a system."),
            click.option("--samples", metavar="COL", help="Tells several answers of a run to an item apart."),
            names_option("--facets", metavar="COLS", help="What varies between runs: seed,learning_rate."),
            names_option("--replicates", metavar="COLS", help="Facets that only repeat a run, like a seed."),
            names_option("--shared", metavar="COLS", help="Facets whose values mean the same for all systems."),
            click.option("--dataset", metavar="COL", help="Where items come from: dataset, task, ..."),
            click.option("--metric", metavar="COL", help="Which metric a score is, if there are several."),
            click.option("--cluster", metavar="COL", help="What ties items together, such as a document."),
            click.option("--rater", metavar="COL", help="Who scored it: rater, annotator, judge."),
            names_option("--properties", metavar="COLS", help="Facts about items: length,genre."),
            click.option("--property", metavar="NAME=EXPR", multiple=True, callback=_require_expressions,
                         help="A property of the text: ease=flesch(source)."),
            click.option("--wide", metavar="ROLE=COLS", callback=_read_wide,
                         help="Columns of scores: system=A,B or metric=bleu,ter."),
            click.option("--names", metavar="PATTERN", help="Columns in file names: {system}_seed{seed}."),
            # Found by its name; these others are for logs, whose page and messages name them: they need no line in the
            # help of each question.
            click.option("--status", metavar="COL", hidden=True, help="Whether a row counts: ok, or why not."),
            names_option("--reader", "readers", metavar="MODULE", hidden=True, help="A reader of logs of your own."),
            names_option("--accept", metavar="CODES", hidden=True, help="Errors in the pairing of logs to live with."),
        ],
    )  # fmt: skip


def _require_expressions(ctx: click.Context, param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    for each in given:
        if "=" not in each:
            raise click.BadParameter(f"{each!r} is not of the form NAME=EXPR; name a column with --properties.")
    return given


def _read_wide(ctx: click.Context, param: click.Parameter, given: str | None) -> dict[str, tuple[str, ...]] | None:
    if given is None:
        return None
    role, equals, columns = given.partition("=")
    if role not in WIDE or not equals or not columns:
        raise click.BadParameter(f"{given!r} is none of {', '.join(f'{role}=A,B' for role in WIDE)}.")
    return {role: split_names([columns])}


def join_properties(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as the arguments of `read_scores`: it takes both kinds of properties as one."""
    properties = (*given["properties"], *given["property"])
    return {**{name: value for name, value in given.items() if name != "property"}, "properties": properties}
