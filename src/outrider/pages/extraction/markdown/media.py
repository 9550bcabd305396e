"""Collect a page's links and images with absolute addresses, each once."""

import re
from collections.abc import Iterator
from operator import itemgetter

from outrider.pages.document import DocumentLink, ImageRef, to_single_line
from outrider.pages.extraction.blocks.page_blocks import TAG_NUMBERS, Attributes, PageBlocks
from outrider.pages.extraction.markdown.addresses import UrlResolver

LAZY_ATTRIBUTE = re.compile(r"src|lazy|original|orig-file|img-url|image$|^file$")
URL_PATTERN = re.compile(r"(?:https?:)?/{0,2}[\w.%-][^\s\"{}<>]*[./][^\s\"{}<>]*", re.IGNORECASE)
PLACEHOLDER_NAME = re.compile(
    r"(?:^|[_.-])(?:placeholder|spacer|blank|transparent|pixel|1x1|lazy|loading|loader|empty|grey|gray|dot|clear)"
    r"[\d_.-][\w.-]*"
)
SRCSET_CANDIDATE = re.compile(r"([^\s,]\S*[^\s,])(?:\s+(\d{1,6}(?:\.\d{1,4})?)[wxh])?")
MAX_SRCSET_CHARS = 8_000
PageEmbed = tuple[int, int, str, str]  # number of the next block, element that holds it, address, label


def collect_links(page: PageBlocks, chosen: list[int], addresses: UrlResolver) -> list[DocumentLink]:
    """Return each address once with its first words, those in the chosen blocks first.

    Args:
        page: The blocks.
        chosen: Numbers of the chosen ones.
        addresses: Resolver of the page.
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
    links = []
    for url in ordered:
        words = named[url][:300]
        is_clean = words.isascii() and words.isprintable()
        links.append(DocumentLink(words.rstrip() if is_clean else to_single_line(words, 300), url))
    return links


def collect_images(page: PageBlocks, addresses: UrlResolver) -> list[ImageRef]:
    """Return the images that a page shows, in order."""
    max_images = 2_000
    images: dict[str, ImageRef] = {}
    for attributes in page.images:
        address = _resolve_source(attributes, addresses)
        if (
            address
            and address not in images
            and len(images) < max_images
            and (image := _build_visible_image(attributes, address))
        ):
            images[address] = image
    return list(images.values())


def build_image(attributes: Attributes, addresses: UrlResolver) -> ImageRef | None:
    """Return the image of an img element, if it is shown.

    Images without an address and tracking pixels give None.
    """
    address = _resolve_source(attributes, addresses)
    return _build_visible_image(attributes, address) if address else None


def _build_visible_image(attributes: Attributes, address: str) -> ImageRef | None:
    width, height = _parse_pixels(attributes.get("width")), _parse_pixels(attributes.get("height"))
    if (width is not None and width < 2) or (height is not None and height < 2):
        return None
    return ImageRef(address, to_single_line(attributes.get("alt"), 300), width, height)


def _resolve_source(attributes: Attributes, addresses: UrlResolver) -> str:
    # Scripts that load images late keep the address here, and a placeholder in `src`.
    for name in ("data-src", "data-original", "data-lazy-src", "data-lazy"):
        if (value := attributes.get(name)) and (url := _resolve_image_url(value, addresses)):
            return url
    for name in ("data-srcset", "data-lazy-srcset"):
        if (value := attributes.get(name)) and (url := _resolve_image_url(_choose_largest(value), addresses)):
            return url
    source = attributes.get("src") or ""
    if _is_placeholder(source):
        for candidate in (_choose_largest(attributes.get("srcset") or ""), *_iter_lazy_sources(attributes)):
            if url := _resolve_image_url(candidate, addresses):
                return url
    return _resolve_image_url(source, addresses) or _resolve_image_url(
        _choose_largest(attributes.get("srcset") or ""), addresses
    )


def _is_placeholder(source: str) -> bool:
    """Return whether an image only holds the place of one that a script loads."""
    # A quick check first: searching every address with the pattern is slow.
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
    """Yield the addresses in attributes made for scripts that load images."""
    for name, value in attributes.items():
        is_standard = name in {"src", "srcset", "alt", "title", "class", "style"}
        if value and not is_standard and LAZY_ATTRIBUTE.search(name):
            if name.endswith("set"):
                yield _choose_largest(value)
            elif len(value) < MAX_SRCSET_CHARS and URL_PATTERN.fullmatch(value.strip()):
                yield value.strip()


def _resolve_image_url(address: str, addresses: UrlResolver) -> str:
    if not address or address[:5].lower() == "data:":
        return ""
    url = addresses[address]
    return url if url[:4] == "http" else ""


def _choose_largest(candidates: str) -> str:
    """Return the address of the largest image in a srcset.

    Of equals it is the last (html.spec.whatwg.org, srcset).
    """
    if len(candidates) > MAX_SRCSET_CHARS:
        candidates = candidates[:MAX_SRCSET_CHARS].rpartition(",")[0]
    largest, largest_size = "", -1.0
    for match in SRCSET_CANDIDATE.finditer(candidates):
        size = float(match[2] or 1)
        if size >= largest_size and match[1][:5] != "data:":
            largest, largest_size = match[1], size
    return largest


def _parse_pixels(value: str | None) -> int | None:
    if not value:
        return None
    digits = value.strip().removesuffix("px")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else None


def find_embeds(page: PageBlocks, chosen: list[int]) -> list[tuple[int, PageEmbed]]:
    """Return the chosen blocks' embeds with their positions.

    A position is the number of chosen blocks before the embed.

    An embed belongs to them if the blocks on both sides were chosen, or one in the same element.
    """
    selected, passed = list[tuple[int, PageEmbed]](), 0
    embeds = [(at, owner, address, words) for address, (at, owner, words) in page.embeds.items()]
    for embed in sorted(embeds, key=itemgetter(0)):
        while passed < len(chosen) and chosen[passed] < embed[0]:
            passed += 1
        before = chosen[passed - 1] if passed else -1
        after = chosen[passed] if passed < len(chosen) else len(page.texts)
        if _is_in_content(page, embed, before, after):
            selected.append((passed, embed))
    return selected


def _is_in_content(page: PageBlocks, embed: PageEmbed, before: int, after: int) -> bool:
    figure_tag = TAG_NUMBERS["figure"]
    max_distance = 3  # blocks to the chosen ones on both sides
    next_block, holder, elements = embed[0], embed[1], page.elements
    is_between = before >= 0 and after < len(page.texts)
    if is_between and next_block - before <= max_distance and after - next_block < max_distance:
        return True
    first = end = next_block
    while holder >= 0:
        is_figure, is_empty = elements[holder][1] == figure_tag, page.last[holder] <= elements[holder][5]
        if not is_figure and not is_empty:
            break
        if is_figure:  # the caption belongs to the embed
            first, end = elements[holder][5], page.last[holder]
        holder = elements[holder][0]
    if holder < 0:
        return False
    return before >= max(first - 1, elements[holder][5]) or after <= end < page.last[holder]
