"""Posts of a discussion: who wrote each, and when, by what the page marks as such."""

import re
from collections import defaultdict

from outrider.pages.content.blocks import Blocks
from outrider.pages.content.words import NUMBER

POST = sum(1 << NUMBER[name] for name in ("message", "comment", "post"))
PERSON = sum(1 << NUMBER[name] for name in ("author", "user"))
FEWEST = 2  # posts of a discussion
MOST = 2_000
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
    """The name in the first short block that is marked as being about a person."""
    for block in blocks[:12]:
        text, row = page.texts[block], page.rows[block]
        if len(text) > BYLINE or not (row[7] & PERSON or _marked(page, row[0], element)):
            continue
        named = page.named.get(block, "")
        name = named if 0 < len(named) <= NAME else text
        if 1 < len(name) <= NAME and any(map(str.isalnum, name)) and not YEAR.search(name):
            return name.rstrip(" :,")
    return ""


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
