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

from outrider.pages.extraction.parse.attribute_states import AttributeValueTracker
from outrider.pages.extraction.parse.formatting_limit import limit_reopened_formatting
from outrider.pages.extraction.parse.tag_counts import (
    COMMENT_END_PATTERN,
    RAW_TEXT_END_PATTERNS,
    RAW_TEXT_START_PATTERN,
    RAW_TEXT_TAGS,
    count_tags,
)

TAG_PATTERN = re.compile(rb"<(/?)([a-zA-Z][a-zA-Z0-9-]{0,30}+)(?=[\s/>])[^>]*+>?")
TAG_START_PATTERN = re.compile(rb"</?[a-zA-Z][a-zA-Z0-9-]{0,30}")
VOID_TAGS = frozenset(b"area base br col embed hr img input link meta param source track wbr".split())
OPTIONAL_END_TAGS = frozenset(b"p li td th tr dt dd option tbody thead tfoot".split())
TAG_BODY_PATTERN = re.compile(rb"""/?[a-zA-Z!?](?:[^>"']++|"[^"]*+"?|'[^']*+'?)*+""")
TAG_NAME_PATTERN = re.compile(rb"/?[a-zA-Z][a-zA-Z0-9-]{0,30}")
GREATER_THAN_BYTE, EQUALS_BYTE, DOUBLE_QUOTE_BYTE, SINGLE_QUOTE_BYTE, SPACE_BYTE, WHITESPACE_BYTES = (
    *b">=\"' ",
    b" \t\n\r\f\v",
)
VALUE_OR_END_PATTERN = re.compile(rb"""=\s*(?:"[^"]*"?|'[^']*'?)|>""")
RAW_TEXT_CLOSE_PATTERN = re.compile(rb"</(?:" + b"|".join(RAW_TEXT_TAGS) + rb")|--!?>", re.IGNORECASE)
SVG_START_PATTERN, SVG_END_PATTERN = re.compile(rb"<svg[\s>]", re.IGNORECASE), re.compile(rb"</svg|\f", re.IGNORECASE)
SELF_CLOSED_SHAPE_PATTERN = re.compile(
    rb"<(path|rect|circle|ellipse|line|poly(?:line|gon)|use|stop|animate[a-z]*|fe[a-z]+|image)\b[^<>]*/>", re.IGNORECASE
)
SCRIPT_PLACEHOLDER, REMOVED_PLACEHOLDER = (
    b"\f",
    b" ",
)  # white space, where a script that holds tags was, or anything else that was left out
# Without a script, what follows such a frame is its text to the end of the page, as many counters of visits have it.
OPEN_IFRAME_PATTERN = re.compile(rb"<iframe\b[^<>]{0,2000}/>(?=\s{0,20}</noscript)", re.IGNORECASE)
MAX_TAG_BYTES = 20_000  # bytes of one tag; a tree builder's time grows with the square of the number of attributes
MAX_DEPTH = 400  # elements inside of each other; the deepest of 1,497 pages has 180
MAX_TAGS = 50_000  # elements; of 1,497 pages none has more than 16,000


def limit_source(html: bytes | str, limit: int, tags: int = MAX_TAGS) -> bytes:
    """UTF-8 source of at most `limit` bytes and about `tags` elements that is safe to parse.

    What is looked at is four times as long: pictures inside of attributes must not use up the limit.
    """
    max_uncounted_tags = 10_000  # tags in scripts and comments from which these may be none, but begin in an attribute
    whole = html[: limit * 4].encode("utf-8", "replace") if isinstance(html, str) else html[: limit * 4]
    source = _bound_tag_lengths(whole, limit)
    found = count_tags(source)
    if found.has_open_iframe:
        source = _bound_tag_lengths(OPEN_IFRAME_PATTERN.sub(b"", whole), limit)
        found = count_tags(source)
    if _is_safe_to_build(found.names, source, tags, _remove_raw_text):
        if found.openings - found.names.total() <= max_uncounted_tags:
            return limit_reopened_formatting(source, found)
        every = count_tags(source, include_raw_text=True)
        if _is_safe_to_build(every.names, source, tags, bytes):
            return limit_reopened_formatting(source, every)
        return _thin_and_bound(source, tags)
    return _thin_and_bound(_remove_raw_text(source), tags)


def _thin_and_bound(source: bytes, tags: int) -> bytes:
    """The source without tags that go too deep; where these are gone, others may have become long."""
    thin = _bound_tag_lengths(_remove_deep_tags(source, tags), len(source))
    return limit_reopened_formatting(thin, count_tags(thin))


def _bound_tag_lengths(source: bytes, limit: int) -> bytes:
    """So many bytes of a source in which no tag is long."""
    source = _cut_long_gaps(source, b"<", _shorten_text_segment)
    first = source.find(b">")
    if first < 0 or first > MAX_TAG_BYTES:
        first = len(source) if first < 0 else first
        source = _strip_endless_attributes(source[:first]) + source[first:]
    return _shorten_quoted_tags(_cut_long_gaps(source, b">", _strip_endless_attributes)[:limit])


