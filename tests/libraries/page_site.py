"""Serve the page of a library on loopback, and keep the values that it reports."""

import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HEAD = """<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><link rel="icon" href="data:,">{styles}
<script>
  // What a widget holds now, by its name; a second connection keeps it, apart from the browser that is operated.
  let order = Promise.resolve();
  window.tell = (name, value) => {{
    const body = JSON.stringify({{ [name]: value }});
    order = order.then(() => fetch("told", {{ method: "POST", body, keepalive: true }}));
  }};
</script><body>{body}<script src="page.js"></script></body></html>"""


class PageServer(ThreadingHTTPServer):
    """A page on loopback.

    Attributes:
        told: The newest value of each widget since the page was opened.
    """

    daemon_threads = True

    def __init__(self, title: str, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _PageHandler)
        body = folder / "body.html"
        self.dist = folder / "dist"
        styles = '<link rel="stylesheet" href="page.css">' if (self.dist / "page.css").exists() else ""
        html = body.read_text() if body.exists() else "<div id=root></div>"
        self.html = HEAD.format(title=title, styles=styles, body=html)
        self.told: dict[str, Any] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class _PageHandler(SimpleHTTPRequestHandler):
    def __init__(self, request: Any, address: Any, server: PageServer) -> None:
        self._page = server
        super().__init__(request, address, server, directory=str(server.dist))

    def do_GET(self) -> None:
        if self.path.split("?")[0] != "/":
            super().do_GET()
            return
        self._page.told = {}
        self._answer(self._page.html.encode())

    def do_POST(self) -> None:
        self._page.told |= json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: Any = "-", size: Any = "-") -> None:
        """Write nothing, because a task's transcript has its calls."""


@contextmanager
def serve_page(title: str, folder: Path) -> Generator[PageServer]:
    """Serve a bundled page."""
    with PageServer(title, folder) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
