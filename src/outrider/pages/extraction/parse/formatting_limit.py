"""Marks that the HTML standard opens again in every block until they are closed: little source, many elements.

Two hundred `<b a=1>`, `<b a=2>` … left open before five thousand paragraphs are a million elements and 365 MB; one link
with an address of 19 kB is 190 MB before ten thousand. Where that could come, what is reopened is called `span`
instead, which is not: the words, their attributes and what these hide stay; emphasis is lost.

Of elements alike at most three are reopened (the standard's "Noah's Ark clause"), and of links one. So the
bound is told by what is different in the source; what closes an element cannot be told without building the tree.
"""

import re
from collections import Counter

from outrider.pages.extraction.parse.tag_counts import TagCounts

TAG_NAME_PATTERN = re.compile(rb"<([a-z]+)(?=[\s/]|$)", re.IGNORECASE)
BALANCED_QUOTES_PATTERN = re.compile(rb"""[^"']*(?:(?:"[^"]*"|'[^']*')[^"']*)*""")
MAX_TAG_BYTES = 20_000  # bytes of a tag, at most
TAG_HEAD_BYTES = 1_000  # bytes of a tag that are looked at


def limit_reopened_formatting(source: bytes, tags: TagCounts) -> bytes:
    """The source with marks that could be reopened too often as `span`, as could links that are too long.

    Args:
        source: Of which no tag is longer than `LONGEST`.
        tags: Of the source.
    """
    max_link_bytes = 50_000_000  # the same of links, whose addresses are read, too
    blocks = tags.openings // 2
    piled = _find_costly_marks(source, tags.formatting_offsets, blocks)
    if blocks * MAX_TAG_BYTES > max_link_bytes:
        source = _replace_long_links(source, tags.link_offsets, max_link_bytes // blocks)
    if not piled:
        return source
    return re.sub(rb"<(/?)(?:" + b"|".join(piled) + rb")(?=[\s/>])", rb"<\1span", source, flags=re.IGNORECASE)


def _find_costly_marks(source: bytes, marks: list[int], blocks: int) -> list[bytes]:
    """The names of marks that could be reopened too often, those of most bytes first."""
    max_reopened_bytes = 100_000_000  # that reopened marks may come to
    costs = _estimate_reopening_costs(Counter([source[at : at + TAG_HEAD_BYTES].partition(b">")[0] for at in marks]))
    piled: list[bytes] = []
    for name in sorted(costs, key=costs.__getitem__, reverse=True):
        if sum(costs.values()) * blocks <= max_reopened_bytes:
            break
        del costs[name]
        piled.append(name)
    return piled


def _estimate_reopening_costs(tags: Counter[bytes]) -> Counter[bytes]:
    """Of each mark, the bytes of all that may be reopened of it in a block.

    A quoted `>` ends no tag: what follows it may be different each time, and long.
    """
    element_bytes = 400  # bytes of an element
    max_equal_elements = 3  # elements alike that are reopened
    costs: Counter[bytes] = Counter()
    for tag, count in tags.items():
        if found := TAG_NAME_PATTERN.match(tag):
            whole = len(tag) < TAG_HEAD_BYTES and _is_complete_tag(tag)
            costs[found[1].lower()] += (
                max_equal_elements * (element_bytes + len(tag)) if whole else count * (element_bytes + MAX_TAG_BYTES)
            )
    return costs


def _is_complete_tag(tag: bytes) -> bool:
    """Whether the next `>` surely ends the tag."""
    if b"'" not in tag:
        return tag.count(b'"') % 2 == 0  # a twentieth of the time, and nearly all tags
    return BALANCED_QUOTES_PATTERN.fullmatch(tag) is not None


def _replace_long_links(source: bytes, links: list[int], limit: int) -> bytes:
    """The source with links whose tags are longer than the limit, or may be, as `span`.

    Args:
        source: The source.
        links: Where links are opened.
        limit: Bytes of a tag.
    """
    parts, at = list[bytes](), 0
    for start in links:
        behind = source[start + 2 : start + 3]
        if not behind.isspace() and behind != b"/":
            continue  # no attributes
        end = source.find(b">", start, start + limit)
        if end < 0 or not _is_complete_tag(source[start:end]):
            parts += (source[at:start], b"<span")
            at = start + 2
    return b"".join([*parts, source[at:]]) if parts else source
