"""Record commands in a terminal as an animated picture: `python -m release.recording [FILE]`.

The commands really run, in a separate home and on a page of this machine, whose address is shown as SITE_NAME. Their
output is shown unchanged; pauses are shortened, because a reader would only wait.
"""

import functools
import http.server
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
SITE_NAME = "https://tea.example"
SHOP = """<!doctype html><html lang=en><title>Tea shop</title><h1>Order tea</h1>
<label>Tea <input id=tea></label> <label>Size <select><option>Small<option>Large</select></label>
<button onclick="said.textContent = `${tea.value} is on its way`">Order</button><p id=said>"""
COMMANDS = (
    f"outrider browser open {SITE_NAME}/",
    "outrider browser snapshot",
    'outrider browser fill e1 "green tea"',
    "outrider browser select e2 Large",
    "outrider browser click e3",
    f"outrider fetch {SITE_NAME}/ --max-chars 300",
)
COLUMNS = 96


class RecordedCommand(NamedTuple):
    """A command line and its output."""

    line: str
    output: str


def record_commands() -> list[RecordedCommand]:
    """Run the commands and return their output. Raises CalledProcessError if one fails."""
    with tempfile.TemporaryDirectory() as home, _serve_shop() as address:
        environ = {"HOME": home, "PATH": os.environ["PATH"], "OUTRIDER_EGRESS__ALLOW": address.removeprefix("http://")}

        def run(line: str) -> str:
            words = shlex.split(line.replace(SITE_NAME, address))[1:]
            ended = subprocess.run(  # noqa: S603 - the commands above
                [sys.executable, "-m", "outrider", *words],
                env=environ,
                cwd=home,
                check=True,
                capture_output=True,
                text=True,
            )
            return ended.stdout.replace(address, SITE_NAME)

        try:
            return [RecordedCommand(line, run(line).strip("\n")) for line in COMMANDS]
        finally:
            run("outrider daemon stop")


@contextmanager
def _serve_shop() -> Generator[str]:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "index.html").write_text(SHOP, encoding="utf-8")
        handler = functools.partial(_SilentHandler, directory=folder)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{server.server_port}"
            server.shutdown()


class _SilentHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Print nothing about requests."""


def draw_terminal(commands: list[RecordedCommand]) -> str:
    """Return an SVG in which the commands and their outputs appear one after another.

    For readers who prefer reduced motion, and in programs without animations, everything is shown at once.
    """
    line_height, character_width, pause_s = 19, 8.4, 0.9
    shown: list[tuple[str, str, float]] = []
    seconds = 0.5
    for command in commands:
        shown.append(("command", f"$ {command.line}", seconds))
        seconds += pause_s
        lines = [line[index : index + COLUMNS] for line in command.output.split("\n") for index in _find_breaks(line)]
        shown += [("output", line, seconds) for line in lines]
        seconds += pause_s + 0.1 * len(lines)
    width, height = round(COLUMNS * character_width + 40), line_height * len(shown) + 40
    texts = [
        f'<text class="{kind}" x="20" y="{34 + line_height * row}" style="animation-delay:{at:.1f}s">{_escape(line)}'
        "</text>"
        for row, (kind, line, at) in enumerate(shown)
    ]
    title = "Recording of a terminal: " + "; ".join(command.line for command in commands)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{_escape(title)}</title>",
        "<style>text{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre;fill:#c9d1d9}",
        ".command{fill:#7ee787}@media(prefers-reduced-motion:no-preference){",
        "text{animation:appear .2s both}@keyframes appear{from{opacity:0}to{opacity:1}}}</style>",
        '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
        *texts,
        "</svg>",
        "",
    ])  # fmt: skip


def _find_breaks(line: str) -> range:
    return range(0, max(len(line), 1), COLUMNS)


def _escape(line: str) -> str:
    """Return text for XML, which has no control characters."""
    return escape(re.sub(r"[\x00-\x1f\x7f]", " ", line))


if __name__ == "__main__":
    target = Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs" / "images" / "terminal.svg"
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(draw_terminal(record_commands()), encoding="utf-8")
