"""The grid of text classifiers that ships is complete, and its scores are those that training gives again."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow.compute as pc
import pytest

from holdsup.data import text_classifiers
from holdsup.splits import make_splitter

GRID = Path(__file__).parents[2] / "replications" / "text_grid"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"text_grid_{name}", GRID / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_combination_was_trained_once() -> None:
    table = text_classifiers()
    facets = ["dataset", "system", "seed", "learning_rate", "batch_size", "epochs"]
    levels = [pc.count_distinct(table[facet]).as_py() for facet in facets]
    assert levels == [8, 4, 5, 4, 2, 3]
    assert table.group_by(facets).aggregate([]).num_rows == table.num_rows == np.prod(levels)


def test_scores_are_shares_of_300_test_items() -> None:
    score = text_classifiers()["score"].to_numpy()
    assert np.abs(score * 300 - np.round(score * 300)).max() < 1e-9
    assert 0.15 < score.min() < score.max() < 1


@pytest.mark.slow
@pytest.mark.parametrize(("system", "dataset"), [("hinge", "wsj_subclause"), ("vectors", "conll_person")])
def test_training_again_gives_the_score_that_is_kept(system: str, dataset: str, real_data: Path) -> None:
    """From the corpus on, by hand: no runner, no store, no export."""
    datasets, systems = load("datasets"), load("systems")
    examples = datasets.draw(dict(datasets.all_datasets(real_data))[dataset], seed=dataset)
    texts, labels = (list(column) for column in zip(*examples, strict=True))
    (split,) = make_splitter("holdout", seed=1, test=0.3).split(texts)
    predict = systems.train(
        [texts[i] for i in split.train],
        [labels[i] for i in split.train],
        seed=2,
        family=system,
        learning_rate=0.3,
        batch_size=32,
        epochs=10,
    )
    right = np.mean([predict([texts[i]])[0] == labels[i] for i in split.test])
    table = text_classifiers().to_pandas()
    kept = table[
        (table.system == system) & (table.dataset == dataset) & (table.seed == 2) & (table.batch_size == 32)
        & (table.epochs == 10) & np.isclose(table.learning_rate, 0.3)
    ]  # fmt: skip
    assert kept.score.tolist() == [pytest.approx(right, abs=1e-12)]
