"""Pictures that code has made, for the model's eyes."""

from collections.abc import Iterable
from dataclasses import dataclass

from outrider.core.errors import OutriderError
from outrider.workspace.changes import Changed
from outrider.workspace.files import Files

MOST = 4
LARGEST = 2_000_000  # bytes; what hosts commonly take
SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
BEGINNINGS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


@dataclass(frozen=True)
class Picture:
    """A picture file's content."""

    path: str
    data: bytes
    mime_type: str


def pictures(files: Files, changed: Iterable[Changed]) -> list[Picture]:
    """The first few pictures among changed files that are not too large, by what they hold. Blocking."""
    found: list[Picture] = []
    for each in changed:
        fits = each.path.lower().endswith(SUFFIXES) and 0 < each.size <= LARGEST and len(found) < MOST
        if fits and (picture := _picture(files, each.path)):
            found.append(picture)
    return found


def _picture(files: Files, path: str) -> Picture | None:
    try:
        data = files.content(path)
    except OutriderError:  # gone or exchanged meanwhile
        return None
    mime_type = next((mime for start, mime in BEGINNINGS.items() if data.startswith(start)), "")
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        mime_type = "image/webp"
    return Picture(path, data, mime_type) if mime_type and len(data) <= LARGEST else None
