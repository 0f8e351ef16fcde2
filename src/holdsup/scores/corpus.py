"""Scores of a whole corpus: counts of items from columns, texts or tagged files, and what each item adds to the score.

The rows of the table are those of any other; their numbers are influence values (`holdsup.metrics.corpus`), so that the
mean of a run is the score of its corpus.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdsup.columns import Labels, read_columns
from holdsup.columns.crossing import cross
from holdsup.columns.sources import columns_in_names
from holdsup.errors import ColumnError, HoldsupError, MetricError, ScoresError, list_names
from holdsup.logs import open_data
from holdsup.metrics.chunks import ChunkMetric
from holdsup.metrics.corpus import Alone, Corpus
from holdsup.metrics.estimates import choose_scheme, find_estimate
from holdsup.metrics.labels import AveragedMetric
from holdsup.metrics.means import NumberError, TokenAgreement
from holdsup.metrics.metric import MATCHES, BadItem, Floats, Metric
from holdsup.progress import Progress, no_progress
from holdsup.rendering.numbers import format_count, format_counted
from holdsup.results.cautions import Caution
from holdsup.scores.corpus_files import Answered, is_table, read_tagged, read_texts
from holdsup.scores.reading import columns_of_tables, read_scores
from holdsup.scores.roles import FILE
from holdsup.scores.table import Scores, as_arrow

TAGS = (ChunkMetric, TokenAgreement)  # metrics of a tag for each token
HITS = ("tp", "fp", "fn")  # other counts that say the same as MATCHES


def read_corpus(
    data: Any,
    estimate: str,
    *,
    counts: Sequence[str] = (),
    references: Sequence[Any] = (),
    predictions: Sequence[str] = (),
    pooled: bool = False,
    names: str | None = None,
    progress: Progress = no_progress,
    **roles: Any,
) -> Scores:
    """Return the counts of each item as `Scores` of which a corpus score can be made.

    Parameters
    ----------
    data : a table with the counts of each item, as `read_scores` takes it; or files of predictions, one for each run
    estimate : a metric, with its options: "bleu", "chrf,word_order=2", "f1,average=macro,labels=[a, b]"
    counts : the columns of the counts, in the order of the metric's own; by default those that are called like these
    references : files of targets, line by line as the predictions are; of tagged files, a file that ends in the tags
    predictions : columns of target and prediction; of tagged files their places, from 1 (the last two otherwise)
    pooled : whether several datasets are one corpus
    names, roles : as `read_scores` has them
    """
    sources = {"counts": counts, "references": references, "predictions": predictions}
    if len(given := [f"--{option}" for option, listed in sources.items() if listed]) > 1:
        raise ScoresError(f"{' and '.join(given)} say in two ways what is counted: leave one out")
    metric = find_estimate(estimate, counted=not (references or predictions))
    if not metric.columns:
        raise MetricError(f"{metric.name} has no counts that could be summed, so there are no values of items")
    how: dict[str, Any] = {"names": names, "progress": progress, **roles}
    tagged = isinstance(metric, TAGS) and not counts and all(place.isdigit() for place in predictions)
    if references or (tagged and not is_table(data)):
        read = read_tagged if isinstance(metric, TAGS) else read_texts
        scores = _count_files(metric, read(data, references, predictions), how)
    elif predictions:
        scores = _count_columns(metric, data, predictions, how)
    else:
        scores = _read_counts(metric, data, counts, how)
    assert scores.corpus is not None
    return replace(scores, corpus=replace(scores.corpus, asked=estimate, pooled=pooled))


def _read_counts(metric: Metric, data: Any, counts: Sequence[str], how: Mapping[str, Any]) -> Scores:
    """Return the counts that are columns of a table."""
    if isinstance(metric, AveragedMetric) and metric.labels is None:
        raise MetricError(f"{metric.name} of which labels? Counts come label by label: add labels=[...]")
    listed = tuple(counts) or metric.columns
    if len(listed) != len(metric.columns):
        also = f", or {','.join(HITS)}" if metric.columns == MATCHES else ""
        raise ScoresError(
            f"--counts names {format_counted(len(listed), 'column')}, but {metric.name} is made of "
            f"{len(metric.columns)}, in this order: {','.join(metric.columns)}{also}"
        )
    try:
        scores = read_scores(data, score=listed[0], **how)
    except HoldsupError as error:
        if counts:
            raise
        advice = f"{metric.name} needs --counts, the columns of {', '.join(listed)}; or --references FILE, if DATA are "
        raise ScoresError(f"{advice}files of predictions ({error})") from error
    known = np.column_stack([scores.score, *(_numbers(scores, name) for name in listed[1:])])
    if set(plain := [each.lower() for each in listed]) == set(HITS):
        right, spurious, missed = (known[:, plain.index(name)] for name in HITS)
        known = np.column_stack([right, right + spurious, right + missed])
    return _make(scores, metric, known, listed)


def _numbers(scores: Scores, name: str) -> Floats:
    """Return a column of counts."""
    column = scores.others.get(name)
    if column is None:
        taken = scores.roles.columns()
        if name in taken:
            raise ScoresError(f"--counts {name}: by its name this column holds the {taken[name]}: rename it")
        raise ColumnError.not_found(name, [*taken, *scores.others], where=scores.source)
    if isinstance(column, Labels):
        raise ScoresError(f"--counts {name}: this column holds texts such as {column.names[0]!r:.40}, not counts")
    return column.values


def _make(scores: Scores, metric: Metric, counts: Floats, columns: Sequence[str], signature: str = "") -> Scores:
    """Return scores with their counts, which have been checked."""
    if scores.item is None:
        raise ScoresError("an estimate is made of the counts of each item, and no column names the items: give --item")
    if scores.metric is not None and scores.metric.count > 1:
        raise ScoresError(
            f"{metric.name} is one metric, and column {scores.roles.metric!r} names {scores.metric.count}: give "
            "--metric - if it is none, or --where to choose one"
        )
    found = Corpus(metric, np.where(scores.usable[:, None], counts, np.nan), signature)
    faults = {"some of its counts only: give all of them, or none": ~np.isfinite(counts).all(axis=1)}
    if metric.name != "perplexity":  # densities may be above 1
        faults["a count below zero"] = (counts < 0).any(axis=1)
    for what, rows in faults.items():
        if (rows & scores.usable).any():
            raise ScoresError(f"{_where(scores, rows & scores.usable)} has {what}")
    for part, whole in metric.parts:
        if (wrong := scores.usable & (counts[:, part] > counts[:, whole])).any():
            row = int(np.flatnonzero(wrong)[0])
            more = f" ({format_counted(int(wrong.sum()), 'such row')})" if wrong.sum() > 1 else ""
            raise ScoresError(
                f"counts don't add up: {_where(scores, wrong)} has {columns[part]} = {counts[row, part]:g}, more than "
                f"{columns[whole]} = {counts[row, whole]:g}{more}: is {','.join(metric.columns)} the order of --counts?"
            )
    others = {name: column for name, column in scores.others.items() if name not in columns}
    roles = replace(scores.roles, score=found.title)
    return replace(scores, corpus=found, others=others, roles=roles)


def _where(scores: Scores, mask: NDArray[np.bool_]) -> str:
    row = int(np.flatnonzero(mask)[0])
    assert scores.item is not None
    return f"item {scores.item.names[scores.item.codes[row]]!r} of {scores.run.names[scores.run.codes[row]]!r}"


def _count_files(metric: Metric, answered: Answered, how: Mapping[str, Any]) -> Scores:
    """Return the counts of files of predictions, one for each run."""
    if isinstance(metric, ChunkMetric):
        metric = choose_scheme(metric, [*answered.targets, *answered.predictions[0]])
    targets = _prepare(metric, answered.targets)
    metric, counted = metric.for_targets(targets), []
    items, files = [str(i + 1) for i in range(len(targets))], [source.name for source in answered.files]
    for place, guesses in enumerate(answered.predictions):
        how["progress"](place, len(files), "counting")
        counted.append(_count(metric, targets, _prepare(metric, guesses), f"{files[place]}: ", "line"))
    stems = [source.stem for source in answered.files]
    unlike = len(set(stems)) == len(stems)
    names = how["names"]
    columns = columns_in_names(names, files) if names else {FILE: stems if unlike else files}
    table: dict[str, Any] = {name: np.repeat(values, len(items)) for name, values in columns.items()}
    table["sentence"] = np.tile(items, len(files))
    nrefs = f"nrefs:{answered.references}|" if answered.references and metric.signature else ""
    scores = _read_made(table, metric, np.concatenate(counted), how, f"{nrefs}{metric.signature}")
    source = files[0] if len(files) == 1 else f"{len(files)} files ({files[0]} ...)"
    return replace(scores, source=source, notes=(*scores.notes, *answered.notes))


def _count_columns(metric: Metric, data: Any, predictions: Sequence[str], how: Mapping[str, Any]) -> Scores:
    """Return the counts of targets and predictions that are columns of a table."""
    if len(predictions) != 2:
        raise ScoresError(f"--predictions takes two columns, target and prediction; here are {list_names(predictions)}")
    tables = open_data(data, progress=how["progress"]).tables
    there = list(dict.fromkeys(column for table in tables for column in table.columns))
    for name in predictions:
        if name not in there:
            raise ColumnError.not_found(name, there, where=tables[0].name)
    columns = read_columns(tables, labels=list(predictions), either=[c for c in there if c not in predictions])
    texts = []
    for name in predictions:
        column = columns.named[name]
        assert isinstance(column, Labels)  # it was read as such
        if column.has_gaps:
            row = int(np.flatnonzero(column.codes < 0)[0])
            raise ScoresError(f"row {row + 1} has no {name!r}: each item needs a target and a prediction")
        texts.append(_prepare(metric, [column.names[code] for code in column.codes.tolist()]))
    metric = metric.for_targets(texts[0])
    counts = _count(metric, texts[0], texts[1], "", "row")
    table = {name: as_arrow(column) for name, column in columns.named.items() if name not in predictions}
    for name, values in columns_of_tables(tables, how["names"]).items():
        table[name] = np.repeat(values, columns.lengths)
    return replace(_read_made(table, metric, counts, how, metric.signature), source=tables[0].name)


def _count(metric: Metric, targets: Sequence[Any], predictions: Sequence[Any], where: str, noun: str) -> Floats:
    """Return counts; an error names the line or the row of the item."""
    try:
        counted = metric.count(targets, predictions)
    except BadItem as error:
        raise ScoresError(where + error.naming([f"{noun} {i + 1}" for i in range(len(targets))])) from error
    return np.asarray(counted.toarray() if hasattr(counted, "toarray") else counted, dtype=np.float64)


def _read_made(table: dict[str, Any], metric: Metric, counts: Floats, how: Mapping[str, Any], signature: str) -> Scores:
    """Return a table as any other is read, with the counts that were made."""
    first = f"{metric.name} count"
    scores = read_scores({**table, first: counts[:, 0]}, score=first, **{**how, "names": None})
    return replace(_make(scores, metric, counts, metric.columns, signature), names=how["names"])


def _prepare(metric: Metric, texts: Sequence[Any]) -> list[Any]:
    """Return texts as a metric takes them: tags as lists, numbers as numbers."""
    if isinstance(metric, TAGS):
        return [text.split() if isinstance(text, str) else text for text in texts]
    if isinstance(metric, NumberError):
        try:
            return [float(text) for text in texts]
        except ValueError as error:
            raise ScoresError(f"{metric.name} is of numbers: {error}") from error
    return list(texts)


def linearise(scores: Scores) -> tuple[Scores, dict[str, int], tuple[Caution, ...]]:
    """Return scores whose numbers are influence values, how many rows are left out and why, and what to say of it.

    Runs are scored on the items that all of them have, or else they would be scored on different corpora.
    """
    corpus = scores.corpus
    assert corpus is not None
    rows = np.flatnonzero(scores.usable)
    if not len(rows):
        return scores, {}, ()
    parts = (None,) if corpus.pooled or scores.dataset is None else (scores.dataset.take(rows),)
    run, dataset = scores.run.take(rows), scores.dataset
    item = cross(None if dataset is None else dataset.take(rows), scores.item.take(rows) if scores.item else None)
    block, together = cross(*parts, rows=len(rows)), cross(*parts, run)
    cells = cross(run, Labels.of(item.codes, list(map(str, range(item.count)))))
    if cells.count < len(rows):
        twice = rows[np.setdiff1d(np.arange(len(rows)), cells.first)]
        raise ScoresError(
            f"{_where(scores, np.isin(np.arange(len(scores)), twice))} has several rows of counts, and a corpus counts "
            "an item once: name the column that tells runs apart (--run, --replicates), or leave copies out"
        )
    runs = np.bincount(block.codes[together.first], minlength=block.count)
    whole = np.bincount(item.codes, minlength=item.count)[item.codes] == runs[block.codes]
    if not whole.any():
        raise ScoresError("no item has counts in every run, and the scores of runs on different items say nothing")
    values = np.full(len(scores), np.nan)
    for code, first in enumerate(together.first):
        own = rows[(together.codes == code) & whole]
        who = run.names[run.codes[first]]
        if not len(own):
            raise ScoresError(f"{who!r} has no item that all other runs have")
        try:
            values[own] = corpus.influences(own)
        except Alone as error:
            item_of = _where(scores, np.arange(len(scores)) == own[error.row])
            raise ScoresError(f"{corpus.title} without {item_of}: {error}") from error
        except MetricError as error:
            raise ScoresError(f"{corpus.title} of {who!r}: {error}") from error
    keep = np.ones(len(scores), bool)
    keep[rows[~whole]] = False
    made = replace(scores, score=values).only(keep)
    if whole.all():
        return made, {}, ()
    lacking = item.count - len(np.unique(item.codes[whole]))
    are = f"{format_count(lacking)} of {format_counted(item.count, 'item')} {'is' if lacking == 1 else 'are'}"
    said = Caution(
        code="corpus-items", about="data", count=lacking,
        message=f"{are} not in every run, and no corpus score counts them.",
        advice="Score the missing ones, so that all runs have the same corpus.",
    )  # fmt: skip
    return made, {"an item that another run lacks": int((~whole).sum())}, (said,)
