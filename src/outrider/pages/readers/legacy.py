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
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.archives.archive import Archive
from outrider.pages.readers.parts.openxml.package import DATE
from outrider.pages.readers.parts.refusals import broken, encrypted, missing_extra
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.pdf import read as read_pdf
from outrider.pages.sniffing.container import CUT, IWORK

APPLE = tuple(IWORK.values())
PREVIEW = "QuickLook/Preview.pdf"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # MS-CFB section 2.2
ZIP = b"PK\x03\x04"
WORDPERFECT = b"\xffWPC"
PASSWORD = ("password", "encrypt", "protected")
KINDS = {
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
SPELLED = {
    "application/vnd.ms-excel.sheet.binary.macroenabled.12": "application/vnd.ms-excel.sheet.binary.macroEnabled.12"
}
# A sheet that nobody sees, as the library writes it, up to the next one.
HIDDEN = re.compile(r"^## [^\n]* \((?:very )?hidden\)\n(?:(?!## )[^\n]*(?:\n|\Z))*", re.MULTILINE | re.IGNORECASE)
PROTECTED = "application/x-ole-encrypted"


def read(source: Source) -> Document:
    """The document as the library gives it.

    Raises:
        NotConfigured: code `missing_extra`, if the extra is not installed.
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    kind = KINDS.get(source.content_type, "document")
    if not source.body.startswith((OLE, ZIP, WORDPERFECT)):
        raise broken(source, kind, "it does not begin as such a file does")
    if source.content_type not in APPLE:
        return _read(source, kind)
    try:
        return _read(source, kind)
    except (NotConfigured, Unavailable) as error:
        return _previewed(source, kind, error)


def _previewed(source: Source, kind: str, error: OutriderError) -> Document:
    """What Apple's programs put beside the document for those that cannot read it: its pages as a PDF, in some."""
    preview = Archive(source, kind).read(PREVIEW)
    if preview.startswith(b"%PDF-"):
        return replace(read_pdf(replace(source, body=preview, content_type="application/pdf")), kind="legacy")
    error.hint = (
        f"open it in {kind.split(maxsplit=1)[0]} and export it as PDF or for Microsoft Office, or look for such a copy"
    )
    raise error


def _read(source: Source, kind: str) -> Document:
    try:
        import xberg
    except ImportError:
        raise missing_extra(source, kind) from None
    try:
        found = _extracted(xberg, source)
    except OutriderError:
        raise
    except BaseException as error:  # a panic in Rust is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise _explained(source, kind, str(error)) from None
    return _document(source, found)


def read_protected(source: Source) -> Document:
    """Raises Refused, code `encrypted`: Office wraps a file with a password into an older one (MS-OFFCRYPTO 2.3)."""
    raise encrypted(source, "Office document")


def read_cut(source: Source) -> Document:
    """Raises Unavailable, code `broken_file`: what such an archive held stands in the part that is missing."""
    raise broken(source, "Office document", "it is cut")


def _extracted(xberg: Any, source: Source) -> Any:
    """The library's own document. It has an asynchronous interface only, for which a loop may be running here."""
    settings = {
        "use_cache": False,
        "disable_ocr": True,
        "output_format": "markdown",
        "max_archive_depth": 0,
        "security_limits": {"max_content_size": max(1_000, source.chars * 4)},
    }
    given = xberg.ExtractInput(
        kind=xberg.ExtractInputKind.BYTES,
        bytes=source.body,
        mime_type=SPELLED.get(source.content_type, source.content_type),
    )

    async def extracted() -> Any:
        return await xberg.extract(given, xberg.ExtractionConfig.from_json(json.dumps(settings)))

    with ThreadPoolExecutor(1) as pool:
        results = pool.submit(lambda: asyncio.run(extracted())).result().results
    if not results:
        raise broken(source, KINDS.get(source.content_type, "document"), "nothing could be read of it")
    return results[0]


def _document(source: Source, found: Any) -> Document:
    draft = Draft(source, "legacy")
    content, draft.hidden = HIDDEN.subn("", found.content)
    draft.add(content)
    draft.cut = len(content) > source.chars
    if source.content_type in APPLE and not content.strip():
        raise broken(source, KINDS[source.content_type], "no text can be read of it")
    about = found.metadata
    date = DATE.match(about.created_at or about.modified_at or "")
    return draft.document(
        {
            "title": about.title or "",
            "author": ", ".join(about.authors or []) or about.created_by or "",
            "description": about.subject or "",
            "language": about.language or "",
            "published": date[0] if date else "",
        }
    )


def _explained(source: Source, kind: str, reason: str) -> OutriderError:
    if any(word in reason.lower() for word in PASSWORD):
        return encrypted(source, kind)
    return broken(source, kind, f"it cannot be read ({' '.join(reason.split())[:200]})")


SUFFIXES = (".doc", ".dot", ".xls", ".xlt", ".xlsb", ".ppt", ".pps", ".wpd", ".hwp")
reader = Reader("legacy", tuple(KINDS), read, suffixes=SUFFIXES, isolated=True, whole=True)
cut = Reader("cut", (CUT,), read_cut, whole=True)
protected = Reader("protected", (PROTECTED,), read_protected)
