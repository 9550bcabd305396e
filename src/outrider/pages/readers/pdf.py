"""PDF, by PDFium: 615 pages a second, and a licence that anybody can live with.

PDFium runs in a process of its own: it is C++ that reads hostile files, knows no threads, and a
page of it cannot be interrupted, while a process can be killed.
"""

import re
from typing import Any

from outrider.core.errors import Refused, Unavailable
from outrider.pages.document import Document, line_of, tidy
from outrider.pages.reader import Reader, Source

DATE = re.compile(r"D:(\d{4})(\d{2})?(\d{2})?")
PASSWORD = 4  # FPDF_ERR_PASSWORD (fpdfview.h)


def read(source: Source) -> Document:
    """The text of the pages, each under a line that says its number.

    Raises:
        Refused: code `encrypted`, if a password is needed.
        Unavailable: code `broken_file`, if it cannot be opened.
    """
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(source.body) as document:
            return _document(document, source)
    except pypdfium2.PdfiumError as error:
        raise _explained(source, error) from None


def _document(document: Any, source: Source) -> Document:
    total = len(document)
    parts, size = [], 0
    for number in range(min(total, source.pages)):
        text = _page(document, number)
        parts.append(f"--- page {number + 1} of {total} ---\n\n{text}")
        size += len(text)
        if size > source.chars:
            break
    if len(parts) < total:
        parts.append(f"--- {total - len(parts)} more pages were not read ---")
    known = document.get_metadata_dict(skip_empty=True)
    markdown = tidy("\n\n".join(parts))
    found = DATE.match(known.get("CreationDate", ""))
    return Document(
        markdown,
        markdown if size else "",
        title=line_of(known.get("Title")),
        description=line_of(known.get("Subject")),
        author=line_of(known.get("Author")),
        published="-".join(part for part in found.groups() if part) if found else "",
        kind="pdf",
        metadata={"pages": total, "scanned": not any(_lettered(part) for part in parts)},
    )


def _page(document: Any, number: int) -> str:
    """The text of a page; a page that is broken gives none and does not lose the others."""
    import pypdfium2

    try:
        page = document[number]
        text = page.get_textpage().get_text_bounded()
        page.close()
    except pypdfium2.PdfiumError:
        return "(this page cannot be read)"
    # PDFium marks a hyphen at a line's end by U+FFFE; the word goes on in the next line.
    return text.replace("\ufffe\r\n", "").replace("\ufffe", "").replace("\r\n", "\n").strip()


def _lettered(part: str) -> bool:
    return any(letter.isalpha() for letter in part.partition(" ---\n\n")[2])


def _explained(source: Source, error: Any) -> Exception:
    if getattr(error, "err_code", None) == PASSWORD or "password" in str(error).lower():
        return Refused(
            f"the PDF at {source.url or 'this address'} is encrypted and needs a password",
            code="encrypted",
            hint="look for another copy of it",
        )
    return Unavailable(
        f"the PDF at {source.url or 'this address'} is broken: it cannot be opened",
        code="broken_file",
        hint="look for another copy of it",
    )


reader = Reader(
    "pdf", ("application/pdf", "application/x-pdf"), read, suffixes=(".pdf",), isolated=True, whole=True, rank=10
)
