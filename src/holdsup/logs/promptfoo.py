"""promptfoo: how each provider did on each test case, from a file of results or from its database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from holdsup.errors import ReadError
from holdsup.logs.contract import Found, TaskLog, count_before, describe
from holdsup.logs.documents import walk_file
from holdsup.logs.files import digest, flat, mapping, parse, read_head
from holdsup.logs.laid_out import FileReader
from holdsup.logs.sqlite import columns_of, holds_tables, read_only
from holdsup.results.cautions import Caution

RESULTS = "results"  # a member of the document, and the list within it
MARKS = (b'"results"', b'"version"', b'"timestamp"')
OWN = (b'"evalId"', b'"namedScores"')  # of which a file has the one or the other
FILES = (".json", ".json.gz")
DATABASE, SUFFIXES = "promptfoo.db", (".db", ".sqlite", ".sqlite3")
TABLES = {"evals", "evals_to_prompts"}  # by which a database is known
ANSWERS = "eval_results"
KNOWN = (1, 2, 3, 4)  # versions of the layout of a file
BREAK = "\n"
ERROR = 2  # why an answer failed: there was none; 1 is that an assertion rejected it
LONGEST = 60  # characters of variables, labels and reasons that are shown as they are
COSTS = ("cost", "latency_s", "total_tokens")
MOST_COST = 1e100  # dollars, seconds or tokens: more is no cost
COLUMNS = {  # of the database, and what they are called in a file
    "id": "id",
    "test_idx": "testIdx",
    "prompt_idx": "promptIdx",
    "test_case": "testCase",
    "prompt": "prompt",
    "provider": "provider",
    "success": "success",
    "score": "score",
    "named_scores": "namedScores",
    "failure_reason": "failureReason",
    "error": "error",
    "grading_result": "gradingResult",
    "response": "response",
    "latency_ms": "latencyMs",
    "cost": "cost",
}
PARTS = ("test_case", "prompt", "provider", "named_scores", "grading_result", "response")  # which are JSON

_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False).encode


class Reply(NamedTuple):
    """An answer to a test case, without its texts."""

    ident: str
    place: int  # the number of the test case; each repeat of a case has a number of its own
    variables: str  # what the test case is about, as JSON
    content: str  # digest of the test case: variables and assertions
    prompt: str  # digest
    scores: dict[str, float | None]
    error: str
    costs: dict[str, float]
    asserted: bool  # whether anything was asserted of the answer
    cached: bool


class Side(NamedTuple):
    """The answers of a provider to a prompt."""

    provider: str
    label: str
    number: int | None
    answers: list[Reply]


def _claim(path: Path) -> Iterator[Path]:
    if (path.name.endswith(FILES) and _is_results(path)) or (
        path.name == DATABASE or (path.suffix in SUFFIXES and holds_tables(path, TABLES))
    ):
        yield path


def _read(found: Found) -> Iterator[TaskLog]:
    """Yield the answers of each provider to each prompt; a database holds many evaluations."""
    path = found.files[0]
    if not path.name.endswith(FILES):
        yield from _read_database(path)
        return
    held: dict[str, Any] = {}  # what the file says beside its results, and they beside their list
    sides = _group(_read_file(path, held))
    if not sides:
        raise ReadError(f"{path} holds no results: the evaluation had no test cases, or did not begin")
    yield from _logs(found.name, {**held, RESULTS: held}, sides)


def _read_file(path: Path, held: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the results of a file; `held` gets what else it says."""
    for key, value in walk_file(path, lists=(RESULTS,), inside=(RESULTS,)):
        if key == RESULTS:
            yield value
        else:
            held[key] = value


def _is_results(path: Path) -> bool:
    head = read_head(path)
    return all(mark in head for mark in MARKS) and any(mark in head for mark in OWN)


def _read_database(path: Path) -> Iterator[TaskLog]:
    with read_only(path, {"evals", ANSWERS}) as base:
        there, kept = columns_of(base, "evals"), columns_of(base, ANSWERS)
        chosen = [name for name in COLUMNS if name in kept]
        about = [name for name in ("config", "prompts", "vars", "results") if name in there]
        for (ident,) in base.execute("SELECT id FROM evals ORDER BY id").fetchall():
            name = f"{path}: {ident}"
            texts = base.execute(f"SELECT {flat(about)} FROM evals WHERE id = ?", (ident,)).fetchone()
            parts = {key: _part(text, name) for key, text in zip(about, texts, strict=True)}
            rows = base.execute(f"SELECT {flat(chosen)} FROM {ANSWERS} WHERE eval_id = ?", (ident,)) if chosen else ()
            sides = _group(_record(zip(chosen, row, strict=True), name) for row in rows)
            summary = {"version": 4, "prompts": parts.get("prompts")}
            if not sides:  # the first versions of promptfoo kept all results in one value
                summary = mapping(parts.get("results"))
                sides = _group(summary.get("results") or [])
            yield from _logs(name, {**parts, "evalId": ident, "results": summary}, sides)


