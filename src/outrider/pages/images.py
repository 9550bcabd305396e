"""Recognize images of the web and give them safe names."""

import hashlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from outrider.core.errors import Refused
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
class WebImage:
    """An image of the web.

    Attributes:
        name: A safe file name for it.
        requested_url: The address that was asked for.
        url: Its address after redirects.
        content_type: Its type by its content.
        data: The file.
    """

    name: str
    requested_url: str
    url: str
    content_type: str
    data: bytes

    @property
    def name_suffixes(self) -> Iterator[str]:
        """Suffixes for the name while it is taken: a hash of the address, then also a number."""
        mark = hash_url(self.requested_url)
        return itertools.chain([f"_{mark}"], (f"_{mark}_{number}" for number in range(2, 1_000)))


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
    """Return a safe name: the wanted one with `_` for characters outside `A-Za-z0-9._-`, else one from the address."""
    max_name_chars = 120  # file systems allow 255 bytes
    extension_aliases = {".jpeg": ".jpg", ".jpe": ".jpg", ".jfif": ".jpg", ".tif": ".tiff"}
    extension = IMAGE_EXTENSIONS.get(content_type)
    if extension is None:
        subtype = IMAGE_SUBTYPE.fullmatch(content_type)
        extension = f".{subtype[1]}" if subtype else ".img"
    base_name = Path((filename or "").replace("\\", "/")).name
    stem = UNSAFE_NAME_CHARACTER.sub("_", base_name).strip("._- ")[:max_name_chars]
    if not stem:
        return f"image_{hash_url(url)}{extension}"
    suffix = Path(stem).suffix.lower()
    return stem if extension_aliases.get(suffix, suffix) == extension else stem + extension


def hash_url(url: str) -> str:
    """Return ten hexadecimal digits of the address's SHA-1, as a short name."""
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()[:10]


def build_web_image(reply: HttpResponse, url: str, filename: str | None = None) -> WebImage:
    """Return the image of a response to a request for `url`. Raises Refused, code `not_an_image`."""
    content_type = detect_image_type(reply)
    return WebImage(build_file_name(url, content_type, filename), url, reply.url, content_type, reply.body)
