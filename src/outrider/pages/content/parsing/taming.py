"""Sources that a tree builder cannot take as they are, made harmless in time proportional to their size.

A hundred thousand open elements take lexbor 12 s and more, since the standard asks what is open at
each tag; a hundred thousand attributes of one element three minutes. What the standard opens again in
every block is bounded by `reopening.py`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from outrider.pages.content.parsing.assigning import Assigning
from outrider.pages.content.parsing.reopening import without_piles
from outrider.pages.content.parsing.tags import END_OF_COMMENT, ENDS, RAW, SILENT, tags_of

TAG = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,30}+)(?=[\s/>])[^>]*+>?")
NAMED = re.compile(rb"</?[a-zA-Z][a-zA-Z0-9-]{0,30}")
VOID = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
OPTIONAL = frozenset(b"p li td th tr dt dd option tbody thead tfoot".split())
INSIDE = re.compile(rb"""/?[a-zA-Z!?](?:[^>"']++|"[^"]*+"?|'[^']*+'?)*+""")
NAME = re.compile(rb"/?[a-zA-Z][a-zA-Z0-9-]{0,30}")
END, EQUAL, DOUBLE, SINGLE, BLANK, WHITE = *b">=\"' ", b" \t\n\r\f\v"
VALUE = re.compile(rb"""=\s*(?:"[^"]*"?|'[^']*'?)|>""")
CLOSED = re.compile(rb"</(?:" + b"|".join(SILENT) + rb")|--!?>", re.IGNORECASE)
DRAWING, DRAWING_ENDS = re.compile(rb"<svg[\s>]", re.IGNORECASE), re.compile(rb"</svg|\f", re.IGNORECASE)
DRAWN = re.compile(
    rb"<(path|rect|circle|ellipse|line|poly(?:line|gon)|use|stop|animate[a-z]*|fe[a-z]+|image)\b[^<>]*/>", re.IGNORECASE
)
SEAM, GAP = b"\f", b" "  # white space, where a script that holds tags was, or anything else that was left out
# Without a script, what follows such a frame is its text to the end of the page, as many counters of visits have it.
OPEN_FRAME = re.compile(rb"<iframe\b[^<>]{0,2000}/>(?=\s{0,20}</noscript)", re.IGNORECASE)
SHAPES = 15_000  # elements of drawings that close themselves; so many open ones would take 0.3 s
SCRIPTS = 50  # pieces of a source from which on nothing is taken for a script
LONG = 20_000  # bytes of one tag; a tree builder's time grows with the square of the number of attributes
DEPTH = 400  # elements inside of each other; the deepest of 1,497 pages has 180
PIECE = 250_000  # bytes that are looked at together
UNSEEN = 10_000  # tags in scripts and comments from which these may be none, but begin in an attribute
TRIES = 16  # ends of tags that are looked at for one that is surely none of a value
TAGS = 50_000  # elements; of 1,497 pages none has more than 16,000


def tame(html: bytes | str, limit: int, tags: int = TAGS) -> bytes:
    """UTF-8 source of at most `limit` bytes and about `tags` elements that is safe to parse.

    What is looked at is four times as long: pictures inside of attributes must not use up the limit.
    """
    whole = html[: limit * 4].encode("utf-8", "replace") if isinstance(html, str) else html[: limit * 4]
    source = _bounded(whole, limit)
    found = tags_of(source)
    if found.framed:
        source = _bounded(OPEN_FRAME.sub(b"", whole), limit)
        found = tags_of(source)
    if _is_harmless(found.names, source, tags, _markup):
        if found.begun - found.names.total() <= UNSEEN:
            return without_piles(source, found)
        every = tags_of(source, silent=True)
        if _is_harmless(every.names, source, tags, bytes):
            return without_piles(source, every)
        return _rebuilt(source, tags)
    return _rebuilt(_markup(source), tags)


def _rebuilt(source: bytes, tags: int) -> bytes:
    """The source without tags that go too deep; where these are gone, others may have become long."""
    thin = _bounded(_thinned(source, tags), len(source))
    return without_piles(thin, tags_of(thin))


def _bounded(source: bytes, limit: int) -> bytes:
    """So many bytes of a source in which no tag is long."""
    source = _gaps_cut(source, b"<", _short)
    first = source.find(b">")
    if first < 0 or first > LONG:
        first = len(source) if first < 0 else first
        source = _ended(source[:first]) + source[first:]
    return _shortened(_gaps_cut(source, b">", _ended)[:limit])


def _is_harmless(names: Counter[bytes], source: bytes, tags: int, part: Callable[[bytes], bytes]) -> bool:
    """Whether so many tags of these names, which stand in a part of the source, can be built as they are."""
    if names.total() > tags:
        return False
    return not _suspect(names) or not _suspect(names - _drawn(part(source)))


def _gaps_cut(source: bytes, sign: bytes, cut: Callable[[bytes], bytes]) -> bytes:
    """The source with what stands between two of these signs cut where they are more than `LONG` bytes apart.

    It goes backwards from as far as a gap may reach, which on most pages is a step every 20,000 bytes.
    """
    parts: list[bytes] = []
    done, at = 0, source.find(sign)
    while 0 <= at < len(source) - LONG - 1:
        after = source.rfind(sign, at + 1, at + LONG + 2)
        if after < 0:
            after = source.find(sign, at + 1)
            after = after if after >= 0 else len(source)
            part = source[at + 1 : after]
            if (kept := cut(part)) is not part:
                parts += (source[done : at + 1], kept)
                done = after
        at = after
    return b"".join([*parts, source[done:]]) if parts else source


def _shortened(source: bytes) -> bytes:
    """The source without what follows in tags that go on for long behind quoted signs of their end."""
    parts: list[bytes] = []
    at = end = 0
    assigning: Assigning | None = None  # only where something is long: it looks at each byte
    for start in _quoting(source):
        if start < end or (assigning and not assigning.at(start)):
            continue
        end = _end_of_tag(source, start, min(len(source), start + LONG + 1))
        if end - start <= LONG:
            continue
        assigning = assigning or Assigning(source)
        if not assigning.at(start):
            end = start
            continue
        end = _end_of_tag(source, start, len(source))
        parts += (source[at:start], b">")
        # What ends a script may be quoted, or end one that was taken for a tag.
        closed = CLOSED.search(source, start, end) if len(parts) < SCRIPTS else None
        at = end = closed.start() if closed else end
        assigning.ended(at)
    return b"".join([*parts, source[at:]]) if at else source


def _quoting(source: bytes) -> Iterator[int]:
    """Where the signs of equality are whose quoted values hold a `>`, in order, as far as their tags may be long."""
    codes = np.frombuffer(source, np.uint8)
    last = [-1, -1]  # the sign before the piece, if it is this quotation mark
    for start in range(_unsure(source), len(source), PIECE):
        piece = codes[start : start + PIECE]
        signs = np.flatnonzero((piece == DOUBLE) | (piece == SINGLE) | (piece == END))
        kinds, found = piece[signs], list[int]()
        for at, other in enumerate((SINGLE, DOUBLE)):
            of_quote = kinds != other
            opened, last[at] = _before_ends(signs[of_quote] + start, kinds[of_quote] == END, last[at])
            near = codes[opened - 1]  # of most values these are closing marks behind a letter
            opened = opened[(near == EQUAL) | (near <= BLANK)].tolist()
            found += [sign for each in opened if (sign := _assigned(source, each)) >= 0]
        yield from sorted(found)


def _unsure(source: bytes) -> int:
    """From where on tags may be long: up to there an end that stands in no value is always near.

    Between two of these ends no tag is longer than the way from one to the other, or none is long as far as it goes.
    """
    at = 0
    while at < len(source):
        end = source.rfind(b">", at + 1, at + LONG)
        end = end if end >= 0 else source.find(b">", at + 1)
        if end < 0:
            return len(source)
        tries = TRIES
        while _is_quoted(source, at + 1, end):
            end, tries = source.rfind(b">", at + 1, end), tries - 1
            if end < 0 or not tries:
                return at
        at = end
    return at


def _is_quoted(source: bytes, start: int, at: int) -> bool:
    """Whether what stands there may be part of a value that began behind the start."""
    return any((mark := source.rfind(sign, start, at)) >= 0 and _assigned(source, mark) >= 0 for sign in (b'"', b"'"))


def _before_ends(signs: NDArray[np.int64], ends: NDArray[np.bool_], last: int) -> tuple[NDArray[np.int64], int]:
    """The quotation marks that no sign sets apart from an end of a tag; the last sign, if it is no end."""
    if not len(signs):
        return signs, last
    marks = signs[:-1][ends[1:] & ~ends[:-1]]
    if ends[0] and last >= 0:
        marks = np.concatenate(([last], marks))
    return marks, -1 if ends[-1] else int(signs[-1])


def _assigned(source: bytes, quote: int) -> int:
    """Where the sign of equality is right before a quotation mark; -1 if there is none."""
    at = quote - 1
    while at >= 0 and source[at] in WHITE:
        at -= 1
    return at if at >= 0 and source[at] == EQUAL else -1


def _end_of_tag(source: bytes, start: int, limit: int) -> int:
    """Where a tag ends, of which a value begins at `start`; no further than the limit."""
    return next((each.end() for each in VALUE.finditer(source, start, limit) if each[0] == b">"), limit)


def _ended(part: bytes) -> bytes:
    """What stands between two `>`: a tag in it that does not end soon is left with no attributes."""
    found = NAMED.search(part)
    if not found or len(part) - found.start() <= LONG:
        return part
    return part[: found.end()]


def _markup(source: bytes) -> bytes:
    """The source without comments and scripts: an end tag in these ends nothing."""
    parts, at = [], 0
    while found := RAW.search(source, at):
        close = (ENDS[found[1].lower()] if found[1] else END_OF_COMMENT).search(source, found.end())
        end = close.start() if close else len(source)
        tags = found[1] and source.find(b"<", found.end(), end) >= 0
        parts += (source[at : found.start()], SEAM if tags else GAP)
        at = close.end() if close else len(source)
    return b"".join([*parts, source[at:]]) if parts else source


def _short(part: bytes) -> bytes:
    """What stands between two `<`, if it is no more than a tag with ordinary attributes and what follows it."""
    found = INSIDE.match(part)
    if not found:
        return part[:LONG]
    if found.end() <= LONG:
        return part
    name = NAME.match(part)
    return (name[0] if name else b"p") + (part[found.end() :] or b">")


def _suspect(names: Counter[bytes]) -> bool:
    """Whether so much is opened and not closed that a tree could become too deep."""
    if names.total() <= DEPTH:
        return False
    opened: Counter[bytes] = Counter()
    for name, count in names.items():
        closing = name[:1] == b"/"
        opened[name[closing:]] += -count if closing else count
    ended = VOID | OPTIONAL
    return sum([count for name, count in opened.items() if count > 0 and name not in ended]) > DEPTH


def _drawn(markup: bytes) -> Counter[bytes]:
    """How often each shape of a drawing closes itself, which only elements of drawings can."""
    drawings = (name.lower() for drawing in _drawings(markup) for name in DRAWN.findall(drawing))
    return Counter(islice(drawings, SHAPES))


def _drawings(markup: bytes) -> Iterator[bytes]:
    """The drawings that hold no script with tags, and end."""
    at = 0
    while (begin := DRAWING.search(markup, at)) and (end := DRAWING_ENDS.search(markup, begin.end())):
        at = end.end()
        if end[0] != SEAM:
            yield markup[begin.start() : at]


def _thinned(source: bytes, tags: int) -> bytes:
    """The source without the tags that go too deep, cut after too many."""
    kept: list[bytes] = []
    depth = at = 0
    left = tags
    for match in TAG.finditer(source):
        left -= not match[1]
        if left < 0:
            kept.append(source[at : match.start()])
            return b"".join(kept)
        name = match[2].lower()
        if name in VOID or name in OPTIONAL:
            continue
        deep = depth > DEPTH
        depth = max(0, depth + (-1 if match[1] else 1))
        if deep:
            kept += (source[at : match.start()], b" ")
            at = match.end()
    kept.append(source[at:])
    return b"".join(kept)
