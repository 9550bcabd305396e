"""Matplotlib backend for sandboxed code: `show` saves each figure into the workspace, as plot-1.png and so on.

It is copied next to the code as `outrider_plots.py`; the package itself never imports it.
"""

from pathlib import Path

from matplotlib._pylab_helpers import Gcf
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas

__all__ = ["FigureCanvas", "show"]


def show(*_: object, **__: object) -> None:
    """Save all open figures, and close them, so that the next `show` saves only new ones."""
    for manager in Gcf.get_all_fig_managers():
        number = 1
        while (path := Path(f"plot-{number}.png")).exists():
            number += 1
        manager.canvas.figure.savefig(path)
    Gcf.destroy_all()
