"""What the options of the command line take: lists of names, and one value where one is meant."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import holdsup
from holdsup.cli.options import split_names, split_pairs
from holdsup.cli.program import program
from holdsup.errors import ColumnError, quote_names

NAMES = ["A, v2", "B", 'the "old" one', " blank ", "x=1", 'y="1,2"', "a\\,b", "ä\nö"]


def test_a_list_of_any_names_is_read_as_it_was_written() -> None:
    assert split_names([quote_names(NAMES)]) == tuple(NAMES)
    assert split_names([quote_names([name]) for name in NAMES]) == tuple(NAMES)


def test_a_quotation_mark_within_a_name_or_left_open_is_part_of_it() -> None:
    assert split_names(['6" gun,"open, B', ",,"]) == ('6" gun', '"open', "B")


def test_the_value_after_an_equals_sign_may_be_quoted() -> None:
    assert split_names(['system="A, v2", dataset=X']) == ("system=A, v2", "dataset=X")


def test_a_column_with_a_comma_can_be_given_for_a_system(tmp_path: Path) -> None:
    table = tmp_path / "wide.csv"
    table.write_text('id,"A, v2",B\n1,0.5,0.6\n2,0.4,0.7\n3,0.5,0.9\n')
    given = CliRunner().invoke(program, ["compare", str(table), "--wide", 'system="A, v2",B'], catch_exceptions=False)
    assert "A, v2" in given.output
    bare = CliRunner().invoke(program, ["compare", str(table), "--wide", "system=A, v2,B"])
    assert isinstance(bare.exception, ColumnError)
    assert str(bare.exception).endswith('one that holds commas is quoted: "A, v2"')


@pytest.mark.parametrize(
    "given", [["--plot", "a.svg", "--plot", "b.png"], ["-o", "a", "--output", "b"], ["--wide", "system=A", "--wide=B"]]
)
@pytest.mark.parametrize("command", ["check", "compare", "variance", "rank", "qra"])
def test_an_option_of_one_value_is_refused_when_it_is_given_twice(command: str, given: list[str]) -> None:
    done = CliRunner().invoke(program, [command, "scores.csv", *given])
    assert done.exit_code == 2
    assert "given 2 times, but it takes one value" in done.output


def test_flags_and_options_of_several_values_may_be_repeated(tmp_path: Path) -> None:
    table = tmp_path / "a.csv"
    table.write_text("system,item,a,b,score\nA,1,1,2,0.5\nB,1,1,2,0.6\n")
    given = ["check", str(table), "--quiet", "--quiet", "--facets", "a", "--facets", "b", "--format", "json"]
    done = CliRunner().invoke(program, given, catch_exceptions=False)
    assert json.loads(done.stdout)["roles"]["facets"] == ["a", "b"]


def test_a_signature_with_commas_in_names_gives_the_command_that_was_asked(run: Any, tmp_path: Path) -> None:
    table, saved = tmp_path / "wide.csv", tmp_path / "r.json"
    rows = "".join(f"{s},{i},{i * i % 7 + (s == 'A')},{i % 5 + i / 9}\n" for s in "AB" for i in range(9))
    table.write_text(f'system,item,"ter, cased",bleu\n{rows}')
    asked = ["--wide", 'metric="ter, cased",bleu', "--lower", '"ter, cased"', "--format", "json"]
    assert run("compare", table, *asked, "-o", saved).code == 0
    result = holdsup.read_result(saved)
    command = result.asked.command()
    assert command is not None
    words = [str(table) if word == "DATA" else word for word in shlex.split(command)[1:]]
    assert json.loads(run(*words, "--format", "json").out)["signature"] == result.signature


def test_a_name_with_commas_is_quoted_before_its_value_and_two_names_are_refused() -> None:
    assert split_pairs(['"lr, x"=1', "seed = 2", '"lr, x"=3'], "a=b") == {
        "lr, x": ["1", "3"],
        "seed": ["2"],
    }
    for wrong in ('"a",b=1', '""=1', "=1", "a=", "a"):
        with pytest.raises(click.BadParameter, match="is not of the form a=b"):
            split_pairs([wrong], "a=b")


def test_only_one_direction_can_be_given(tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("system,item,score\nA,1,0.5\nA,2,0.7\nA,3,0.9\nB,1,0.4\nB,2,0.8\nB,3,0.5\n")
    both = CliRunner().invoke(program, ["compare", str(table), "--lower-is-better", "--higher-is-better"])
    assert (both.exit_code, "exclude each other" in both.output) == (2, True)
    told = {}
    for option in ("--lower-is-better", "--higher-is-better"):
        found = CliRunner().invoke(program, ["compare", str(table), option, "--format", "json"], catch_exceptions=False)
        told[option] = '"lower_is_better": true' in found.output
    assert told == {"--lower-is-better": True, "--higher-is-better": False}
