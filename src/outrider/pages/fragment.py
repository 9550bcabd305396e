"""The place in a document that an address names: `#page=12` of a PDF (RFC 8118 section 3), `#file=a` of an archive."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

PAGE_FRAGMENT = re.compile(r"#(?:[^#]{0,200}&)?page=0{0,5}([1-9]\d{0,5})(?=&|\Z)", re.IGNORECASE)
FILE_FRAGMENT = re.compile(r"#file=([^#]{1,1000})\Z", re.IGNORECASE)


@dataclass(frozen=True)
class UrlFragment:
    """Where reading begins: the number of a page, the name of a file in an archive (empty for all of it)."""

    page: int = 1
    file: str = ""

    @property
    def suffix(self) -> str:
        """What stands behind the address."""
        if self.file:
            return f"#file={quote(self.file, safe='/')}"
        return f"#page={self.page}" if self.page > 1 else ""


def parse_fragment(address: str) -> UrlFragment:
    """The place that an address, or the name of a file, asks for behind its `#`."""
    if found := FILE_FRAGMENT.search(address):
        return UrlFragment(file=unquote(found[1]))
    found = PAGE_FRAGMENT.search(address)
    return UrlFragment(int(found[1])) if found else UrlFragment()


def strip_fragment(name: str) -> str:
    """A file's name without the place that is asked for behind it."""
    return PAGE_FRAGMENT.sub("", FILE_FRAGMENT.sub("", name))
