"""Office files from before 2007 and other binary formats, by the extra `documents`.

Its library is Xberg (MIT): one parser in Rust for xls, xlsb, ppt and the rest, where Python
has a library each, GPL for some and none for others. It takes 130 MB of disk, hence an extra. It runs
in a process of its own, is given bytes only, and neither recognises characters in pictures nor unpacks archives.
"""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from outrider.core.errors import NotConfigured, OutriderError, Unavailable
from outrider.pages.document import Document
from outrider.pages.mime.container import IWORK_TYPES, TRUNCATED_OPENXML_TYPE
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.archives.zip_archive import ZipArchive
from outrider.pages.readers.ooxml.package import ISO_DATE
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error, build_missing_extra_error
from outrider.pages.readers.pdf import read_pdf

APPLE = tuple(IWORK_TYPES.values())
PREVIEW = "QuickLook/Preview.pdf"
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
# A sheet that nobody sees, as the library writes it, up to the next one.
HIDDEN_SHEET = re.compile(r"^## [^\n]* \((?:very )?hidden\)\n(?:(?!## )[^\n]*(?:\n|\Z))*", re.MULTILINE | re.IGNORECASE)
PROTECTED_TYPE = "application/x-ole-encrypted"


def read_legacy(source: ReaderInput) -> Document:
    """The document as the library gives it.

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
        raise build_broken_error(source, kind, "it does not begin as such a file does")
    if source.content_type not in APPLE:
        return _read_document(source, kind)
    try:
        return _read_document(source, kind)
    except (NotConfigured, Unavailable) as error:
        return _previewed(source, kind, error)


def _previewed(source: ReaderInput, kind: str, error: OutriderError) -> Document:
    """What Apple's programs put beside the document for those that cannot read it: its pages as a PDF, in some."""
    preview = ZipArchive(source, kind).read(PREVIEW)
    if preview.startswith(b"%PDF-"):
        return replace(read_pdf(replace(source, body=preview, content_type="application/pdf")), kind="legacy")
    error.hint = (
        f"open it in {kind.split(maxsplit=1)[0]} and export it as PDF or for Microsoft Office, or look for such a copy"
    )
    raise error


def _read_document(source: ReaderInput, kind: str) -> Document:
    try:
        import xberg
    except ImportError:
        raise build_missing_extra_error(source, kind) from None
    try:
        found = _extract_document(xberg, source)
    except OutriderError:
        raise
    except BaseException as error:  # a panic in Rust is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise _explain_error(source, kind, str(error)) from None
    return _build_document(source, found)


def refuse_protected(source: ReaderInput) -> Document:
    """Raises Refused, code `encrypted`: Office wraps a file with a password into an older one (MS-OFFCRYPTO 2.3)."""
    raise build_encrypted_error(source, "Office document")


def refuse_cut(source: ReaderInput) -> Document:
    """Raises Unavailable, code `broken_file`: what such an archive held stands in the part that is missing."""
    raise build_broken_error(source, "Office document", "it is cut")


def _extract_document(xberg: Any, source: ReaderInput) -> Any:
    """The library's own document. It has an asynchronous interface only, for which a loop may be running here."""
    type_spellings = {
        "application/vnd.ms-excel.sheet.binary.macroenabled.12": "application/vnd.ms-excel.sheet.binary.macroEnabled.12"
    }
    settings = {
        "use_cache": False,
        "disable_ocr": True,
        "output_format": "markdown",
        "max_archive_depth": 0,
        "security_limits": {"max_content_size": max(1_000, source.max_chars * 4)},
    }
    given = xberg.ExtractInput(
        kind=xberg.ExtractInputKind.BYTES,
        bytes=source.body,
        mime_type=type_spellings.get(source.content_type, source.content_type),
    )

    async def extract_async() -> Any:
        return await xberg.extract(given, xberg.ExtractionConfig.from_json(json.dumps(settings)))

    with ThreadPoolExecutor(1) as pool:
        results = pool.submit(lambda: asyncio.run(extract_async())).result().results
    if not results:
        raise build_broken_error(source, TYPE_NAMES.get(source.content_type, "document"), "nothing could be read of it")
    return results[0]


def _build_document(source: ReaderInput, found: Any) -> Document:
    draft = DocumentDraft(source, "legacy")
    content, draft.hidden_count = HIDDEN_SHEET.subn("", found.content)
    draft.add_block(content)
    draft.is_cut = len(content) > source.max_chars
    if source.content_type in APPLE and not content.strip():
        raise build_broken_error(source, TYPE_NAMES[source.content_type], "no text can be read of it")
    about = found.metadata
    date = ISO_DATE.match(about.created_at or about.modified_at or "")
    return draft.build_document(
        {
            "title": about.title or "",
            "author": ", ".join(about.authors or []) or about.created_by or "",
            "description": about.subject or "",
            "language": about.language or "",
            "published": date[0] if date else "",
        }
    )


def _explain_error(source: ReaderInput, kind: str, reason: str) -> OutriderError:
    password_words = ("password", "encrypt", "protected")
    if any(word in reason.lower() for word in password_words):
        return build_encrypted_error(source, kind)
    return build_broken_error(source, kind, f"it cannot be read ({' '.join(reason.split())[:200]})")


LEGACY_SUFFIXES = (".doc", ".dot", ".xls", ".xlt", ".xlsb", ".ppt", ".pps", ".wpd", ".hwp")
reader = DocumentReader(
    "legacy", tuple(TYPE_NAMES), read_legacy, suffixes=LEGACY_SUFFIXES, isolated=True, needs_whole_body=True
)
cut_reader = DocumentReader("cut", (TRUNCATED_OPENXML_TYPE,), refuse_cut, needs_whole_body=True)
protected_reader = DocumentReader("protected", (PROTECTED_TYPE,), refuse_protected)
