"""Files for people: what tools have kept, under `files/<id>`, so that nothing in it can run here.

Whatever a file calls itself, its bytes decide: pictures of types that hold no script are shown, all else is saved. Each
answer forbids itself scripts, forms, popups and the rights of our origin (`sandbox`), in case it is opened on its own.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from outrider.core.artifacts import Artifact
from outrider.core.errors import NotFound
from outrider.dashboard.naming import disposition
from outrider.dashboard.page import house_of
from outrider.dashboard.ranges import Unsatisfiable, asked_part
from outrider.dashboard.reach import Owner, may_see
from outrider.pages.sniffing.sniff import HEAD, magic_type

BLOCK = 1 << 20  # bytes that are read at once: few requests where files lie in an object storage
PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
# Types that a browser saves or hands on under their own name; it renders none of them in our origin.
PASSIVE = frozenset(
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
UNKNOWN = "application/octet-stream"
SAFE = {
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
}
FOREVER = "private, max-age=31536000, immutable"  # an id never stands for other bytes


@dataclass(frozen=True)
class Served:
    """A file to be answered with.

    Attributes:
        name: What it is called by whoever made it.
        mime_type: What it is said to be.
        size: In bytes.
        read: Its bytes from a place up to and without another.
        digest: What tells its bytes from any others; empty for a file that may change.
    """

    name: str
    mime_type: str
    size: int
    read: Callable[[int, int], Awaitable[bytes]]
    digest: str = ""


async def artifact_of(request: Request) -> Artifact:
    """The artifact that the path names. Raises NotFound, also for one that the viewer may not see."""
    found = await house_of(request).artifacts.get(request.path_params["key"])
    if not may_see(request, Owner(found.workspace, found.identity)):
        raise NotFound("there is no such file", hint="it may have expired")
    return found


def served(request: Request, artifact: Artifact) -> Served:
    """An artifact as a file."""
    kept = house_of(request).artifacts
    return Served(
        artifact.name,
        artifact.mime_type,
        artifact.size,
        lambda start, stop: kept.part(artifact, start, stop),
        artifact.sha256,
    )


async def show(request: Request) -> Response:
    """`GET files/<id>`: the artifact itself; with `?download` it is saved even if it could be shown."""
    return await answer(request, served(request, await artifact_of(request)))


async def answer(request: Request, file: Served) -> Response:
    """The file, or the part of it that was asked for. Raises NotFound when it is gone."""
    picture = picture_type(await file.read(0, HEAD))
    shown = bool(picture) and "download" not in request.query_params
    headers = SAFE | {
        "content-disposition": disposition(file.name, inline=shown),
        "content-type": picture or (file.mime_type if file.mime_type in PASSIVE else UNKNOWN),
        "accept-ranges": "bytes",
        "cache-control": FOREVER if file.digest else "no-store",
    }
    if file.digest:
        headers["etag"] = f'"{file.digest}"'
        if _has(request.headers.get("if-none-match", ""), headers["etag"]):
            return Response(status_code=304, headers=headers)
    return _part(request, file, headers)


def attachment(name: str, mime_type: str, content: bytes | AsyncIterator[bytes]) -> Response:
    """Something made for this moment, to be saved."""
    kind = mime_type if mime_type in PASSIVE else UNKNOWN
    headers = SAFE | {"content-disposition": disposition(name), "content-type": kind, "cache-control": "no-store"}
    return (
        Response(content, headers=headers) if isinstance(content, bytes) else StreamingResponse(content, 200, headers)
    )


def picture_type(head: bytes) -> str:
    """The type of a picture that can hold no script, by its first bytes; else empty."""
    found = magic_type(head)
    return found if found in PICTURES else ""


def _part(request: Request, file: Served, headers: dict[str, str]) -> Response:
    unchanged = request.headers.get("if-range", headers.get("etag", "")) == headers.get("etag", "")
    try:
        part = asked_part(request.headers.get("range") if unchanged else None, file.size)
    except Unsatisfiable:
        return Response(status_code=416, headers=SAFE | {"content-range": f"bytes */{file.size}"})
    start, stop = part or (0, file.size)
    headers |= {"content-length": str(stop - start)}
    if part:
        headers["content-range"] = f"bytes {start}-{stop - 1}/{file.size}"
    return StreamingResponse(_blocks(file, start, stop), 206 if part else 200, headers)


async def _blocks(file: Served, start: int, stop: int) -> AsyncIterator[bytes]:
    while start < stop:
        block = await file.read(start, min(start + BLOCK, stop))
        if not block:
            raise NotFound("the file became shorter while it was read", hint="ask for it again")
        start += len(block)
        yield block


def _has(header: str, tag: str) -> bool:
    """Whether the client has this version already (RFC 9110, section 13.1.2)."""
    return header.strip() == "*" or tag in {each.strip().removeprefix("W/") for each in header.split(",")}


ROUTES = (Route("/files/{key}", show, name="file"),)
