"""Scores of a corpus: equal to sacrebleu's, counted by hand, and as means of influence values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from holdsup.errors import MetricError
from holdsup.metrics import make_metric
from holdsup.metrics.corpus import Corpus
from holdsup.metrics.edits import count_edits
from holdsup.metrics.translation import tokenize_13a
from translations import references, translate

# What sacrebleu 2.6.0 says of `translate(quality, 0)`, with `references()` alone and with `translate(5, 9)` beside them.
SACREBLEU = {
    ("bleu", 6): (58.49117547487833, 63.21260678593289),
    ("chrf", 6): (78.23962789635553, 78.4953250450999),
    ("chrf,2", 6): (79.07301151018366, 79.27604062908478),
    ("ter", 6): (16.07669616519174, 16.07669616519174),
    ("bleu", 9): (75.59100174932715, 77.87258236817607),
    ("chrf", 9): (85.92113011635642, 85.92113011635642),
    ("chrf,2", 9): (86.49057834019055, 86.49057834019055),
    ("ter", 9): (10.766961651917404, 10.766961651917404),
}


def metric_of(name: str) -> object:
    plain, _, order = name.partition(",")
    return make_metric(plain, **({"word_order": int(order)} if order else {}))


@pytest.mark.parametrize(("name", "quality"), SACREBLEU)
def test_scores_of_texts_are_those_of_sacrebleu(name: str, quality: int) -> None:
    metric, made = metric_of(name), translate(quality, 0)
    one, two = SACREBLEU[name, quality]
    both = [list(pair) for pair in zip(references(), translate(5, 9), strict=True)]
    assert metric.evaluate(references(), made) == pytest.approx(one, abs=1e-10)
    assert metric.evaluate(both, made) == pytest.approx(two, abs=1e-10)


def test_counts_are_those_of_sacrebleu_where_it_is_installed() -> None:
    sacrebleu = pytest.importorskip("sacrebleu.metrics", reason="sacrebleu is not installed: numbers were recorded")
    lines = [*translate(4, 1), "", "a", "A A A A A"]
    known = [[*references(), "nothing", "", "A A B A"], [*translate(5, 2), "word", "a", "B A A"]]
    targets = [list(pair) for pair in zip(*known, strict=True)]
    for name, theirs in (
        ("bleu", sacrebleu.BLEU()),
        ("chrf,2", sacrebleu.CHRF(word_order=2)),
        ("ter", sacrebleu.TER()),
    ):
        counts = metric_of(name).count(targets, lines)
        np.testing.assert_allclose(counts, theirs._extract_corpus_statistics(lines, known), err_msg=name)
        assert metric_of(name).score(counts.sum(0)) == pytest.approx(theirs.corpus_score(lines, known).score)


def test_tokens_are_those_of_mteval() -> None:
    assert tokenize_13a("pp. 3-4 &amp; 1,000.5%") == ["pp", ".", "3", "-", "4", "&", "1,000.5", "%"]
    assert tokenize_13a("well-known (it's) 5. end.") == ["well-known", "(", "it's", ")", "5", ".", "end", "."]


def test_a_precision_of_zero_is_smoothed_as_sacrebleu_does() -> None:
    # 3 words of 4 right, 1 pair, no more: halves and quarters of a match stand for the longer n-grams.
    sums = [4, 4, 3, 1, 0, 0, 4, 3, 2, 1]
    expected = 100 * (3 / 4 * 1 / 3 * 0.5 / 2 * 0.25 / 1) ** 0.25
    assert make_metric("bleu").score(np.array(sums)) == pytest.approx(expected)
    assert make_metric("bleu", smooth="none").score(np.array(sums)) == 0
    assert make_metric("bleu").score(np.array([4, 8, 0, 0, 0, 0, 4, 3, 2, 1])) == 0


def edits_by_recursion(guess: Sequence[str], reference: Sequence[str]) -> int:
    @cache
    def least(i: int, j: int) -> int:
        if not i or not j:
            return i + j
        same = guess[i - 1] == reference[j - 1]
        return min(least(i - 1, j) + 1, least(i, j - 1) + 1, least(i - 1, j - 1) + (not same))

    return least(len(guess), len(reference))


def test_word_errors_are_least_edits_over_the_words_of_references() -> None:
    made = translate(4, 2)
    counts = make_metric("wer").count(references(), made)
    by_hand = [edits_by_recursion(h.split(), r.split()) for h, r in zip(made, references(), strict=True)]
    assert counts[:, 0].tolist() == by_hand
    assert make_metric("wer").evaluate(references(), made) == sum(by_hand) / sum(len(r.split()) for r in references())
    assert make_metric("cer").evaluate(["abc", ""], ["axc", "zz"]) == pytest.approx(3 / 3)
    assert count_edits("", "abc") == 3
    assert count_edits("abc", "") == 3
    assert count_edits("", "") == 0


def test_error_rates_take_one_reference() -> None:
    with pytest.raises(MetricError, match=r"item 0 .* has 2 references, and wer is of one"):
        make_metric("wer").count([["a", "b"]], ["a"])


def test_perplexity_is_e_to_the_mean_of_tokens() -> None:
    metric = make_metric("perplexity")
    assert metric.score(np.array([12.0, 5.0])) == pytest.approx(math.exp(12 / 5))
    assert not metric.higher_is_better
    with pytest.raises(MetricError, match="give the columns nll and tokens"):
        metric.count(["a"], ["a"])


@pytest.mark.parametrize("name", ["bleu", "chrf", "ter", "wer"])
def test_the_mean_of_influence_values_is_the_score_of_the_corpus(name: str) -> None:
    metric = make_metric(name)
    corpus = Corpus(metric, metric.count(references(), translate(7, 1)).astype(float))
    values = corpus.influences(np.arange(len(references())))
    assert values.mean() == pytest.approx(metric.evaluate(references(), translate(7, 1)), rel=1e-12)


def test_influence_values_of_a_ratio_are_its_linearisation() -> None:
    rng = np.random.default_rng(1)
    below = rng.integers(5, 40, 3000).astype(float)
    above = rng.binomial(below.astype(int), 0.3).astype(float)
    values = Corpus(make_metric("token_accuracy"), np.stack([above, below], 1)).influences(np.arange(3000))
    ratio = above.sum() / below.sum()
    by_delta = ratio + (above - ratio * below) / below.mean()
    np.testing.assert_allclose(values, by_delta, atol=2e-3)
    assert values.std(ddof=1) == pytest.approx(by_delta.std(ddof=1), rel=2e-3)


def test_of_a_plain_mean_they_are_the_scores_of_items() -> None:
    right = np.array([1.0, 0, 1, 1, 0])
    values = Corpus(make_metric("accuracy"), np.stack([right, np.ones(5)], 1)).influences(np.arange(5))
    np.testing.assert_allclose(values, right, atol=1e-12)


def test_their_standard_error_is_that_of_a_bootstrap() -> None:
    metric = make_metric("bleu")
    counts = metric.count(references(), translate(7, 1)).astype(float)
    corpus, number = Corpus(metric, counts), len(counts)
    values = corpus.influences(np.arange(number))
    drawn = corpus.bootstrap([np.arange(number)], np.ones((1, 1)), draws=4000, seed=1)[:, 0]
    assert values.std(ddof=1) / math.sqrt(number) == pytest.approx(drawn.std(), rel=0.06)


def test_a_score_that_hangs_on_one_item_is_refused() -> None:
    metric = make_metric("f1", average="micro", zero_division=float("nan"))
    with pytest.raises(MetricError, match="all that is to be found is in one item"):
        Corpus(metric, np.array([[1.0, 1, 1], [0, 0, 0]])).influences(np.arange(2))
    with pytest.raises(MetricError, match="all references are empty"):
        Corpus(make_metric("bleu"), np.zeros((3, 10))).influences(np.arange(3))


def test_metrics_say_which_counts_are_part_of_which() -> None:
    made = translate(5, 1)
    for name in ("bleu", "chrf,2"):
        metric = metric_of(name)
        counts = metric.count(references(), made)
        assert metric.parts
        assert all((counts[:, part] <= counts[:, whole]).all() for part, whole in metric.parts)
        names = [(metric.columns[part], metric.columns[whole]) for part, whole in metric.parts]
        assert all(set(one.split("_")[1:]) == set(other.split("_")[1:]) for one, other in names)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [("bleu", {"tokenize": "intl"}, "choose from 13a, none"), ("chrf", {"word_order": 9}, "it can be 0 to 4"),
     ("bleu", {"scheme": "iob2"}, "has no option 'scheme'"), ("wer", {"smooth": "exp"}, "has no option 'smooth'")],
)  # fmt: skip
def test_options_that_are_not_there_are_refused(name: str, options: dict[str, object], said: str) -> None:
    with pytest.raises(MetricError, match=said):
        make_metric(name, **options)
