"""A small website: the files of `tests/site`, and responses that a test defines for a path.

`async with open_pages(site) as (pages, url)` yields a `Pages` that may read it, with its own database.
"""

import mimetypes
import os
import zlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio

from outrider.core.database.database import Database
from outrider.core.egress import EgressGuard, EgressSettings
from outrider.core.http import HttpClient
from outrider.pages.document import Document
from outrider.pages.pages import Pages
from outrider.pages.reader import ReaderInput
from outrider.pages.settings import PagesSettings
from support.databases import sqlite
from support.fakes import http_servers
from support.timeouts import PROCESS_TIMEOUT_S, SCENARIO_TIMEOUT_S

WEBSITE_FOLDER = Path(__file__).parent / "website"


@dataclass
class SiteAnswer:
    """The site's response to a request."""

    body: bytes | str = b""
    type: str | None = "text/html"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class SiteRequest:
    path: str
    headers: dict[str, str]


@dataclass
class FakeSite:
    """An ASGI application. `routes` override files; a callable route builds its response from the request."""

    routes: dict[str, SiteAnswer | Callable[[SiteRequest], SiteAnswer]] = field(default_factory=dict)
    requests: list[SiteRequest] = field(default_factory=list)

    def list_paths(self) -> list[str]:
        return [request.path for request in self.requests]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (message := await receive())["type"] != "lifespan.shutdown":
                await send({"type": f"{message['type']}.complete"})
            await send({"type": "lifespan.shutdown.complete"})
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        request = SiteRequest(scope["path"], headers)
        self.requests.append(request)
        answer = self._find_answer(request)
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        given = ({"content-type": answer.type} if answer.type else {}) | answer.headers
        pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in given.items()]
        await send({"type": "http.response.start", "status": answer.status, "headers": pairs})
        await send({"type": "http.response.body", "body": b"" if answer.status == 304 else body})

    def _find_answer(self, request: SiteRequest) -> SiteAnswer:
        route = self.routes.get(request.path)
        if route is not None:
            return route(request) if callable(route) else route  # ty: ignore[invalid-explicit-return]
        file = WEBSITE_FOLDER / request.path.lstrip("/")
        if not file.is_file():
            return SiteAnswer("nothing here", "text/plain", 404)
        return SiteAnswer(file.read_bytes(), mimetypes.guess_type(file.name)[0] or "text/plain")


class FakeClock:
    """A clock that only a test or a sleep advances."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0
        self.sleeps: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds
        await anyio.lowlevel.checkpoint()


@asynccontextmanager
async def open_http_client() -> AsyncGenerator[HttpClient]:
    http = HttpClient(EgressGuard(EgressSettings(allow=["127.0.0.1:*"])))
    try:
        with anyio.fail_after(SCENARIO_TIMEOUT_S):
            yield http
    finally:
        await http.close()


@asynccontextmanager
async def open_pages(
    site: FakeSite,
    *,
    clock: FakeClock | None = None,
    file: Path | None = None,
    render: Any = None,
    attempts: int = 3,
    **settings: Any,
) -> AsyncGenerator[tuple[Pages, str]]:
    """Open a `Pages` that may read the site; yield it with the site's address."""
    clock = clock or FakeClock()
    database = Database.from_file(file or sqlite.create_migrated_file(Path.home() / "pages.db"))
    chosen = PagesSettings.model_validate({"per_host_rate": 1_000, "timeout_s": PROCESS_TIMEOUT_S, **settings})
    try:
        async with http_servers.serve_app(site) as url, open_http_client() as http:
            yield Pages(http, chosen, database, clock=clock, sleep=clock.sleep, render=render, attempts=attempts), url
    finally:
        await database.close()


def build_pdf(*pages: str, title: str = "", author: str = "") -> bytes:
    """Build a PDF with these lines, one per page."""
    return build_positioned_pdf(*([(72, 700, 24, text)] for text in pages), title=title, author=author)


def build_positioned_pdf(*pages: list[tuple[int, int, int, str]], title: str = "", author: str = "") -> bytes:
    """Build a PDF with lines (x, y, size, text) on each page (ISO 32000-1 section 7.5)."""
    count = len(pages)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{' '.join(f'{5 + 2 * at} 0 R' for at in range(count))}] /Count {count} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        f"<< /Title ({title}) /Author ({author}) /CreationDate (D:20240229120000Z) >>".encode(),
    ]
    for at, lines in enumerate(pages):
        content = "\n".join(f"BT /F1 {size} Tf {x} {y} Td ({text}) Tj ET" for x, y, size, text in lines)
        stream = zlib.compress(content.encode("latin-1"))
        place = f"/Parent 2 0 R /MediaBox [0 0 612 792] /Contents {6 + 2 * at} 0 R"
        objects.append(f"<< /Type /Page {place} /Resources << /Font << /F1 3 0 R >> >> >>".encode())
        head = f"<< /Length {len(stream)} /Filter /FlateDecode >>".encode()
        objects.append(head + b"\nstream\n" + stream + b"\nendstream")
    out, offsets = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    tail = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R >>\n"
    return out + f"{tail}startxref\n{len(out)}\n%%EOF\n".encode()


PIXEL_PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360f8cfc0000003010100c9fe92ef"
    "0000000049454e44ae426082"
)


def crash_process(source: ReaderInput) -> Document:
    """A reader that crashes its process."""
    os._exit(3)


def hang_forever(source: ReaderInput) -> Document:
    """A reader that never ends; if the address is a file's, it first writes its process id there."""
    if source.url.startswith("/"):
        Path(source.url).write_text(str(os.getpid()))
    while True:
        pass


def raise_error(source: ReaderInput) -> Document:
    """A reader with a bug."""
    raise ZeroDivisionError


def list_environment(_: ReaderInput) -> Document:
    """A reader that returns the names of its environment variables."""
    return Document("\n".join(os.environ))


def allocate_too_much(_: ReaderInput) -> Document:
    """A reader that allocates more memory than any machine has."""
    return Document(str(len(bytes(1 << 42))))
