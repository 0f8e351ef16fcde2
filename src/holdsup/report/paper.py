"""A folder for a paper: figures, tables, a paragraph on the method and its references."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from holdsup.errors import ResultError, list_names
from holdsup.plots import draw_file
from holdsup.rendering.markup import break_latex, escape_latex, escape_markdown, render_latex, sign_markdown
from holdsup.report.manifest import PREVIEW, add_manifest, read_manifest, refuse_changed
from holdsup.report.references import REFERENCES, write_bibtex
from holdsup.report.view import Block, Picture, Section, View, draw_pictures
from holdsup.results import write_file

ENDINGS = (".svg", ".pdf")  # of each figure
# The first line of preview.tex, by which a folder is known for one of ours.
FIRST = "% latexmk -pdf preview.tex; names in other scripts than Latin need -lualatex and a font that has them"

# How preview.tex shows a figure and a table, whose names begin with the number and the kind of their result.
OWN = re.compile(r"\{(figures/\d+-[\w-]+)\.pdf\}|\\input\{(tables/\d+-[\w-]+-(?:answer|table)-\d+)\}")


def list_paper_files(view: View, *, full: bool = False) -> list[str]:
    """Return the names of the files that `save_paper` writes."""
    chosen = [_choose(section, full=full) for section in view.sections]
    return [
        *(f"figures/{picture.name}{ending}" for pictures, _ in chosen for picture in pictures for ending in ENDINGS),
        *(f"tables/{block.name}.tex" for _, blocks in chosen for block in blocks),
        *("methods.md", "methods.tex", "references.bib", PREVIEW),
    ]


def _choose(section: Section, *, full: bool) -> tuple[tuple[Picture, ...], tuple[Block, ...]]:
    """Return the figure and the table that answer the question of a result, or all that there are."""
    tables = (*section.small, *section.blocks)
    return (section.pictures(), tables) if full else (section.pictures()[:1], tables[:1])


def save_paper(view: View, folder: Path, *, full: bool = False) -> None:
    """Write the folder; `preview.tex` puts all of it on pages, to look at and to copy from.

    A folder that an earlier report made is written again, and what of that report is not written again is removed;
    files of others are never touched, and one that was changed since is not replaced but refused.
    """
    _check_folder(view, folder, full=full)
    if not full:
        view = replace(view, sections=tuple(replace(s, blocks=_without_pictures(s.blocks)) for s in view.sections))
    view, figures = draw_pictures(view, lambda figure: {ending: draw_file(figure, ending) for ending in ENDINGS})
    files, preview = _files(view, figures, full=full), _preview(view, full=full)
    gone = _written_before(folder) - files.keys()
    before = read_manifest(folder)
    refuse_changed(folder, files, gone)
    try:
        for name in ("figures", "tables"):
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultError(f"cannot make the folder {folder}: {error.strerror or error}") from error
    # The preview comes first: by it the folder is known for ours, even if what follows is interrupted.
    write_file(folder / PREVIEW, add_manifest(preview, files, before))
    for name in gone:
        (folder / name).unlink(missing_ok=True)
    for name, content in files.items():
        write_file(folder / name, content)
    write_file(folder / PREVIEW, add_manifest(preview, files))


def _without_pictures(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(replace(block, pictures=()) for block in blocks)


def _files(view: View, figures: Mapping[str, Mapping[str, bytes]], *, full: bool) -> dict[str, bytes]:
    """Return all files but the preview."""
    files = {f"figures/{name}{ending}": own[ending] for name, own in figures.items() for ending in ENDINGS}
    chosen = (block for section in view.sections for block in _choose(section, full=full)[1])
    texts = {f"tables/{block.name}.tex": f"{_table(block)}\n" for block in chosen}
    texts["methods.md"] = "\n\n".join(_methods_markdown(section) for section in view.sections) + "\n"
    texts["methods.tex"] = "\n\n".join(_methods_latex(section) for section in view.sections) + "\n"
    texts["references.bib"] = write_bibtex(view.citations)
    return files | {name: text.encode() for name, text in texts.items()}


def _written_before(folder: Path) -> set[str]:
    """Return the figures and tables of an earlier report, which are those that its preview shows."""
    if not _is_ours(folder):
        return set()
    shown = OWN.findall((folder / PREVIEW).read_text(encoding="utf-8", errors="replace"))
    figures = {f"{name}{ending}" for name, _ in shown if name for ending in ENDINGS}
    return figures | {f"{name}.tex" for _, name in shown if name}


def _is_ours(folder: Path) -> bool:
    preview = folder / PREVIEW
    return preview.is_file() and preview.read_bytes().startswith(FIRST.encode())


def _check_folder(view: View, folder: Path, *, full: bool) -> None:
    """Refuse a folder that holds files of these names, unless a report made it."""
    taken = [name for name in list_paper_files(view, full=full) if (folder / name).exists()]
    if taken and not _is_ours(folder):
        raise ResultError(f"{folder} already holds {list_names(taken[:3])}: give a folder that is new or empty")


def _table(block: Block) -> str:
    """Return a table as LaTeX; what limits it is a note below it."""
    return render_latex(replace(block.table, notes=(*block.table.notes, *block.cautions)))


def _methods_markdown(section: Section) -> str:
    cited = "; ".join(REFERENCES[key].cite() for key in section.citations)
    said = f"{' '.join(section.method)} ({cited}.) {section.rows}"
    return f"{escape_markdown(said)} Signature: {sign_markdown(section.signature)}"


def _methods_latex(section: Section) -> str:
    return (
        f"{escape_latex(' '.join(section.method))}~\\cite{{{','.join(section.citations)}}}\n"
        f"{escape_latex(section.rows)}\n"
        f"Signature: {{\\footnotesize\\ttfamily {break_latex(section.signature)}}}."
    )


def _preview(view: View, *, full: bool) -> str:
    body = []
    for section in view.sections:
        body.append(rf"\section{{{escape_latex(section.title)}}}")
        word = f"{section.state.upper()}. " if section.state else ""
        body.append(escape_latex(f"{word}{section.headline}"))
        body.extend(f"\n{escape_latex(f'{label[:1].upper()}{label[1:]}: {said}')}" for label, said in section.foot)
        body.extend(f"\n\\emph{{Caveat: {escape_latex(said)}}}" for said in (*section.caveats, *section.remarks))
        pictures, blocks = _choose(section, full=full)
        for picture in pictures:
            body.append(
                "\\begin{figure}[ht]\n\\centering\n"
                f"\\includegraphics[width=0.6\\linewidth,height=0.8\\textheight,keepaspectratio]{{figures/{picture.name}.pdf}}\n"
                f"\\caption{{{escape_latex(picture.caption)}}}\n\\end{{figure}}"
            )
        body.extend(rf"\input{{tables/{block.name}}}" for block in blocks)
        body.append(r"\clearpage")
    return "\n".join(
        [
            FIRST,
            r"\documentclass{article}",
            r"\usepackage{booktabs,graphicx,longtable}",
            r"\usepackage[margin=25mm]{geometry}",
            r"\setlength{\belowcaptionskip}{6pt} % between a table and its caption above",
            r"\sloppy % rather wide blanks than formulas and signatures in the margin",
            r"\begin{document}",
            *body,
            r"\section*{Methods}",
            r"\input{methods}",
            r"\bibliographystyle{plain}",
            r"\bibliography{references}",
            r"\end{document}",
            "",
        ]
    )
