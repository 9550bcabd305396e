"""Matplotlib backend for sandboxed code: it saves figures into the workspace, as plot-1.png and so on.

It is copied next to the code as `outrider_plots.py`; the package itself never imports it.
"""

from pathlib import Path
from typing import Any

from matplotlib._pylab_helpers import Gcf
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

__all__ = ["FigureCanvas", "show", "show_all"]

saved_figures: list[Figure] = []  # since the cell began, by any code


class FigureCanvas(FigureCanvasAgg):
    """Records which figures have been saved."""

    def print_figure(self, *arguments: Any, **options: Any) -> Any:
        saved_figures.append(self.figure)
        return super().print_figure(*arguments, **options)


def show(*_: object, **__: object) -> None:
    """Save all open figures, and close them.

    Then the next `show` saves only new ones.
    """
    for manager in Gcf.get_all_fig_managers():
        save_figure(manager.canvas.figure)
    Gcf.destroy_all()


def show_all(value: object) -> None:
    """Save the figures that a cell leaves open, and its value, unless the cell has saved them; close them."""
    figures = [manager.canvas.figure for manager in Gcf.get_all_fig_managers()]
    figures += [value] if isinstance(value, Figure) and value not in figures else []
    for figure in figures:
        if figure.axes and figure not in saved_figures:
            save_figure(figure)
    Gcf.destroy_all()
    saved_figures.clear()


def save_figure(figure: Figure) -> None:
    """Save a figure under the first free name."""
    number = 1
    while (path := Path(f"plot-{number}.png")).exists():
        number += 1
    figure.savefig(path)
