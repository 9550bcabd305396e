"""One line of a terminal that is written again and again while something runs."""

import os
import shutil
import sys
import time

from outrider.cli.terminal_text import CONTROL_CHAR, measure_cells


class StatusLine:
    """Show the current activity in the last line of standard error, if that is a terminal."""

    def __init__(self) -> None:
        self._is_shown = False
        self._shown_at = 0.0
        self._can_show = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def show(self, text: str) -> None:
        """Show the end of a text, several times a second at most."""
        interval_s = 0.1
        if not self._can_show or time.monotonic() - self._shown_at < interval_s:
            return
        tail = " ".join(CONTROL_CHAR.sub("", text).split())
        while measure_cells(tail) >= shutil.get_terminal_size().columns:
            tail = tail[1:]
        self.clear()
        # A terminal without the codes for dim text ignores them.
        sys.stderr.write(tail if os.environ.get("NO_COLOR") else f"\x1b[2m{tail}\x1b[0m")
        sys.stderr.flush()
        self._is_shown, self._shown_at = bool(tail), time.monotonic()

    def clear(self) -> None:
        """Remove the line, so that others can be printed."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[2K")
            sys.stderr.flush()
            self._is_shown = False
