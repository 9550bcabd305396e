"""Links and pictures of a page, absolute, each once."""

import re
from collections.abc import Iterator

from outrider.pages.content.walking.blocks import Blocks, Given
from outrider.pages.content.writing.addresses import Addresses
from outrider.pages.document import ImageRef, Link, line_of

# Where a picture's address stands: where scripts that load it late keep it, before what stands there in the meantime.
LATE, LATE_SETS = ("data-src", "data-original", "data-lazy-src", "data-lazy"), ("data-srcset", "data-lazy-srcset")
LATER = re.compile(r"src|lazy|original|orig-file|img-url|image$|^file$")  # the same where nothing else is known
OTHERS = frozenset({"src", "srcset", "alt", "title", "class", "style"})
ADDRESS = re.compile(r"(?:https?:)?/{0,2}[\w.%-][^\s\"{}<>]*[./][^\s\"{}<>]*", re.IGNORECASE)
# What pictures are called that stand there until then; to look for words in all of an address costs 40 us.
BEGUN = ("placeholder", "spacer", "blank", "transparent", "pixel", "1x1", "lazy", "load", "empty", "gr", "dot", "clear")
MEANTIME = re.compile(
    r"(?:^|[_.-])(?:placeholder|spacer|blank|transparent|pixel|1x1|lazy|loading|loader|empty|grey|gray|dot|clear)"
    r"[\d_.-][\w.-]*"
)
CANDIDATE = re.compile(r"([^\s,]\S*[^\s,])(?:\s+(\d{1,6}(?:\.\d{1,4})?)[wxh])?")
SET_LIMIT = 8_000  # characters of a srcset
LINKS = 10_000
IMAGES = 2_000


def links_of(page: Blocks, chosen: list[int], addresses: Addresses) -> list[Link]:
    """Each address once with its first words; those in the chosen blocks first.

    Args:
        page: The blocks.
        chosen: Numbers of the chosen ones.
        addresses: Of the page.
    """
    kept = frozenset(chosen)
    named: dict[str, str] = {}
    inside: set[str] = set()
    for address, block, words in page.links:
        if url := addresses[address]:
            if not named.get(url):
                named[url] = " ".join(words.split())
            if block in kept:
                inside.add(url)
            if len(named) >= LINKS:
                break
    ordered = [url for url in named if url in inside] + [url for url in named if url not in inside]
    return [Link(_line(named[url][:300]), url) for url in ordered]


def _line(words: str) -> str:
    """Words with single spaces as a fact."""
    return words.rstrip() if words.isascii() and words.isprintable() else line_of(words, 300)


def images_of(page: Blocks, addresses: Addresses) -> list[ImageRef]:
    """The pictures that a page shows, in order."""
    found: dict[str, ImageRef] = {}
    for given in page.images:
        address = _source(given, addresses)
        if address and address not in found and len(found) < IMAGES and (image := _shown(given, address)):
            found[address] = image
    return list(found.values())


def image_of(given: Given, addresses: Addresses) -> ImageRef | None:
    """The picture of an img element: its source, or what a script would put there; none for a dot that only counts."""
    address = _source(given, addresses)
    return _shown(given, address) if address else None


def _shown(given: Given, address: str) -> ImageRef | None:
    width, height = _pixels(given.get("width")), _pixels(given.get("height"))
    if (width is not None and width < 2) or (height is not None and height < 2):
        return None
    return ImageRef(address, line_of(given.get("alt"), 300), width, height)


def _source(given: Given, addresses: Addresses) -> str:
    for name in LATE:
        if (value := given.get(name)) and (found := _picture(value, addresses)):
            return found
    for name in LATE_SETS:
        if (value := given.get(name)) and (found := _picture(_largest(value), addresses)):
            return found
    source = given.get("src") or ""
    if _is_meantime(source):
        for candidate in (_largest(given.get("srcset") or ""), *_later(given)):
            if found := _picture(candidate, addresses):
                return found
    return _picture(source, addresses) or _picture(_largest(given.get("srcset") or ""), addresses)


def _is_meantime(source: str) -> bool:
    """Whether a picture stands there only until a script has loaded another one."""
    if source[:5].lower() in ("", "data:", "about"):
        return True
    name = source.rpartition("/")[2][:80].lower()
    return (name.startswith(BEGUN) or "placeholder" in name or "blank" in name) and MEANTIME.search(name) is not None


def _later(given: Given) -> Iterator[str]:
    """What attributes say that are made for a script of some kind, and hold an address or a set of them."""
    for name, value in given.items():
        if value and name not in OTHERS and LATER.search(name):
            if name.endswith("set"):
                yield _largest(value)
            elif len(value) < SET_LIMIT and ADDRESS.fullmatch(value.strip()):
                yield value.strip()


def _picture(address: str, addresses: Addresses) -> str:
    if not address or address[:5].lower() == "data:":
        return ""
    found = addresses[address]
    return found if found[:4] == "http" else ""


def _largest(candidates: str) -> str:
    """The address of a srcset that is told to be the largest; of equal ones the last (html.spec.whatwg.org, srcset)."""
    if len(candidates) > SET_LIMIT:
        candidates = candidates[:SET_LIMIT].rpartition(",")[0]
    best, most = "", -1.0
    for found in CANDIDATE.finditer(candidates):
        size = float(found[2] or 1)
        if size >= most and found[1][:5] != "data:":
            best, most = found[1], size
    return best


def _pixels(value: str | None) -> int | None:
    if not value:
        return None
    digits = value.strip().removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else None
