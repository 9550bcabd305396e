"""Links and pictures of a page, absolute, each once."""

from outrider.pages.content.walking.blocks import Blocks, Given
from outrider.pages.content.writing.addresses import Addresses
from outrider.pages.document import ImageRef, Link, line_of

# Where a picture's address stands: where scripts that load it late keep it, before what stands there in the meantime.
LATE, LATE_SETS = ("data-src", "data-original", "data-lazy-src", "data-lazy"), ("data-srcset", "data-lazy-srcset")
SET_LIMIT = 4_000  # characters of a srcset
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
    found = _picture(given.get("src") or "", addresses)
    return found or _picture(_largest(given.get("srcset") or ""), addresses)


def _picture(address: str, addresses: Addresses) -> str:
    if not address or address[:5].lower() == "data:":
        return ""
    found = addresses[address]
    return found if found[:4] == "http" else ""


def _largest(candidates: str) -> str:
    """The last address of a srcset, which by custom is the largest (html.spec.whatwg.org, srcset attribute)."""
    parts = [part.split() for part in candidates[-SET_LIMIT:].split(", ")]
    return next((part[0] for part in reversed(parts) if part), "")


def _pixels(value: str | None) -> int | None:
    if not value:
        return None
    digits = value.strip().removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else None
