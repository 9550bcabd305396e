"""Serve the fixture over HTTP like `outrider serve`, and print its address on the first line."""

import sys
from pathlib import Path

import anyio
import uvicorn

from outrider.core.artifacts import ArtifactStore
from outrider.core.call_records import CallRecorder
from outrider.core.database.database import Database
from outrider.core.toolbox import Toolbox
from outrider.serve.http import build_http_app
from outrider.serve.mcp import build_mcp_server

from .extend import extend_server
from .tools import conformance_tools


async def serve_fixture(folder: Path) -> None:
    database = Database.from_file(folder / "conformance.db")
    artifacts = ArtifactStore(folder / "artifacts", database, keep_seconds=3_600)
    server = extend_server(build_mcp_server(Toolbox([conformance_tools], {}, CallRecorder(database)), artifacts))
    config = uvicorn.Config(build_http_app({"": server}), host="127.0.0.1", port=0, log_level="warning")
    listening = config.bind_socket()
    listening.listen()  # otherwise a client that reads the address before the server has started would be refused
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    anyio.run(serve_fixture, Path(sys.argv[1]))
