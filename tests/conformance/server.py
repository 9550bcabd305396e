"""Serves the fixture over HTTP as `outrider serve` does; prints its address on the first line."""

import sys
from pathlib import Path

import anyio
import uvicorn

from outrider.core.artifacts import Artifacts
from outrider.core.db import Database
from outrider.core.events import Events
from outrider.core.toolbox import Toolbox
from outrider.serve.http import http_app
from outrider.serve.mcp import mcp_server

from .extend import extend
from .house import house


async def main(folder: Path) -> None:
    database = Database.file(folder / "conformance.db")
    artifacts = Artifacts(folder / "artifacts", database, keep_seconds=3_600)
    server = extend(mcp_server(Toolbox([house], {}, Events(database)), artifacts))
    config = uvicorn.Config(http_app({"": server}), host="127.0.0.1", port=0, log_level="warning")
    listening = config.bind_socket()
    print(f"http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    await uvicorn.Server(config).serve(sockets=[listening])


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]))
