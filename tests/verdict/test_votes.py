"""Pairwise votes: recognised, read, refused in one line, and answered as a ranking."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import holdsup
from holdsup.errors import HoldsupError
from holdsup.verdict.places.votes import are_votes, find_vote_columns, read_votes


def make_votes(
    worth: dict[str, float], *, votes: int = 400, seed: int = 1, order: float = 0.0, ties: float = 1 / 6
) -> dict[str, list[Any]]:
    """Return votes in Chatbot Arena's shape, some of them ties."""
    rng = np.random.default_rng(seed)
    names = list(worth)
    rows = []
    for i in range(votes):
        a, b = rng.choice(len(names), 2, replace=False)
        p = 1 / (1 + np.exp(worth[names[b]] - worth[names[a]] - order))
        won = "model_a" if rng.random() < p else "model_b"
        winner = ("tie", "tie (bothbad)")[i % 2] if rng.random() < ties else won
        rows.append((names[a], names[b], winner, f"user{rng.integers(40)}", f"q{rng.integers(100)}"))
    return dict(
        zip(("model_a", "model_b", "winner", "judge", "question_id"), map(list, zip(*rows, strict=True)), strict=True)
    )


WORTH = {"alpha": 1.2, "beta": 0.2, "gamma": 0.0}
SMALL = {"a": ["x", "y", "x"] * 4, "b": ["y", "x", "y"] * 4, "winner": ["x", "x", "y"] * 4}


@pytest.mark.parametrize(
    "columns",
    [
        ("model_a", "model_b", "winner"),
        ("a", "b", "winner"),
        ("Model 1", "Model 2", "Winner"),
        ("left", "right", "preferred"),
        ("home_team", "away_team", "winner"),
        ("system_a", "system_b", "choice"),
    ],
)
def test_votes_are_known_by_their_columns(columns: tuple[str, ...]) -> None:
    found = find_vote_columns(("id", *columns, "turn"))
    assert found is not None
    assert (found.first, found.second, found.winner) == columns


def test_scores_are_no_votes() -> None:
    assert find_vote_columns(("system", "item", "score", "winner")) is None
    assert find_vote_columns(("model_a", "model_b", "score")) is None
    assert not are_votes(["-"])
    assert not are_votes(["no-such-file.csv"])


def test_winners_by_name_by_side_and_by_column_are_the_same() -> None:
    named = {"model_a": ["x", "y", "x"], "model_b": ["y", "x", "y"], "winner": ["x", "x", "tie"]}
    by_column = {**named, "winner": ["model_a", "model_b", "tie (bothbad)"]}
    by_side = {**named, "winner": ["A", "b", "Draw"]}
    outcomes = [read_votes(table).outcome.tolist() for table in (named, by_column, by_side)]
    assert outcomes == [[1.0, 0.0, 0.5]] * 3


def test_who_voted_on_what_is_found_by_names() -> None:
    votes = read_votes(make_votes(WORTH))
    assert votes.annotator is not None
    assert votes.annotator[0] == "judge"
    assert votes.prompt is not None
    assert votes.prompt[0] == "question_id"
    assert read_votes(make_votes(WORTH), annotator="-").annotator is None


def test_the_clear_best_is_told_from_all_others() -> None:
    found = holdsup.rank_votes(make_votes(WORTH, votes=900))
    assert found.state == "yes"
    assert found.systems[0].name == "alpha"
    assert found.headline.startswith("alpha is best: it wins 6")
    assert len(found.headline.split()) <= 25
    assert next(s.rank_low for s in found.systems) == 1
    assert found.annotators == 40
    assert found.prompts == 100
    assert found.rows.used == 900
    assert found.ties == sum("tie" in w for w in make_votes(WORTH, votes=900)["winner"])
    assert str(found).count("\n") <= 24


def test_equal_systems_are_not_told_apart() -> None:
    found = holdsup.rank_votes(make_votes(dict.fromkeys("ABCD", 0.0)))
    assert found.state == "unclear"
    assert {s.letters for s in found.systems} == {("A",)}


