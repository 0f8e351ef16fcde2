"""Options that say what a table of scores holds, as the arguments of `read_scores`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
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
    "property",
    "wide",
    "names",
)

COLUMNS = "Columns (found by name; lists have commas; '-' for none)"
# The group of each option that several commands have; a command names the groups of its own options.
GROUPS = {
    "Rows and scores": "where last lower-is-better higher-is-better lower average nested-runs",
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
        help="Higher scores are better, by every metric.",
    )  # fmt: skip
    lower = click.option(
        "--lower-is-better", is_flag=True, callback=choose,
        help="Lower scores are better [as the name says: ter, loss].",
    )  # fmt: skip
    return lower(higher(command))


last_option = click.option("--last", metavar="COL", help="Use the last checkpoint: the largest COL of each run.")
nested_option = click.option("--nested-runs", is_flag=True, help="Runs of one name on two datasets are two trainings.")


def scores_options(command: F) -> F:
    """Add the options that say which column has which role."""
    for option in reversed(
        [
            click.option("--score", metavar="COL", help="The score."),
            click.option("--system", metavar="COL", help="What is compared: system, model, ..."),
            click.option("--item", metavar="COL", help="What is scored: item, id, sentence_id, ..."),
            click.option("--run", metavar="COL", help="One trained or sampled instance of a system."),
            click.option("--facets", metavar="COLS", multiple=True,
                         help="What differs between runs: seed,learning_rate."),
            click.option("--replicates", metavar="COLS", multiple=True,
                         help="Facets that only repeat runs, as a seed does."),
            click.option("--shared", metavar="COLS", multiple=True,
                         help="Facets whose levels mean the same in every system."),
            click.option("--dataset", metavar="COL", help="Where items come from: dataset, task, ..."),
            click.option("--metric", metavar="COL", help="What the score measures, if there are several."),
            click.option("--cluster", metavar="COL", help="Items that belong together: a document's."),
            click.option("--status", metavar="COL", help="Whether a row's score counts: ok, or why not."),
            click.option("--properties", metavar="COLS", multiple=True, help="Facts about items: length,genre."),
            click.option("--property", metavar="NAME=EXPR", multiple=True,
                         help="One computed from texts: ease=flesch(source)."),
            click.option("--wide", metavar="ROLE=COLS", help="One column for each: system=A,B metric=bleu,ter."),
            click.option("--names", metavar="PATTERN", help="Columns in names of files: {system}_seed{seed}."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def split_roles(roles: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of `scores_options` as the arguments of `read_scores`; "a,b" names two columns."""
    for given in roles["property"]:
        if "=" not in given:
            raise click.BadParameter(
                f"{given!r} is not of the form NAME=EXPR; a column that holds a property is named with --properties.",
                param_hint="--property",
            )
    arguments: dict[str, Any] = {role: split_names(roles[role]) for role in SEVERAL}
    arguments["properties"] += tuple(roles["property"])
    arguments.update({role: column for role, column in roles.items() if role not in (*SEVERAL, "property", "wide")})
    if (wide := roles["wide"]) is not None:
        role, equals, columns = wide.partition("=")
        if role not in WIDE or not equals or not columns:
            known = ", ".join(f"{role}=A,B" for role in WIDE)
            raise click.BadParameter(f"{wide!r} is none of {known}.", param_hint="--wide")
        arguments["wide"] = {role: split_names([columns])}
    return arguments


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


def split_pairs(given: Iterable[str], option: str, example: str) -> Iterable[tuple[str, list[str]]]:
    """Return the values given for each name in NAME=VALUE; a name may come several times, and may be quoted.

    >>> dict(split_pairs(['"lr (peak), x"=numeric', "seed=random"], "--treat", "lr=fixed"))
    {'lr (peak), x': ['numeric'], 'seed': ['random']}
    """
    found: dict[str, list[str]] = {}
    for pair in given:
        name, equals, value = (part.strip() for part in pair.partition("="))
        names = split_names([name]) if name.startswith('"') else (name,)
        if not (len(names) == 1 and names[0] and equals and value):
            raise click.BadParameter(f"{pair!r} is not of the form {example}.", param_hint=option)
        found.setdefault(names[0], []).append(value)
    return found.items()


def parse_range(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """Return the two numbers of ``--range LOW,HIGH``."""
    if value is None:
        return None
    try:
        low, high = (float(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not two numbers such as 0,1.") from None
    if not low < high:
        raise click.BadParameter(f"{value!r}: the first number must be below the second.")
    return low, high
