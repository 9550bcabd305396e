"""Bytes of a file as text, and text back as the bytes that the file would have had."""

import codecs
from dataclasses import dataclass

from resiliparse.parse.encoding import detect_encoding

from outrider.core.errors import InvalidInput

PROBE_BYTES = 8_192  # bytes in which a NUL tells that a file is no text, as git has it


@dataclass(frozen=True)
class TextFormat:
    """How a file's text is written down.

    Attributes:
        encoding: Python's name of the character encoding.
        newline: What ends its lines: the first that it has, or a line feed.
        byte_order_mark: The bytes that tell the encoding, where it begins with such.
    """

    encoding: str = "utf-8"
    newline: str = "\n"
    byte_order_mark: bytes = b""


def decode_text(data: bytes, path: str = "") -> tuple[str, TextFormat]:
    """The text with its line ends as they are, and how it is written.

    Raises InvalidInput for what is no text.
    """
    byte_order_marks = (
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    )
    mark, encoding = next(((mark, name) for mark, name in byte_order_marks if data.startswith(mark)), (b"", ""))
    if not encoding and b"\0" in data[:PROBE_BYTES]:
        raise InvalidInput(
            f"path: {path!r} is no text ({len(data)} bytes)",
            hint="read it with a code tool, or add it to the content store, which reads documents",
            code="binary",
        )
    encoding = encoding or _detect_encoding(data)
    text = data[len(mark) :].decode(encoding, "replace")
    return text, TextFormat(encoding, _detect_newline(text), mark)


def decode_lossless(data: bytes, path: str = "") -> tuple[str, TextFormat]:
    """As `decode`, for a text that is written back: bytes that are no letters are kept, as lone surrogates.

    Raises InvalidInput for what is no text, and where not every byte would come back.
    """
    _, written = decode_text(data, path)
    try:
        text = data[len(written.byte_order_mark) :].decode(written.encoding, "surrogateescape")
    except UnicodeDecodeError:
        text = ""
    if encode_text(text, written) != data:
        raise InvalidInput(
            f"path: {path!r} holds bytes that are no {written.encoding}, and an edit would lose them",
            hint="change it with a code tool, which can write bytes",
            code="encoding",
        )
    return text, written


def encode_text(text: str, written: TextFormat) -> bytes:
    """The text as bytes. What the encoding lacks makes it UTF-8, rather than lose a letter."""
    try:
        return written.byte_order_mark + text.encode(written.encoding, "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


def replace_surrogates(text: str) -> str:
    """The text with a sign in the place of what is no letter."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def convert_newlines(text: str, written: TextFormat) -> str:
    """The text with its line ends as the file has them."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain if written.newline == "\n" else plain.replace("\n", written.newline)


def _detect_encoding(data: bytes) -> str:
    if _is_mostly_utf8(data):
        return "utf-8"

    found = detect_encoding(data) or "latin-1"
    return found if _is_known_encoding(found) else "latin-1"


def _is_mostly_utf8(data: bytes) -> bool:
    """Whether its letters are UTF-8, but for some bytes; in another encoding they look so by rare chance alone."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(
            data, final=len(data) != PROBE_BYTES
        )  # a probe may end in a letter
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        wrong = text.count("\ufffd")
        return len(text) - len(text.encode("ascii", "ignore")) >= 2 * wrong
    return True


def _is_known_encoding(name: str) -> bool:
    try:
        codecs.lookup(name)
    except LookupError:
        return False
    return True


def _detect_newline(text: str) -> str:
    at = text.find("\n")
    if at < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text[at - 1 : at] == "\r" else "\n"
