"""Collect images that code has created, to show them to the model."""

from collections.abc import Iterable
from dataclasses import dataclass

from outrider.core.errors import OutriderError
from outrider.workspace.changes import FileChange
from outrider.workspace.files import WorkspaceFiles

MAX_IMAGE_BYTES = 2_000_000  # what hosts commonly accept


@dataclass(frozen=True)
class ImageFile:
    """The content of an image file."""

    path: str
    data: bytes
    mime_type: str


def collect_images(files: WorkspaceFiles, changed: Iterable[FileChange]) -> list[ImageFile]:
    """Return the first few images among changed files that are not too large. Blocking."""
    suffixes = (".png", ".jpg", ".jpeg", ".gif", ".webp")
    max_images = 4
    images: list[ImageFile] = []
    for change in changed:
        fits = change.path.lower().endswith(suffixes) and 0 < change.size <= MAX_IMAGE_BYTES
        if fits and len(images) < max_images and (image := _read_image(files, change.path)):
            images.append(image)
    return images


def _read_image(files: WorkspaceFiles, path: str) -> ImageFile | None:
    """Return an image, recognized by its content; None for anything else."""
    signatures = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
    try:
        data = files.read_bytes(path)
    except OutriderError:  # deleted or replaced meanwhile
        return None
    mime_type = next((mime for start, mime in signatures.items() if data.startswith(start)), "")
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        mime_type = "image/webp"
    return ImageFile(path, data, mime_type) if mime_type and len(data) <= MAX_IMAGE_BYTES else None
