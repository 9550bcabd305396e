"""Bytes of a file as text, and text back as the bytes that the file would have had."""

import codecs
from dataclasses import dataclass

from resiliparse.parse.encoding import detect_encoding

from outrider.core.errors import InvalidInput

MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
PROBE = 8_192  # bytes in which a NUL tells that a file is no text, as git has it


@dataclass(frozen=True)
class Written:
    """How a file's text is written down.

    Attributes:
        encoding: Python's name of the character encoding.
        newline: What ends its lines: the first that it has, or a line feed.
        mark: The bytes that tell the encoding, where it begins with such.
    """

    encoding: str = "utf-8"
    newline: str = "\n"
    mark: bytes = b""


def decode(data: bytes, path: str = "") -> tuple[str, Written]:
    """The text with its line ends as they are, and how it is written.

    Raises InvalidInput for what is no text.
    """
    mark, encoding = next(((mark, name) for mark, name in MARKS if data.startswith(mark)), (b"", ""))
    if not encoding and b"\0" in data[:PROBE]:
        raise InvalidInput(
            f"path: {path!r} is no text ({len(data)} bytes)",
            hint="read it with a code tool, or add it to the content store, which reads documents",
            code="binary",
        )
    encoding = encoding or _unmarked(data)
    text = data[len(mark) :].decode(encoding, "replace")
    return text, Written(encoding, _newline(text), mark)


def decode_exactly(data: bytes, path: str = "") -> tuple[str, Written]:
    """As `decode`, for a text that is written back: bytes that are no letters are kept, as lone surrogates.

    Raises InvalidInput for what is no text, and where not every byte would come back.
    """
    _, written = decode(data, path)
    try:
        text = data[len(written.mark) :].decode(written.encoding, "surrogateescape")
    except UnicodeDecodeError:
        text = ""
    if encode(text, written) != data:
        raise InvalidInput(
            f"path: {path!r} holds bytes that are no {written.encoding}, and an edit would lose them",
            hint="change it with a code tool, which can write bytes",
            code="encoding",
        )
    return text, written


def encode(text: str, written: Written) -> bytes:
    """The text as bytes. What the encoding lacks makes it UTF-8, rather than lose a letter."""
    try:
        return written.mark + text.encode(written.encoding, "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


def legible(text: str) -> str:
    """The text with a sign in the place of what is no letter."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def with_newlines(text: str, written: Written) -> str:
    """The text with its line ends as the file has them."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain if written.newline == "\n" else plain.replace("\n", written.newline)


def _unmarked(data: bytes) -> str:
    if _mostly_utf8(data):
        return "utf-8"

    found = detect_encoding(data) or "latin-1"
    return found if _known(found) else "latin-1"


def _mostly_utf8(data: bytes) -> bool:
    """Whether its letters are UTF-8, but for some bytes; in another encoding they look so by rare chance alone."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=len(data) != PROBE)  # a probe may end in a letter
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        wrong = text.count("\ufffd")
        return len(text) - len(text.encode("ascii", "ignore")) >= 2 * wrong
    return True


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
