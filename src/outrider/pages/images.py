"""Pictures from the web as files: named safely, never over another file, never half written."""

import errno
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
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
    """A picture on disk; `url` is the address that gave it, `size` counts bytes."""

    path: Path
    url: str
    content_type: str
    size: int


def detect_image_type(reply: HttpResponse) -> str:
    """The picture's type, by its content; a drawing in SVG, which is text, has to be called a picture too.

    Raises:
        Refused: code `not_an_image`, if the content is none; says what it is and what to do with that.
    """
    head = reply.body[:SNIFF_BYTES]
    found = match_magic_number(head)
    called = detect_mime_type(reply.content_type, reply.body, reply.url)
    if not found and called.startswith("image/") and not BINARY_BYTE.search(head) and is_svg(head):
        return "image/svg+xml"
    if found.startswith("image/"):
        return found
    raise _build_not_image_error(reply)


def _build_not_image_error(reply: HttpResponse) -> Refused:
    """The error for what is no picture: what it is instead, and the next move that fits."""
    declared = reply.content_type
    called = f"; it is called {declared}" if declared.startswith("image/") else ""
    if not reply.body:
        what, hint = "an empty file", "choose another address"
    else:
        what, hint = describe_type(
            detect_mime_type("" if called else declared, reply.body, reply.url), reply.url, len(reply.body)
        )
    return Refused(
        f"{reply.url} is no picture but {what}{called}",
        code="not_an_image",
        hint=hint or "read it as a page, and use the address of one of its pictures",
        details={"content_type": declared},
    )


def build_file_name(url: str, content_type: str, filename: str | None = None) -> str:
    """A safe name: the wanted one, other characters than `A-Za-z0-9._-` replaced, else one made of the address."""
    max_name_chars = 120  # characters; file systems allow 255 bytes
    extension_aliases = {".jpeg": ".jpg", ".jpe": ".jpg", ".jfif": ".jpg", ".tif": ".tiff"}
    extension = IMAGE_EXTENSIONS.get(content_type) or _extension(content_type)
    wanted = UNSAFE_NAME_CHARACTER.sub("_", Path((filename or "").replace("\\", "/")).name).strip("._- ")[
        :max_name_chars
    ]
    if not wanted:
        return f"image_{hash_url(url)}{extension}"
    suffix = Path(wanted).suffix.lower()
    return wanted if extension_aliases.get(suffix, suffix) == extension else wanted + extension


def hash_url(url: str) -> str:
    """The first ten hexadecimal digits of the address's SHA-1; a name, not a protection."""
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()[:10]


def save_image(reply: HttpResponse, folder: Path, *, url: str, filename: str | None = None) -> SavedImage:
    """Writes the reply's picture into the folder, which is made if it is missing.

    Raises:
        Refused: code `not_an_image` or `path`.
        Unavailable: code `disk`, if it cannot be written; nothing is left behind then.
    """
    content_type = detect_image_type(reply)
    name = build_file_name(url, content_type, filename)
    try:
        path = _write_atomically(_resolve_inside(folder, name), reply.body, hash_url(url))
    except OSError as error:
        raise _explain_disk_error(folder, error) from None
    return SavedImage(path, reply.url, content_type, len(reply.body))


def _resolve_inside(folder: Path, name: str) -> Path:
    """Where the file goes, links resolved; the name can neither leave the folder nor be a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    real = folder.resolve(strict=True)
    if not real.is_dir():
        raise Refused(f"{folder} is no folder", code="path", hint="choose another folder")
    path = real / name
    if path.parent != real or name in ("", ".", ".."):
        raise InvalidInput(f"filename: {name!r} is no file name", hint="give a plain name such as photo.jpg")
    return path


def _write_atomically(path: Path, data: bytes, mark: str) -> Path:
    """Writes beside and then links into place: a name is taken only when the file is whole, and only if it is free."""
    temporary = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        with open(temporary, "xb", opener=_not_following) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        for candidate in _iter_candidates(path, mark):
            with suppress(FileExistsError):
                _publish_file(temporary, candidate)
                return candidate
    finally:
        temporary.unlink(missing_ok=True)
    raise OSError(errno.EEXIST, "every name is taken")


def _not_following(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o644)


def _publish_file(temporary: Path, path: Path) -> None:
    """Gives the finished file its name. Raises FileExistsError if it is taken, by a link to nowhere too."""
    try:
        os.link(temporary, path)
    except (PermissionError, NotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
            raise
        # No hard links here: take the name with an empty file, then put the whole one in its place.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        temporary.replace(path)


def _iter_candidates(path: Path, mark: str) -> Iterator[Path]:
    yield path
    yield path.with_name(f"{path.stem}_{mark}{path.suffix}")
    for number in range(2, 1_000):
        yield path.with_name(f"{path.stem}_{mark}_{number}{path.suffix}")


def _extension(content_type: str) -> str:
    found = IMAGE_SUBTYPE.fullmatch(content_type)
    return f".{found[1]}" if found else ".img"


def _explain_disk_error(folder: Path, error: OSError) -> Unavailable:
    disk_full_errors = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
    if error.errno in disk_full_errors:
        return Unavailable(f"{folder} is full: the image was not saved", code="disk", hint="free some space there")
    reason = error.strerror or type(error).__name__
    return Unavailable(f"nothing can be written to {folder}: {reason}", code="disk", hint="choose another folder")
