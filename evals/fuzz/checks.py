"""Check the invariants of documents of any type."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

WORD = re.compile(r"\w+")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
LINK_TARGET = re.compile(r"\]\((?:<[^<>\n]*>|(?:[^()\s<>]|\([^()\s]*\))*)\)")
LIST_NUMBER = re.compile(r"^[>\s]*(?:[-*] |\d+[.)] )*\d+[.)] ", re.MULTILINE)
FENCE = re.compile(r"^([>\s]*(?:[-*] |\d+\. )*)`{3,}[\w+#-]*$", re.MULTILINE)
MARKDOWN_MARKS = str.maketrans("", "", "[]*~`\\|^")
ABSOLUTE_ADDRESS = re.compile(r"^(?:https?://|mailto:)", re.IGNORECASE)
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)


class BrokenInvariant(AssertionError):
    """Raised if an invariant does not hold; the message's first word names it."""


def count_words(text: str) -> Counter[str]:
    """Count the words of a text without Markdown's marks, which may be inside words."""
    return Counter(WORD.findall(text.translate(MARKDOWN_MARKS).lower()))


def count_shown_words(markdown: str) -> Counter[str]:
    """Count the words that a reader of Markdown sees."""
    return count_words(LIST_NUMBER.sub(" ", FENCE.sub(r"\1", remove_link_targets(markdown))))


def remove_link_targets(markdown: str) -> str:
    """Remove the targets of links from Markdown."""
    return LINK_TARGET.sub("", markdown)


def check_words_agree(text: str, markdown: str) -> Iterator[str]:
    """Check that text and Markdown have the same words."""
    max_different_words = 3  # words that text and Markdown may differ in: marks in the middle of words
    shown = count_words(remove_link_targets(markdown)) | count_words(
        remove_link_targets(markdown.replace("]\\(", "]("))
    )  # as in the text
    if (lost := count_shown_words(text) - shown).total() > max_different_words:
        yield f"agree: words of the text that the Markdown lacks: {list(lost.elements())[:8]}"
    known = count_words(text) | count_words(
        remove_link_targets(text)
    )  # cells that span rows or columns are repeated, so only new words count
    if len(added := [word for word in count_shown_words(markdown) if word not in known]) > max_different_words:
        yield f"agree: words of the Markdown that the text lacks: {added[:8]}"


def check_control_characters(markdown: str, text: str) -> Iterator[str]:
    """Check that no character breaks a terminal or a JSON parser."""
    for name, value in (("markdown", markdown), ("text", text)):
        if found := CONTROL.search(value):
            yield f"control: {found[0]!r} in the {name} at {found.start()}"


def check_links(document: Any) -> Iterator[str]:
    """Check that addresses are absolute."""
    for link in document.links:
        if not ABSOLUTE_ADDRESS.match(link.url) or CONTROL.search(link.url) or " " in link.url:
            yield f"link: {link.url[:80]!r} is not absolute"
    for image in document.images:
        if not ABSOLUTE_ADDRESS.match(image.url):
            yield f"image: {image.url[:80]!r} is not absolute"


def check_link_targets(markdown: str, source: str) -> Iterator[str]:
    """Check that targets in Markdown are absolute, unless they are text of the page."""
    for found in LINK_TARGET.finditer(markdown):
        target = found[0][2:-1].strip("<>")
        if target and not SCHEME.match(target) and target != "#" and found[0] not in source:
            yield f"target: {target[:80]!r} is not absolute"
        if target.lower().startswith(("javascript:", "data:", "vbscript:", "file:")) and found[0] not in source:
            yield f"target: {target[:40]!r} is not an address for a reader"