def _record(row: Iterable[tuple[str, Any]], where: str) -> dict[str, Any]:
    return {COLUMNS[name]: _part(value, where) if name in PARTS else value for name, value in row}


def _part(text: object, name: str) -> Any:
    return None if text is None else parse(str(text).encode(), name)


def _group(records: Iterable[dict[str, Any]]) -> list[Side]:
    """Return the answers by provider and prompt; the first layouts do not number these pairs."""
    sides: dict[Any, Side] = {}
    for place, record in enumerate(records):
        provider, prompt, number = record["provider"], mapping(record.get("prompt")), record.get("promptIdx")
        who = str(provider if isinstance(provider, str) else provider.get("label") or provider["id"])
        label = str(prompt.get("label") or prompt.get("raw") or "")
        key = (who, label) if number is None else number
        sides.setdefault(key, Side(who, label, number, [])).answers.append(_answer(record, place))
    return sorted(sides.values(), key=lambda side: side.number or 0)


def _answer(record: Mapping[str, Any], place: int) -> Reply:
    case, grading, response = (mapping(record.get(key)) for key in ("testCase", "gradingResult", "response"))
    given = mapping(case.get("vars") or record.get("vars"))
    # Those are of the run, not of the test case: ids of sessions and conversations.
    variables = {key: value for key, value in given.items() if not key.startswith("_") and key != "sessionId"}
    about = _encode(variables)
    checks = [check for check in case.get("assert") or [] if isinstance(check, dict)]
    named: dict[str, float | None] = {
        str(key): float(value) for key, value in mapping(record.get("namedScores")).items() if value is not None
    }
    error = _error(record, grading)
    if error != "-":
        expected = {
            str(check["metric"]) for check in checks if check.get("metric") and "{{" not in str(check["metric"])
        }
        named |= dict.fromkeys(expected - named.keys())
    usage = mapping(record.get("tokenUsage") or response.get("tokenUsage"))
    latency = record.get("latencyMs")
    costs = (record.get("cost"), None if latency is None else latency / 1000, usage.get("total"))
    return Reply(
        ident=str(record.get("id") or ""),
        place=int(record.get("testIdx", place)),
        variables=about,
        content=digest(f"{about}{_encode(checks)}{case.get('threshold')}"),
        prompt=digest(str(mapping(record.get("prompt")).get("raw"))),
        scores={"success": float(bool(record["success"])), "score": float(record["score"]), **named},
        error=error,
        # Files say 0 where there was no answer, databases nothing.
        costs={
            name: float(value)
            for name, value in zip(COSTS, costs, strict=True)
            if value is not None and abs(value) < MOST_COST and error == "-"
        },
        asserted=bool(checks or grading.get("componentResults")),
        cached=response.get("cached") is True,
    )


def _error(record: Mapping[str, Any], grading: Mapping[str, Any]) -> str:
    """Return why there was no answer; promptfoo counts that as a failure, with a score of 0."""
    reason, said = record.get("failureReason"), record.get("error")
    # Versions before there was a reason: an answer that an assertion rejected has been graded.
    failed = reason == ERROR if reason is not None else bool(said) and not grading and not record["success"]
    return f"request failed: {str(said or '').strip().partition(BREAK)[0][:LONGEST]}" if failed else "-"


def _logs(name: str, document: Any, sides: list[Side]) -> Iterator[TaskLog]:
    document = mapping(document)
    summary, config = mapping(document.get("results")), mapping(document.get("config"))
    prompts = summary.get("prompts") or mapping(mapping(summary.get("table")).get("head")).get("prompts") or []
    numbers = _number([answer for side in sides for answer in side.answers])
    variables = document.get("vars") or sorted({key for side in sides for key in json.loads(side.answers[0].variables)})
    task = config.get("description") or (f"tests of {flat(variables)}" if variables else None)
    tool = mapping(document.get("metadata")).get("promptfooVersion")
    for side, system in zip(sides, _systems(sides), strict=True):
        about, settings = _about(prompts, side), _settings(config, side.provider)
        metrics = mapping(about.get("metrics"))
        counts = [metrics.get(f"test{kind}Count", 0) for kind in ("Pass", "Fail", "Error")]
        whole = sum(counts) == len(side.answers)
        rows = _rows(side.answers, numbers)
        idents = [answer.ident for answer in side.answers if answer.ident]
        yield TaskLog(
            name=name,
            tool=f"promptfoo {tool}" if tool else "promptfoo",
            system=system,
            task=str(task) if task else None,
            rows=rows,
            identity=digest(sorted(idents) or [document.get("evalId", name), system]),
            facets=describe((key, settings.get(key)) for key in ("temperature", "seed")),
            conditions=describe(
                [
                    ("prompt template", digest(str(about["raw"])) if about.get("raw") else None),
                    ("max tokens", settings.get("max_tokens")),
                ]
            ),
            means=_means(metrics, counts, rows) if whole else {},
            lower_is_better=frozenset(COSTS),
            costs=frozenset(COSTS),
            finished=whole or not metrics,
            cautions=tuple(_cautions(side.answers, summary.get("version"))),
        )


