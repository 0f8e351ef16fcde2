"""One table, four renderings, the same cells."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt

from holdsup.rendering import Answer, Cell, Estimate, Interval, Page, Percent, PValue, Table, shorten, text as setting
from holdsup.rendering.markup import (
    break_latex,
    escape_latex,
    escape_markdown,
    render_html,
    render_latex,
    render_markdown,
)
from holdsup.rendering.table import visible
from holdsup.rendering.text import ASCII, UNICODE, display_width, render_text

HOSTILE = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a&b", "x_1%", "$\\alpha$", "{}~^#", "a|b", "**bold**",
    "[link](http://x)", "`code`", "\x1b[31mred\x1b[0m", "line\nbreak", "\u202ertl", "模型", "é", "'\"", "\\", "=1+1", "",
    "&amp;", "<!--", "-->", "a" * 200, "[1]", "\t", "\\input{x}", "-", "~~s~~", "http://x.y", "~",
]  # fmt: skip
labels = st.sampled_from(HOSTILE) | st.text(max_size=30).filter(lambda t: "\x00" not in t)
numbers = st.floats(-1e6, 1e6)
cells: st.SearchStrategy[Cell] = st.one_of(
    labels,
    st.integers(-(10**9), 10**9),
    numbers,
    st.none(),
    st.booleans(),
    st.builds(Estimate, numbers, st.floats(1e-6, 1e3)),
    st.builds(lambda a, b: Interval(min(a, b), max(a, b), (a + b) / 2), numbers, numbers),
    st.builds(PValue, st.floats(0, 1), st.floats(-1e4, 0)),
    st.builds(Percent, st.floats(0, 100)),
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    width = draw(st.integers(1, 5))
    rows = draw(st.lists(st.tuples(*[cells] * width), min_size=1, max_size=5))
    return Table(title=draw(labels) or "t", columns=tuple(f"c{i}" for i in range(width)), rows=tuple(rows))


class Cells(HTMLParser):
    """Collects the text of the cells of an HTML table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: set[str] = set()
        self.open = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        self.open = tag in ("td", "th")
        if self.open:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        self.open = False

    def handle_data(self, data: str) -> None:
        if self.open:
            self.rows[-1][-1] += data


def squeezed(rows: object) -> list[list[str]]:
    """Return cells without the blanks at their ends, which Markdown does not keep."""
    return [[cell.strip() for cell in row] for row in rows]  # type: ignore[attr-defined]


@given(tables())
def test_html_shows_the_same_cells_and_nothing_else(table: Table) -> None:
    parsed = Cells(render_html(table))
    assert parsed.rows[1:] == [list(row) for row in table.cells()]
    assert parsed.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}


@given(tables())
def test_markdown_shows_the_same_cells_and_nothing_else(table: Table) -> None:
    html = MarkdownIt("commonmark").enable("table").render(render_markdown(table))
    parsed = Cells(html)
    assert squeezed(parsed.rows[1:]) == squeezed(table.cells())
    assert parsed.tags <= {"table", "thead", "tbody", "tr", "th", "td", "p", "strong"}


LATEX = {
    r"\textbackslash{}": "\\", r"\{": "{", r"\}": "}", r"$\sim$": "~", r"\textasciicircum{}": "^",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|", r"{\char34}": '"', "-{}": "-", "{[}": "[", "{]}": "]",
    r"$\le$": "≤", r"$\ge$": "≥", r"$\times$": "×", r"$\pm$": "±", r"\&": "&", r"\%": "%", r"\$": "$", r"\#": "#",
    r"\_": "_",
}  # fmt: skip


@given(tables())
def test_latex_shows_the_same_cells_and_nothing_else(table: Table) -> None:
    body = render_latex(table).partition("\\midrule\n")[2].partition("\n\\bottomrule")[0]
    pattern = re.compile("|".join(re.escape(key) for key in sorted(LATEX, key=len, reverse=True)))
    ends = re.compile(r" (\\\\|\\tabularnewline)$|(?:(?<=& )|^)\\raggedright ")  # of a row, and what sets a cell ragged
    rows = [re.split(r"(?<!\\) ?& ", ends.sub("", line) + " ") for line in body.split("\n")]
    inner = r"(?:\\[{}]|\{\}|\{\[\}|\{\]\}|\{\\char34\}|[^{}])"  # all that holds a brace but does not end a group
    quoted = re.compile(rf"\\texttt\{{({inner}+)\}}")  # what stood in backticks
    shown = [[pattern.sub(lambda m: LATEX[m[0]], quoted.sub(r"`\1`", cell)) for cell in row] for row in rows]
    assert squeezed(shown) == squeezed(table.cells())


