"""The place in a document that an address names: `#page=12` of a PDF (RFC 8118 section 3), `#file=a` of an archive."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote

PAGE = re.compile(r"#(?:[^#]{0,200}&)?page=0{0,5}([1-9]\d{0,5})(?=&|\Z)", re.IGNORECASE)
FILE = re.compile(r"#file=([^#]{1,1000})\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Place:
    """Where reading begins: the number of a page, the name of a file in an archive (empty for all of it)."""

    page: int = 1
    file: str = ""

    @property
    def mark(self) -> str:
        """What stands behind the address."""
        if self.file:
            return f"#file={quote(self.file, safe='/')}"
        return f"#page={self.page}" if self.page > 1 else ""


def place_of(address: str) -> Place:
    """The place that an address, or the name of a file, asks for behind its `#`."""
    if found := FILE.search(address):
        return Place(file=unquote(found[1]))
    found = PAGE.search(address)
    return Place(int(found[1])) if found else Place()


def without_place(name: str) -> str:
    """A file's name without the place that is asked for behind it."""
    return PAGE.sub("", FILE.sub("", name))
