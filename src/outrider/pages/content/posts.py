"""Posts of a discussion: who wrote each, and when, by what the page marks as such."""

import re
from bisect import bisect_left
from collections import defaultdict

from outrider.pages.content.blocks import NUMBER as TAG_NUMBER
from outrider.pages.content.blocks import Blocks
from outrider.pages.content.words import NUMBER

POST = sum(1 << NUMBER[name] for name in ("message", "comment", "post"))
PERSON = sum(1 << NUMBER[name] for name in ("author", "user"))
FEWEST = 2  # posts of a discussion
MOST = 2_000
LABELS = frozenset({TAG_NUMBER["dt"], TAG_NUMBER["dd"]})
ODD = re.compile(r"[\W_]+")
NAME = 40  # characters of a name
YEAR = re.compile(r"\d{4}|\d.*\d:\d\d")
BYLINE = 120  # characters of a block that says who wrote what follows


def heads_of(page: Blocks, chosen: list[int]) -> dict[int, str]:
    """Of the first chosen block of each post, its author and date, as far as the chosen blocks do not say them."""
    if not page.times and not any(row[7] & PERSON for row in page.rows):
        return {}
    kept = frozenset(chosen)
    heads: dict[int, str] = {}
    for element in _posts(page, kept):
        blocks = range(page.elements[element][5], page.last[element])
        first = next((block for block in blocks if block in kept), -1)
        said = " ".join([page.texts[block] for block in blocks if block in kept][:3])
        name, date = _author(page, element, blocks), _date(page, blocks)
        parts = [name if name and name not in said else "", "" if _dated(page, blocks, kept) else date]
        if first >= 0 and any(parts):
            heads[first] = " \u00b7 ".join(filter(None, parts))
    return heads


def _posts(page: Blocks, kept: frozenset[int]) -> list[int]:
    """The elements that look alike, are called posts, and hold most of what was chosen."""
    groups: dict[int, list[int]] = defaultdict(list)
    for at, row in enumerate(page.elements):
        if row[2] & POST and page.last[at] > row[5]:
            groups[row[4]].append(at)
    best: list[int] = []
    weight = 0
    for members in groups.values():
        if not FEWEST <= len(members) <= MOST:
            continue
        told = [each for each in members if _author(page, each, _range(page, each))]
        held = [each for each in told if not _nested(page, each, members)]
        size = sum(len(page.texts[block]) for each in held for block in _range(page, each) if block in kept)
        if len(held) >= FEWEST and size > weight:
            best, weight = held, size
    return best


def _range(page: Blocks, element: int) -> range:
    return range(page.elements[element][5], page.last[element])


def _nested(page: Blocks, element: int, members: list[int]) -> bool:
    """Whether an element holds another of its kind right away, as lists of posts in posts do: it is no post itself."""
    return any(page.elements[other][0] == element for other in members[:50])


def _author(page: Blocks, element: int, blocks: range) -> str:
    """The name in the first short block that is marked as being about a person, one that is a link if any is, best to
    an address with the name in it: beside names stand ranks, titles and whether somebody is there.
    """
    plain = linked = ""
    for block in blocks[:12]:
        text, row = page.texts[block], page.rows[block]
        if len(text) > BYLINE or not (row[7] & PERSON or _marked(page, row[0], element)):
            continue
        if _is_name(named := page.named.get(block, "")):
            linked = linked or named
            if _is_addressed(page, block, named):
                return named.rstrip(" :,")
        elif not plain and _is_name(text) and not _is_label(page, row[0]):
            plain = text
    return (linked or plain).rstrip(" :,")


def _is_addressed(page: Blocks, block: int, name: str) -> bool:
    """Whether a link that begins in the block, with this name, leads to an address that holds it."""
    at = bisect_left(page.links, block, key=lambda link: link[1])
    letters = ODD.sub("", name.lower())
    near = page.links[max(0, at - 2) : at + 5]
    return bool(letters) and any(link[1] == block and letters in ODD.sub("", link[0].lower()) for link in near)


def _is_label(page: Blocks, element: int) -> bool:
    """Whether an element is a term of a list, or somebody's title."""
    return page.elements[element][1] in LABELS or "title" in page.names[element].lower()


def _is_name(text: str) -> bool:
    return 1 < len(text) <= NAME and any(map(str.isalpha, text)) and not YEAR.search(text)


def _marked(page: Blocks, at: int, above: int) -> bool:
    """Whether an element, or one that it stands in up to the post, is about a person."""
    while at > above:
        if page.elements[at][2] & PERSON:
            return True
        at = page.elements[at][0]
    return False


def _date(page: Blocks, blocks: range) -> str:
    return next((page.times[block] for block in blocks if block in page.times), "")[:10]


def _dated(page: Blocks, blocks: range, kept: frozenset[int]) -> bool:
    """Whether the element that tells the time is among what was chosen."""
    return next((block in kept for block in blocks if block in page.times), False)