def _is_safe_to_build(names: Counter[bytes], source: bytes, tags: int, part: Callable[[bytes], bytes]) -> bool:
    """Whether so many tags of these names, which stand in a part of the source, can be built as they are."""
    if names.total() > tags:
        return False
    return not _may_nest_too_deep(names) or not _may_nest_too_deep(names - _count_self_closed_shapes(part(source)))


def _cut_long_gaps(source: bytes, sign: bytes, cut: Callable[[bytes], bytes]) -> bytes:
    """The source with what stands between two of these signs cut where they are more than `LONG` bytes apart.

    It goes backwards from as far as a gap may reach, which on most pages is a step every 20,000 bytes.
    """
    parts: list[bytes] = []
    done, at = 0, source.find(sign)
    while 0 <= at < len(source) - MAX_TAG_BYTES - 1:
        after = source.rfind(sign, at + 1, at + MAX_TAG_BYTES + 2)
        if after < 0:
            after = source.find(sign, at + 1)
            after = after if after >= 0 else len(source)
            part = source[at + 1 : after]
            if (kept := cut(part)) is not part:
                parts += (source[done : at + 1], kept)
                done = after
        at = after
    return b"".join([*parts, source[done:]]) if parts else source


def _shorten_quoted_tags(source: bytes) -> bytes:
    """The source without what follows in tags that go on for long behind quoted signs of their end."""
    max_parts = 50  # pieces of a source from which on nothing is taken for a script
    parts: list[bytes] = []
    at = end = 0
    assigning: AttributeValueTracker | None = None  # only where something is long: it looks at each byte
    for start in _iter_quoted_ends(source):
        if start < end or (assigning and not assigning.may_assign_value(start)):
            continue
        end = _find_tag_end(source, start, min(len(source), start + MAX_TAG_BYTES + 1))
        if end - start <= MAX_TAG_BYTES:
            continue
        assigning = assigning or AttributeValueTracker(source)
        if not assigning.may_assign_value(start):
            end = start
            continue
        end = _find_tag_end(source, start, len(source))
        parts += (source[at:start], b">")
        # What ends a script may be quoted, or end one that was taken for a tag.
        closed = RAW_TEXT_CLOSE_PATTERN.search(source, start, end) if len(parts) < max_parts else None
        at = end = closed.start() if closed else end
        assigning.skip_to(at)
    return b"".join([*parts, source[at:]]) if at else source


def _iter_quoted_ends(source: bytes) -> Iterator[int]:
    """Where the signs of equality are whose quoted values hold a `>`, in order, as far as their tags may be long."""
    chunk_bytes = 250_000  # bytes that are looked at together
    codes = np.frombuffer(source, np.uint8)
    last = [-1, -1]  # the sign before the piece, if it is this quotation mark
    for start in range(_find_unsafe_offset(source), len(source), chunk_bytes):
        piece = codes[start : start + chunk_bytes]
        signs = np.flatnonzero(
            (piece == DOUBLE_QUOTE_BYTE) | (piece == SINGLE_QUOTE_BYTE) | (piece == GREATER_THAN_BYTE)
        )
        kinds, found = piece[signs], list[int]()
        for at, other in enumerate((SINGLE_QUOTE_BYTE, DOUBLE_QUOTE_BYTE)):
            of_quote = kinds != other
            opened, last[at] = _select_marks_before_ends(
                signs[of_quote] + start, kinds[of_quote] == GREATER_THAN_BYTE, last[at]
            )
            near = codes[opened - 1]  # of most values these are closing marks behind a letter
            opened = opened[(near == EQUALS_BYTE) | (near <= SPACE_BYTE)].tolist()
            found += [sign for each in opened if (sign := _find_equals_before(source, each)) >= 0]
        yield from sorted(found)


def _find_unsafe_offset(source: bytes) -> int:
    """From where on tags may be long: up to there an end that stands in no value is always near.

    Between two of these ends no tag is longer than the way from one to the other, or none is long as far as it goes.
    """
    max_tries = 16  # ends of tags that are looked at for one that is surely none of a value
    at = 0
    while at < len(source):
        end = source.rfind(b">", at + 1, at + MAX_TAG_BYTES)
        end = end if end >= 0 else source.find(b">", at + 1)
        if end < 0:
            return len(source)
        tries = max_tries
        while _may_be_quoted(source, at + 1, end):
            end, tries = source.rfind(b">", at + 1, end), tries - 1
            if end < 0 or not tries:
                return at
        at = end
    return at


def _may_be_quoted(source: bytes, start: int, at: int) -> bool:
    """Whether what stands there may be part of a value that began behind the start."""
    return any(
        (mark := source.rfind(sign, start, at)) >= 0 and _find_equals_before(source, mark) >= 0 for sign in (b'"', b"'")
    )