def test_titles_and_notes_of_wide_letters_fit_the_terminal() -> None:
    table = Table(title=18 * "模型" + " b", columns=("x",), rows=((1,),), notes=(30 * "模型 ",))
    lines = render_text(table, width=40).split("\n")
    assert max(map(display_width, lines)) <= 40
    assert "".join("".join(lines).split()).count("模型") == 48


@given(tables(), st.integers(40, 160), st.sampled_from([UNICODE, ASCII]))
def test_text_holds_every_cell_and_fits_the_terminal(table: Table, width: int, ink: object) -> None:
    text = render_text(table, width=width, ink=ink)  # type: ignore[arg-type]
    assert all(display_width(line) <= width for line in text.split("\n"))
    letters = re.sub(r"\s", "", text)
    for row in table.cells():
        for cell in row:
            if display_width(cell) <= 12:  # longer ones are wrapped, so their letters stand on several lines
                assert re.sub(r"\s", "", cell) in letters


def make_page(headline: str, tables: tuple[Table, ...], *, signature: str, **limits: Any) -> Page:
    """Return a whole result that says no more than is needed here."""
    answer = Answer(
        question="Does it?", state="yes", headline=headline, foot=(("holds for", "new runs"),), signature=signature
    )
    return Page(answer=answer, tables=tables, rows="1 of 1 rows used.", **{"cautions": (), "beside": {}, **limits})


@given(tables())
def test_no_rendering_lets_a_control_character_through(table: Table) -> None:
    page = make_page("v\x1b[0m", (table,), cautions=("w\x1b[0m",), beside={0: ("c\x07",)}, signature="s\x07")
    for text in (page.text(), page.markdown(), page.html(), page.latex()):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]", text)


def test_numbers_stand_below_one_another_at_the_point() -> None:
    table = Table(title="t", columns=("x",), rows=((1.5,), (22.25,), (333.0,)))
    lines = render_text(table).split("\n")[3:]
    assert [line.find(".") for line in lines] == [3, 3, -1]
    assert lines[2].startswith("333")


def test_an_interval_is_drawn_on_one_scale_with_zero_marked() -> None:
    rows = (("a", Interval(-1.0, 1.0, 0.5)), ("b", Interval(0.0, 3.0, 1.5)))
    drawn = render_text(Table(title="t", columns=("", "interval"), rows=rows)).split("\n")[3:]
    assert drawn[0].endswith("├────┊──●─┤") or "●" in drawn[0]
    first, second = (line.index("├") for line in drawn)
    assert first < second
    assert drawn[0].index("●") < drawn[1].index("●")
    assert drawn[1].index("├") == drawn[0].index("┊")  # the second begins at zero


@given(labels)
def test_markdown_shows_a_paragraph_as_it_is(text: str) -> None:
    shown = " ".join(visible(text).split())
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(escape_markdown(shown))
    inline = [child for token in tokens for child in token.children or ()]
    assert {token.type for token in tokens} <= {"paragraph_open", "inline", "paragraph_close"}
    assert "".join(child.content for child in inline) == shown
    assert {child.type for child in inline} <= {"text", "text_special"}


@pytest.mark.parametrize(
    "text", ["score ~ system + (1 | item)", "a_b", "[0.1, 0.3]", "-0.5", "p < .001 & q", "a * b", "#1 is 2", "x: 50%!"]
)
def test_markdown_leaves_alone_what_is_no_markup(text: str) -> None:
    assert escape_markdown(f"x {text}") == f"x {text}"


def test_ascii_ink_draws_in_ascii() -> None:
    table = Table(title="t", columns=("i",), rows=((Interval(-1.0, 1.0, 0.0),),))
    assert render_text(table, ink=ASCII).isascii()
    assert not UNICODE.drawable("cp1252")
    assert ASCII.drawable("cp1252")


def test_a_table_too_wide_for_the_terminal_becomes_cards() -> None:
    table = Table(title="t", columns=tuple(f"number {i}" for i in range(12)), rows=((1.25,) * 12,))
    text = render_text(table, width=60)
    assert text.count("1.25") == 12
    assert "number 11  1.25" in text


def test_a_row_of_another_width_is_refused() -> None:
    with pytest.raises(ValueError, match="has 1 cells for 2 columns"):
        Table(title="t", columns=("a", "b"), rows=(("x",),))


