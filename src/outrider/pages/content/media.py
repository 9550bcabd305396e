"""Links and pictures of a page, absolute, each once."""

from outrider.pages.address import absolute
from outrider.pages.content.blocks import Blocks, Given
from outrider.pages.document import ImageRef, Link, line_of

SOURCES = ("data-src", "data-original", "data-lazy-src", "src")
SETS = ("srcset", "data-srcset")
SET_LIMIT = 4_000  # characters of a srcset
LINKS = 10_000
IMAGES = 2_000


def links_of(page: Blocks, chosen: list[int], base: str, known: dict[str, str]) -> list[Link]:
    """Each address once with its first words; those in the chosen blocks first.

    Args:
        page: The blocks.
        chosen: Numbers of the chosen ones.
        base: Where relative addresses start from.
        known: Of addresses as they are written, the absolute ones; all that are found out go there.
    """
    kept = frozenset(chosen)
    named: dict[str, str] = {}
    inside: set[str] = set()
    for address, block, words in page.links:
        url = known.get(address)
        if url is None:
            url = known[address] = absolute(address, base)
        if url:
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


def images_of(page: Blocks, base: str) -> list[ImageRef]:
    """The pictures that a page shows, in order."""
    found: dict[str, ImageRef] = {}
    for given in page.images:
        image = image_of(given, base)
        if image and len(found) < IMAGES:
            found.setdefault(image.url, image)
    return list(found.values())


def image_of(given: Given, base: str) -> ImageRef | None:
    """The picture of an img element: its source, or what a script would put there; none for a dot that only counts."""
    width, height = _pixels(given.get("width")), _pixels(given.get("height"))
    if (width is not None and width < 2) or (height is not None and height < 2):
        return None
    address = next((url for name in SOURCES if name in given and (url := _picture(given[name], base))), "")
    address = address or next(
        (url for name in SETS if name in given and (url := _picture(_largest(given[name]), base))), ""
    )
    if not address:
        return None
    return ImageRef(address, line_of(given.get("alt"), 300), width, height)


def _picture(address: str | None, base: str) -> str:
    if not address or address[:5].lower() == "data:":
        return ""
    found = absolute(address, base)
    return found if found.startswith("http") else ""


def _largest(candidates: str | None) -> str:
    """The last address of a srcset, which by custom is the largest (html.spec.whatwg.org, srcset attribute)."""
    parts = [part.split() for part in (candidates or "")[-SET_LIMIT:].split(", ")]
    return next((part[0] for part in reversed(parts) if part), "")


def _pixels(value: str | None) -> int | None:
    if not value:
        return None
    digits = value.strip().removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else None
