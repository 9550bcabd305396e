"""Sources that a tree builder cannot take as they are, made harmless in time proportional to their size.

A hundred thousand open elements take lexbor 12 s and more, since the standard asks what is open at
each tag; a hundred thousand attributes of one element three minutes; four thousand open `<b a=1>`, `<b a=2>` … before paragraphs take 3 GB, since it reopens each
of them in every paragraph.
"""

import re

TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,30}+)(?=[\s/>])[^>]*+>?")
VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
OPTIONAL = frozenset(b"p li td th tr dt dd option tbody thead tfoot".split())
FORMATTING = frozenset(b"a b big code em font i nobr s small strike strong tt u".split())
INSIDE = re.compile(rb"""/?[a-zA-Z!?](?:[^>"']++|"[^"]*+"?|'[^']*+'?)*+""")
NAME = re.compile(rb"/?[a-zA-Z][a-zA-Z0-9-]{0,30}")
LONG = 20_000  # bytes of one tag; a tree builder's time grows with the square of the number of attributes
FEW = 2_000  # tags from which a source is looked at closely
DEPTH = 400  # elements inside of each other; the deepest of 1,497 pages has 180
REOPENED = 60  # formatting elements left open
TAGS = 300_000


def tame(html: bytes | str, limit: int) -> bytes:
    """UTF-8 source of at most `limit` bytes that is safe to parse; what is looked at is four times as long."""
    source = html[: limit * 4].encode("utf-8", "replace") if isinstance(html, str) else html[: limit * 4]
    source = _shortened(source)[:limit]
    return _thinned(source) if _suspect(source) else source


def _shortened(source: bytes) -> bytes:
    """The source without the attributes of tags that go on and on, and without the rest of whatever does the like."""
    parts = source.split(b"<")
    if max(map(len, parts)) <= LONG:
        return source
    return b"<".join([parts[0], *(part if len(part) <= LONG else _short(part) for part in parts[1:])])


def _short(part: bytes) -> bytes:
    """What stands between two `<`, if it is no more than a tag with ordinary attributes and what follows it."""
    found = INSIDE.match(part)
    if not found:
        return part[:LONG]
    if found.end() <= LONG:
        return part
    name = NAME.match(part)
    return (name[0] if name else b"p") + (part[found.end() :] or b">")


def _suspect(source: bytes) -> bool:
    """Whether much more is opened than closed, told by counts at the speed of memory."""
    closed = source.count(b"</")
    opened = source.count(b"<") - closed - source.count(b"<!")
    return opened > TAGS or (opened > FEW and opened > 2 * closed and opened - closed > FEW) or _left_open(source)


def _left_open(source: bytes) -> bool:
    """Whether formatting is opened and not closed often enough to be reopened without end."""
    return any(
        source.count(b"<" + name + b" ") + source.count(b"<" + name + b">") - source.count(b"</" + name + b">")
        > REOPENED
        for name in (b"b", b"i", b"a", b"font", b"u", b"em", b"strong", b"s", b"small", b"code", b"tt", b"big", b"nobr")
    )


def _thinned(source: bytes) -> bytes:
    """The source without the tags that go too deep or are reopened too often, cut after too many."""
    kept: list[bytes] = []
    depth = reopened = at = 0
    for number, match in enumerate(TAG.finditer(source)):
        if number > TAGS:
            kept.append(source[at : match.start()])
            return b"".join(kept)
        name = match[2].lower()
        if name in VOID or name in OPTIONAL:
            continue
        step = -1 if match[1] else 1
        deep = depth > DEPTH or reopened > REOPENED
        depth = max(0, depth + step)
        if name in FORMATTING:
            reopened = max(0, reopened + step)
        if deep:
            kept += (source[at : match.start()], b" ")
            at = match.end()
    kept.append(source[at:])
    return b"".join(kept)
