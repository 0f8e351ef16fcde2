"""Corpus scores compared: the numbers are those of pooled counts, of the rule on influence values, of sacrebleu."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from holdsup import compare_systems, decompose_variance, rank_systems, rate_items, read_result
from holdsup.errors import HoldsupError, ScoresError
from holdsup.metrics import make_metric
from holdsup.numerics.differences import compare_new_runs, compare_these_runs
from holdsup.scores.corpus import linearise, read_corpus
from translations import references, translate

# sacrebleu 2.6.0, PairedTest(test_type="bs", n_samples=20000), of the two single runs below
PAIRED = {"bleu": 0.013049347532623368, "chrf": 0.026598670066496674, "ter": 0.19554022298885057}


def write_texts(folder: Path, runs: int = 2) -> tuple[list[str], str]:
    """Write a file of texts for each run of old and new, and one of references."""
    files = []
    for system, quality in (("old", 6), ("new", 8)):
        for run in range(runs):
            files.append(folder / f"{system}_seed{run}.txt")
            files[-1].write_text("\n".join(translate(quality, run)) + "\n", encoding="utf-8")
    (folder / "ref.txt").write_text("\n".join(references()) + "\n", encoding="utf-8")
    return [str(file) for file in files], str(folder / "ref.txt")


def count_table(seed: int = 0, *, items: int = 60, runs: int = 3, datasets: int = 1) -> dict[str, Any]:
    """Counts of errors and words of two systems, a row for each item in each run."""
    rng = np.random.default_rng(seed)
    words = rng.integers(3, 40, (datasets, items))
    rows = [
        (system, run, f"d{d}", f"i{i}", rng.binomial(words[d, i], share + 0.01 * run), words[d, i])
        for system, share in (("A", 0.20), ("B", 0.24))
        for run in range(runs)
        for d in range(datasets)
        for i in range(items)
    ]
    names = ("system", "seed", "dataset", "item", "errors", "reference_words")
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def test_means_are_the_corpus_scores_of_runs(tmp_path: Path) -> None:
    files, known = write_texts(tmp_path)
    for name in ("bleu", "chrf", "ter", "wer"):
        found = compare_systems(files, names="{system}_seed{seed}", estimate=name, references=known)
        for system, quality in (("old", 6), ("new", 8)):
            runs = [make_metric(name).evaluate(references(), translate(quality, run)) for run in range(2)]
            (mean,) = (s.mean for s in found.systems if s.name == system)
            assert mean == pytest.approx(np.mean(runs), abs=1e-10)
        assert found.estimate is not None
        assert found.estimate.lower_is_better == (name in ("ter", "wer"))
        assert (found.claim, found.paper, found.papers) == ("new-runs", None, ())


@pytest.mark.parametrize("runs", [1, 3])
def test_p_and_interval_are_those_of_the_rule_on_influence_values(runs: int) -> None:
    table = count_table(runs=runs)
    found = compare_systems(table, estimate="wer").contrasts[0]
    errors, words = (np.reshape(table[name], (2, runs, 60)).astype(float) for name in ("errors", "reference_words"))

    def influence(system: int) -> np.ndarray:
        columns = []
        for e, w in zip(errors[system], words[system], strict=True):
            without = (e.sum() - e) / (w.sum() - w)
            columns.append(e.sum() / w.sum() + 59 * (without.mean() - without))
        return np.stack(columns, axis=1)

    a, b = influence(0), influence(1)
    expected = compare_these_runs(b, a) if runs == 1 else compare_new_runs(b, a)
    assert (found.left, found.right, found.claim) == ("B", "A", "these-runs" if runs == 1 else "new-runs")
    assert (found.difference, found.p, found.low, found.high) == pytest.approx(
        (expected.estimate, expected.p, expected.low, expected.high)
    )


@pytest.mark.parametrize("name", PAIRED)
def test_the_paired_bootstrap_is_that_of_sacrebleu_within_its_noise(name: str, tmp_path: Path) -> None:
    (tmp_path / "ref.txt").write_text("\n".join(references()), encoding="utf-8")
    for system, run in (("old", 0), ("new", 3)):
        (tmp_path / f"{system}.txt").write_text("\n".join(translate(6, run)), encoding="utf-8")
    data = [tmp_path / "old.txt", tmp_path / "new.txt"]
    found = compare_systems(data, estimate=name, references=str(tmp_path / "ref.txt"), bootstrap=20_000, seed=3)
    assert found.estimate is not None
    (beside,) = found.estimate.bootstrap
    assert beside.p_sacrebleu == pytest.approx(PAIRED[name], abs=5 * np.sqrt(2 * PAIRED[name] / 20_000))
    assert beside.p > beside.p_sacrebleu  # of both sides
    contrast = found.contrasts[0]
    assert beside.high - beside.low == pytest.approx(contrast.high - contrast.low, rel=0.1)
    assert contrast.claim == "these-runs"


def test_runs_are_never_bootstrapped() -> None:
    found = compare_systems(count_table(runs=2), estimate="wer")
    (beside,) = found.estimate.bootstrap
    contrast = found.contrasts[0]
    assert beside.high - beside.low < contrast.high - contrast.low  # new runs are not in it
    again = compare_systems(count_table(runs=2), estimate="wer")
    assert again.to_dict() == found.to_dict()
    other = compare_systems(count_table(runs=2), estimate="wer", seed=1)
    assert other.contrasts[0].p == contrast.p
    assert other.estimate.bootstrap != found.estimate.bootstrap


def test_the_answer_names_estimate_signature_and_direction(tmp_path: Path, run: Callable[..., Any]) -> None:
    files, known = write_texts(tmp_path)
    options = ("--names", "{system}_seed{seed}", "--references", known)
    short = run("compare", *files, "--estimate", "ter", *options)
    assert (short.code, short.err) == (0, "")
    assert "TER of the corpus (mean of its runs), lower is better" in short.out
    assert "nrefs:1|case:lc|tok:tercom" in short.out
    assert "these runs paired bootstrap of sentences: p " in short.out
    assert len(short.out.splitlines()) <= 16
    full = run("compare", *files, "--estimate", "bleu", *options, "--full").out
    assert "Paired bootstrap of items, these runs: BLEU of the corpus" in full
    assert "sacrebleu prints" in full
    assert "is of means of items, and a corpus score is none" in full
    saved = tmp_path / "result.json"
    assert run("compare", *files, "--estimate", "bleu", *options, "--format", "json", "-o", saved).code == 0
    restored = read_result(saved)
    assert restored.estimate.signature == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp"
    assert "BLEU of the corpus" in " ".join(restored.describe_method().sentences)
    page = tmp_path / "page.html"
    assert run("report", saved, "-o", page).code == 0
    assert "tok:13a" in page.read_text(encoding="utf-8")


def test_the_signature_redoes_the_answer(tmp_path: Path) -> None:
    files, known = write_texts(tmp_path)
    found = compare_systems(files, names="{system}_seed{seed}", estimate="chrf++", references=known)
    command = str(found.asked.command())
    assert "--estimate chrf++" in command
    assert f"--references {known}" in command
    assert "--score" not in command
    assert found.signature.startswith("compare|data:")
    swapped = compare_systems(files[::-1], names="{system}_seed{seed}", estimate="chrf++", references=known)
    assert swapped.asked.data == found.asked.data


def test_counts_come_from_columns_texts_or_predictions_alike(tmp_path: Path) -> None:
    files, known = write_texts(tmp_path)
    metric = make_metric("bleu")
    table: dict[str, list[Any]] = {name: [] for name in ("system", "seed", "item", "ref", "hyp", *metric.columns)}
    for system, quality in (("old", 6), ("new", 8)):
        for seed in range(2):
            made = translate(quality, seed)
            for item, counts in enumerate(metric.count(references(), made).tolist()):
                row = [system, seed, item + 1, references()[item], made[item], *counts]
                for column, value in zip(table.values(), row, strict=True):
                    column.append(value)
    texts = compare_systems(files, names="{system}_seed{seed}", estimate="bleu", references=known)
    by_name = compare_systems({k: v for k, v in table.items() if k not in ("ref", "hyp")}, estimate="bleu")
    named = compare_systems(table, estimate="bleu", counts=metric.columns, item="item")
    cells = {k: table[k] for k in ("system", "seed", "item", "ref", "hyp")}
    predicted = compare_systems(cells, estimate="bleu", predictions=("ref", "hyp"))
    for other in (by_name, named, predicted):
        assert other.contrasts[0].p == pytest.approx(texts.contrasts[0].p)
        assert [s.mean for s in other.ordered()] == pytest.approx([s.mean for s in texts.ordered()])
    assert by_name.estimate.signature == ""
    assert predicted.estimate.signature.startswith("case:mixed")


def test_hits_and_misses_are_counts_of_f1() -> None:
    rng = np.random.default_rng(2)
    tp, fp, fn = rng.poisson((3, 1, 2), (240, 3)).T
    where = {"system": np.repeat(["A", "B"], 120), "seed": np.tile(np.repeat([1, 2], 60), 2),
             "item": np.tile(np.arange(60), 4)}  # fmt: skip
    plain = compare_systems({**where, "matched": tp, "predicted": tp + fp, "expected": tp + fn}, estimate="micro_f1")
    hits = compare_systems({**where, "fn": fn, "TP": tp, "fp": fp}, estimate="f1", counts=["TP", "fp", "fn"])
    mixed = compare_systems({**where, "fn": fn, "TP": tp, "fp": fp}, estimate="f1", counts=["fn", "TP", "fp"])
    assert hits.contrasts[0].p == mixed.contrasts[0].p == plain.contrasts[0].p
    f1 = 2 * tp[:60].sum() / (2 * tp + fp + fn)[:60].sum()
    scores = linearise(read_corpus({**where, "TP": tp, "fp": fp, "fn": fn}, "f1", counts=["TP", "fp", "fn"]))[0]
    assert scores.score[:60].mean() == pytest.approx(f1)


def write_tags(folder: Path, *, seed: int = 0) -> tuple[list[str], str]:
    """Write CoNLL files of two systems in two runs, with the target before the prediction, and one of targets."""
    rng = np.random.default_rng(seed)
    sentences = [rng.choice(["O", "B-X", "I-X", "B-Y"], rng.integers(3, 12)) for _ in range(40)]
    files = []
    for system, wrong in (("crf", 0.2), ("bert", 0.1)):
        for run in range(2):
            lines = ["-DOCSTART- O O", ""]
            for tags in sentences:
                guesses = np.where(rng.random(len(tags)) < wrong, "O", tags)
                lines += [f"w NN {tag} {guess}" for tag, guess in zip(tags, guesses, strict=True)] + [""]
            files.append(folder / f"{system}_seed{run}.conll")
            files[-1].write_text("\n".join(lines), encoding="utf-8")
    gold = folder / "gold.conll"
    gold.write_text("\n\n".join("\n".join(f"w {tag}" for tag in tags) for tags in sentences), encoding="utf-8")
    return [str(file) for file in files], str(gold)


def test_chunk_f1_of_conll_files_is_that_of_their_chunks(tmp_path: Path) -> None:
    files, gold = write_tags(tmp_path)
    found = compare_systems(files, names="{system}_seed{seed}", estimate="chunk_f1")
    rows = [line.split() for line in Path(files[0]).read_text(encoding="utf-8").splitlines()]
    sentences: list[list[list[str]]] = [[]]
    for row in rows:
        sentences = [*sentences, []] if not row else [*sentences[:-1], [*sentences[-1], row]]
    kept = [s for s in sentences if s and s[0][0] != "-DOCSTART-"]
    metric = make_metric("chunk_f1", scheme="iob2")
    first = metric.evaluate([[row[2] for row in s] for s in kept], [[row[3] for row in s] for s in kept])
    scores = linearise(read_corpus(files, "chunk_f1", names="{system}_seed{seed}"))[0]
    assert scores.score[:40].mean() == pytest.approx(first)
    assert (found.estimate.name, found.estimate.signature) == ("chunk F1", "scheme:iob2")
    beside = compare_systems(files, names="{system}_seed{seed}", estimate="chunk_f1", references=gold)
    placed = compare_systems(files, names="{system}_seed{seed}", estimate="chunk_f1", predictions=["3", "4"])
    assert beside.contrasts[0].p == placed.contrasts[0].p == found.contrasts[0].p


def test_tags_with_ends_and_singles_are_read_as_such(tmp_path: Path) -> None:
    for system, guesses in (("a", "S-X O B-X E-X O S-X"), ("b", "S-X O O O S-X S-X")):
        tags = zip("S-X O B-X E-X O O".split(), guesses.split(), strict=True)
        block = "\n".join(f"w {one} {other}" for one, other in tags)
        (tmp_path / f"{system}.conll").write_text("\n\n".join([block] * 3 + ["w O O"]), encoding="utf-8")
    scores = read_corpus([tmp_path / "a.conll", tmp_path / "b.conll"], "chunk_f1")
    assert scores.corpus is not None
    assert scores.corpus.signature == "scheme:iobes"
    assert scores.corpus.counts[0].tolist() == [2, 3, 2]


def test_averages_over_labels_are_estimates_too() -> None:
    rng = np.random.default_rng(4)
    gold = np.tile(rng.choice(["a", "b", "c"], 80), 4)
    guess = np.where(rng.random(320) < 0.8, gold, rng.choice(["a", "b", "c"], 320))
    table = {"system": np.repeat(["A", "B"], 160), "seed": np.tile(np.repeat([1, 2], 80), 2),
             "item": np.tile(np.arange(80), 4), "gold": gold, "guess": guess}  # fmt: skip
    found = compare_systems(table, estimate="macro_f1", predictions=["gold", "guess"])
    metric = make_metric("f1", average="macro")
    runs = [metric.evaluate(gold[i : i + 80], guess[i : i + 80]) for i in range(0, 320, 80)]
    assert [s.mean for s in sorted(found.systems, key=lambda s: s.name)] == pytest.approx(
        [np.mean(runs[:2]), np.mean(runs[2:])]
    )
    assert found.estimate.name == "macro F1"


def test_datasets_are_corpora_of_their_own_unless_items_weigh_the_same() -> None:
    table = count_table(datasets=2, items=40)
    table["reference_words"] = [
        w * (3 if d == "d1" else 1) for w, d in zip(table["reference_words"], table["dataset"], strict=True)
    ]
    errors, words, system = (np.array(table[name]) for name in ("errors", "reference_words", "system"))
    dataset, seed = np.array(table["dataset"]), np.array(table["seed"])

    def rate(*masks: np.ndarray) -> float:
        mask = np.logical_and.reduce(masks)
        return float(errors[mask].sum() / words[mask].sum())

    own, one = ({s.name: s.mean for s in compare_systems(table, estimate="wer", average=how, claim="these-datasets").systems}
                for how in ("macro", "micro"))  # fmt: skip
    for name in "AB":
        macro = [np.mean([rate(system == name, seed == k, dataset == d) for d in ("d0", "d1")]) for k in range(3)]
        assert own[name] == pytest.approx(np.mean(macro))
        assert one[name] == pytest.approx(np.mean([rate(system == name, seed == k) for k in range(3)]))
    part = compare_systems(table, estimate="wer", where={"dataset": "d1"})
    assert part.systems[0].mean == pytest.approx(
        np.mean([rate(system == part.systems[0].name, seed == k, dataset == "d1") for k in range(3)])
    )


def test_items_that_a_run_lacks_are_in_no_corpus() -> None:
    table = count_table()
    short = {name: [v for i, v in enumerate(values) if i not in (7, 8)] for name, values in table.items()}
    found = compare_systems(short, estimate="wer")
    kept = [i not in ("i7", "i8") for i in table["item"]]
    whole = compare_systems(
        {k: [v for v, keep in zip(vs, kept, strict=True) if keep] for k, vs in table.items()}, estimate="wer"
    )
    assert found.contrasts[0].p == pytest.approx(whole.contrasts[0].p)
    (said,) = (each for each in found.cautions if each.code == "corpus-items")
    assert said.message.startswith("2 of 60 items are not in every run")
    assert found.rows.reasons["an item that another run lacks"] == 10


def test_influence_values_are_not_judged_as_scores() -> None:
    table = count_table(items=40)
    table["reference_words"] = [
        w * (200 if i == "i3" else 1) for w, i in zip(table["reference_words"], table["item"], strict=True)
    ]
    found = compare_systems(table, estimate="wer")  # an item far from the others, values below 0 and above 1
    assert {each.code for each in found.cautions} == {"few-items-decide", "skewed-differences"}
    (said,) = (each for each in found.cautions if each.code == "few-items-decide")
    assert said.message.startswith("1 of 40 items decides half of how uncertain the score of A is")
    plain = compare_systems(count_table(items=150), estimate="wer")
    assert [each.code for each in plain.cautions] == ["calibration-corpus"]
    assert "4.0% of true nulls" in plain.cautions[0].message


def test_clusters_count_instead_of_items() -> None:
    table = count_table()
    table["document"] = [f"doc{int(i[1:]) // 6}" for i in table["item"]]
    found = compare_systems(table, estimate="wer")
    alone = compare_systems(table, estimate="wer", cluster="-")
    assert found.contrasts[0].p != alone.contrasts[0].p
    assert "documents" in found.answer().text()


def test_scores_with_counts_are_compared_as_the_table_is() -> None:
    scores = read_corpus(count_table(), "wer")
    assert compare_systems(scores).contrasts[0].p == compare_systems(count_table(), estimate="wer").contrasts[0].p
    assert replace(scores, corpus=None).digest != scores.digest


def test_only_compare_takes_counts_of_a_corpus() -> None:
    scores = read_corpus(count_table(), "wer")
    for ask in (rank_systems, decompose_variance, rate_items):
        with pytest.raises(ScoresError, match="a score of whole corpora: only compare takes it"):
            ask(scores)


def test_empty_references_are_told(tmp_path: Path) -> None:
    files, known = write_texts(tmp_path, runs=1)
    lines = references()
    lines[3] = " "
    Path(known).write_text("\n".join(lines), encoding="utf-8")
    found = compare_systems(files, estimate="wer", references=known)
    (said,) = (each for each in found.cautions if each.code == "empty-references")
    assert said.message == f"1 line is empty in {known}: whatever is predicted there counts as wrong."


def changed(**columns: Any) -> dict[str, Any]:
    table = count_table(items=5)
    return {k: v for k, v in {**table, **columns}.items() if v is not None}


@pytest.mark.parametrize(
    ("table", "options", "said"),
    [
        (changed(), {"estimate": "wre"}, r"unknown estimate 'wre'.* Did you mean 'wer'\?"),
        (changed(), {"estimate": "bleu"}, r"bleu needs --counts, the columns of sys_len, ref_len, .*--references FILE"),
        (changed(), {"estimate": "wer", "counts": ["errors"]}, r"names 1 column, but wer is made of 2, in this order: err"),
        (changed(), {"estimate": "wer", "counts": ["errors", "word"]}, r"no column 'word' in"),
        (changed(), {"estimate": "wer", "counts": ["errors", "system"]}, r"this column holds the system"),
        (changed(note="x" * 3), {"estimate": "token_accuracy", "counts": ["reference_words", "errors"]},
         r"counts don't add up: item 'i0' of 'A/seed=0' has reference_words = \d+, more than errors = \d+"),
        (changed(errors=[-1] * 30), {"estimate": "wer"}, r"item 'i0' of 'A/seed=0' has a count below zero"),
        (changed(reference_words=[0] * 30), {"estimate": "wer"}, r"WER of 'A/seed=0': there are no reference_words"),
        (changed(reference_words=[None] + [4] * 29), {"estimate": "wer"}, r"has some of its counts only"),
        (changed(seed=None), {"estimate": "wer"}, r"has several rows of counts, and a corpus counts an item once"),
        (changed(item=None), {"estimate": "wer"}, r"no column names the items: give --item"),
        (changed(), {"counts": ["errors"]}, r"--counts is for the score of a corpus: say which with --estimate"),
        (changed(), {"estimate": "wer", "by": "reference_words"}, r"--by is about scores of items"),
        (changed(), {"estimate": "wer", "peek": True}, r"--peek looks at items one by one"),
        (changed(), {"estimate": "wer", "score": "errors"}, r"takes counts and no score"),
        (changed(), {"estimate": "sklearn:f1_macro"}, r"has no counts that could be summed"),
        (changed(), {"estimate": "f1,average=macro", "counts": ["errors"] * 3}, r"of which labels\? .* add labels"),
        (changed(), {"estimate": "wer", "counts": ["errors"], "predictions": ["a", "b"]}, r"say in two ways"),
        (changed(), {"estimate": "wer", "predictions": ["errors", "wrods"]}, r"no column 'wrods'.*"),
    ],
)  # fmt: skip
def test_bad_input_gets_one_clear_line(table: dict[str, Any], options: dict[str, Any], said: str) -> None:
    table = {k: v if isinstance(v, list) else [v] * 30 for k, v in table.items()}
    with pytest.raises(HoldsupError, match=said) as raised:
        compare_systems(table, **options)
    assert "\n" not in str(raised.value)


def test_files_that_do_not_fit_are_told_apart_by_their_lines(tmp_path: Path) -> None:
    files, known = write_texts(tmp_path, runs=1)
    Path(files[1]).write_text("one line\n", encoding="utf-8")
    with pytest.raises(ScoresError, match=r"new_seed0\.txt has 1 line and .*ref\.txt 60: .* the same number of lines"):
        compare_systems(files, estimate="bleu", references=known)
    tagged, gold = write_tags(tmp_path)
    text = Path(tagged[0]).read_text(encoding="utf-8")
    Path(tagged[0]).write_text(text.replace("w NN", "w", 1), encoding="utf-8")
    with pytest.raises(ScoresError, match=r"a token of sentence 1, 'w .*', has 3 columns, and 4 are needed"):
        compare_systems(tagged, estimate="chunk_f1", predictions=["4", "3"])
    Path(tagged[0]).write_text(text.split("\n\n", 2)[2], encoding="utf-8")
    with pytest.raises(ScoresError, match=r"has 40 sentences and .*crf_seed0\.conll 39: both need the same sentences"):
        compare_systems(tagged, estimate="chunk_f1")
    with pytest.raises(ScoresError, match=r"has 39 sentences and .*gold\.conll 40"):
        compare_systems(tagged, estimate="chunk_f1", references=gold)
    Path(tagged[0]).write_text(text.replace("NN O", "NN B-Y", 1), encoding="utf-8")
    with pytest.raises(ScoresError, match=r"have different targets in sentence"):
        compare_systems(tagged, estimate="chunk_f1")


def test_a_table_of_counts_is_compared_from_the_command_line(tmp_path: Path, run: Callable[..., Any]) -> None:
    table = count_table()
    with (tmp_path / "counts.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(table)
        rows.writerows(zip(*table.values(), strict=True))
    done = run("compare", tmp_path / "counts.csv", "--estimate", "wer", "--counts", "errors,reference_words")
    assert (done.code, done.err) == (0, "")
    assert "WER of the corpus (mean of its runs), lower is better" in done.out
