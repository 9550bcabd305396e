"""Sources that a tree builder cannot take as they are, made harmless in time proportional to their size.

A hundred thousand open elements take lexbor 12 s and more, since the standard asks what is open at
each tag; four thousand open `<b a=1>`, `<b a=2>` … before paragraphs take 3 GB, since it reopens each
of them in every paragraph.
"""

import re

MANY = 3_000  # opened and not closed of one name, from which a source is suspect
TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,30})(?=[\s/>])[^>]*>?")
VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
OPTIONAL = frozenset(b"p li td th tr dt dd option tbody thead tfoot".split())
DEPTH = 400
FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
OPEN_FORMATTING = 40
TAGS = 400_000
LONG = re.compile(rb"<[a-zA-Z][^<>]{100000,}>")


def tame(html: bytes | str, limit: int) -> bytes:
    """UTF-8 source of at most `limit` bytes that is safe to parse."""
    source = html.encode("utf-8", "replace") if isinstance(html, str) else html
    source = source[:limit]
    if not _suspect(source):
        return source
    return _thinned(source)


def _suspect(source: bytes) -> bool:
    """Whether more is opened than closed: two counts at the speed of memory."""
    closed = source.count(b"</")
    opened = source.count(b"<") - closed - source.count(b"<!")
    return opened - closed > MANY or opened > TAGS


def _thinned(source: bytes) -> bytes:
    """The source without the tags that go too deep, and without whatever comes after too many."""
    kept: list[bytes] = []
    depth = formatting = at = 0
    for number, match in enumerate(TAG.finditer(source)):
        if number > TAGS:
            break
        name = match[2].lower()
        if name in VOID:
            continue
        step = -1 if match[1] else 1
        if name in FORMATTING:
            formatting = max(0, formatting + step)
        depth = max(0, depth + step) if name not in OPTIONAL else depth
        too_deep = depth > DEPTH or formatting > OPEN_FORMATTING
        if too_deep:
            kept.append(source[at : match.start()])
            at = match.end()
    kept.append(source[at:])
    return b" ".join(kept)