def test_the_advantage_of_being_shown_first_is_told_and_taken_out() -> None:
    found = holdsup.rank_votes(make_votes(WORTH, votes=2000, order=0.8, ties=0, seed=2))
    (effect,) = found.effects
    assert effect.name == "order"
    assert effect.low < 0.8 < effect.high
    assert any(label == "order" and "the first shown wins 6" in said for label, said in found.answer().foot)
    assert holdsup.rank_votes(make_votes(WORTH, votes=2000), order=False).effects == ()


def test_ratings_at_equal_length_are_those_without_what_length_wins() -> None:
    rng = np.random.default_rng(3)
    long_ones = rng.integers(2, size=3000).astype(bool)  # B is as good as A, and writes more
    more = rng.normal(60, 40, 3000)
    p = 1 / (1 + np.exp(0.02 * np.where(long_ones, more, -more)))
    votes = {
        "a": np.where(long_ones, "A", "B").tolist(), "b": np.where(long_ones, "B", "A").tolist(),
        "winner": np.where(rng.random(3000) < p, "a", "b").tolist(),
        "length_a": np.where(long_ones, 100.0, 100 + more).tolist(),
        "length_b": np.where(long_ones, 100 + more, 100.0).tolist(),
    }  # fmt: skip
    raw, adjusted = holdsup.rank_votes(votes), holdsup.rank_votes(votes, adjust="length")
    assert raw.state == "yes"
    assert raw.systems[0].name == "B"
    assert adjusted.state == "unclear"
    assert adjusted.contrasts[0].low < 0.15
    assert adjusted.effects[-1].low > 0
    assert adjusted.asked.options["adjust"] == ("length",)


def test_a_sweep_is_named_and_has_a_limit() -> None:
    votes = {"a": ["A", "B", "C"] * 8, "b": ["B", "C", "A"] * 8, "winner": ["A", "B", "A", "A", "C", "A"] * 4}
    found = holdsup.rank_votes(votes)
    assert found.systems[0].swept == "won"
    assert found.systems[0].estimate == 1.0
    assert 0.5 < found.systems[0].low < 1
    assert any(each.code == "swept" for each in found.cautions)
    assert holdsup.VoteRanking.from_dict(found.to_dict()).page().text() == found.page().text()


def test_votes_that_say_nothing_are_left_out_and_counted() -> None:
    votes = {
        "a": ["x", "y", "x", "x"] * 4,
        "b": ["y", "x", "x", "y"] * 4,
        "winner": ["x", "x", "x", None] * 4,
    }
    found = holdsup.rank_votes({**votes, "winner": [*votes["winner"][:-4], "y", "y", "x", None]})
    assert found.rows.used == 8
    assert found.rows.reasons == {"no winner": 4, "a system against itself": 4}
    assert {"votes-on-itself", "votes-without-winner"} <= {each.code for each in found.cautions}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"winner": ["x", "z", "y"] * 4}, "4 votes .* name a winner that is neither .* 'z'.*: write"),
        ({"winner": [None] * 12}, "no vote .* can be used .*12 with no winner"),
        ({"b": ["x", "y", "x"] * 4}, "can be used .*itself"),
        ({"a": ["x", "p", "x"] * 4, "b": ["y", "q", "y"] * 4, "winner": ["x", "p", "y"] * 4},
         "no vote compares 'p', 'q' with 'x', 'y'.*Collect votes between them"),
        ({"winner": ["a"] * 12}, "every vote went to a: .*--no-order"),
    ],
)  # fmt: skip
def test_bad_votes_get_one_line(change: dict[str, list[Any]], says: str) -> None:
    with pytest.raises(HoldsupError, match=says) as caught:
        holdsup.rank_votes({**SMALL, **change})
    assert "\n" not in str(caught.value)


def test_groups_whose_votes_all_went_one_way_have_no_common_scale() -> None:
    pairs = [("x", "y", "x"), ("y", "x", "y"), ("p", "q", "p"), ("q", "p", "q"), ("x", "p", "x"), ("q", "y", "y")]
    first, second, winner = zip(*pairs, strict=True)
    with pytest.raises(HoldsupError, match="all went one way"):
        holdsup.rank_votes({"a": first, "b": second, "winner": winner})


