"""Where the links of a PDF page lead."""

import ctypes
from collections.abc import Iterator
from typing import Any

LINKS = 500  # of one page
ADDRESS = 2_048  # bytes


def addresses(document: Any, page: Any) -> Iterator[str]:
    """The addresses that the page's link annotations open (ISO 32000-1 section 12.6.4.7)."""
    import pypdfium2.raw as pdfium

    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(LINKS):
        if not pdfium.FPDFLink_Enumerate(page.raw, position, link):
            return
        action = pdfium.FPDFLink_GetAction(link)
        if action:
            buffer = ctypes.create_string_buffer(ADDRESS)
            size = pdfium.FPDFAction_GetURIPath(document.raw, action, buffer, ADDRESS)
            if 1 < size <= ADDRESS:
                yield buffer.raw[: size - 1].decode("utf-8", "replace")
