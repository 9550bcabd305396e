"""The place in a document that an address names: `#page=12` of a PDF (RFC 8118 section 3)."""

import re

PAGE = re.compile(r"#(?:[^#]{0,200}&)?page=0{0,5}([1-9]\d{0,5})(?=&|\Z)", re.IGNORECASE)


def first_page(address: str) -> int:
    """The page that an address or a file's name asks for behind its `#`; 1 if it asks for none."""
    found = PAGE.search(address)
    return int(found[1]) if found else 1


def marked(address: str, page: int) -> str:
    """The address of that page; the first one needs no mark."""
    return f"{address}#page={page}" if page > 1 else address


def without_page(name: str) -> str:
    """A file's name without the page that is asked for behind it."""
    return PAGE.sub("", name)