def test_a_page_shows_the_same_parts_in_every_rendering() -> None:
    table = Table(title="Numbers", columns=("x",), rows=((0.25,),), notes=("A note.",))
    page = make_page("It holds.", (table,), cautions=("Beware.",), beside={0: ("Here, too.",)}, signature="s:1")
    parts = ("It holds.", "new runs", "Numbers", "0.25", "A note.", "Beware.", "Here, too.", "1 of 1 rows used.", "s:1")
    for text in (page.text(), page.markdown(), page.html(), page.latex()):
        for part in parts:
            assert part in text


def test_the_words_at_the_ends_of_a_picture_are_left_out_where_none_is_drawn() -> None:
    rows = (("a", Interval(-1.0, 1.0, 0.5, written=False)), ("b", Interval(0.0, 3.0, 1.5, written=False)))
    table = Table(title="t", columns=("", "worse | 95% CI | better"), rows=rows)
    assert "← worse" in render_text(table)
    assert "better →" in render_text(table)
    for render in (render_markdown, render_html, render_latex):
        assert "worse" not in render(table)
        assert "CI" in render(table)


def test_long_cells_wrap_in_latex_within_the_line() -> None:
    table = Table(title="t", columns=("a", "b", "n"), rows=(("word " * 30, "other " * 20, 5),))
    columns = re.search(r"\\begin\{tabular\}\{(.*)\}\n", render_latex(table))
    assert columns is not None
    shares = [float(share) for share in re.findall(r"p\{([\d.]+)\\linewidth\}", columns[1])]
    assert len(shares) == 2
    assert sum(shares) < 0.95
    assert columns[1].endswith("r")


def test_a_wide_table_gets_smaller_letters_in_latex_before_it_is_scaled() -> None:
    numbers = {count: render_latex(_wide(count)) for count in (9, 10, 12, 20)}
    assert not re.search(r"small|footnotesize|resizebox", numbers[9])
    assert "\\small\n" in numbers[10]
    assert "\\footnotesize\\setlength" in numbers[12]
    assert "resizebox" not in numbers[12]
    assert "\\resizebox{\\linewidth}{!}{" in numbers[20]
    assert "\\end{tabular}}\n" in numbers[20]


def test_a_table_longer_than_a_page_goes_on_on_the_next_in_latex() -> None:
    short, long = (render_latex(Table(title="t", columns=("a",), rows=((1,),) * rows)) for rows in (45, 46))
    assert "longtable" not in short
    assert long.count(r"\begin{longtable}{r}") == long.count(r"\end{longtable}") == 1
    assert long.index(r"\endhead") > long.index(r"\midrule")
    assert "{table}" not in long


def _wide(columns: int) -> Table:
    return Table(title="t", columns=tuple(f"{i}" for i in range(columns)), rows=((1.125,) * columns,))


def test_short_cells_do_not_wrap_in_latex() -> None:
    assert r"\begin{tabular}{lr}" in render_latex(Table(title="t", columns=("a", "b"), rows=(("x", 1),)))


def test_two_hyphens_stay_two_hyphens_in_latex() -> None:
    assert "-{}-{}run" in render_latex(Table(title="t", columns=("a",), rows=(("--run",),)))


def test_verdict_and_signature_are_text_in_latex() -> None:
    page = make_page("50% hold.", (), signature="check|data:1|v:2")
    text = page.latex()
    assert r"\textbf{50\% hold. Holds for new runs.}" in text
    assert r"check\textbar{}\allowbreak{}data:1" in text
    assert not any(line.startswith("%") for line in text.splitlines())


def test_intervals_of_each_scale_are_drawn_on_a_scale_of_their_own() -> None:
    rows = (("ms", Interval(100.0, 200.0, 150.0, scale="ms")), ("%", Interval(1.0, 2.0, 1.5, scale="%")))
    lines = render_text(Table(title="t", columns=("", "limits"), rows=rows)).splitlines()[-2:]
    pictures = [line[line.index("├") :] for line in lines]
    assert pictures[0] == pictures[1]
    assert len(pictures[0]) == 21


def test_advice_is_shown_by_all_renderings_but_latex_which_is_to_publish() -> None:
    table = Table(title="t", columns=("a",), rows=((1,),), notes=("A note.",), advice=("Next: more runs.",))
    for shown in (render_text(table), render_markdown(table), render_html(table)):
        assert "Next: more runs." in shown
    assert "A note." in render_latex(table)
    assert "Next" not in render_latex(table)


