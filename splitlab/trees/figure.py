"""A matplotlib figure that a notebook shows by itself. It loads matplotlib: import it where a figure is drawn."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure with a canvas of its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> bytes:
        """The picture, for notebooks."""
        file = BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()
