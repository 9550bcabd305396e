"""Serve pages on loopback."""

import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from bench.peers import ROOT


class PageHandler(BaseHTTPRequestHandler, ABC):
    """Answer each GET on a kept connection with the HTML that `build_page` returns."""

    protocol_version = "HTTP/1.1"

    @abstractmethod
    def build_page(self) -> str:
        """Return the HTML at `self.path`."""

    def log_message(self, *_: object) -> None:  # ty: ignore[incompatible-method-override]
        ...

    def do_GET(self) -> None:
        body = self.build_page().encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def run_site(module: str) -> Generator[str]:
    """Run a module in a separate process; yields the address that it prints."""
    command = [sys.executable, "-m", module]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
