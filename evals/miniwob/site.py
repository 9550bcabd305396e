"""Serve the task pages of the PyPI package `miniwob` on loopback, without its dependencies."""

import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from evals.miniwob.coverage import NOTE_LISTENERS

PROJECT_FOLDER = Path(__file__).parents[2]
LOCK_FILE = Path(__file__).parent / "requirements.txt"
CACHE_FOLDER = PROJECT_FOLDER / ".cache" / "miniwob"
PAGES_FOLDER = CACHE_FOLDER / "miniwob" / "html"
UV_FILE = PROJECT_FOLDER / ".tools" / "bin" / "uv"


def install_pages() -> Path:
    """Return the folder of the pages, fetched once for each pinned version."""
    stamp = CACHE_FOLDER / LOCK_FILE.name
    if not stamp.exists() or stamp.read_bytes() != LOCK_FILE.read_bytes():
        shutil.rmtree(CACHE_FOLDER, ignore_errors=True)
        uv = str(UV_FILE) if UV_FILE.exists() else "uv"
        install = [
            uv,
            "pip",
            "install",
            "-q",
            "--no-deps",
            "--require-hashes",
            "--target",
            CACHE_FOLDER,
            "-r",
            LOCK_FILE,
        ]
        subprocess.run(install, check=True)  # noqa: S603 - a fixed command
        shutil.copy(LOCK_FILE, stamp)
    return PAGES_FOLDER


def list_tasks() -> list[str]:
    """List the names of all tasks."""
    return sorted(each.stem for each in (install_pages() / "miniwob").glob("*.html"))


class TaskHandler(SimpleHTTPRequestHandler):
    """Serve files silently; a script in each page notes which elements listen."""

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if path.suffix != ".html" or not path.is_file():
            super().do_GET()
            return
        body = path.read_bytes().replace(b"<head>", f"<head>{NOTE_LISTENERS}".encode(), 1)
        self.send_response(200)
        self.send_header("content-type", self.guess_type(path))
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve_tasks() -> Generator[str]:
    """Serve the pages on a separate port; yields the address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(TaskHandler, directory=str(install_pages()))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
