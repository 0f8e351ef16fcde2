"""`compare_systems`: is one system better than another, and for what claim?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from holdsup.arguments import (
    check_count,
    check_level,
    check_margin,
    check_processes,
    check_progress,
    check_text,
    list_names_given,
)
from holdsup.columns.values import write_value
from holdsup.errors import ScoresError, list_names
from holdsup.progress import Progress, no_progress
from holdsup.results import Asked, Caution
from holdsup.results.extras import find_extra, list_extras
from holdsup.scores import Scores
from holdsup.scores.audit import list_roles
from holdsup.scores.directions import LowerIsBetter, choose_directions, sign_direction
from holdsup.scores.faults import refuse
from holdsup.scores.mixtures import refuse_mixtures
from holdsup.scores.raters import take_raters_as_items
from holdsup.scores.refusals import find_item_facets
from holdsup.scores.suggestions import point_to_roles
from holdsup.verdict.averages import Average
from holdsup.verdict.comparison.advice import Advice, advise
from holdsup.verdict.comparison.cautions import caution, caution_clusters, caution_options, count_lacking, count_missing
from holdsup.verdict.comparison.conditions import name_properties
from holdsup.verdict.comparison.contrasts import adjust_conditions, list_contrasts
from holdsup.verdict.comparison.corpora import caution_estimate, choose_lower, describe_estimate, take_estimate
from holdsup.verdict.comparison.findings import CompareQuestion, Found, count_rows, find, judge_systems
from holdsup.verdict.comparison.judges import caution_labels, find_judged
from holdsup.verdict.comparison.likeness import quote_nearest
from holdsup.verdict.comparison.picks import join_picks, pick_best
from holdsup.verdict.comparison.raters import CLAIMS as RATER_CLAIMS, caution_raters, find_rated
from holdsup.verdict.comparison.records import SystemMean
from holdsup.verdict.comparison.result import Comparison
from holdsup.verdict.comparison.standings import place_systems
from holdsup.verdict.comparison.trust import caution_ends, caution_evidence
from holdsup.verdict.evaluation import Evaluation, check_reachable, is_repetition, lay_out
from holdsup.verdict.intake import Where, list_where, lost_systems, take_in
from holdsup.verdict.items import find_dead_items
from holdsup.verdict.looking import Looking
from holdsup.verdict.repeats import check_repeats, count_repeats, count_samples
from holdsup.verdict.samples import OF_THESE_RUNS, THESE_ITEMS, estimate_samples, list_estimates
from holdsup.verdict.winrates import WinRates, is_score

SCALES = ("score", "logit")
WITHOUT_PICK = "leave --best out to compare systems over all their runs, and so over new ones"


def compare_systems(
    data: Any,
    *,
    claim: str | None = None,
    baseline: str | float | None = None,
    margin: float | None = None,
    best: str | None = None,
    by: str | Sequence[str] | None = (),
    scale: str = "score",
    where: Where = None,
    average: str | None = None,
    estimate: str | Sequence[str] | None = (),
    adjust: str | Sequence[str] | None = (),
    last: str | None = None,
    nested_runs: bool = False,
    deterministic: str | Sequence[str] | None = (),
    peek: bool = False,
    looks: Sequence[int] = (),
    counts: str | Sequence[str] = (),
    references: str | Sequence[str] = (),
    predictions: str | Sequence[str] = (),
    bootstrap: int = 0,
    human: str | None = None,
    human_weight: str | None = None,
    lower_is_better: LowerIsBetter = None,
    level: float = 0.95,
    seed: int = 0,
    processes: int | None = None,
    progress: Progress = no_progress,
    **roles: Any,
) -> Comparison:
    """Return whether systems differ, pair by pair, and for what claim.

    Parameters
    ----------
    data : `Scores`, or anything that `read_scores` takes
    claim : "these-items" (new samples of each item), "these-runs", "these-datasets" (new runs on these datasets),
        "new-runs" or "new-settings"; by default new-runs where two systems have two runs or more. With a column of
        raters "new-raters", by default where two systems have three raters in common or more, or "these-raters"
    baseline : the system that all others are compared with, or a score such as 0.5 on every item; by default all pairs
        are
    margin : differences below it do not matter: adds tests of equivalence, of non-inferiority and of more than it
    best : a column, such as the score on development data, by which each system's best run is picked (the lowest, if
        lower is better by its name, or else by the scores); the claim is then these-runs, and the pick is named as
        what it is; with `nested_runs` there is one on each dataset
    by : properties of items, numbers or classes: do differences depend on them, and where do they hold?
    scale : what differences along `by` are of: "score", or "logit", the log-odds of scores from 0 to 1, on which a lead
        does not shrink only because both systems are right nearly always
    where : columns and the values that rows must have, such as ``{"dataset": "news"}``
    average : over several datasets, "macro" (the default): datasets weigh the same; "micro": items do; "weights:COL":
        by a column that has one number for each dataset; "macro:group,subject": the mean over groups of the means over
        their subjects, which are then the datasets
    estimate : of samples that are right or wrong, "pass@5", the chance that one of five is right, "pass^3", that all
        three are, or several of these: each is a metric; by default samples are averaged. Or the score of a whole
        corpus, no mean of items: "bleu", "chrf,word_order=2", "ter", "wer", "micro_f1", "chunk_f1", "perplexity", any
        metric of `holdsup.metrics` that is made of summed counts
    adjust : properties in which answers are held equal to the reference's, such as "length" where there are the columns
        length and reference_length; scores are then win rates
    last : a column that counts, such as "step": of each run on each dataset only the rows at its largest value are used
    nested_runs : whether each dataset has training runs of its own, though their names recur: seed 1 of two datasets is
        then two trainings; by default a run whose name recurs is one training that was evaluated on all
    deterministic : systems that score the same in every run, such as greedy decoding with fixed weights: their run
        variance is zero, and one run of them will do
    peek : whether you look early, and may add items and look again: p and CI then hold at every look, for these runs,
        if items are evaluated in the order that `order_items` draws from the seed
    looks : numbers of runs, such as (4, 6, 8), at which you planned to look: p and CI then hold at all of them
    counts : of a corpus score, the columns with the counts of each item, in the metric's order
    references : of a corpus score, files of references, one text a line; `data` are then files of predictions, one a
        run
    predictions : of a corpus score, columns with target and prediction; in CoNLL files their places, from 1
    bootstrap : simulated responses by which the likelihood ratio is checked; 0 for no check. Of an estimate, samples of
        the paired bootstrap of items; 0 for 1,000
    human : a column of human labels of some items, a random sample, where the score is a judge's on all items: means
        and differences are those of labels, corrected by the judge
    human_weight : a column with how many items each labelled item stands for, where chances to be drawn were unequal
    lower_is_better : who is called better; differences stay as they are. True for all metrics, False for none, or the
        names of those of which a lower one is better, such as ["ter"]; others by their names: ter, loss, rmse, latency
    level : coverage of the CIs; a difference is clear if its p is 1 - level or less
    roles : passed on to `read_scores`

    Examples
    --------
    >>> from holdsup import simulate_scores
    >>> found = compare_systems(simulate_scores({"A": 0.70, "B": 0.72}, items=300, runs=5, seed=1))
    >>> found.claim, len(found.contrasts), found.contrasts[0].left
    ('new-runs', 1, 'B')
    """
    check_level(level)
    averaged = Average.read("macro" if average is None else average)
    baseline = baseline if baseline is None or isinstance(baseline, str) else write_value(baseline)
    texts = {"claim": claim, "baseline": baseline, "best": best, "human": human, "human_weight": human_weight}
    for name, text in texts.items():
        check_text(text, name)
    for name, count in (("bootstrap", bootstrap), ("seed", seed)):
        check_count(count, name)
    check_processes(processes)
    check_progress(progress)
    by, deterministic = list_names_given(by, "by"), list_names_given(deterministic, "deterministic")
    estimates, of_corpus = list_estimates(list_names_given(estimate, "estimate"))
    _check_scale(scale, by)
    looking = _look(peek, looks, seed, alone=not (by or bootstrap or best))
    claim = claim or ("these-runs" if peek and not looks else None)
    roles = roles if isinstance(data, Scores) else name_properties(by, averaged.name_dataset(roles))
    sources = {
        "counts": list_names_given(counts, "counts"),
        "references": list_names_given(references, "references"),
        "predictions": list_names_given(predictions, "predictions"),
    }
    data = take_estimate(
        data, of_corpus, sources, by=by, peek=peek and not looks, average=average, progress=progress, roles=roles
    )
    lower = choose_lower(data, lower_is_better)
    taken = take_in(
        data, roles, where=where, last=last, lower_is_better=lower, raters=True, corpora=True, progress=progress
    )
    scores, directions, said = taken.scores, taken.directions, list[Caution]()
    alone = {
        "--by": by,
        "--best": best,
        "--peek": peek,
        "--looks": looks,
        "--bootstrap": bootstrap,
        "--deterministic": deterministic,
        "--estimate": estimates,
        "--average": average,
        f"--baseline {baseline}": is_score(baseline, scores),
    }
    scores = _settle(scores, claim, human, human_weight, [name for name, value in alone.items() if value])
    refuse(find_item_facets(usable := scores.only(scores.usable), _settings(usable)))
    refuse_mixtures(taken.faults)
    picked = None
    if best is not None:
        picked = pick_best(scores, best, lower_is_better=directions.of_column(best), nested_runs=nested_runs)
        scores = picked.scores
        said.extend(picked.cautions)
        if claim not in (None, *OF_THESE_RUNS):
            why = f"You asked for the claim {claim}, but picked runs say nothing about new ones."
            said.append(Caution(code="less-claimed", message=why))
    made = estimate_samples(scores, estimates, these_items=claim == THESE_ITEMS)
    if estimates:
        directions = choose_directions(made, lower_is_better)
    by_items, adjust = averaged.kind == "micro", list_names_given(adjust, "adjust")
    rates = WinRates.of(made, adjust, baseline, by_items=by_items)
    made, declared = rates.scores, deterministic
    deterministic = deterministic if rates.constant is None else (*deterministic, rates.constant)
    said.extend(rates.cautions)
    question = CompareQuestion(
        claim=claim if picked is None or claim == THESE_ITEMS else "these-runs",
        baseline=baseline, margin=check_margin(margin), by=by, scale=scale, deterministic=deterministic,
        bootstrap=bootstrap, directions=directions, level=level, seed=seed, processes=processes, human=human,
        human_weight=human_weight,
    )  # fmt: skip
    laid_out = lay_out(join_picks(made) if picked and nested_runs else made, nested_runs=nested_runs)
    evaluations = [
        replace(each, by_items=by_items, weights=averaged.weigh(each.scores), looking=looking) for each in laid_out
    ]
    _check_systems(made, question)
    if question.margin is not None and not human:
        check_reachable(evaluations, question.margin, "margin")
    for evaluation in evaluations:
        check_repeats(evaluation, averaged=True)
    asked = [_find(evaluation, question, said, progress) for evaluation in evaluations]
    found = [each for each in asked if each.pairs]
    if not found:
        raise _refuse(scores, asked[0].refused[0], taken.faults)
    contrasts = list_contrasts(found, margin=question.margin, level=level)
    conditional = adjust_conditions([c for each in found for c in each.conditions.ours], level=level)
    tests = tuple(judge_systems(each, contrasts, question, said, progress) for each in found)
    said += [line for each in asked for line in caution(each, level=level)]
    said += [c for each in found for of in (caution_evidence, caution_ends) for c in of(each, contrasts, level)]
    adjusted = any(each.untold for each in asked)
    said += [] if picked or looking or adjusted or scores.corpus else quote_nearest(asked, question)
    said += list_extras("what is known of such corpora", lambda: caution_estimate(found[0].evaluation), said)
    said += [looking.say()] if looking else []
    said += [*taken.cautions, *caution_clusters(by, roles.get("cluster"))]
    said += [*caution_options(scores, average or "macro", nested_runs), *directions.assumptions()]
    said += _caution_adjusted(found, question) if adjusted else _caution_claim(claim, found[0].claims[0], said)
    drawn = seed if bootstrap or scores.corpus or (peek and not looks) else None  # where it moves numbers
    signed = Asked.about(  # the claim as it was asked for, not as it was made
        "compare", data=_sign(scores, human, human_weight), roles=list_roles(scores), claim=claim or "auto",
        where=list_where(where), last=last, nested_runs=nested_runs or None, deterministic=declared or None,
        baseline=baseline, best=best, by=by, scale=None if scale == "score" else scale, level=level, average=average,
        estimate=scores.corpus.asked if scores.corpus else tuple(each.name for each in estimates), **sources,
        adjust=adjust, margin=question.margin,
        lower_is_better=sign_direction(lower_is_better), bootstrap=bootstrap or None, seed=drawn,
        human=human, human_weight=human_weight, peek=peek or None, looks=",".join(map(str, looks)),
    )  # fmt: skip
    passed_over = dict(taken.passed_over) | (picked.reasons if picked else {})
    compared = Comparison(
        asked=signed, seed=drawn,
        rows=rates.count_rows(
            count_rows(scores if estimates else made, asked[:: max(1, len(estimates))], passed_over)
        ),
        claim=found[0].claims[0], level=level, lower_is_better=contrasts[0].lower_is_better, baseline=baseline,
        unit=evaluations[0].unit, average=average or "macro", best=() if picked is None else picked.runs,
        systems=place_systems(list(_means(found)), contrasts, all_pairs=baseline is None, level=level), test=tests[0],
        tests=tests, contrasts=contrasts, conditional=conditional, paper=found[0].paper,
        papers=tuple(each.paper for each in found if each.paper is not None),
        next=(WITHOUT_PICK,) if picked and picked.passed_over else (looking.advise(),) if looking else (),
        datasets=found[0].datasets,
        raters=tuple(each.raters for each in found if each.raters),
        human=tuple(line for each in found for line in each.human),
        dead=() if scores.corpus else tuple(
            list_extras("items that tell nothing", lambda: find_dead_items([each.evaluation for each in found]), said)
        ),
        left_out=sum(len(each.refused) for each in asked if each.pairs),
        estimate=find_extra(
            "the paired bootstrap of items",
            lambda: describe_estimate(found[0].evaluation, contrasts, draws=bootstrap, seed=seed, level=level),
            said, None,
        ),
    )  # fmt: skip
    if not compared.next:
        advice = find_extra("the advice on what to do next", lambda: advise(compared, found), said, Advice())
        compared = replace(compared, next=advice.said, settled_by=advice.by)
    return replace(compared, cautions=_order(said))


def _find(evaluation: Evaluation, question: CompareQuestion, said: list[Caution], progress: Progress) -> Found:
    """Return what one metric says, by the rule of its design."""
    if question.human is not None:
        return find_judged(evaluation, question)
    if evaluation.scores.rater is not None:
        return find_rated(evaluation, question, said)
    return find(evaluation, question, said, progress)


def _settle(scores: Scores, claim: str | None, human: str | None, weight: str | None, alone: Sequence[str]) -> Scores:
    """Return the scores for a question about raters or human labels, which excludes some options."""
    if scores.rater is not None and scores.unit is None:
        scores = take_raters_as_items(scores)
    if human is not None and alone:
        raise ScoresError(f"{', '.join(alone)}: not together with --human: leave one of them out")
    if scores.rater is not None and alone:
        raise ScoresError(
            f"{', '.join(alone)}: not together with a column of raters ({scores.roles.rater}): leave it out, or "
            "average the ratings of each output first"
        )
    if scores.rater is None and claim in RATER_CLAIMS:
        raise ScoresError(f"the claim {claim} needs items rated by several raters: name their column with --rater")
    if weight is not None and human is None:
        raise ScoresError("--human-weight: it weighs human labels: name their column with --human")
    return scores


def _caution_adjusted(found: Sequence[Found], question: CompareQuestion) -> Iterator[Caution]:
    """Yield what limits answers that are adjusted for raters, or by human labels."""
    beyond = RATER_CLAIMS if question.human else ()
    if question.claim in ("new-runs", "these-datasets", "new-settings", *beyond):
        why = f"You asked for the claim {question.claim}, but runs and judges are as they are here."
        yield Caution(code="less-claimed", message=why)
    for each in found:
        yield from caution_raters(each) if each.raters else caution_labels(each.evaluation, question)
        if each.evaluation.datasets is not None:
            message = "Datasets weigh as their items do where differences are adjusted."
            yield Caution(code="items-weigh-the-same", severity="note", about="claim", message=message)


def _sign(scores: Scores, *labels: str | None) -> str:
    """Return the digest of the data, columns of human labels among them."""
    columns = {name: scores.others[name] for name in labels if name is not None and name in scores.others}
    return replace(scores, properties={**scores.properties, **columns}).digest


def _check_scale(scale: str, by: Sequence[str]) -> None:
    if scale not in SCALES:
        raise ScoresError(f"scale is {scale!r}: it can be {' or '.join(SCALES)}")
    if scale != "score" and not by:
        raise ScoresError(f"--scale {scale} belongs to --by: name the properties along which differences are looked at")


def _look(peek: bool, looks: Sequence[int], seed: int, *, alone: bool) -> Looking | None:
    """Return how early looks are taken, None where they are not; they exclude other questions."""
    looking = Looking.of(peek, looks, seed)
    if looking is not None and not alone:
        raise ScoresError("looking early excludes --by, --bootstrap and --best, whose tests are for a single look")
    return looking


def _caution_claim(asked: str | None, made: str, said: Sequence[Caution]) -> Iterator[Caution]:
    """Yield that only these runs are claimed though more was asked for, where nothing was `said` about it."""
    less = asked not in (None, "these-runs") and made == "these-runs"
    if less and not any(each.code == "less-claimed" for each in said):
        why = f"You asked for the claim {asked}, but single runs say nothing about new ones."
        yield Caution(code="less-claimed", message=why)


def _means(found: Sequence[Found]) -> Iterator[SystemMean]:
    """Yield the means, with what is missing of each system or was averaged."""
    for each in found:
        averaged, samples = count_repeats(each.evaluation), count_samples(each.evaluation)
        for mean in each.means:
            system = each.evaluation.system(mean.name)
            missing, lacking = count_missing(each.evaluation, system), count_lacking(each.evaluation, system)
            yield replace(
                mean, missing=missing, averaged=averaged[mean.name], samples=samples[mean.name], lacking=lacking
            )


def _order(cautions: Sequence[Caution]) -> tuple[Caution, ...]:
    """Return each caution once, a doubt about the direction first: if it is wrong, so is who is better."""
    return tuple(sorted(dict.fromkeys(cautions), key=lambda each: each.code != "direction-against-name"))


def _settings(scores: Scores) -> list[str]:
    return [name for name in scores.facets if not is_repetition(scores, name)]


def _check_systems(scores: Scores, question: CompareQuestion) -> None:
    names, lost = scores.only(scores.usable).system.names, lost_systems(scores)
    if len(names) < 2 and lost:
        without = "; ".join(f"{name!r} has no usable score ({why})" for name, why in lost.items())
        raise ScoresError(f"only {names[0]!r} has scores, and a comparison needs two systems: {without}")
    if len(names) < 2:
        why = (scores.roles.system is None and point_to_roles(scores)) or _why_one(scores)
        raise ScoresError(f"there is only one system, {names[0]!r}, and a comparison needs two: {why}")
    if unknown := [name for name in question.deterministic if name not in names]:
        raise ScoresError(f"--deterministic {unknown[0]!r} is not one of the systems: {list_names(names)}")
    if question.baseline in lost:
        why = lost[question.baseline]
        raise ScoresError(f"the baseline {question.baseline!r} has no usable score ({why}): give another")
    if question.baseline is not None and question.baseline not in names:
        raise ScoresError(f"the baseline {question.baseline!r} is not one of the systems: {list_names(names)}")


def _why_one(scores: Scores) -> str:
    """Return why there may be only one system, and what to do."""
    notes = {each.code: each for each in scores.notes}
    if unread := notes.get("unread-log") or notes.get("empty-log"):
        return f"{unread.message[0].lower()}{unread.message[1:].rstrip('.')}"
    if "logs-read" in notes:
        return "name each file or folder that you want to compare"
    return "is --system right, or a file missing?"


def _refuse(scores: Scores, first: Exception, faults: Sequence[Caution]) -> ScoresError:
    """Return why no pair is compared: what is wrong with the first, and the faults of the table, a likely cause."""
    labelled = int(scores.labelled.sum())
    why = str(first).rstrip(".")
    if 2 * labelled < len(scores):  # what is wrong with the few others is of no interest
        why = f"only {labelled:,} of {len(scores):,} rows have all their labels, too few to compare systems"
    return ScoresError(" ".join([f"{why}.", *(each.sentence() for each in faults)]).rstrip("."))
