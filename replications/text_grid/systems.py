"""Four families of text classifiers, trained by mini-batch gradient descent.

All share a bag of words (hashed, weighted by tf-idf) and the facets that people tune: learning rate, batch size,
epochs. They differ in what they learn: a softmax regression, a linear support-vector machine (Crammer and Singer's
loss), a network with one hidden layer, and averaged word vectors learnt with the classifier (as fastText does). The
code is NumPy, so that a training takes a fraction of a second and gives the same result on each machine.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

BUCKETS = 2**12  # of hashed words
WIDTH = 24  # of the hidden layer and of the word vectors

Array = np.ndarray[Any, np.dtype[np.float64]]
Step = Callable[[sp.csr_matrix, Array], None]


def train(
    inputs: Sequence[str],
    targets: Sequence[str],
    *,
    seed: int,
    family: str,
    learning_rate: float,
    batch_size: int,
    epochs: int,
) -> Callable[[Sequence[str]], list[str]]:
    """Train one classifier; return the function that predicts labels of texts."""
    labels, codes = np.unique(np.asarray(targets), return_inverse=True)
    bags = hash_words(tuple(inputs))
    weights = np.log((1 + bags.shape[0]) / (1 + bags.getnnz(axis=0))) + 1.0
    X = weigh(bags, weights)
    Y = np.eye(len(labels))[codes]
    rng = np.random.default_rng(seed)
    learner = FAMILIES[family](len(labels), learning_rate, rng)
    for _ in range(epochs):
        order = rng.permutation(X.shape[0])
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            learner.step(X[rows], Y[rows])

    def predict(texts: Sequence[str]) -> list[str]:
        scores = learner.score(weigh(hash_words(tuple(texts)), weights))
        return [str(label) for label in labels[scores.argmax(axis=1)]]

    return predict


@lru_cache(maxsize=32)
def hash_words(texts: tuple[str, ...]) -> sp.csr_matrix:
    """Return the counts of hashed words; many trainings share their texts, so the last few are kept."""
    rows, columns = [], []
    for i, text in enumerate(texts):
        buckets = [zlib.crc32(word.encode()) % BUCKETS for word in text.lower().split()]
        rows += [i] * len(buckets)
        columns += buckets
    counts = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(texts), BUCKETS))
    counts.data = 1.0 + np.log(counts.data)
    return counts


def weigh(bags: sp.csr_matrix, weights: Array) -> sp.csr_matrix:
    """Return tf-idf rows of length one."""
    X = bags.multiply(weights).tocsr()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.diags(1.0 / np.maximum(lengths, 1e-12)) @ X


def softmax(scores: Array) -> Array:
    """Return probabilities of the labels."""
    scores = np.exp(scores - scores.max(axis=1, keepdims=True))
    return scores / scores.sum(axis=1, keepdims=True)


class Softmax:
    """Softmax regression."""

    def __init__(self, n_labels: int, rate: float, rng: np.random.Generator) -> None:
        self.W = rng.normal(0.0, 0.01, (BUCKETS, n_labels))
        self.b = np.zeros(n_labels)
        self.rate = 10.0 * rate

    def score(self, X: sp.csr_matrix) -> Array:
        """Return a score for each row and label."""
        return X @ self.W + self.b

    def step(self, X: sp.csr_matrix, Y: Array) -> None:
        """Move against the gradient of a batch."""
        self._move(X, (softmax(self.score(X)) - Y) / len(Y))

    def _move(self, X: sp.csr_matrix, gradient: Array) -> None:
        # A batch touches few words: only their rows move.
        words = np.unique(X.indices)
        self.W[words] -= self.rate * (X[:, words].T @ gradient)
        self.b -= self.rate * gradient.sum(axis=0)


class Hinge(Softmax):
    """Linear support-vector machine: the right label must lead the best wrong one by one."""

    def step(self, X: sp.csr_matrix, Y: Array) -> None:
        """Move against the subgradient of a batch."""
        scores = self.score(X)
        right = (scores * Y).sum(axis=1)
        rival = np.where(Y > 0, -np.inf, scores).argmax(axis=1)
        short = (right - scores[np.arange(len(Y)), rival]) < 1.0
        gradient = (np.eye(Y.shape[1])[rival] - Y) * short[:, None]
        self._move(X, gradient / len(Y))


class Hidden:
    """A network with one hidden layer of rectified units."""

    def __init__(self, n_labels: int, rate: float, rng: np.random.Generator) -> None:
        self.inner = rng.normal(0.0, 1.0 / np.sqrt(WIDTH), (BUCKETS, WIDTH))
        self.outer = rng.normal(0.0, np.sqrt(2.0 / WIDTH), (WIDTH, n_labels))
        self.rate = 3.0 * rate

    def hidden(self, X: sp.csr_matrix) -> Array:
        """Return what the hidden layer shows."""
        return np.maximum(X @ self.inner, 0.0)

    def score(self, X: sp.csr_matrix) -> Array:
        """Return a score for each row and label."""
        return self.hidden(X) @ self.outer

    def step(self, X: sp.csr_matrix, Y: Array) -> None:
        """Move against the gradient of a batch."""
        H = self.hidden(X)
        gradient = (softmax(H @ self.outer) - Y) / len(Y)
        back = self._back(H, gradient @ self.outer.T)
        self.outer -= self.rate * (H.T @ gradient)
        words = np.unique(X.indices)
        self.inner[words] -= self.rate * (X[:, words].T @ back)

    def _back(self, H: Array, gradient: Array) -> Array:
        return gradient * (H > 0)


class Vectors(Hidden):
    """Averaged word vectors, learnt with the classifier."""

    def hidden(self, X: sp.csr_matrix) -> Array:
        """Return the weighted mean of the words' vectors."""
        return np.asarray(X @ self.inner)

    def _back(self, H: Array, gradient: Array) -> Array:
        return gradient


FAMILIES = {"softmax": Softmax, "hinge": Hinge, "hidden": Hidden, "vectors": Vectors}
