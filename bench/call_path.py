"""Count the project's files and functions that one call of a tool passes through.

    python -m bench.call_path            # the numbers
    python -m bench.call_path --list     # and the functions, file by file

An MCP client in the same process calls `web_fetch` for a page that is not in the cache, `web_search` with one provider,
then `clickElement` in a browser; all is served on loopback. Functions of libraries do not count. Functions in worker
threads, which turn HTML into Markdown, are counted separately. Comprehensions, generator expressions and lambdas are
left out.
"""

import json
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
from mcp import Client

import outrider
from outrider import load, open_app

SOURCE_FOLDER = str(Path(outrider.__file__).parent)
RESULTS = [{"title": f"Tide {number}", "url": f"https://{number}.example/", "content": "Low."} for number in range(5)]


class CallPath:
    """Record the project's functions that run, by file: in the event loop, and in workers."""

    def __init__(self) -> None:
        self.loop: dict[str, set[str]] = defaultdict(set)
        self.workers: dict[str, set[str]] = defaultdict(set)
        self.is_recording = False

    def record_call(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if not self.is_recording or event != "call" or not code.co_filename.startswith(SOURCE_FOLDER):
            return
        if not code.co_name.startswith("<"):
            functions = self.loop if threading.current_thread() is threading.main_thread() else self.workers
            functions[code.co_filename.removeprefix(SOURCE_FOLDER + "/")].add(code.co_qualname)

    def print_summary(self, tool: str, *, with_functions: bool) -> None:
        for place, functions in (("event loop", self.loop), ("worker threads", self.workers)):
            print(f"{tool}, {place}: {len(functions)} files, {sum(map(len, functions.values()))} functions")
            for file, names in sorted(functions.items()) if with_functions else ():
                print(f"  {file}: {', '.join(sorted(names))}")


class WebsiteHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        link = "<a href='/moon'>as the moon goes round</a>"
        paragraph = f"<p>High water comes twice a day, {link}, and the boats rise with it.</p>"
        page = f"<title>Tides</title><main><h1>Tides</h1><button>Show the tables</button>{paragraph * 20}</main>"
        self._send("text/html", page.encode())

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self._send("application/json", json.dumps({"results": RESULTS}).encode())

    def _send(self, content_type: str, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the standard library
        """Keep requests off stderr."""


@contextmanager
def serve_website() -> Generator[str]:
    """Serve a page at every path, and search results to every POST; yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), WebsiteHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


async def trace_call(client: Client, path: CallPath, tool: str, arguments: dict[str, Any]) -> None:
    """Record one call; raises RuntimeError if the tool fails."""
    await anyio.sleep(1.5)  # until the last call's record is written, and its browser's storage captured
    path.loop.clear()
    path.workers.clear()
    path.is_recording = True
    result = await client.call_tool(tool, arguments)
    path.is_recording = False
    if result.is_error:
        raise RuntimeError(f"{tool} failed: {result.content}")


async def main(*, with_functions: bool) -> None:
    path = CallPath()
    threading.setprofile(path.record_call)  # worker threads that start from now on
    with tempfile.TemporaryDirectory() as folder, serve_website() as url:
        settings = {
            "data_dir": folder,
            "egress": {"allow": ["127.0.0.1:*"]},
            "pages": {"timeout_s": 300},  # tracing is slow on a busy machine
            "search": {"providers": {"tavily": {"api_key": "key", "endpoint": url}}, "order": ["tavily"]},
        }
        async with open_app(load(settings)) as app, Client(app.build_server()) as client:
            sys.setprofile(path.record_call)
            for tool, arguments in (("web_fetch", {"url": f"{url}/"}), ("web_search", {"query": "tide"})):
                # The first call also imports modules, opens the database and fills caches.
                await trace_call(client, path, tool, arguments)
                value = next(iter(arguments.values()))
                await trace_call(client, path, tool, dict.fromkeys(arguments, f"{value}tables"))
                path.print_summary(tool, with_functions=with_functions)
            sys.setprofile(None)
            opened = await client.call_tool("createSession", {"url": f"{url}/"})
            click = {"sessionId": (opened.structured_content or {})["sessionId"], "selector": "button"}
            sys.setprofile(path.record_call)
            await trace_call(client, path, "clickElement", click)
            await trace_call(client, path, "clickElement", click)
            path.print_summary("clickElement", with_functions=with_functions)
            sys.setprofile(None)


if __name__ == "__main__":
    anyio.run(lambda: main(with_functions="--list" in sys.argv))
