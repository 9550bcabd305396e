"""Cut sources whose tree would take too much memory.

The parser takes about 300 bytes for an element with its text, and nearly as many for each attribute, also for one
without a value.
"""

import re

from outrider.pages.extraction.parse.source_limits import remove_raw_text

TAG_PATTERN = re.compile(rb"""<[a-zA-Z](?:[^>"']++|"[^"]*+"?|'[^']*+'?)*+""")
NODE_BYTES, MAX_TREE_BYTES = 300, 23_000_000


def limit_tree_size(source: bytes) -> tuple[bytes, bool]:
    """Cut the source where its tree would be too large.

    Also return whether something was cut.

    Of a source that is cut, comments and scripts are left out.

    Args:
        source: HTML with tags of bounded length.
    """
    max_comment_bytes = MAX_TREE_BYTES // 10  # many comments are removed before visible content
    min_attribute_bytes = 8  # shorter ones take twice as much, and leave nothing for blocks to take
    nodes_left = MAX_TREE_BYTES // NODE_BYTES - source.count(b"<")
    if len(source) // min_attribute_bytes <= nodes_left:
        return source, False
    other = bytes({*range(256)}.difference(b" \t\n\f\r/="))  # one of these is before or in each attribute
    tags = TAG_PATTERN.findall
    if (
        len(source.translate(None, other)) <= nodes_left
        or len(b"".join(tags(source)).translate(None, other)) <= nodes_left
    ):
        return source, False
    find_attributes = re.compile(rb"""[^\s/>=][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+))?+""").findall
    markup = remove_raw_text(source)  # scripts do not create elements
    size = source.count(b"<!--") * NODE_BYTES
    if size > max_comment_bytes:
        source, size = markup, 0
    for tag in TAG_PATTERN.finditer(markup):
        size += NODE_BYTES * len(find_attributes(tag[0]))  # the name of the tag counts for the element
        if size > MAX_TREE_BYTES:
            return markup[: tag.start()], True
    return source, False
