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

from holdsup.columns import Labels, Numbers, read_columns
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
from holdsup.scores.corpus_files import Answered, read_tagged, read_texts
from holdsup.scores.reading import columns_of_tables, read_scores
from holdsup.scores.roles import FILE
from holdsup.scores.table import Scores, as_arrow

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
    made = counts or not (references or predictions)
    sources = {"--counts": counts, "--references": references, "--predictions": predictions}
    if len(given := [option for option, listed in sources.items() if listed]) > 1:
        raise ScoresError(f"{' and '.join(given)} say in two ways what is counted: leave one out")
    metric = find_estimate(estimate, counted=bool(made))
    if not metric.columns:
        raise MetricError(f"{metric.name} has no counts that could be summed, so there are no values of items")
    how: dict[str, Any] = {"names": names, "progress": progress}
    tagged = isinstance(metric, ChunkMetric | TokenAgreement)
    if references or (tagged and not counts and all(place.isdigit() for place in predictions) and _are_paths(data)):
        answered = read_tagged(data, references, predictions) if tagged else read_texts(data, references)
        scores = _count_files(metric, answered, **how, roles=roles)
    elif predictions:
        scores = _count_columns(metric, data, predictions, **how, roles=roles)
    else:
        scores = _read_counts(metric, data, counts, {**how, **roles})
    assert scores.corpus is not None
    return replace(scores, corpus=replace(scores.corpus, asked=estimate, pooled=pooled))


def _read_counts(metric: Metric, data: Any, counts: Sequence[str], how: Mapping[str, Any]) -> Scores:
    """Return the counts that are columns of a table."""
    if isinstance(metric, AveragedMetric) and metric.labels is None:
        raise MetricError(f"{metric.name} of which labels? Counts come label by label: add labels=[...]")
    listed = _check_number(metric, counts)
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


def _are_paths(data: Any) -> bool:
    """Return whether data are files with a tag a line, not a table or a folder of tables."""
    several = [data] if isinstance(data, str) or hasattr(data, "__fspath__") else data
    if not isinstance(several, list | tuple):
        return False
    return not any(str(each).lower().endswith((".csv", ".tsv", ".jsonl", ".parquet", ".json")) for each in several)


def _check_number(metric: Metric, counts: Sequence[str]) -> tuple[str, ...]:
    columns = metric.columns
    listed = tuple(counts) or columns
    if len(listed) != len(columns):
        also = f", or {','.join(HITS)}" if columns == MATCHES else ""
        raise ScoresError(
            f"--counts names {format_counted(len(listed), 'column')}, but {metric.name} is made of {len(columns)}, in "
            f"this order: {','.join(columns)}{also}"
        )
    return listed


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
    some = scores.usable & ~np.isfinite(counts).all(axis=1)
    if some.any():
        raise ScoresError(f"{_where(scores, some)} has some of its counts only: give all of them, or none")
    if (negative := scores.usable & (counts < 0).any(axis=1)).any() and metric.name != "perplexity":
        raise ScoresError(f"{_where(scores, negative)} has a count below zero")
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


def _count(metric: Metric, targets: Sequence[Any], predictions: Sequence[Any]) -> Floats:
    counted = metric.count(targets, predictions)
    return np.asarray(counted.toarray() if hasattr(counted, "toarray") else counted, dtype=np.float64)


def _count_files(
    metric: Metric, answered: Answered, *, names: str | None, progress: Progress, roles: Mapping[str, Any]
) -> Scores:
    """Return the counts of files of predictions, one for each run."""
    if isinstance(metric, ChunkMetric):
        metric = choose_scheme(metric, [*answered.targets[0], *answered.predictions[0]])
    metric = metric.for_targets(targets := _prepare(metric, answered.targets[0]))
    counted = []
    for place, (file, guesses) in enumerate(zip(answered.files, answered.predictions, strict=True)):
        progress(place, len(answered.files), "counting")
        own = targets if len(answered.targets) == 1 else answered.targets[place]
        try:
            counted.append(_count(metric, own, _prepare(metric, guesses)))
        except BadItem as error:
            raise ScoresError(f"{file}: {error.naming([f'line {i + 1}' for i in range(len(guesses))])}") from error
    items = [str(i + 1) for i in range(len(targets))]
    stems = [source.stem for source in answered.tables]
    stems = stems if len(set(stems)) == len(stems) else answered.files
    virtual = columns_in_names(names, answered.files) if names else {FILE: stems}
    table: dict[str, Any] = {name: np.repeat(values, len(items)) for name, values in virtual.items()}
    table[answered.noun] = np.tile(items, len(counted))
    scores = _as_scores(table, metric, np.concatenate(counted), progress, roles)
    nrefs = (
        f"nrefs:{answered.references}|"
        if isinstance(answered.targets[0][0], str | list) and not answered.tagged
        else ""
    )
    source = answered.files[0] if len(counted) == 1 else f"{len(counted)} files ({answered.files[0]} ...)"
    scores = replace(scores, source=source, names=names, notes=(*scores.notes, *answered.notes))
    return _make(scores, metric, np.concatenate(counted), metric.columns, _sign(metric, nrefs))


