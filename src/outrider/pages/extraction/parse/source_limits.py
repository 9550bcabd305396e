"""Rewrite sources that would cost a tree builder too much.

It takes time proportional to their size.

At each tag the HTML standard asks which elements are open, so a hundred thousand open elements take the parser many
seconds, and as many attributes of one element take minutes. `formatting_limit.py` limits what each block reopens.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from outrider.pages.extraction.parse.attribute_states import AttributeValueTracker
from outrider.pages.extraction.parse.formatting_limit import limit_reopened_formatting
from outrider.pages.extraction.parse.tag_counts import (
    COMMENT_END_PATTERN,
    RAW_TEXT_END_PATTERNS,
    RAW_TEXT_START_PATTERN,
    RAW_TEXT_TAGS,
    TagCounts,
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
SCRIPT_PLACEHOLDER = b"\f"  # replaces a script that contained tags
# Everything after such a frame would be its text. Many visit counters have one in a noscript.
OPEN_IFRAME_PATTERN = re.compile(rb"<iframe\b[^<>]{0,2000}/>(?=\s{0,20}</noscript)", re.IGNORECASE)
MAX_TAG_BYTES = 20_000  # a tree builder's time grows with the square of the number of attributes
MAX_DEPTH = 400  # the deepest page of the evaluation corpus has 180 levels
MAX_TAGS = 50_000  # no page of the evaluation corpus has more than 16,000


def limit_source(html: bytes | str, limit: int, tags: int = MAX_TAGS) -> bytes:
    """Return UTF-8 source of at most `limit` bytes and about `tags` elements that is safe to parse.

    Four times as much is read, because images inside attributes must not use up the limit.
    """
    prefix = html[: limit * 4].encode("utf-8", "replace") if isinstance(html, str) else html[: limit * 4]
    source = _bound_tag_lengths(prefix, limit)
    tags_found = count_tags(source)
    if tags_found.has_open_iframe:
        source = _bound_tag_lengths(OPEN_IFRAME_PATTERN.sub(b"", prefix), limit)
        tags_found = count_tags(source)
    return _limit_elements(source, tags_found, tags)


def _limit_elements(source: bytes, tags_found: TagCounts, tags: int) -> bytes:
    """Return the source with about `tags` elements.

    None are nested or reopened too often.
    """
    max_uncounted_tags = 10_000  # with more tags in scripts and comments, these may begin in an attribute
    if _is_safe_to_build(tags_found.names, source, tags, remove_raw_text):
        if tags_found.openings - tags_found.names.total() <= max_uncounted_tags:
            return limit_reopened_formatting(source, tags_found)
        all_tags = count_tags(source, include_raw_text=True)
        if _is_safe_to_build(all_tags.names, source, tags, bytes):
            return limit_reopened_formatting(source, all_tags)
        return _thin_and_bound(source, tags)
    return _thin_and_bound(remove_raw_text(source), tags)


def _thin_and_bound(source: bytes, tags: int) -> bytes:
    """Remove tags that are nested too deep, and shorten tags that became long by that."""
    parts: list[bytes] = []
    depth = at = 0
    tags_left = tags
    for match in TAG_PATTERN.finditer(source):
        tags_left -= not match[1]
        if tags_left < 0:
            parts.append(source[at : match.start()])
            break
        name = match[2].lower()
        if name in VOID_TAGS or name in OPTIONAL_END_TAGS:
            continue
        deep = depth > MAX_DEPTH
        depth = max(0, depth + (-1 if match[1] else 1))
        if deep:
            parts += (source[at : match.start()], b" ")
            at = match.end()
    else:
        parts.append(source[at:])
    thinned = _bound_tag_lengths(b"".join(parts), len(source))
    return limit_reopened_formatting(thinned, count_tags(thinned))


def _bound_tag_lengths(source: bytes, limit: int) -> bytes:
    """Return at most `limit` bytes of a source without long tags."""
    source = _cut_long_gaps(source, b"<", _shorten_text_segment)
    first_end = source.find(b">")
    if first_end < 0 or first_end > MAX_TAG_BYTES:
        first_end = len(source) if first_end < 0 else first_end
        source = _strip_endless_attributes(source[:first_end]) + source[first_end:]
    return _shorten_quoted_tags(_cut_long_gaps(source, b">", _strip_endless_attributes)[:limit])


def _is_safe_to_build(names: Counter[bytes], source: bytes, tags: int, part: Callable[[bytes], bytes]) -> bool:
    """Return whether a tree builder can take these tags, which are in a part of the source."""
    if names.total() > tags:
        return False
    return not _may_nest_too_deep(names) or not _may_nest_too_deep(names - _count_self_closed_shapes(part(source)))


def _cut_long_gaps(source: bytes, sign: bytes, cut: Callable[[bytes], bytes]) -> bytes:
    """Apply `cut` between two of these characters if they are more than `MAX_TAG_BYTES` bytes apart.

    The search goes backwards from as far as a gap may reach, which on most pages is one step for each 20,000 bytes.
    """
    parts: list[bytes] = []
    done, at = 0, source.find(sign)
    while 0 <= at < len(source) - MAX_TAG_BYTES - 1:
        next_sign = source.rfind(sign, at + 1, at + MAX_TAG_BYTES + 2)
        if next_sign < 0:
            next_sign = source.find(sign, at + 1)
            next_sign = next_sign if next_sign >= 0 else len(source)
            part = source[at + 1 : next_sign]
            if (shortened := cut(part)) is not part:
                parts += (source[done : at + 1], shortened)
                done = next_sign
        at = next_sign
    return b"".join([*parts, source[done:]]) if parts else source


def _shorten_quoted_tags(source: bytes) -> bytes:
    """Cut tags that are long because a quoted value holds a `>`."""
    max_parts = 50  # further ones are not checked for the end of a script
    parts: list[bytes] = []
    at = end = 0
    tracker: AttributeValueTracker | None = None  # only for long tags, because it looks at each byte
    for start in _iter_quoted_ends(source):
        if start < end or (tracker and not tracker.may_assign_value(start)):
            continue
        end = _find_tag_end(source, start, min(len(source), start + MAX_TAG_BYTES + 1))
        if end - start <= MAX_TAG_BYTES:
            continue
        tracker = tracker or AttributeValueTracker(source)
        if not tracker.may_assign_value(start):
            end = start
            continue
        end = _find_tag_end(source, start, len(source))
        parts += (source[at:start], b">")
        # The end of a script may be quoted, or end a script that was taken for a tag.
        script_end = RAW_TEXT_CLOSE_PATTERN.search(source, start, end) if len(parts) < max_parts else None
        at = end = script_end.start() if script_end else end
        tracker.skip_to(at)
    return b"".join([*parts, source[at:]]) if at else source


def _iter_quoted_ends(source: bytes) -> Iterator[int]:
    """Yield the offsets of equals signs whose quoted values hold `>`.

    Tags may be long there.
    """
    chunk_bytes = 250_000  # read together
    codes = np.frombuffer(source, np.uint8)
    last = [-1, -1]  # for each quotation mark, its offset if it is the last relevant character before the chunk
    for start in range(_find_unsafe_offset(source), len(source), chunk_bytes):
        chunk = codes[start : start + chunk_bytes]
        signs = np.flatnonzero(
            (chunk == DOUBLE_QUOTE_BYTE) | (chunk == SINGLE_QUOTE_BYTE) | (chunk == GREATER_THAN_BYTE)
        )
        kinds, equals_signs = chunk[signs], list[int]()
        for index, other_quote in enumerate((SINGLE_QUOTE_BYTE, DOUBLE_QUOTE_BYTE)):
            is_relevant = kinds != other_quote
            opening, last[index] = _select_marks_before_ends(
                signs[is_relevant] + start, kinds[is_relevant] == GREATER_THAN_BYTE, last[index]
            )
            before = codes[opening - 1]  # mostly a letter, before a mark that closes a value
            opening = opening[(before == EQUALS_BYTE) | (before <= SPACE_BYTE)].tolist()
            equals_signs += [sign for quote in opening if (sign := _find_equals_before(source, quote)) >= 0]
        yield from sorted(equals_signs)


def _find_unsafe_offset(source: bytes) -> int:
    """Return the offset from which tags may be long.

    Before it, an end that is not part of a value is always near, so no tag is longer than the distance between two.
    """
    max_tries = 16  # tag ends to check for one outside a value
    at = 0
    while at < len(source):
        end = source.rfind(b">", at + 1, at + MAX_TAG_BYTES)
        end = end if end >= 0 else source.find(b">", at + 1)
        if end < 0:
            return len(source)
        tries = max_tries
        while any(_find_equals_before(source, source.rfind(quote, at + 1, end)) >= 0 for quote in (b'"', b"'")):
            end, tries = source.rfind(b">", at + 1, end), tries - 1
            if end < 0 or not tries:
                return at
        at = end
    return at


def _select_marks_before_ends(
    signs: NDArray[np.int64], ends: NDArray[np.bool_], last: int
) -> tuple[NDArray[np.int64], int]:
    """Return quotation marks right before tag ends.

    The last sign is returned if it is not an end.
    """
    if not len(signs):
        return signs, last
    marks = signs[:-1][ends[1:] & ~ends[:-1]]
    if ends[0] and last >= 0:
        marks = np.concatenate(([last], marks))
    return marks, -1 if ends[-1] else int(signs[-1])


def _find_equals_before(source: bytes, quote: int) -> int:
    """Return the offset of the equals sign right before a quotation mark, or -1."""
    at = quote - 1
    while at >= 0 and source[at] in WHITESPACE_BYTES:
        at -= 1
    return at if at >= 0 and source[at] == EQUALS_BYTE else -1


def _find_tag_end(source: bytes, start: int, limit: int) -> int:
    """Return the end of a tag whose value begins at `start`, at most `limit`."""
    matches = VALUE_OR_END_PATTERN.finditer(source, start, limit)
    return next((match.end() for match in matches if match[0] == b">"), limit)


def _strip_endless_attributes(part: bytes) -> bytes:
    """Remove the attributes of a tag that does not end soon.

    The part lies between two `>`.
    """
    match = TAG_START_PATTERN.search(part)
    if not match or len(part) - match.start() <= MAX_TAG_BYTES:
        return part
    return part[: match.end()]


def remove_raw_text(source: bytes) -> bytes:
    """Return the source without comments and scripts, whose end tags end nothing."""
    markup, at = bytearray(), 0  # a list of parts would take a hundred bytes for each comment
    while opening := RAW_TEXT_START_PATTERN.search(source, at):
        closing = (RAW_TEXT_END_PATTERNS[opening[1].lower()] if opening[1] else COMMENT_END_PATTERN).search(
            source, opening.end()
        )
        end = closing.start() if closing else len(source)
        is_script_with_tags = opening[1] and source.find(b"<", opening.end(), end) >= 0
        markup += source[at : opening.start()] + (SCRIPT_PLACEHOLDER if is_script_with_tags else b" ")
        at = closing.end() if closing else len(source)
    return bytes(markup + source[at:]) if at else source


def _shorten_text_segment(part: bytes) -> bytes:
    """Cut a part between two `<` unless it is an ordinary tag."""
    match = TAG_BODY_PATTERN.match(part)
    if not match:
        return part[:MAX_TAG_BYTES]
    if match.end() <= MAX_TAG_BYTES:
        return part
    name = TAG_NAME_PATTERN.match(part)
    return (name[0] if name else b"p") + (part[match.end() :] or b">")


def _may_nest_too_deep(names: Counter[bytes]) -> bool:
    """Return whether more elements may stay open than a tree may be deep."""
    if names.total() <= MAX_DEPTH:
        return False
    open_tags: Counter[bytes] = Counter()
    for name, count in names.items():
        closing = name[:1] == b"/"
        open_tags[name[closing:]] += -count if closing else count
    not_nesting = VOID_TAGS | OPTIONAL_END_TAGS
    return sum([count for name, count in open_tags.items() if count > 0 and name not in not_nesting]) > MAX_DEPTH


def _count_self_closed_shapes(markup: bytes) -> Counter[bytes]:
    """Count the shapes of drawings that close themselves, which only elements of drawings can."""
    max_shapes = 15_000  # as many open elements are still fast
    names: list[bytes] = []
    at = 0
    while (
        len(names) < max_shapes
        and (begin := SVG_START_PATTERN.search(markup, at))
        and (end := SVG_END_PATTERN.search(markup, begin.end()))
    ):
        at = end.end()
        if end[0] != SCRIPT_PLACEHOLDER:  # a drawing with a script may not end there
            names += SELF_CLOSED_SHAPE_PATTERN.findall(markup, begin.start(), at)
    return Counter(name.lower() for name in names[:max_shapes])
