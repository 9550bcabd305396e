"""Serve S3's real protocol on loopback by moto in a separate process."""

import http.client
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

TEST_BUCKET = "outrider-tests"
AWS_CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
# Prints its port once it listens; ends with its standard input, and so with the process that started it.
SERVER_SOURCE = """
import logging, sys, threading
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
logging.disable(logging.CRITICAL)
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(server.server_port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
"""


@dataclass
class S3Server:
    """The server: its address, and one bucket."""

    port: int
    process: Any = field(repr=False)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def build_storage_url(self, prefix: str = "", bucket: str = TEST_BUCKET) -> str:
        """Build the address in the form of `artifacts.storage`."""
        return f"s3://{bucket}/{prefix}?endpoint={self.endpoint}&region=us-east-1"

    def send_request(self, method: str, path: str) -> tuple[int, str]:
        """Send a request without a signature; return status and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, headers={"Content-Length": "0"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()


@contextmanager
def serve_s3() -> Generator[S3Server]:
    """Serve an empty bucket."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER_SOURCE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=dict(os.environ),
    )
    with process:
        assert process.stdout
        server = S3Server(int(process.stdout.readline()), process)
        assert server.send_request("PUT", f"/{TEST_BUCKET}")[0] == 200
        try:
            yield server
        finally:
            process.kill()