def _sign(metric: Metric, before: str = "") -> str:
    return f"{before}{metric.signature}" if metric.signature else ""


def _as_scores(
    table: dict[str, Any], metric: Metric, counts: Floats, progress: Progress, roles: Mapping[str, Any]
) -> Scores:
    """Return a table whose counts are beside it, read as any other."""
    first = f"{metric.name} count"
    return read_scores({**table, first: counts[:, 0]}, score=first, progress=progress, **roles)


def _count_columns(
    metric: Metric, data: Any, predictions: Sequence[str], *, names: str | None, progress: Progress,
    roles: Mapping[str, Any],
) -> Scores:  # fmt: skip
    """Return the counts of targets and predictions that are columns of a table."""
    if len(predictions) != 2:
        raise ScoresError(f"--predictions takes two columns, target and prediction; here are {list_names(predictions)}")
    tables = open_data(data, progress=progress).tables
    there = list(dict.fromkeys(column for table in tables for column in table.columns))
    for name in predictions:
        if name not in there:
            raise ColumnError.not_found(name, there, where=tables[0].name)
    columns = read_columns(
        tables, labels=list(predictions), either=[c for c in there if c not in predictions], progress=progress
    )
    target, guess = (_values(columns.named[name], name) for name in predictions)
    metric = metric.for_targets(known := _prepare(metric, target))
    try:
        counts = _count(metric, known, _prepare(metric, guess))
    except BadItem as error:
        raise ScoresError(error.naming([f"row {i + 1}" for i in range(len(known))])) from error
    table = {name: as_arrow(column) for name, column in columns.named.items() if name not in predictions}
    for name, values in columns_of_tables(tables, names).items():
        table[name] = np.repeat(values, columns.lengths)
    scores = _as_scores(table, metric, counts, progress, roles)
    scores = replace(scores, source=tables[0].name, names=names)
    return _make(scores, metric, counts, metric.columns, _sign(metric))


def _values(column: Labels | Numbers, name: str) -> list[str]:
    assert isinstance(column, Labels)  # it was read as such
    if column.has_gaps:
        row = int(np.flatnonzero(column.codes < 0)[0])
        raise ScoresError(f"row {row + 1} has no {name!r}: each item needs a target and a prediction")
    return [column.names[code] for code in column.codes.tolist()]


def _prepare(metric: Metric, texts: Sequence[Any]) -> list[Any]:
    """Return texts as a metric takes them: tags as lists, numbers as numbers."""
    if isinstance(metric, ChunkMetric | TokenAgreement):
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
            raise ScoresError(f"{corpus.title} of {who!r} without {_name(scores, own[error.row])}: {error}") from error
        except MetricError as error:
            raise ScoresError(f"{corpus.title} of {who!r}: {error}") from error
    left = int((~whole).sum())
    keep = np.ones(len(scores), bool)
    keep[rows[~whole]] = False
    made = replace(scores, score=values).only(keep)
    if not left:
        return made, {}, ()
    lacking = item.count - len(np.unique(item.codes[whole]))
    message = (
        f"{format_count(lacking)} of {format_counted(item.count, 'item')} {'is' if lacking == 1 else 'are'} not in "
    )
    return made, {"an item that another run lacks": left}, (
        Caution(code="corpus-items", about="data", count=lacking,
                message=f"{message}every run, and no corpus score counts them.",
                advice="Score the missing ones, so that all runs have the same corpus."),
    )  # fmt: skip


def _name(scores: Scores, row: int) -> str:
    assert scores.item is not None
    return f"item {scores.item.names[scores.item.codes[row]]!r}"
