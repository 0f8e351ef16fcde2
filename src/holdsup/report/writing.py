"""Reports as files: one page, one document with its pictures, or a folder for a paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from holdsup import __version__
from holdsup.errors import ResultError, list_names
from holdsup.plots import draw_file
from holdsup.report.markdown import render_markdown_report
from holdsup.report.paper import list_paper_files, save_paper
from holdsup.report.view import Entry, View, draw_pictures, make_view
from holdsup.report.webpage import render_webpage
from holdsup.results import Result, write_file
from holdsup.results.plain import to_plain
from holdsup.results.reading import read_saved

ENDINGS = (".html", ".md")


def write_report(
    results: Iterable[Result | Entry],
    path: str | Path,
    *,
    title: str | None = None,
    introduction: str | Sequence[str] = (),
    tales: bool = False,
) -> None:
    """Write results as one self-contained HTML page, or as Markdown with a folder of pictures, by the ending of `path`.

    Parameters
    ----------
    results : what commands and functions answered, in the order in which the report shows them; an `Entry` of
        `holdsup.report` adds a heading and a paragraph
    path : PAGE.html or PAGE.md
    title : of the report
    introduction : a paragraph at its beginning, or several
    tales : whether the page begins with a card for each result, its notes and picture, and folds the results below

    Examples
    --------
    >>> import holdsup, tempfile
    >>> scores = holdsup.simulate_scores({"A": 0.7, "B": 0.7}, items=30, runs=3)
    >>> page = Path(tempfile.mkdtemp()) / "page.html"
    >>> holdsup.write_report([holdsup.audit_scores(scores), holdsup.compare_systems(scores)], page)
    >>> page.read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    file = Path(path)
    view = make_view(results, title=title, introduction=introduction, tales=tales)
    if file.suffix.lower() not in ENDINGS:
        raise ResultError(f"cannot write a report to {file}: its name must end in {' or '.join(ENDINGS)}")
    if file.suffix.lower() == ".html":
        write_file(file, render_webpage(view).encode())
        return
    folder = _picture_folder(file)
    view, pictures = draw_pictures(view, lambda figure: draw_file(figure, ".svg"))
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise ResultError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    for name, content in pictures.items():
        write_file(folder / f"{name}.svg", content)
    write_file(file, render_markdown_report(view, pictures=folder.name).encode())


def write_paper(results: Iterable[Result | Entry], folder: str | Path, *, full: bool = False) -> None:
    """Write what a paper needs: a figure and a table for each result, a paragraph on the method, and its BibTeX.

    Parameters
    ----------
    results : what commands and functions answered
    folder : where it goes: figures as SVG and PDF, tables as LaTeX
    full : whether to write every figure and every table
    """
    save_paper(make_view(results), Path(folder), full=full)


def list_written(view: View, page: Path | None, folder: Path | None, *, full: bool = False) -> list[Path]:
    """Return the files that a page and a folder for a paper are."""
    files = [] if page is None else [page]
    if page is not None and page.suffix.lower() == ".md":
        names = [picture.name for section in view.sections for picture in section.pictures()]
        files += [_picture_folder(page) / f"{name}.svg" for name in names]
    return files if folder is None else [*files, *(folder / name for name in list_paper_files(view, full=full))]


def read_entries(paths: Iterable[Path]) -> list[Entry]:
    """Return saved results with the names of their files; those of one name are told apart by their folders."""
    files = list(paths)
    for place, file in enumerate(files):
        if any(file.exists() and other.exists() and file.samefile(other) for other in files[:place]):
            raise ResultError(f"{file} is given twice: give each result once")
    names = [file.name for file in files]
    return [_read_entry(file, file.name if names.count(file.name) == 1 else str(file)) for file in files]


def _read_entry(file: Path, source: str) -> Entry:
    result, plain = read_saved(file)
    made = {name: plain.get(name) for name in ("kind", "schema", *result.derived)}  # anew, whatever the file says
    strangers = list(dict.fromkeys(find_strangers(plain, {**made, **to_plain(result)})))
    said = f"The saved result has fields that holdsup {__version__} doesn't know and doesn't show: "
    return Entry(result=result, source=source, remarks=(f"{said}{list_names(strangers)}.",) if strangers else ())


def find_strangers(plain: Any, known: Any, path: str = "") -> Iterator[str]:
    """Yield the names of fields of a JSON object that another one of the same form lacks.

    >>> list(find_strangers({"a": 1, "b": [{"c": 1, "d": 2}]}, {"a": 2, "b": [{"c": 3}]}))
    ['b.d']
    """
    if isinstance(plain, dict) and isinstance(known, dict):
        for name, value in plain.items():
            if name not in known:
                yield f"{path}{name}"
            else:
                yield from find_strangers(value, known[name], f"{path}{name}.")
    elif isinstance(plain, list) and isinstance(known, list):
        for one, other in zip(plain, known, strict=False):
            yield from find_strangers(one, other, path)


def _picture_folder(file: Path) -> Path:
    return file.with_name(f"{file.stem}_figures")
