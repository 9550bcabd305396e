"""Pages on loopback for the contenders to look at."""

import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from bench.peers import ROOT


class PageHandler(BaseHTTPRequestHandler, ABC):
    """Answers every GET on a kept connection with what `page` says, and reports nothing."""

    protocol_version = "HTTP/1.1"

    @abstractmethod
    def page(self) -> str:
        """The HTML at `self.path`."""

    def log_message(self, *_: object) -> None:  # ty: ignore[incompatible-method-override]
        ...

    def do_GET(self) -> None:
        body = self.page().encode()
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def served_by(module: str) -> Generator[str]:
    """The address that the module prints when it is run: in a process of its own, whose time is in no figure."""
    command = [sys.executable, "-m", module]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()