def _select_marks_before_ends(
    signs: NDArray[np.int64], ends: NDArray[np.bool_], last: int
) -> tuple[NDArray[np.int64], int]:
    """The quotation marks that no sign sets apart from an end of a tag; the last sign, if it is no end."""
    if not len(signs):
        return signs, last
    marks = signs[:-1][ends[1:] & ~ends[:-1]]
    if ends[0] and last >= 0:
        marks = np.concatenate(([last], marks))
    return marks, -1 if ends[-1] else int(signs[-1])


def _find_equals_before(source: bytes, quote: int) -> int:
    """Where the sign of equality is right before a quotation mark; -1 if there is none."""
    at = quote - 1
    while at >= 0 and source[at] in WHITESPACE_BYTES:
        at -= 1
    return at if at >= 0 and source[at] == EQUALS_BYTE else -1


def _find_tag_end(source: bytes, start: int, limit: int) -> int:
    """Where a tag ends, of which a value begins at `start`; no further than the limit."""
    return next((each.end() for each in VALUE_OR_END_PATTERN.finditer(source, start, limit) if each[0] == b">"), limit)


def _strip_endless_attributes(part: bytes) -> bytes:
    """What stands between two `>`: a tag in it that does not end soon is left with no attributes."""
    found = TAG_START_PATTERN.search(part)
    if not found or len(part) - found.start() <= MAX_TAG_BYTES:
        return part
    return part[: found.end()]


def _remove_raw_text(source: bytes) -> bytes:
    """The source without comments and scripts: an end tag in these ends nothing."""
    parts, at = [], 0
    while found := RAW_TEXT_START_PATTERN.search(source, at):
        close = (RAW_TEXT_END_PATTERNS[found[1].lower()] if found[1] else COMMENT_END_PATTERN).search(
            source, found.end()
        )
        end = close.start() if close else len(source)
        tags = found[1] and source.find(b"<", found.end(), end) >= 0
        parts += (source[at : found.start()], SCRIPT_PLACEHOLDER if tags else REMOVED_PLACEHOLDER)
        at = close.end() if close else len(source)
    return b"".join([*parts, source[at:]]) if parts else source


def _shorten_text_segment(part: bytes) -> bytes:
    """What stands between two `<`, if it is no more than a tag with ordinary attributes and what follows it."""
    found = TAG_BODY_PATTERN.match(part)
    if not found:
        return part[:MAX_TAG_BYTES]
    if found.end() <= MAX_TAG_BYTES:
        return part
    name = TAG_NAME_PATTERN.match(part)
    return (name[0] if name else b"p") + (part[found.end() :] or b">")


def _may_nest_too_deep(names: Counter[bytes]) -> bool:
    """Whether so much is opened and not closed that a tree could become too deep."""
    if names.total() <= MAX_DEPTH:
        return False
    opened: Counter[bytes] = Counter()
    for name, count in names.items():
        closing = name[:1] == b"/"
        opened[name[closing:]] += -count if closing else count
    ended = VOID_TAGS | OPTIONAL_END_TAGS
    return sum([count for name, count in opened.items() if count > 0 and name not in ended]) > MAX_DEPTH


def _count_self_closed_shapes(markup: bytes) -> Counter[bytes]:
    """How often each shape of a drawing closes itself, which only elements of drawings can."""
    max_shapes = 15_000  # elements of drawings that close themselves; so many open ones would take 0.3 s
    drawings = (
        name.lower() for drawing in _iter_svg_sources(markup) for name in SELF_CLOSED_SHAPE_PATTERN.findall(drawing)
    )
    return Counter(islice(drawings, max_shapes))


def _iter_svg_sources(markup: bytes) -> Iterator[bytes]:
    """The drawings that hold no script with tags, and end."""
    at = 0
    while (begin := SVG_START_PATTERN.search(markup, at)) and (end := SVG_END_PATTERN.search(markup, begin.end())):
        at = end.end()
        if end[0] != SCRIPT_PLACEHOLDER:
            yield markup[begin.start() : at]


def _remove_deep_tags(source: bytes, tags: int) -> bytes:
    """The source without the tags that go too deep, cut after too many."""
    kept: list[bytes] = []
    depth = at = 0
    left = tags
    for match in TAG_PATTERN.finditer(source):
        left -= not match[1]
        if left < 0:
            kept.append(source[at : match.start()])
            return b"".join(kept)
        name = match[2].lower()
        if name in VOID_TAGS or name in OPTIONAL_END_TAGS:
            continue
        deep = depth > MAX_DEPTH
        depth = max(0, depth + (-1 if match[1] else 1))
        if deep:
            kept += (source[at : match.start()], b" ")
            at = match.end()
    kept.append(source[at:])
    return b"".join(kept)
