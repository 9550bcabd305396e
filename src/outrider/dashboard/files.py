"""Serve artifacts under `files/<id>` so that nothing in them can run.

The bytes of a file decide, not its name: pictures of types that cannot contain scripts are shown, all others are
downloaded. The `sandbox` header denies scripts, forms, popups and our origin to a file that is opened on its own.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from outrider.core.artifacts import Artifact
from outrider.core.errors import NotFound
from outrider.dashboard.access import ResourceOwner, can_view
from outrider.dashboard.labels import build_content_disposition
from outrider.dashboard.page import get_services
from outrider.pages.mime.sniff import SNIFF_BYTES, match_magic_number

# Types under which a browser saves or opens a download; it renders none of them in our origin.
PASSIVE_TYPES = frozenset(
    {
        "application/json",
        "application/pdf",
        "application/zip",
        "text/csv",
        "text/markdown",
        "text/plain",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    }
)
FALLBACK_MIME_TYPE = "application/octet-stream"
SANDBOX_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
}
SINGLE_RANGE = re.compile(r"bytes=(\d*)-(\d*)", re.ASCII)


@dataclass(frozen=True)
class ServedFile:
    """A file to send.

    Attributes:
        name: The name from its creator.
        mime_type: The declared type.
        size: In bytes.
        read: Returns the bytes from one offset up to another, exclusive.
        digest: The hash of its bytes; empty for a file that may change.
    """

    name: str
    mime_type: str
    size: int
    read: Callable[[int, int], Awaitable[bytes]]
    digest: str = ""


async def require_artifact(request: Request) -> Artifact:
    """Return the path's artifact. Raises NotFound, even if the viewer just may not see it."""
    found = await get_services(request).artifacts.get(request.path_params["key"])
    if not can_view(request, ResourceOwner(found.workspace, found.identity)):
        raise NotFound("no such file", hint="it may have expired")
    return found


def open_artifact(request: Request, artifact: Artifact) -> ServedFile:
    """Open an artifact as a file."""
    artifacts = get_services(request).artifacts
    return ServedFile(
        artifact.name,
        artifact.mime_type,
        artifact.size,
        lambda start, stop: artifacts.read_range(artifact, start, stop),
        artifact.sha256,
    )


async def show_artifact(request: Request) -> Response:
    """Serve `GET files/<id>`; with `?download` as an attachment."""
    return await respond_with_file(request, open_artifact(request, await require_artifact(request)))


async def respond_with_file(request: Request, file: ServedFile) -> Response:
    """Send the file or the requested range. Raises NotFound when it is gone."""
    immutable_cache_control = "private, max-age=31536000, immutable"  # the bytes of an id never change
    picture = detect_picture_type(await file.read(0, SNIFF_BYTES))
    is_inline = bool(picture) and "download" not in request.query_params
    headers = SANDBOX_HEADERS | {
        "content-disposition": build_content_disposition(file.name, inline=is_inline),
        "content-type": picture or (file.mime_type if file.mime_type in PASSIVE_TYPES else FALLBACK_MIME_TYPE),
        "accept-ranges": "bytes",
        "cache-control": immutable_cache_control if file.digest else "no-store",
    }
    if file.digest:
        headers["etag"] = f'"{file.digest}"'
        # Whether the client has this version already (RFC 9110, section 13.1.2)
        header = request.headers.get("if-none-match", "")
        tag = headers["etag"]
        etag = header.strip() == "*" or tag in {each.strip().removeprefix("W/") for each in header.split(",")}
        if etag:
            return Response(status_code=304, headers=headers)
    unchanged = request.headers.get("if-range", headers.get("etag", "")) == headers.get("etag", "")
    try:
        part = parse_range(request.headers.get("range") if unchanged else None, file.size)
    except RangeNotSatisfiable:
        return Response(status_code=416, headers=SANDBOX_HEADERS | {"content-range": f"bytes */{file.size}"})
    start, stop = part or (0, file.size)
    headers |= {"content-length": str(stop - start)}
    if part:
        headers["content-range"] = f"bytes {start}-{stop - 1}/{file.size}"
    return StreamingResponse(_iter_blocks(file, start, stop), 206 if part else 200, headers)


def build_attachment(name: str, mime_type: str, content: bytes | AsyncIterator[bytes]) -> Response:
    """Build a download from data in memory."""
    kind = mime_type if mime_type in PASSIVE_TYPES else FALLBACK_MIME_TYPE
    headers = SANDBOX_HEADERS | {
        "content-disposition": build_content_disposition(name),
        "content-type": kind,
        "cache-control": "no-store",
    }
    return (
        Response(content, headers=headers) if isinstance(content, bytes) else StreamingResponse(content, 200, headers)
    )


def detect_picture_type(head: bytes) -> str:
    """Return the type of an image that cannot contain scripts, by its first bytes, or ""."""
    picture_types = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
    found = match_magic_number(head)
    return found if found in picture_types else ""


async def _iter_blocks(file: ServedFile, start: int, stop: int) -> AsyncIterator[bytes]:
    block_bytes = 1 << 20  # large blocks, so that an object storage gets few requests
    while start < stop:
        block = await file.read(start, min(start + block_bytes, stop))
        if not block:
            raise NotFound("the file became shorter while it was read", hint="ask for it again")
        start += len(block)
        yield block


FILE_ROUTES = (Route("/files/{key}", show_artifact, name="file"),)


class RangeNotSatisfiable(Exception):
    """The range is outside the file (HTTP status 416)."""


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """Return the first byte and the one past the last.

    None means the whole file.

    An invalid range, or several at once, may be answered with the whole file. Raises RangeNotSatisfiable.
    """
    found = SINGLE_RANGE.fullmatch((header or "").strip())
    if found is None or found.group(0) == "bytes=-":
        return None
    first, last = found.groups()
    if not first:
        start, stop = max(size - int(last), 0), size
    else:
        start, stop = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < start:
            return None
    if start >= size or start >= stop:
        raise RangeNotSatisfiable
    return start, stop
