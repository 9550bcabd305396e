"""Marks that the HTML standard opens again in every block until they are closed: little source, many elements.

Two hundred `<b a=1>`, `<b a=2>` … left open before five thousand paragraphs are a million elements and 365 MB; one link
with an address of 19 kB is 190 MB before ten thousand. Where that could come, what is reopened is called `span`
instead, which is not: the words, their attributes and what these hide stay; emphasis is lost.

Of elements alike at most three are reopened (the standard's "Noah's Ark clause"), and of links one. So the
bound is told by what is different in the source; what closes an element cannot be told without building the tree.
"""

import re
from collections import Counter

from outrider.pages.content.parsing.tags import Tags

NAME = re.compile(rb"<([a-z]+)(?=[\s/]|$)", re.IGNORECASE)
WHOLE = re.compile(rb"""[^"']*(?:(?:"[^"]*"|'[^']*')[^"']*)*""")
ALIKE = 3  # elements alike that are reopened
ELEMENT = 400  # bytes of an element
LONGEST = 20_000  # bytes of a tag, at most
READ = 1_000  # bytes of a tag that are looked at
BYTES = 100_000_000  # that reopened marks may come to
LINK_BYTES = 50_000_000  # the same of links, whose addresses are read, too


def without_piles(source: bytes, tags: Tags) -> bytes:
    """The source with marks that could be reopened too often as `span`, as could links that are too long.

    Args:
        source: Of which no tag is longer than `LONGEST`.
        tags: Of the source.
    """
    blocks = tags.begun // 2
    piled = _piled(source, tags.marks, blocks)
    if blocks * LONGEST > LINK_BYTES:
        source = _short_links(source, tags.links, LINK_BYTES // blocks)
    if not piled:
        return source
    return re.sub(rb"<(/?)(?:" + b"|".join(piled) + rb")(?=[\s/>])", rb"<\1span", source, flags=re.IGNORECASE)


def _piled(source: bytes, marks: list[int], blocks: int) -> list[bytes]:
    """The names of marks that could be reopened too often, those of most bytes first."""
    costs = _costs(Counter([source[at : at + READ].partition(b">")[0] for at in marks]))
    piled: list[bytes] = []
    for name in sorted(costs, key=costs.__getitem__, reverse=True):
        if sum(costs.values()) * blocks <= BYTES:
            break
        del costs[name]
        piled.append(name)
    return piled


def _costs(tags: Counter[bytes]) -> Counter[bytes]:
    """Of each mark, the bytes of all that may be reopened of it in a block.

    A quoted `>` ends no tag: what follows it may be different each time, and long.
    """
    costs: Counter[bytes] = Counter()
    for tag, count in tags.items():
        if found := NAME.match(tag):
            whole = len(tag) < READ and _is_whole(tag)
            costs[found[1].lower()] += ALIKE * (ELEMENT + len(tag)) if whole else count * (ELEMENT + LONGEST)
    return costs


def _is_whole(tag: bytes) -> bool:
    """Whether the next `>` surely ends the tag."""
    if b"'" not in tag:
        return tag.count(b'"') % 2 == 0  # a twentieth of the time, and nearly all tags
    return WHOLE.fullmatch(tag) is not None


def _short_links(source: bytes, links: list[int], limit: int) -> bytes:
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
        if end < 0 or not _is_whole(source[start:end]):
            parts += (source[at:start], b"<span")
            at = start + 2
    return b"".join([*parts, source[at:]]) if parts else source
