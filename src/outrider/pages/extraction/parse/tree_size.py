"""Cut sources whose tree would take too much memory.

The parser takes about 300 bytes for an element with its text, and 270 for each attribute, also for one without a value.
"""

import re

from outrider.pages.extraction.parse.source_limits import remove_raw_text

TAG_PATTERN = re.compile(rb"""<[a-zA-Z](?:[^>"']++|"[^"]*+"?|'[^']*+'?)*+""")
ATTRIBUTE_PATTERN = re.compile(rb"""[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+""")
ELEMENT_BYTES, ATTRIBUTE_BYTES = 300, 270
MAX_TREE_BYTES = 23_000_000


def limit_tree_size(source: bytes) -> tuple[bytes, bool]:
    """Return the source up to where its tree would be too large, and whether that is before its end.

    Of a source that is cut, comments and scripts are left out.

    Args:
        source: HTML with tags of bounded length.
    """
    max_comment_bytes = MAX_TREE_BYTES // 10  # many comments are left out before anything that is shown
    if _is_small_tree(source):
        return source, False
    markup = remove_raw_text(source)  # the signs of scripts make no elements
    size = source.count(b"<!--") * ELEMENT_BYTES
    if size > max_comment_bytes:
        source, size = markup, 0
    for tag in TAG_PATTERN.finditer(markup):
        size += ELEMENT_BYTES + ATTRIBUTE_BYTES * (len(ATTRIBUTE_PATTERN.findall(tag[0])) - 1)
        if size > MAX_TREE_BYTES:
            return markup[: tag.start()], True
    return source, False


def _is_small_tree(source: bytes) -> bool:
    """Return whether the tree is certainly small, by counts that are quick to make."""
    min_attribute_bytes = 8  # shorter ones take twice as much, and leave nothing for blocks to take
    left = (MAX_TREE_BYTES - source.count(b"<") * ELEMENT_BYTES) // ATTRIBUTE_BYTES
    if len(source) // min_attribute_bytes <= left:
        return True
    other = bytes({*range(256)}.difference(b" \t\n\f\r/="))  # of these one stands before each attribute or in it
    tags = TAG_PATTERN.findall
    return len(source.translate(None, other)) <= left or len(b"".join(tags(source)).translate(None, other)) <= left
