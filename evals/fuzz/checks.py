"""Check the invariants of every document, whatever it was read from."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

WORD = re.compile(r"\w+")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
TARGET = re.compile(r"\]\((?:<[^<>\n]*>|(?:[^()\s<>]|\([^()\s]*\))*)\)")
NUMBERED = re.compile(r"^[>\s]*(?:[-*] |\d+[.)] )*\d+[.)] ", re.MULTILINE)
FENCE = re.compile(r"^([>\s]*(?:[-*] |\d+\. )*)`{3,}[\w+#-]*$", re.MULTILINE)
MARKS = str.maketrans("", "", "[]*~`\\|^")
ABSOLUTE = re.compile(r"^(?:https?://|mailto:)", re.IGNORECASE)
SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
DIFFERENT = 3  # words that text and Markdown may differ in: marks in the middle of words


class Broken(AssertionError):
    """An invariant does not hold; the first word of the message names it."""


def words(text: str) -> Counter[str]:
    """The words of a text, marks of Markdown taken out first: they may stand inside of a word."""
    return Counter(WORD.findall(text.translate(MARKS).lower()))


def said(markdown: str) -> Counter[str]:
    """The words that a reader of Markdown sees."""
    return words(NUMBERED.sub(" ", FENCE.sub(r"\1", unaddressed(markdown))))


def unaddressed(markdown: str) -> str:
    """Markdown without the targets of its links."""
    return TARGET.sub("", markdown)


def agree(text: str, markdown: str) -> Iterator[str]:
    """Text and Markdown hold the same words."""
    shown = words(unaddressed(markdown)) | words(unaddressed(markdown.replace("]\\(", "](")))  # as the text has it
    if (lost := said(text) - shown).total() > DIFFERENT:
        yield f"agree: words of the text that the Markdown lacks: {list(lost.elements())[:8]}"
    known = words(text) | words(unaddressed(text))  # cells that span are repeated: only new words count
    if len(added := [word for word in said(markdown) if word not in known]) > DIFFERENT:
        yield f"agree: words of the Markdown that the text lacks: {added[:8]}"


def clean(markdown: str, text: str) -> Iterator[str]:
    """Nothing that a terminal or a parser of JSON would stumble over."""
    for name, value in (("markdown", markdown), ("text", text)):
        if found := CONTROL.search(value):
            yield f"control: {found[0]!r} in the {name} at {found.start()}"


def linked(document: Any) -> Iterator[str]:
    """Addresses are absolute."""
    for link in document.links:
        if not ABSOLUTE.match(link.url) or CONTROL.search(link.url) or " " in link.url:
            yield f"link: {link.url[:80]!r} is not absolute"
    for image in document.images:
        if not ABSOLUTE.match(image.url):
            yield f"image: {image.url[:80]!r} is not absolute"


def pointed(markdown: str, source: str) -> Iterator[str]:
    """Targets in Markdown are absolute, but for what stood as such in the page's own words."""
    for found in TARGET.finditer(markdown):
        target = found[0][2:-1].strip("<>")
        if target and not SCHEME.match(target) and target != "#" and found[0] not in source:
            yield f"target: {target[:80]!r} is not absolute"
        if target.lower().startswith(("javascript:", "data:", "vbscript:", "file:")) and found[0] not in source:
            yield f"target: {target[:40]!r} is no address for a reader"
