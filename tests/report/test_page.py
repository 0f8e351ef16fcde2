"""The page, the document and the folder for a paper, read as files."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import holdsup
from holdsup.errors import ResultError
from holdsup.rendering import Table
from holdsup.results import Caution, Result, write_file


class Page(HTMLParser):
    """Collects the cells of each table, the tags and the attributes of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.headings: list[int] = []
        self.texts: dict[str, str] = {"style": "", "script": ""}
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append("")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data
        if self.open and self.open[-1] in self.texts:
            self.texts[self.open[-1]] += data


@pytest.fixture(scope="module")
def page(results: list[Result], tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("page") / "page.html"
    holdsup.write_report(results, file, title="A <b>title</b>")
    return file.read_text(encoding="utf-8")


def test_the_page_shows_the_cells_of_every_table(page: str, results: list[Result]) -> None:
    tables = [
        table
        for result in results
        for table in (*(part for part in result.answer().parts if isinstance(part, Table)), *result.tables())
    ]
    assert [table[1:] for table in Page(page).tables] == [[list(row) for row in table.cells()] for table in tables]


def test_the_page_refers_to_nothing_outside_itself(page: str) -> None:
    parsed = Page(page)
    for tag, name, value in parsed.attributes:
        if name in ("href", "src", "xlink:href"):
            assert value.startswith(("#", "data:image/png")), (tag, value)
        assert name != "style"
        assert not name.startswith("on")
    names = [value for _, name, value in parsed.attributes if name == "id"]
    assert len(names) == len(set(names))
    inside = [value[1:] for _, name, value in parsed.attributes if name.endswith("href") and value.startswith("#")]
    assert inside
    assert set(inside) <= set(names)
    assert "://" not in re.sub(r'xmlns(:xlink)?="[^"]+"', "", page)


def test_style_and_script_are_allowed_by_their_hashes_alone(page: str) -> None:
    parsed = Page(page)
    (policy,) = [v for tag, name, v in parsed.attributes if (tag, name) == ("meta", "content") and "default-src" in v]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for kind, text in parsed.texts.items():
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_headings_go_down_one_step_at_a_time(page: str) -> None:
    headings = Page(page).headings
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(below - above <= 1 for above, below in pairwise(headings))


def test_answers_come_before_tables_and_full_tables_are_folded(page: str, results: list[Result]) -> None:
    first = page.index("<table")
    for result in results:
        assert -1 < page.find(html.escape(result.headline).replace("&#x27;", "&#39;")) < first
    for state in ("yes", "no", "unclear"):
        told = sum(result.state == state for result in results)
        assert page.count(f'<span class="badge {state}">') == 2 * told  # on its card and at the result
    assert page.count('<details class="block">') == sum(len(result.tables()) for result in results)
    assert page.count("<details") == page.count("</details>")


def test_the_title_is_text(page: str) -> None:
    assert "<title>A &lt;b&gt;title&lt;/b&gt;</title>" in page


def test_the_page_is_far_below_two_megabytes(page: str) -> None:
    assert len(page.encode()) < 1_000_000


def test_the_same_results_give_the_same_page(results: list[Result], tmp_path: Path) -> None:
    for name in "ab":
        holdsup.write_report(results[:2], tmp_path / f"{name}.html")
    assert (tmp_path / "a.html").read_bytes() == (tmp_path / "b.html").read_bytes()


@pytest.mark.slow
def test_pictures_of_very_many_points_do_not_make_the_page_large(tmp_path: Path) -> None:
    scores = holdsup.simulate_scores({f"system {i}": 0.5 for i in range(60)}, items=5, runs=2)
    holdsup.write_report([holdsup.compare_systems(scores, baseline="system 0")], tmp_path / "p.html")
    assert (tmp_path / "p.html").stat().st_size < 1_000_000


def test_pictures_are_svg_that_follows_the_page(page: str) -> None:
    pictures = re.findall(r"<svg .*?</svg>", page, flags=re.DOTALL)
    assert len(pictures) > 10
    for picture in pictures:
        root = ElementTree.fromstring(picture)
        assert not [element for element in root.iter() if "style" in element.attrib]
        assert any(element.get("fill") == "currentColor" for element in root.iter())
        titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
        assert titles
        assert all(titles)


@pytest.mark.slow
def test_markdown_has_the_tables_and_its_pictures_are_there(results: list[Result], tmp_path: Path) -> None:
    holdsup.write_report(results, tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert text.startswith("# Do these results hold up?\n")
    linked = re.findall(r"\]\(<([^>]+)>\)", text)
    assert len(linked) > 10
    assert all((tmp_path / name).is_file() for name in linked)
    for result in results:
        assert all(f"**{table.title}" in text.replace("\\", "") for table in result.tables())


@pytest.mark.slow
def test_the_folder_for_a_paper_has_figures_tables_methods_and_references(
    results: list[Result], tmp_path: Path
) -> None:
    folder = tmp_path / "new" / "paper"
    holdsup.write_paper(results[:2], folder, full=True)
    every = {kind: len(list((folder / kind).iterdir())) for kind in ("figures", "tables")}
    assert every["tables"] > sum(len(result.tables()) for result in results[:2])
    holdsup.write_paper(results[:2], folder)  # one of each a result, and nothing is left of what was there
    figures = sorted(path.name for path in (folder / "figures").iterdir())
    assert figures == [
        f"{name}.{ending}" for name in ("1-check-coverage", "2-compare-pairs") for ending in ("pdf", "svg")
    ]
    tables = sorted(path.name for path in (folder / "tables").iterdir())
    assert tables == ["1-check-answer-1.tex", "2-compare-answer-1.tex"]
    assert every["figures"] > len(figures)
    methods = (folder / "methods.tex").read_text(encoding="utf-8")
    cited = {key for keys in re.findall(r"\\cite\{([^}]+)\}", methods) for key in keys.split(",")}
    entries = set(re.findall(r"@\w+\{(\w+),", (folder / "references.bib").read_text(encoding="utf-8")))
    assert cited == entries
    assert "hagmann2023" in cited


def test_cautions_stand_with_their_tables_on_the_page_in_markdown_and_in_latex(
    results: list[Result], tmp_path: Path
) -> None:
    (compared,) = [result for result in results if result.kind == "compare"]
    few = Caution(code="few", about="table:contrasts", message="Few runs say little.", severity="note")
    found = replace(compared, cautions=(few,))
    places = [table.name for table in found.tables()]
    holdsup.write_report([found], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    folds = page.split('<details class="block">')[1:]
    assert [few.message in fold.partition("<table")[0] for fold in folds] == [name == "contrasts" for name in places]
    holdsup.write_report([found], tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text(encoding="utf-8")
    titles = [text.rindex(f"**{table.title}") for table in found.tables()]
    before = places.index("contrasts")
    assert titles[before - 1] < text.index(f"> **Caveat:** {few.message}") < titles[before]
    holdsup.write_paper([found], tmp_path / "paper", full=True)
    latex = [(tmp_path / f"paper/tables/1-compare-table-{i + 1}.tex").read_text("utf-8") for i in range(len(places))]
    assert [few.message in table for table in latex] == [name == "contrasts" for name in places]


def test_a_second_report_in_a_folder_leaves_nothing_of_the_first_and_all_of_others(
    results: list[Result], tmp_path: Path
) -> None:
    holdsup.write_paper([results[0], results[6]], tmp_path)
    (tmp_path / "tables/mine.tex").write_text("mine")
    (tmp_path / "figures/9-fit-mine.pdf").write_text("mine")
    holdsup.write_paper([results[0]], tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")}
    assert "tables/1-check-answer-1.tex" in left
    assert not [name for name in left if "2-fit" in name]
    assert {"tables/mine.tex", "figures/9-fit-mine.pdf"} < left


def test_a_folder_for_a_paper_that_was_interrupted_is_taken_up_again(
    results: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(path: Path, content: bytes) -> None:
        if path.suffix == ".tex" and path.parent.name == "tables":
            raise KeyboardInterrupt
        write_file(path, content)

    with monkeypatch.context() as patched:
        patched.setattr("holdsup.report.paper.write_file", interrupt)
        with pytest.raises(KeyboardInterrupt):
            holdsup.write_paper(results[:1], tmp_path)
    assert list((tmp_path / "figures").iterdir())
    holdsup.write_paper(results[:1], tmp_path)
    assert (tmp_path / "references.bib").is_file()


@pytest.mark.slow
def test_the_folder_for_a_paper_compiles(results: list[Result], tmp_path: Path) -> None:
    if (
        shutil.which("pdflatex") is None
        or not subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).stdout
    ):
        pytest.skip("there is no pdflatex with booktabs on this machine")
    holdsup.write_paper(results, tmp_path)
    for command in (["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "preview"], ["bibtex", "preview"]):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, done.stdout[-2000:]
        assert "Overfull" not in done.stdout


def test_other_endings_are_refused(results: list[Result], tmp_path: Path) -> None:
    with pytest.raises(ResultError, match=r"must end in \.html or \.md"):
        holdsup.write_report(results[:1], tmp_path / "page.pdf")
    with pytest.raises(ResultError, match="cannot write"):
        holdsup.write_report(results[:1], tmp_path / "none" / "page.html")
    (tmp_path / "file").write_text("")
    with pytest.raises(ResultError, match="cannot make the folder"):
        holdsup.write_paper(results[:1], tmp_path / "file")


@pytest.mark.parametrize("name", ["methods.tex", "preview.tex", "references.bib", "tables/1-fit-answer-1.tex"])
def test_a_file_that_was_edited_since_it_was_written_is_not_replaced(
    results: list[Result], tmp_path: Path, name: str
) -> None:
    fit, audit = results[6], results[0]
    holdsup.write_paper([fit], tmp_path)
    own = (tmp_path / name).read_text(encoding="utf-8")
    edited = f"% mine\n{own}" if name != "preview.tex" else own.replace("25mm", "30mm")
    (tmp_path / name).write_text(edited, encoding="utf-8")
    for again in ([fit], [audit]):  # its file is written again, or removed
        with pytest.raises(ResultError, match=rf"'{name}' changed since a report wrote it: .* give another folder"):
            holdsup.write_paper(again, tmp_path)
    assert (tmp_path / name).read_text(encoding="utf-8") == edited
    (tmp_path / name).write_text(own, encoding="utf-8")
    holdsup.write_paper([audit], tmp_path)
    assert "1-check-answer-1" in (tmp_path / "preview.tex").read_text(encoding="utf-8")
