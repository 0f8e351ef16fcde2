"""`holdsup rank`: is one system the best over many datasets?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

from holdsup.cli.options import (
    ROLES,
    GroupedCommand,
    direction_option,
    join_properties,
    names_option,
    pairs_option,
    rows_options,
    scores_options,
    split_names,
    split_pairs,
)
from holdsup.cli.output import Output, output_options

ESTIMATES = click.Choice(["iqm", "mean", "optimality-gap"])
CLAIMS = click.Choice(["new-datasets", "these-datasets"])
# Options that mean nothing to a question.
MODELLED = set("nuisance treat paper formula compare_forms folds contribution predict pair nested_runs".split())
NOT_OF = {
    "votes": MODELLED | {"estimate", "claim", "last", "lower_is_better"} | {*ROLES} - {"item", "cluster"},
    "--estimate": MODELLED | {"adjust", "no_order"},
    "means of scores": {"claim", "adjust", "no_order"},
}


@click.command(
    "rank",
    cls=GroupedCommand,
    groups={
        "Question": "nuisance treat paper formula forms folds contribution predict pair estimate claim adjust no-order"
    },
    epilog="""\b
    Examples: holdsup rank runs.csv --score f1 --nuisance seed,lr     holdsup rank votes.csv""",
)
@click.argument("data", nargs=-1, required=True)
@names_option("--nuisance", metavar="COLS", help="What else varies between runs [seeds, settings].")
@pairs_option("--treat", "epochs=numeric", metavar="COL=HOW", help="Model COL as fixed, numeric, log or random.")
@click.option("--paper", is_flag=True, help="Use Equation 1 of Sanchez Carmona et al. as printed.")
@click.option("--formula", metavar="F", help="Your model: 'f1 ~ factor(lr) + (1|model) + (1|task)'.")
@click.option("--forms", "compare_forms", is_flag=True, help="Compare models by cross-validation error.")
@click.option(
    "--folds", type=click.IntRange(min=0), default=10, metavar="N", help="Cross-validation folds; 0 for none [10]."
)
@names_option("--contribution", metavar="COLS", help="What does each of these 0/1 ingredients add?")
@click.option("--predict", metavar="CONFIG", help="Predict a score: system=A,dataset=X,seed=1.")
@click.option("--pair", metavar="A,B", help="Explain the raw gap between A and B [the top two].")
@click.option(
    "--estimate", type=ESTIMATES, metavar="NAME", help="iqm, mean or optimality-gap over tasks and runs (RL)."
)
@click.option(
    "--claim", type=CLAIMS, metavar="CLAIM", hidden=True, help="Of --estimate: new-datasets or these-datasets."
)
@names_option("--adjust", metavar="PROPS", help="Votes as if answers were alike in these: length.")
@click.option("--no-order", is_flag=True, hidden=True, help="Of votes: columns don't say who is shown first.")
@rows_options
@direction_option
@scores_options
@output_options
def command(
    data: tuple[str, ...],
    nuisance: tuple[str, ...],
    treat: dict[str, list[str]],
    predict: str | None,
    pair: str | None,
    shown: Output,
    jobs: int,
    **given: Any,
) -> None:
    """Is one system the best over many datasets?

    DATA has a row per system, dataset and run, or per vote (a, b, winner).
    """
    from holdsup.verdict.places.votes import are_votes

    if are_votes(data):
        from holdsup.verdict.places import rank_votes

        _refuse_others("votes")
        chosen = {
            "annotator": given["rater"] or given["cluster"],
            "prompt": given["item"],
            "order": not given["no_order"],
        }
        shown.answer(rank_votes, data, **chosen, **{name: given[name] for name in ("adjust", "where", "level")})
        return
    given = {name: value for name, value in join_properties(given).items() if name not in ("adjust", "no_order")}
    estimate, claim = given.pop("estimate"), given.pop("claim")
    if estimate is not None:
        from holdsup.verdict.places import rank_runs

        _refuse_others("--estimate")
        own = {name: value for name, value in given.items() if name not in MODELLED | {"seed"}}
        shown.answer(rank_runs, data, estimate=estimate, claim=claim or "new-datasets", **own)
        return
    from holdsup.verdict.ranking import rank_systems

    _refuse_others("means of scores")
    configuration = None
    if predict is not None:
        configuration = _take_single(split_pairs(split_names([predict]), "system=A,dataset=X"), "--predict")
    arguments = {
        **given,
        "nuisance": nuisance or None,
        "treat": _take_single(treat, "--treat"),
        "predict": configuration,
        "pair": None if pair is None else split_names([pair]),
    }
    shown.answer(rank_systems, data, **arguments)


def _refuse_others(what: str) -> None:
    """Refuse options that were given, and mean nothing to what is asked."""
    context = click.get_current_context()
    for option in context.command.params:
        name = option.name or ""
        if name in NOT_OF[what] and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{max(option.opts, key=len)} has no meaning for {what}: leave it out.", context)


def _take_single(pairs: Mapping[str, Sequence[str]], option: str) -> dict[str, str]:
    """Return the one value of each name; refuse a name that is given twice."""
    if twice := next((name for name, values in pairs.items() if len(values) > 1), None):
        raise click.BadParameter(f"{twice!r} is given twice: {' and '.join(pairs[twice])}.", param_hint=option)
    return {name: value for name, (value,) in pairs.items()}