def test_names_in_backticks_are_typewriter_letters_in_latex_and_signatures_keep_them() -> None:
    assert escape_latex("`F1_x` ~ a") == r"\texttt{F1\_x} $\sim$ a"
    assert break_latex("fit|`a`") == r"fit\textbar{}\allowbreak{}\`{}a\`{}"


@pytest.mark.parametrize("mark", ["e\u0301", "\u0301", "模", "x"])
def test_wrapping_looks_at_each_character_a_few_times_however_long_a_label_is(
    monkeypatch: pytest.MonkeyPatch, mark: str
) -> None:
    looks = 0

    def count(char: str) -> int:
        nonlocal looks
        looks += 1
        return measure(char)

    measure = setting._char_width
    monkeypatch.setattr(setting, "_char_width", count)
    label = mark * 20_000
    lines = setting.wrap_text(label, 40)
    assert "".join(lines) == label
    assert all(display_width(line) <= 40 for line in lines)
    assert looks <= 10 * len(label)


@given(st.text(max_size=40), st.integers(1, 30))
def test_a_shortened_name_fits_and_keeps_its_ends(name: str, width: int) -> None:
    shown, whole = shorten(name, width), visible(name)
    assert display_width(shown) <= width
    assert shown == whole or "…" in shown
    start, _, end = shown.partition("…")
    assert whole.startswith(start)
    assert whole.endswith(end)


def test_a_character_wider_than_a_line_is_a_line_of_its_own() -> None:
    assert setting.wrap_text("模型", 1) == ["模", "型"]


@pytest.mark.parametrize("width", range(20, 70))
@pytest.mark.parametrize("cjk", ["", "模型"])
def test_a_p_value_a_level_and_an_option_stay_on_one_line(width: int, cjk: str) -> None:
    whole = ("(p = .33)", "95% CI", "--margin SIZE", "--plot-all", "p < .001")
    text = f"{cjk}the lead (p = .33) has a 95% CI from -0.1 to 0.2; p < .001 needs --margin SIZE or --plot-all of them"
    lines = setting.wrap_text(text, width, indent="  ")
    assert all(any(each in line for line in lines) for each in whole)
    assert max(map(setting.display_width, lines)) <= width
    assert " ".join(line.strip() for line in lines) == text


@pytest.mark.parametrize("width", [40, 80, 120])
def test_an_answer_shortens_names_in_its_text_alone(width: int) -> None:
    names = tuple(f"{'x' * 150}{i}{'y' * 149}" for i in range(3))
    answer = Answer(
        question=f"Is {names[0]} better?", state=None, headline=f"{names[0]} beats {names[1]}.", signature="s",
        parts=(Table(name="t", title="", columns=("", names[2]), rows=((names[0], 1),), notes=(names[1],)),),
        foot=(("caveat", f"{names[2]}: one run"),), names=names * 2,
    )  # fmt: skip
    text = answer.text(width=width)
    assert max(map(len, text.splitlines())) <= width
    assert not any(name in text for name in names)
    assert "#3" in text
    assert "#4" not in text
    assert all(name in answer.markdown() and name in answer.html() for name in names)


def test_a_name_of_40_letters_is_whole_where_there_is_room_for_it() -> None:
    name = "n" * 40
    few = Answer(question="?", state=None, headline=name, signature="s", names=(name,))
    assert name in few.text()
    assert name not in replace(few, foot=(("caveat", "more"),) * 30).text()


def test_blanks_that_set_things_apart_are_kept_around_what_stays_whole() -> None:
    for text in ("more: --full (tests)   holdsup report   --plot figure.svg", "95% CI     CV* 0.3 to 3.9%"):
        assert setting.wrap_text(text, 80) == [text]


@pytest.mark.parametrize(
    ("numbers", "shown"),
    [
        ((0.9371, 0.979, 0.8236), ("0.9371", "0.9790", "0.8236")),
        ((30.3412, 149.0649), ("30.34", "149.06")),
        ((5.36, 6.1), ("5.36", "6.10")),
        ((0.01286, 6.979e-05, 0.00252, 0.0), ("0.01286", "6.979e-05", "0.00252", "0")),  # too far apart
        ((3.0, 20.0, None), ("3", "20", "-")),
        ((float("inf"), 2.5), ("inf", "2.5")),
    ],
)
def test_the_numbers_of_a_column_have_the_same_digits(
    numbers: tuple[float | None, ...], shown: tuple[str, ...]
) -> None:
    cells = Table(title="t", columns=("x",), rows=tuple((number,) for number in numbers)).cells()
    assert tuple(row[0] for row in cells) == shown
