"""Decode a file's bytes, and encode text in its format."""

import codecs
from dataclasses import dataclass

from outrider.core.charset import detect_legacy_charset
from outrider.core.errors import InvalidInput

PROBE_BYTES = 8_192  # a NUL in these makes a file binary, as in git


@dataclass(frozen=True)
class TextFormat:
    """The encoding of a text file.

    Attributes:
        encoding: Python's name of the character encoding.
        newline: The first line end of the file, or a line feed.
        byte_order_mark: The byte order mark at its start, if any.
    """

    encoding: str = "utf-8"
    newline: str = "\n"
    byte_order_mark: bytes = b""


def decode_text(data: bytes, path: str = "") -> tuple[str, TextFormat]:
    """Return the text, with its line ends, and its format. Raises InvalidInput for binary data."""
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
            f"path: {path!r} is not a text file ({len(data)} bytes)",
            hint="read it with a code tool, or add it to the content store, which reads documents",
            code="binary",
        )
    if not encoding:
        encoding = "utf-8" if _is_mostly_utf8(data) else "latin-1"
        if encoding == "latin-1" and (legacy := detect_legacy_charset(data)):
            encoding = legacy.codec_info.name
    text = data[len(mark) :].decode(encoding, "replace")
    end = text.find("\n")
    newline = "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"
    if end < 0 and "\r" in text:
        newline = "\r"
    return text, TextFormat(encoding, newline, mark)


def decode_lossless(data: bytes, path: str = "") -> tuple[str, TextFormat]:
    """Decode a text that will be written back: invalid bytes are kept as lone surrogates.

    Raises InvalidInput for binary data, and for bytes that would not survive the round trip.
    """
    _, text_format = decode_text(data, path)
    try:
        text = data[len(text_format.byte_order_mark) :].decode(text_format.encoding, "surrogateescape")
    except UnicodeDecodeError:
        text = ""
    if encode_text(text, text_format) != data:
        raise InvalidInput(
            f"path: {path!r} contains bytes that are not valid {text_format.encoding}; an edit would lose them",
            hint="change it with a code tool, which can write bytes",
            code="encoding",
        )
    return text, text_format


def encode_text(text: str, text_format: TextFormat) -> bytes:
    """Return the text as bytes; as UTF-8 if the file's encoding lacks a character."""
    try:
        return text_format.byte_order_mark + text.encode(text_format.encoding, "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape")


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates by the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def convert_newlines(text: str, text_format: TextFormat) -> str:
    """Convert the line ends of a text to those of the file."""
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return plain if text_format.newline == "\n" else plain.replace("\n", text_format.newline)


def _is_mostly_utf8(data: bytes) -> bool:
    """Return whether data is UTF-8 except for a few bytes; other encodings hardly ever are."""
    # A probe of this length may end within a character.
    is_complete = len(data) != PROBE_BYTES
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=is_complete)
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
        invalid = text.count("\ufffd")
        return len(text) - len(text.encode("ascii", "ignore")) >= 2 * invalid
    return True