def test_missing_columns_are_named() -> None:
    with pytest.raises(HoldsupError, match="needs the columns length_a and length_b"):
        holdsup.rank_votes(SMALL, adjust="length")
    with pytest.raises(HoldsupError, match="no column 'who'"):
        holdsup.rank_votes(SMALL, annotator="who")
    with pytest.raises(HoldsupError, match="model_a, model_b and winner"):
        holdsup.rank_votes({"system": ["x"], "score": [1.0]})


def test_an_order_that_goes_with_the_systems_is_left_out_and_said() -> None:
    votes = {"a": ["x", "y"] * 10, "b": ["z"] * 20, "winner": ["a", "b", "b", "a", "tie"] * 4}
    found = holdsup.rank_votes(votes)
    assert found.effects == ()
    assert "order-unknown" in {each.code for each in found.cautions}


def test_rows_are_chosen_by_a_column() -> None:
    votes = make_votes(WORTH)
    found = holdsup.rank_votes({**votes, "lang": ["en", "de"] * 200}, where={"lang": "en"})
    assert found.rows.used == 200
    assert found.rows.reasons == {"another lang than en": 200}


def test_the_order_of_rows_and_the_names_of_systems_do_not_matter() -> None:
    votes = make_votes(WORTH, order=0.3)
    mixed = {name: [column[i] for i in np.random.default_rng(1).permutation(400)] for name, column in votes.items()}
    renamed = {name: [{"alpha": "zeta"}.get(cell, cell) for cell in column] for name, column in votes.items()}
    own, again, other = (holdsup.rank_votes(each) for each in (votes, mixed, renamed))
    assert own.signature == again.signature
    for found in (again, other):
        for left, right in zip(own.systems, found.systems, strict=True):
            assert left.low == pytest.approx(right.low, abs=1e-7)
            assert left.rank_high == right.rank_high


def test_the_command_line_knows_votes_and_refuses_what_has_no_meaning_for_them(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from holdsup.cli.rank import command

    file, votes = tmp_path / "votes.csv", make_votes(WORTH)
    lines = [",".join(votes), *(",".join(row) for row in zip(*votes.values(), strict=True))]
    file.write_text("\n".join(lines))
    said = CliRunner().invoke(command, [str(file)]).output
    assert said.startswith("Is one of the three systems preferred to all others?")
    for wrong in (["--nuisance", "x"], ["--estimate", "iqm"], ["--claim", "new-datasets"]):
        assert "has no meaning for votes" in CliRunner().invoke(command, [str(file), *wrong]).output
    saved = tmp_path / "votes.json"
    CliRunner().invoke(command, [str(file), "--format", "json", "-o", str(saved), "--plot", str(tmp_path / "p.svg")])
    assert holdsup.read_result(saved).headline == holdsup.rank_votes(str(file)).headline
    assert (tmp_path / "p.svg").read_text().count("alpha") >= 1


def test_every_result_of_votes_says_how_to_ask_again() -> None:
    found = holdsup.rank_votes({**make_votes(WORTH), "lang": ["en", "de"] * 200}, where={"lang": "en"}, order=False)
    assert found.asked.command() == "holdsup rank DATA --where lang=en --no-order"


def test_pairs_of_many_systems_stay_on_a_screen() -> None:
    names = [f"system {i}" for i in range(14)]
    found = holdsup.rank_votes(make_votes({name: i / 7 for i, name in enumerate(names)}, votes=1500))
    assert str(found).count("\n") <= 24
    assert len(found.contrasts) == len(list(itertools.combinations(names, 2)))


def test_annotators_are_named_as_raters_are(tmp_path: Path) -> None:
    votes, file = make_votes(WORTH), tmp_path / "votes.csv"
    votes = {("who" if name == "judge" else name): values for name, values in votes.items()}
    file.write_text("\n".join(",".join(map(str, row)) for row in [list(votes), *zip(*votes.values(), strict=True)]))
    from click.testing import CliRunner

    from holdsup.cli.rank import command

    assert "annotators like these" not in CliRunner().invoke(command, [str(file)]).output
    assert "new annotators like these" in CliRunner().invoke(command, [str(file), "--rater", "who"]).output
