"""Pictures that code has made, for the model's eyes."""

from collections.abc import Iterable
from dataclasses import dataclass

from outrider.core.errors import OutriderError
from outrider.workspace.changes import FileChange
from outrider.workspace.files import WorkspaceFiles

MAX_IMAGE_BYTES = 2_000_000  # bytes; what hosts commonly take


@dataclass(frozen=True)
class ImageFile:
    """A picture file's content."""

    path: str
    data: bytes
    mime_type: str


def collect_images(files: WorkspaceFiles, changed: Iterable[FileChange]) -> list[ImageFile]:
    """The first few pictures among changed files that are not too large, by what they hold. Blocking."""
    suffixes = (".png", ".jpg", ".jpeg", ".gif", ".webp")
    max_images = 4
    found: list[ImageFile] = []
    for each in changed:
        fits = each.path.lower().endswith(suffixes) and 0 < each.size <= MAX_IMAGE_BYTES and len(found) < max_images
        if fits and (picture := _read_image(files, each.path)):
            found.append(picture)
    return found


def _read_image(files: WorkspaceFiles, path: str) -> ImageFile | None:
    signatures = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
    try:
        data = files.read_bytes(path)
    except OutriderError:  # gone or exchanged meanwhile
        return None
    mime_type = next((mime for start, mime in signatures.items() if data.startswith(start)), "")
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        mime_type = "image/webp"
    return ImageFile(path, data, mime_type) if mime_type and len(data) <= MAX_IMAGE_BYTES else None
