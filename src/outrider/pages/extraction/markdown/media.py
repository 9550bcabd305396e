"""Links and pictures of a page, absolute, each once."""

import re
from collections.abc import Iterator

from outrider.pages.document import DocumentLink, ImageRef, to_single_line
from outrider.pages.extraction.blocks.page_blocks import Attributes, PageBlocks
from outrider.pages.extraction.markdown.addresses import UrlResolver

# Where a picture's address stands: where scripts that load it late keep it, before what stands there in the meantime.
LATE, LATE_SETS = ("data-src", "data-original", "data-lazy-src", "data-lazy"), ("data-srcset", "data-lazy-srcset")
LAZY_ATTRIBUTE = re.compile(
    r"src|lazy|original|orig-file|img-url|image$|^file$"
)  # the same where nothing else is known
URL_PATTERN = re.compile(r"(?:https?:)?/{0,2}[\w.%-][^\s\"{}<>]*[./][^\s\"{}<>]*", re.IGNORECASE)
PLACEHOLDER_NAME = re.compile(
    r"(?:^|[_.-])(?:placeholder|spacer|blank|transparent|pixel|1x1|lazy|loading|loader|empty|grey|gray|dot|clear)"
    r"[\d_.-][\w.-]*"
)
SRCSET_CANDIDATE = re.compile(r"([^\s,]\S*[^\s,])(?:\s+(\d{1,6}(?:\.\d{1,4})?)[wxh])?")
MAX_SRCSET_CHARS = 8_000  # characters of a srcset


def collect_links(page: PageBlocks, chosen: list[int], addresses: UrlResolver) -> list[DocumentLink]:
    """Each address once with its first words; those in the chosen blocks first.

    Args:
        page: The blocks.
        chosen: Numbers of the chosen ones.
        addresses: Of the page.
    """
    max_links = 10_000
    kept = frozenset(chosen)
    named: dict[str, str] = {}
    inside: set[str] = set()
    for address, block, words in page.links:
        if url := addresses[address]:
            if not named.get(url):
                named[url] = " ".join(words.split())
            if block in kept:
                inside.add(url)
            if len(named) >= max_links:
                break
    ordered = [url for url in named if url in inside] + [url for url in named if url not in inside]
    return [DocumentLink(_clean_link_text(named[url][:300]), url) for url in ordered]


def _clean_link_text(words: str) -> str:
    """Words with single spaces as a fact."""
    return words.rstrip() if words.isascii() and words.isprintable() else to_single_line(words, 300)


def collect_images(page: PageBlocks, addresses: UrlResolver) -> list[ImageRef]:
    """The pictures that a page shows, in order."""
    max_images = 2_000
    found: dict[str, ImageRef] = {}
    for attributes in page.images:
        address = _resolve_source(attributes, addresses)
        if (
            address
            and address not in found
            and len(found) < max_images
            and (image := _build_visible_image(attributes, address))
        ):
            found[address] = image
    return list(found.values())


def build_image(attributes: Attributes, addresses: UrlResolver) -> ImageRef | None:
    """The picture of an img element: its source, or what a script would put there; none for a dot that only counts."""
    address = _resolve_source(attributes, addresses)
    return _build_visible_image(attributes, address) if address else None


def _build_visible_image(attributes: Attributes, address: str) -> ImageRef | None:
    width, height = _parse_pixels(attributes.get("width")), _parse_pixels(attributes.get("height"))
    if (width is not None and width < 2) or (height is not None and height < 2):
        return None
    return ImageRef(address, to_single_line(attributes.get("alt"), 300), width, height)


def _resolve_source(attributes: Attributes, addresses: UrlResolver) -> str:
    for name in LATE:
        if (value := attributes.get(name)) and (found := _resolve_image_url(value, addresses)):
            return found
    for name in LATE_SETS:
        if (value := attributes.get(name)) and (found := _resolve_image_url(_choose_largest(value), addresses)):
            return found
    source = attributes.get("src") or ""
    if _is_placeholder(source):
        for candidate in (_choose_largest(attributes.get("srcset") or ""), *_iter_lazy_sources(attributes)):
            if found := _resolve_image_url(candidate, addresses):
                return found
    return _resolve_image_url(source, addresses) or _resolve_image_url(
        _choose_largest(attributes.get("srcset") or ""), addresses
    )


def _is_placeholder(source: str) -> bool:
    """Whether a picture stands there only until a script has loaded another one."""
    # What pictures are called that stand there until then; to look for words in all of an address costs 40 us.
    placeholder_prefixes = (
        "placeholder",
        "spacer",
        "blank",
        "transparent",
        "pixel",
        "1x1",
        "lazy",
        "load",
        "empty",
        "gr",
        "dot",
        "clear",
    )
    if source[:5].lower() in ("", "data:", "about"):
        return True
    name = source.rpartition("/")[2][:80].lower()
    return (
        name.startswith(placeholder_prefixes) or "placeholder" in name or "blank" in name
    ) and PLACEHOLDER_NAME.search(name) is not None


def _iter_lazy_sources(attributes: Attributes) -> Iterator[str]:
    """What attributes say that are made for a script of some kind, and hold an address or a set of them."""
    known_attributes = frozenset({"src", "srcset", "alt", "title", "class", "style"})
    for name, value in attributes.items():
        if value and name not in known_attributes and LAZY_ATTRIBUTE.search(name):
            if name.endswith("set"):
                yield _choose_largest(value)
            elif len(value) < MAX_SRCSET_CHARS and URL_PATTERN.fullmatch(value.strip()):
                yield value.strip()


def _resolve_image_url(address: str, addresses: UrlResolver) -> str:
    if not address or address[:5].lower() == "data:":
        return ""
    found = addresses[address]
    return found if found[:4] == "http" else ""


def _choose_largest(candidates: str) -> str:
    """The address of a srcset that is told to be the largest; of equal ones the last (html.spec.whatwg.org, srcset)."""
    if len(candidates) > MAX_SRCSET_CHARS:
        candidates = candidates[:MAX_SRCSET_CHARS].rpartition(",")[0]
    best, most = "", -1.0
    for found in SRCSET_CANDIDATE.finditer(candidates):
        size = float(found[2] or 1)
        if size >= most and found[1][:5] != "data:":
            best, most = found[1], size
    return best


def _parse_pixels(value: str | None) -> int | None:
    if not value:
        return None
    digits = value.strip().removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else None
