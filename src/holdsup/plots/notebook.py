"""A figure that shows itself in a notebook, in the notebook's colours, without pyplot."""

from __future__ import annotations

from matplotlib.figure import Figure

from holdsup.plots.drawing import draw_bytes, draw_svg


class NotebookFigure(Figure):
    """A matplotlib figure; where HTML is shown it is a drawing in the colour of the text, else a picture."""

    def _repr_html_(self) -> str:
        return f'<div style="max-width: 40em">{draw_svg(self, follow_page=True)}</div>'

    def _repr_png_(self) -> bytes:
        return draw_bytes(self, "png")
