"""The task pages of the PyPI package `miniwob`, without the packages that it would bring along, on loopback."""

import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from evals.miniwob.truth import NOTE

ROOT = Path(__file__).parents[2]
LOCKED = Path(__file__).parent / "requirements.txt"
FOLDER = ROOT / ".cache" / "miniwob"
PAGES = FOLDER / "miniwob" / "html"
UV = ROOT / ".tools" / "bin" / "uv"


def pages() -> Path:
    """The folder of the pages; fetched at the first call, and when another version is pinned."""
    stamp = FOLDER / LOCKED.name
    if not stamp.exists() or stamp.read_bytes() != LOCKED.read_bytes():
        shutil.rmtree(FOLDER, ignore_errors=True)
        uv = str(UV) if UV.exists() else "uv"
        install = [uv, "pip", "install", "-q", "--no-deps", "--require-hashes", "--target", FOLDER, "-r", LOCKED]
        subprocess.run(install, check=True)  # noqa: S603 - a fixed command
        shutil.copy(LOCKED, stamp)
    return PAGES


def tasks() -> list[str]:
    """The names of all tasks."""
    return sorted(each.stem for each in (pages() / "miniwob").glob("*.html"))


class Handler(SimpleHTTPRequestHandler):
    """Serves files, pages with a note of who listens, and says nothing of it."""

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html" or not path.is_file():
            super().do_GET()
            return
        body = path.read_bytes().replace(b"<head>", f"<head>{NOTE}".encode(), 1)
        self.send_response(200)
        self.send_header("content-type", self.guess_type(path))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def served() -> Generator[str]:
    """The pages on a port of their own; yields the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(pages()))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
