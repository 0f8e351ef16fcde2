"""Ratings from votes: R's BradleyTerry2 and arena-rank on published counts, closed forms, laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from holdsup.errors import FitError
from holdsup.numerics.bradley_terry import Ratings, rate
from holdsup.numerics.layout import Floats, Ints
from holdsup.numerics.shares import SPLIT, cluster, control, fit_shares, join_levels

ELO = 400 / math.log(10)
# Journals that cite each other (Stigler 1994): first, second, wins, losses; Biometrika, Comm Statist, JASA, JRSS-B.
CITATIONS = "0 1 730 33;0 2 498 320;0 3 221 284;1 2 68 813;1 3 17 276;2 3 142 325"
# Baseball at home (Agresti 2002): home, away, wins, losses; Baltimore, Boston, Cleveland, Detroit, Milwaukee, New York,
# Toronto, from 1.
BASEBALL = (
    "5 4 4 3;5 7 4 2;5 6 4 3;5 2 6 1;5 3 4 2;5 1 6 0;4 5 3 3;4 7 4 2;4 6 4 3;4 2 6 0;4 3 6 1;4 1 4 3;7 5 2 5;7 4 4 3;"
    "7 6 2 4;7 2 4 3;7 3 4 2;7 1 6 0;6 5 3 3;6 4 5 1;6 7 2 5;6 2 4 3;6 3 4 2;6 1 6 1;2 5 5 1;2 4 2 5;2 7 3 3;2 6 4 2;"
    "2 3 5 2;2 1 6 0;3 5 2 5;3 4 3 3;3 7 3 4;3 6 4 3;3 2 4 2;3 1 2 4;1 5 2 5;1 4 1 5;1 7 1 6;1 6 2 4;1 2 1 6;1 3 3 4"
)
# Flavour strengths (Springall 1973): first, second, wins, losses, ties; from 1.
SPRINGALL = (
    "1 2 2 16 7;1 3 0 21 1;1 4 5 10 10;1 5 2 15 7;1 6 0 22 2;1 7 12 3 9;1 8 13 9 5;1 9 10 12 3;2 3 6 11 5;2 4 17 2 7;"
    "2 5 9 6 8;2 6 8 12 6;2 7 24 2 0;2 8 16 3 5;2 9 15 2 7;3 4 22 2 4;3 5 14 4 5;3 6 11 4 7;3 7 24 1 3;3 8 22 0 3;"
    "3 9 17 2 6;4 5 3 14 9;4 6 2 18 4;4 7 12 6 5;4 8 10 6 6;4 9 8 9 11;5 6 5 11 9;5 7 20 0 2;5 8 15 2 5;5 9 13 5 9;"
    "6 7 27 1 0;6 8 19 1 5;6 9 18 2 2;7 8 2 13 8;7 9 2 21 5;8 9 6 8 8"
)


def expand(counts: str, base: int = 0) -> tuple[Ints, Ints, Floats]:
    """Return one vote a row."""
    rows = [[int(cell) for cell in row.split()] for row in counts.split(";")]
    votes = [
        (i - base, j - base, y)
        for i, j, *own in rows
        for y, n in zip((1.0, 0.0, 0.5), own, strict=False)
        for _ in range(n)
    ]
    first, second, outcome = zip(*votes, strict=True)
    return np.array(first), np.array(second), np.array(outcome)


def rate_plain(
    first: Ints, second: Ints, y: Floats, *, order: bool = False, ways: tuple[Ints, ...] = ()
) -> tuple[Floats, Ratings]:
    count = 1 + int(max(first.max(), second.max()))
    found = rate(first, second, y, count, np.ones((len(y), int(order))), ways, 0.05)
    return found.ratings[np.argsort(found.order)], found


def test_ratings_of_citations_are_those_of_bradleyterry2() -> None:
    ratings, _ = rate_plain(*expand(CITATIONS))
    assert ratings[1:] - ratings[0] == pytest.approx([-2.949072496844, -0.479569769752, 0.268954055819], abs=1e-8)


def test_the_advantage_at_home_in_baseball_is_that_of_bradleyterry2() -> None:
    first, second, y = expand(BASEBALL, 1)
    plain, _ = rate_plain(first, second, y)
    ratings, found = rate_plain(first, second, y, order=True)
    against = [1.107697705372, 0.683852769153, 1.436408431806, 1.581355876655, 1.247617845135, 1.294485123905]
    at_home = [1.143802653297, 0.704694456900, 1.475357213586, 1.619554993578, 1.281340403276, 1.327110398072]
    assert plain[1:] - plain[0] == pytest.approx(against, abs=1e-7)
    assert ratings[1:] - ratings[0] == pytest.approx(at_home, abs=1e-7)
    assert found.effects == pytest.approx([0.302260655528], abs=1e-8)


def test_model_based_standard_errors_are_those_of_bradleyterry2() -> None:
    first, second, y = expand(BASEBALL, 1)
    X = np.zeros((len(y), 8))
    X[np.arange(len(y)), first] += 1
    X[np.arange(len(y)), second] -= 1
    X[:, 7] = 1
    errors = np.sqrt(np.diag(np.linalg.inv(fit_shares(X[:, 1:], y).information)))
    assert errors[[0, 5, 6]] == pytest.approx([0.337842188911, 0.340322208808, 0.130943642532], abs=1e-6)


def test_ties_count_half_as_in_bradleyterry2_and_arena_rank() -> None:
    ratings, found = rate_plain(*expand(SPRINGALL, 1))
    r = [-1.53978484285418, -2.22369100900998, -0.26957346721044, -1.28454210086647, -1.92377895398284, 0.86225858847107,
         0.00274928709032, -0.41256889852345]  # of BTm(cbind(win.adj, loss.adj), col, row): the second over the first  # fmt: skip
    assert ratings[0] - ratings[1:] == pytest.approx(r, abs=1e-7)
    arena = [868.96022233, 1136.44823952, 1255.25483987, 915.78994133, 1092.1080318, 1203.15486077, 719.170501,
             868.482606, 940.63075737]  # fmt: skip
    assert 1000 + ELO * ratings == pytest.approx(arena, abs=1e-3)
    low, high = (1000 + ELO * each[np.argsort(found.order)] for each in (found.low, found.high))
    assert [low[2], high[2]] == pytest.approx([1205.32, 1305.19], abs=0.4)  # normal quantiles there, Student's t here
    assert [low[6], high[6]] == pytest.approx([668.94, 769.40], abs=0.4)


def test_clusters_of_single_votes_and_none_give_the_same() -> None:
    first, second, y = expand(SPRINGALL, 1)
    none, alone = (rate_plain(first, second, y, ways=ways)[1] for ways in ((), (np.arange(len(y)),)))
    assert none.low == pytest.approx(alone.low)
    assert none.df == alone.df == len(y) - 1


def test_copied_votes_of_annotators_do_not_make_limits_narrower() -> None:
    first, second, y = expand(CITATIONS)
    rng = np.random.default_rng(1)
    few = rng.choice(len(y), 300, replace=False)
    first, second, y = first[few], second[few], y[few]
    once = rate_plain(first, second, y, ways=(np.arange(300),))[1]
    copied = [np.tile(each, 5) for each in (first, second, y, np.arange(300))]
    often = rate_plain(*copied[:3], ways=(copied[3],))[1]
    naive = rate_plain(*copied[:3])[1]
    assert often.low == pytest.approx(once.low, rel=1e-6)
    assert (naive.low > often.low).all()


def test_the_jackknife_is_that_of_fits_without_each_cluster() -> None:
    first, second, y = expand(SPRINGALL, 1)
    way = np.random.default_rng(2).integers(40, size=len(y))
    X = np.zeros((len(y), 9))
    X[np.arange(len(y)), first] += 1
    X[np.arange(len(y)), second] -= 1
    X = X[:, 1:]
    fit = fit_shares(X, y)
    gone = np.array([fit_shares(X[way != g], y[way != g]).coefficients for g in range(40)]) - fit.coefficients
    refitted = 39 / 40 * gone.T @ gone
    found = cluster(fit, X, [way])
    assert np.diag(found.covariances[0]) == pytest.approx(np.diag(refitted), rel=0.05)  # one Newton step each


def test_names_and_sides_do_not_matter() -> None:
    first, second, y = expand(BASEBALL, 1)
    ratings, found = rate_plain(first, second, y)
    turned, other = rate_plain(6 - second, 6 - first, 1 - y)
    assert turned[::-1] == pytest.approx(ratings)
    assert other.pairs.p_adjusted == pytest.approx(found.pairs.p_adjusted, rel=1e-6)


def test_a_sweep_has_a_limit_on_one_side_and_the_chance_of_the_sweep_as_p() -> None:
    _, found = rate_plain(np.zeros(8, int), np.ones(8, int), np.ones(8))
    assert found.ratings[0] == math.inf
    assert found.high[0] == math.inf
    assert found.pairs.p == pytest.approx([2 * 0.5**8])
    assert special.expit(found.low[0]) == pytest.approx(0.025 ** (1 / 8))  # Clopper and Pearson's limit of 8 of 8
    assert found.low[1] == -math.inf
    assert found.high[1] == pytest.approx(-found.low[0])


def test_a_sweep_by_one_annotator_counts_as_one_vote() -> None:
    _, found = rate_plain(np.zeros(8, int), np.ones(8, int), np.ones(8), ways=(np.zeros(8, int),))
    assert found.pairs.p == pytest.approx([1.0])


def test_p_of_a_sweep_and_its_limit_agree() -> None:
    rng = np.random.default_rng(3)
    for wins in range(1, 12):
        first = np.concatenate([np.zeros(wins, int), np.ones(30, int)])
        second = np.concatenate([rng.integers(1, 3, wins), np.full(30, 2)])
        y = np.concatenate([np.ones(wins), rng.integers(2, size=30).astype(float)])
        _, found = rate_plain(first, second, y)
        for p, low in zip(found.pairs.p, found.pairs.low, strict=True):
            assert (p < 0.05) == (low > 0)
        for p, low in zip(found.pairs.p_adjusted, found.pairs.low_simultaneous, strict=True):
            assert (p < 0.05) == (low > 0)


def test_levels_tell_who_won_all_who_lost_all_and_what_hangs_apart() -> None:
    top = join_levels(np.array([0, 0, 1, 2]), np.array([1, 2, 2, 1]), np.ones(4), 3)
    assert top.tolist() == [1, 0, 0]
    chain = join_levels(np.array([0, 1]), np.array([1, 2]), np.ones(2), 3)
    assert chain[0] > chain[1] > chain[2]
    groups = join_levels(np.array([0, 1, 2, 3, 0]), np.array([1, 0, 3, 2, 2]), np.ones(5), 4)  # 0, 1 above 2, 3
    assert (groups == SPLIT).sum() == 2


def test_a_property_that_explains_every_vote_is_named() -> None:
    first, second, y = np.tile([0, 1], 20), np.tile([1, 0], 20), np.tile([1.0, 1, 0, 0], 10)
    with pytest.raises(FitError, match="--adjust"):
        rate(first, second, y, 2, (2 * y - 1)[:, None], [], 0.05)


def test_a_controlled_share_is_that_at_equal_length() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(0.8, 1, 200_000)
    y = (rng.random(len(x)) < special.expit(-0.4 + 1.2 * x)).astype(float)
    scores = control(y, x[:, None], np.full(len(x), 1 / len(x)))
    assert scores.mean() == pytest.approx(special.expit(-0.4), abs=4 * scores.std() / math.sqrt(len(x)))
    assert y.mean() - scores.mean() > 0.15  # what length gave


def test_weights_of_a_controlled_share_are_those_of_its_mean() -> None:
    rng = np.random.default_rng(5)
    x, y, w = rng.normal(size=50), rng.random(50), rng.random(50)
    w /= w.sum()
    scores = control(y, x[:, None], w)
    direct = fit_shares(np.column_stack([np.ones(50), x]), y, w).coefficients[0]
    assert w @ scores == pytest.approx(special.expit(direct), abs=1e-9)
