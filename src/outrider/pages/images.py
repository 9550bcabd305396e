"""Save images from the web under safe names, atomically and without overwriting files."""

import errno
import hashlib
import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from outrider.core.errors import InvalidInput, Refused, Unavailable
from outrider.core.http import HttpResponse
from outrider.pages.mime.sniff import BINARY_BYTE, SNIFF_BYTES, detect_mime_type, is_svg, match_magic_number
from outrider.pages.registry import describe_type

UNSAFE_NAME_CHARACTER = re.compile(r"[^A-Za-z0-9._-]")
IMAGE_EXTENSIONS = {
    "image/jpeg": ".jpg",
    "image/png": ".png",
    "image/gif": ".gif",
    "image/webp": ".webp",
    "image/svg+xml": ".svg",
}
IMAGE_SUBTYPE = re.compile(r"image/(?:x-)?([a-z0-9]{1,16})")


@dataclass(frozen=True)
class SavedImage:
    """An image on disk; `url` is its address after redirects, `size` its bytes."""

    path: Path
    url: str
    content_type: str
    size: int


def detect_image_type(reply: HttpResponse) -> str:
    """Return the image's type by its content; SVG, which is text, must also be declared as an image.

    Raises:
        Refused: code `not_an_image`; says what it is instead and what to do with it.
    """
    head = reply.body[:SNIFF_BYTES]
    detected = match_magic_number(head)
    declared = detect_mime_type(reply.content_type, reply.body, reply.url)
    if not detected and declared.startswith("image/") and not BINARY_BYTE.search(head) and is_svg(head):
        return "image/svg+xml"
    if detected.startswith("image/"):
        return detected
    is_contradiction = reply.content_type.startswith("image/")
    if not reply.body:
        description, hint = "an empty file", "choose another address"
    else:
        mime = detect_mime_type("" if is_contradiction else reply.content_type, reply.body, reply.url)
        description, hint = describe_type(mime, reply.url, len(reply.body))
    description += f", although it is declared as {reply.content_type}" if is_contradiction else ""
    raise Refused(
        f"{reply.url} is not an image but {description}",
        code="not_an_image",
        hint=hint or "read it as a page, and use the address of one of its images",
        details={"content_type": reply.content_type},
    )


def build_file_name(url: str, content_type: str, filename: str | None = None) -> str:
    """Return a safe name: the wanted one with `_` for characters but `A-Za-z0-9._-`, else one from the address."""
    max_name_chars = 120  # file systems allow 255 bytes
    extension_aliases = {".jpeg": ".jpg", ".jpe": ".jpg", ".jfif": ".jpg", ".tif": ".tiff"}
    extension = IMAGE_EXTENSIONS.get(content_type)
    if extension is None:
        subtype = IMAGE_SUBTYPE.fullmatch(content_type)
        extension = f".{subtype[1]}" if subtype else ".img"
    base_name = Path((filename or "").replace("\\", "/")).name
    wanted = UNSAFE_NAME_CHARACTER.sub("_", base_name).strip("._- ")[:max_name_chars]
    if not wanted:
        return f"image_{hash_url(url)}{extension}"
    suffix = Path(wanted).suffix.lower()
    return wanted if extension_aliases.get(suffix, suffix) == extension else wanted + extension


def hash_url(url: str) -> str:
    """Return ten hexadecimal digits of the address's SHA-1, as a short name."""
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()[:10]


def save_image(reply: HttpResponse, folder: Path, *, url: str, filename: str | None = None) -> SavedImage:
    """Write the response's image into the folder, which is created if missing.

    Raises:
        Refused: code `not_an_image` or `path`.
        Unavailable: code `disk`, if it cannot be written; no file is left behind.
    """
    content_type = detect_image_type(reply)
    name = build_file_name(url, content_type, filename)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        resolved = folder.resolve(strict=True)
        if not resolved.is_dir():
            raise Refused(f"{folder} is not a folder", code="path", hint="choose another folder")
        if (resolved / name).parent != resolved or name in ("", ".", ".."):  # the name must not leave the folder
            raise InvalidInput(f"filename: {name!r} is not a file name", hint="give a plain name such as photo.jpg")
        path = _write_atomically(resolved / name, reply.body, hash_url(url))
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            message = f"{folder} is full: the image was not saved"
            raise Unavailable(message, code="disk", hint="free some space there") from None
        message = f"{folder} cannot be written to: {error.strerror or type(error).__name__}"
        raise Unavailable(message, code="disk", hint="choose another folder") from None
    return SavedImage(path, reply.url, content_type, len(reply.body))


def _write_atomically(path: Path, data: bytes, mark: str) -> Path:
    """Write a temporary file, then link it to the first free name, so that no name ever has half a file."""
    temporary = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        with open(temporary, "xb", opener=_open_without_following) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        for ending in ("", f"_{mark}", *(f"_{mark}_{number}" for number in range(2, 1_000))):
            candidate = path.with_name(f"{path.stem}{ending}{path.suffix}")
            with suppress(FileExistsError):
                _publish_file(temporary, candidate)
                return candidate
    finally:
        temporary.unlink(missing_ok=True)
    raise OSError(errno.EEXIST, "every name is taken")


def _open_without_following(path: str, flags: int) -> int:
    """Open a file without following a symbolic link, on systems that support this."""
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o644)


def _publish_file(temporary: Path, path: Path) -> None:
    """Give the finished file its name. Raises FileExistsError if it is taken, even by a dangling link."""
    try:
        os.link(temporary, path)
    except (PermissionError, NotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
            raise
        # This file system has no hard links: take the name with an empty file, then replace that.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        temporary.replace(path)
