"""Bytes of a file as text, and text back as the bytes that the file would have had."""

import codecs
from dataclasses import dataclass

from outrider.core.errors import InvalidInput

MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
PROBE = 8_192  # bytes in which a NUL tells that a file is no text, as git has it


@dataclass(frozen=True)
class Written:
    """How a file's text is written down.

    Attributes:
        encoding: Python's name of the character encoding.
        newline: What ends its lines: the first that it has, or a line feed.
    """

    encoding: str = "utf-8"
    newline: str = "\n"


def decode(data: bytes, path: str = "") -> tuple[str, Written]:
    """The text with its line ends as they are, and how it is written.

    Raises InvalidInput for what is no text.
    """
    encoding = next((name for mark, name in MARKS if data.startswith(mark)), "")
    if not encoding and b"\0" in data[:PROBE]:
        raise InvalidInput(
            f"path: {path!r} is no text ({len(data)} bytes)",
            hint="read it with a code tool, or add it to the content store, which reads documents",
            code="binary",
        )
    encoding = encoding or _unmarked(data)
    text = data.decode(encoding, "replace")
    return text, Written(encoding, _newline(text))


def encode(text: str, written: Written) -> bytes:
    """The text as bytes. What the encoding lacks makes it UTF-8, rather than lose a letter."""
    try:
        return text.encode(written.encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def with_newlines(text: str, written: Written) -> str:
    """The text with its line ends as the file has them."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain if written.newline == "\n" else plain.replace("\n", written.newline)


def _unmarked(data: bytes) -> str:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        from resiliparse.parse.encoding import detect_encoding

        found = detect_encoding(data) or "latin-1"
        return found if _known(found) else "latin-1"
    return "utf-8"


def _known(name: str) -> bool:
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True


def _newline(text: str) -> str:
    at = text.find("\n")
    if at < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text[at - 1 : at] == "\r" else "\n"
