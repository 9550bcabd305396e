"""Read old and rare office formats by the extra `documents`.

Its library is Xberg (MIT): one Rust parser for xlsb, WordPerfect, Hangul, iWork and more, where Python has one
library each, some under the GPL. It takes 130 MB of disk, so it is an extra. It runs in a separate process, only gets
bytes, and neither recognizes characters in images nor unpacks archives.
"""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from outrider.core.errors import OutriderError
from outrider.pages.document import Document
from outrider.pages.mime.container import IWORK_TYPES, TRUNCATED_OPENXML_TYPE
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.ooxml.package import ISO_DATE
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error, build_missing_extra_error

TYPE_NAMES = {
    "application/msword": "Word 97 document",
    "application/vnd.ms-excel": "Excel 97 workbook",
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": "binary Excel workbook",
    "application/vnd.ms-powerpoint": "PowerPoint 97 presentation",
    "application/vnd.wordperfect": "WordPerfect document",
    "application/x-hwp": "Hangul document",
    "application/x-iwork-pages-sffpages": "Pages document",
    "application/x-iwork-numbers-sffnumbers": "Numbers spreadsheet",
    "application/x-iwork-keynote-sffkey": "Keynote presentation",
}
# A hidden sheet, as the library writes it, up to the next one.
HIDDEN_SHEET = re.compile(r"^## [^\n]* \((?:very )?hidden\)\n(?:(?!## )[^\n]*(?:\n|\Z))*", re.MULTILINE | re.IGNORECASE)


def read_legacy(source: ReaderInput) -> Document:
    """Return the document as the library converts it.

    Raises:
        NotConfigured: code `missing_extra`, if the extra is not installed.
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    wordperfect_magic = b"\xffWPC"
    zip_magic = b"PK\x03\x04"
    ole_magic = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # MS-CFB section 2.2
    kind = TYPE_NAMES.get(source.content_type, "document")
    if not source.body.startswith((ole_magic, zip_magic, wordperfect_magic)):
        raise build_broken_error(source, kind, "it does not start like a file of this format")
    try:
        import xberg
    except ImportError:
        raise build_missing_extra_error(source, kind) from None
    try:
        extracted = _extract_document(xberg, source)
    except (OutriderError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic in Rust is not an Exception  # a panic in Rust is not an Exception
        reason = str(error)
        if any(word in reason.lower() for word in ("password", "encrypt", "protected")):
            raise build_encrypted_error(source, kind) from None
        raise build_broken_error(source, kind, f"it cannot be read ({' '.join(reason.split())[:200]})") from None
    return _build_document(source, extracted)


def refuse_protected(source: ReaderInput) -> Document:
    """Raise Refused, code `encrypted`.

    Office wraps a file that has a password into a compound file (MS-OFFCRYPTO 2.3).
    """
    raise build_encrypted_error(source, "Office document")


def refuse_cut(source: ReaderInput) -> Document:
    """Raise Unavailable, code `broken_file`: the archive's table of contents is missing."""
    raise build_broken_error(source, "Office document", "it is cut")


def _extract_document(xberg: Any, source: ReaderInput) -> Any:
    """Return the library's document object.

    The library is asynchronous only and an event loop may be running here, so use a thread.
    """
    # The library compares this type case-sensitively.
    mime = source.content_type.replace("binary.macroenabled", "binary.macroEnabled")
    settings = {
        "use_cache": False,
        "disable_ocr": True,
        "output_format": "markdown",
        "max_archive_depth": 0,
        "security_limits": {"max_content_size": max(1_000, source.max_chars * 4)},
    }
    extract_input = xberg.ExtractInput(
        kind=xberg.ExtractInputKind.BYTES,
        bytes=source.body,
        mime_type=mime,
    )

    async def extract_async() -> Any:
        return await xberg.extract(extract_input, xberg.ExtractionConfig.from_json(json.dumps(settings)))

    with ThreadPoolExecutor(1) as pool:
        results = pool.submit(lambda: asyncio.run(extract_async())).result().results
    if not results:
        raise build_broken_error(
            source, TYPE_NAMES.get(source.content_type, "document"), "the parser found nothing in it"
        )
    return results[0]


def _build_document(source: ReaderInput, extracted: Any) -> Document:
    draft = DocumentDraft(source, "legacy")
    content, draft.hidden_count = HIDDEN_SHEET.subn("", extracted.content)
    draft.add_block(content)
    draft.is_cut = len(content) > source.max_chars
    if source.content_type in IWORK_TYPES.values() and not content.strip():
        raise build_broken_error(source, TYPE_NAMES[source.content_type], "no text can be read from it")
    metadata = extracted.metadata
    date = ISO_DATE.match(metadata.created_at or metadata.modified_at or "")
    return draft.build_document(
        {
            "title": metadata.title or "",
            "author": ", ".join(metadata.authors or []) or metadata.created_by or "",
            "description": metadata.subject or "",
            "language": metadata.language or "",
            "published": date[0] if date else "",
        }
    )


reader = DocumentReader(
    "legacy",
    tuple(TYPE_NAMES),
    read_legacy,
    suffixes=(".doc", ".dot", ".xls", ".xlt", ".xlsb", ".ppt", ".pps", ".wpd", ".hwp"),
    isolated=True,
    needs_whole_body=True,
)
cut_reader = DocumentReader("cut", (TRUNCATED_OPENXML_TYPE,), refuse_cut, needs_whole_body=True)
protected_reader = DocumentReader("protected", ("application/x-ole-encrypted",), refuse_protected)