def _systems(sides: list[Side]) -> list[str]:
    """Return what to call the sides: the provider, and the prompt where several are compared."""
    several = len({side.label for side in sides}) > 1
    names = [f"{side.provider} | {_short(side.label)}" if several else side.provider for side in sides]
    return [f"{name} #{count + 1}" if count else name for name, count in zip(names, count_before(names), strict=True)]


def _about(prompts: list[Any], side: Side) -> dict[str, Any]:
    """Return what the file says of the prompt of a side, with the tool's own counts."""
    if side.number is not None:
        return mapping(prompts[side.number]) if side.number < len(prompts) else {}
    found = [each for each in map(mapping, prompts) if each.get("provider") == side.provider]
    return found[0] if len(found) == 1 else next((each for each in found if each.get("label") == side.label), {})


def _settings(config: dict[str, Any], provider: str) -> dict[str, Any]:
    listed = config.get("providers")
    for each in map(mapping, listed if isinstance(listed, list) else []):
        if provider in (each.get("label"), each.get("id")):
            return mapping(each.get("config"))
    return {}


def _number(answers: list[Reply]) -> dict[tuple[str, str], str]:
    """Return names of test cases: their variables, and a number where cases with the same ones assert other things."""
    names: dict[tuple[str, str], str] = {}
    seen: Counter[str] = Counter()
    for answer in sorted(answers, key=lambda answer: answer.place):
        key = (answer.variables, answer.content)
        if key not in names:
            seen[answer.variables] += 1
            short = answer.variables if len(answer.variables) <= LONGEST else digest(answer.variables)
            names[key] = short if seen[answer.variables] == 1 else f"{short} #{seen[answer.variables]}"
    return names


def _rows(answers: list[Reply], numbers: dict[tuple[str, str], str]) -> pa.Table:
    """Return scores and costs; promptfoo gives each repeat of a case a number as if it were another case."""
    answers = sorted(answers, key=lambda answer: answer.place)
    items = [numbers[answer.variables, answer.content] for answer in answers]
    samples = [str(before + 1) for before in count_before(items)]
    about = {name: [getattr(answer, name) for answer in answers] for name in ("error", "content", "prompt")}
    shared = pa.table({"item": items, "sample": samples, **about})
    values: dict[str, list[tuple[int, float | None]]] = {}
    for place, answer in enumerate(answers):
        for metric, value in (*answer.scores.items(), *answer.costs.items()):
            values.setdefault(metric, []).append((place, value))
    tables = []
    for metric in sorted(values, key=lambda metric: metric in COSTS):
        places, scores = zip(*values[metric], strict=True)
        score = pa.array(scores, pa.float64())
        own = shared.take(list(places)).append_column("metric", pa.repeat(metric, len(score)))
        status = pc.if_else(score.is_valid(), "ok", "the request failed")
        tables.append(own.append_column("score", score).append_column("status", status))
    return pa.concat_tables(tables)


def _means(metrics: dict[str, Any], counts: list[int], rows: pa.Table) -> dict[str, float]:
    """Return promptfoo's own means, where each case was tried as often as the others: its means are over answers."""
    tries = Counter(rows.filter(pc.equal(rows["metric"], "success"))["item"].to_pylist())
    if len(set(tries.values())) != 1:
        return {}
    total = sum(counts)
    score = metrics.get("score")
    return {"success": counts[0] / total} | ({"score": score / total} if isinstance(score, int | float) else {})


def _cautions(answers: list[Reply], version: object) -> Iterator[Caution]:
    if version is not None and version not in KNOWN:
        yield Caution(
            code="unknown-log-version",
            message=f"The results have version {version!r}; versions known here are {flat(KNOWN)}",
        )
    unasserted = sum(not answer.asserted for answer in answers if answer.error == "-")
    if unasserted:
        yield Caution(
            code="no-assertions",
            message=f"{unasserted} of {len(answers)} answers count as right because nothing was asserted of them",
        )
    cached = sum(answer.cached for answer in answers)
    if cached:
        yield Caution(
            code="cached-answers",
            severity="note",
            message=f"{cached} of {len(answers)} answers are from promptfoo's cache: repeats of them may be copies.",
            advice="Run promptfoo eval with --no-cache for new answers and latencies.",
        )


def _short(text: str) -> str:
    first = " ".join(text.split())
    return first if len(first) <= LONGEST else f"{first[: LONGEST - 1]}…"


READER = FileReader("promptfoo", "promptfoo", _claim, _read)
