"""Parse fragments that name a part of a document.

These are `#page=12` of a PDF (RFC 8118, section 3) and `#file=a` of an archive.
"""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

PAGE_FRAGMENT = re.compile(r"#(?:[^#]{0,200}&)?page=0{0,5}([1-9]\d{0,5})(?=&|\Z)", re.IGNORECASE)
FILE_FRAGMENT = re.compile(r"#file=([^#]{1,1000})\Z", re.IGNORECASE)


@dataclass(frozen=True)
class UrlFragment:
    """The part to read: from a page on, or one file of an archive (empty for all of it)."""

    page: int = 1
    file: str = ""

    @property
    def suffix(self) -> str:
        """The fragment with its `#`, empty for the whole document."""
        if self.file:
            return f"#file={quote(self.file, safe='/')}"
        return f"#page={self.page}" if self.page > 1 else ""


def parse_fragment(address: str) -> UrlFragment:
    """Return the part of a document that an address or a file name asks for."""
    if match := FILE_FRAGMENT.search(address):
        return UrlFragment(file=unquote(match[1]))
    match = PAGE_FRAGMENT.search(address)
    return UrlFragment(int(match[1])) if match else UrlFragment()


def strip_fragment(name: str) -> str:
    """Return a file's name without such a fragment."""
    return PAGE_FRAGMENT.sub("", FILE_FRAGMENT.sub("", name))
