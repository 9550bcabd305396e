"""Limit formatting elements that the HTML standard reopens in every block.

Little source can make many elements this way: two hundred different `<b a=1>` left open before five thousand paragraphs
are a million elements. Where that could happen, such tags are renamed to `span`, which is not reopened: text and
attributes stay, emphasis is lost.

The standard reopens at most three equal elements ("Noah's Ark clause") and one link. So the limit counts the different
tags in the source, because only building the tree would show what closes an element.
"""

import re
from array import array
from collections import Counter

from outrider.pages.extraction.parse.tag_counts import TagCounts

TAG_NAME_PATTERN = re.compile(rb"<([a-z]+)(?=[\s/]|$)", re.IGNORECASE)
MAX_TAG_BYTES = 20_000
TAG_HEAD_BYTES = 1_000  # the rest of a tag is ignored


def limit_reopened_formatting(source: bytes, tags: TagCounts) -> bytes:
    """Return the source with `span` for formatting that could be reopened too often.

    Args:
        source: HTML with tags of at most `MAX_TAG_BYTES` bytes.
        tags: The tag counts of this source.
    """
    max_reopened_bytes = 100_000_000  # that reopened formatting may add
    max_link_bytes = 50_000_000  # that reopened links may add
    blocks = tags.openings // 2
    heads = (source[at : at + TAG_HEAD_BYTES].partition(b">")[0] for at in tags.formatting_offsets)
    costs = _estimate_reopening_costs(Counter(heads))
    costly: list[bytes] = []  # formatting to replace, the most expensive first
    for name in sorted(costs, key=costs.__getitem__, reverse=True):
        if sum(costs.values()) * blocks <= max_reopened_bytes:
            break
        del costs[name]
        costly.append(name)
    if blocks * MAX_TAG_BYTES > max_link_bytes:
        source = _replace_long_links(source, tags.link_offsets, max_link_bytes // blocks)
    if not costly:
        return source
    chunk_bytes = 100_000  # replaced at once: each tag takes a hundred bytes in the meantime
    pattern = re.compile(rb"<(/?)(?:" + b"|".join(costly) + rb")(?=[\s/>])", re.IGNORECASE)
    renamed, at = bytearray(), 0
    while at < len(source):
        end = source.find(b"<", at + chunk_bytes)
        end = end if end >= 0 else len(source)
        renamed += pattern.sub(rb"<\1span", source[at:end])
        at = end
    return bytes(renamed)


def _estimate_reopening_costs(tags: Counter[bytes]) -> Counter[bytes]:
    """Return the bytes that each formatting tag may add to one block.

    A quoted `>` does not end its tag, so what follows it may be long and different each time.
    """
    element_bytes = 400  # without its attributes
    max_equal_elements = 3  # that the standard reopens
    costs: Counter[bytes] = Counter()
    for tag, count in tags.items():
        if match := TAG_NAME_PATTERN.match(tag):
            if len(tag) < TAG_HEAD_BYTES and _is_complete_tag(tag):
                cost = max_equal_elements * (element_bytes + len(tag))
            else:
                cost = count * (element_bytes + MAX_TAG_BYTES)
            costs[match[1].lower()] += cost
    return costs


def _is_complete_tag(tag: bytes) -> bool:
    """Return whether the next `>` certainly ends the tag."""
    if b"'" not in tag:
        return tag.count(b'"') % 2 == 0  # nearly all tags, and much faster
    return re.fullmatch(rb"""[^"']*(?:(?:"[^"]*"|'[^']*')[^"']*)*""", tag) is not None


def _replace_long_links(source: bytes, links: "array[int]", limit: int) -> bytes:
    """Return the source with `span` for links whose tags exceed, or may exceed, `limit` bytes.

    Args:
        source: The source.
        links: Offsets of links.
        limit: Bytes of a tag.
    """
    parts, at = list[bytes](), 0
    for start in links:
        after_name = source[start + 2 : start + 3]
        if not after_name.isspace() and after_name != b"/":
            continue  # no attributes
        end = source.find(b">", start, start + limit)
        if end < 0 or not _is_complete_tag(source[start:end]):
            parts += (source[at:start], b"<span")
            at = start + 2
    return b"".join([*parts, source[at:]]) if parts else source
