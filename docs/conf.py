"""How the documents become a site: `make docs`. Nothing is fetched, neither now nor by the pages."""

from __future__ import annotations

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

from holdsup import __version__

project = "holdsup"
author = "The holdsup developers"
project_copyright = author
release = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = "holdsup"
html_copy_source = False
html_show_sphinx = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"


def write_inline(writer: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in a line as MathML, which browsers show without any script."""
    writer.body.append(_mathml(node, as_block=False))
    raise nodes.SkipNode


def write_block(writer: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    writer.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _mathml(node: nodes.Element, *, as_block: bool) -> str:
    tex = node.astext().replace(r"\dots", r"\ldots")
    tex = re.sub(r"(\\bar\s*\{?\w+\}?)_", r"\1{}_", tex)  # docutils would put the index of a barred letter below it
    try:
        return str(tex2mathml(tex, as_block=as_block))
    except MathError as error:
        getLogger(__name__).warning("%s in %r", error, node.astext(), location=node)
        return ""


def setup(app: Sphinx) -> None:
    """Register the writer of formulas."""
    app.add_html_math_renderer("mathml", inline_renderers=(write_inline, None), block_renderers=(write_block, None))
