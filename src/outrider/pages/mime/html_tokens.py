"""Scan HTML as tags and text, without building a tree.

Trees of hostile pages can take minutes and gigabytes to build. This scanner takes time and memory in proportion to the
source, and follows the tokenizer of html.spec.whatwg.org where text and attributes need it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from itertools import islice

# Possessive groups never backtrack, so each character is read once.
TAG_PATTERN = re.compile(
    r"""<(/?)([a-zA-Z][^\s/>]*+)((?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'])))*+)>""",
)
# Not possessive as a whole: up to Python 3.11.4 a possessive group keeps what its failed last iteration read
# (python/cpython#101955). Nothing follows it, so it never backtracks anyway.
TEXT_RUN = re.compile(r"[^<]*+(?:<(?![a-zA-Z/!?])[^<]*+)*")
ATTRIBUTE_PATTERN = re.compile(r"""([^\s"'>/=]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>]++))?""")
RAW_TEXT_ELEMENTS = frozenset(
    {"script", "style", "xmp", "iframe", "noembed", "noframes", "noscript", "textarea", "title", "plaintext"}
)
RAW_TEXT_END_TAGS = {name: re.compile(rf"</{name}(?=[\s/>])[^>]*+>?", re.IGNORECASE) for name in RAW_TEXT_ELEMENTS}
VOID_ELEMENTS = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905


@dataclass(slots=True)
class HtmlText:
    """Text between tags. Character references are unresolved unless it is `literal`."""

    raw: str
    literal: bool = False

    @property
    def text(self) -> str:
        return unescape(self.raw) if "&" in self.raw and not self.literal else self.raw


@dataclass
class HtmlTag:
    """A tag, with the `content` of elements that hold no markup, such as script."""

    name: str
    closing: bool
    raw: str
    content: str = ""
    start: int = 0
    end: int = 0

    @cached_property
    def attributes(self) -> dict[str, str]:
        """The attributes by lower-case name, with references resolved and the first of equal names."""
        max_attributes = 1_000
        attributes: dict[str, str] = {}
        if self.raw and not self.raw.isspace():
            for match in islice(ATTRIBUTE_PATTERN.finditer(self.raw), max_attributes):
                value = match[2] or ""
                if value[:1] in ('"', "'"):
                    value = value[1:-1]
                attributes.setdefault(match[1].lower(), unescape(value) if "&" in value else value)
        return attributes

    def get(self, name: str) -> str:
        """Return an attribute without spaces around it, or ""."""
        return self.attributes.get(name, "").strip() if self.raw else ""

    @property
    def is_void(self) -> bool:
        """Whether the element has no content and no end tag."""
        return self.name in VOID_ELEMENTS


HtmlToken = HtmlText | HtmlTag


def iter_tokens(source: str, *, max_tags: int, xml: bool = False) -> Iterator[HtmlToken]:
    """Yield the tags and texts of a source in order, without comments, doctypes and instructions.

    Args:
        source: The HTML.
        max_tags: Number of tags after which to stop.
        xml: Whether this is XML, where every element may hold markup and CDATA sections are text.
    """
    at, tags_left = 0, max_tags
    while at < len(source):
        run = TEXT_RUN.match(source, at)
        end = run.end() if run else at
        if end > at:
            yield HtmlText(source[at:end])
        if end == len(source):
            return
        token, at = _read_markup(source, end, xml=xml)
        if isinstance(token, HtmlTag):
            tags_left -= 1
            if tags_left < 0:
                return
        if token is not None:
            yield token


def _read_markup(source: str, at: int, *, xml: bool) -> tuple[HtmlToken | None, int]:
    """Return the token that begins at a `<`, if any, and where it ends."""
    following = source[at + 1 : at + 2]
    if following in ("!", "?"):
        if xml and source.startswith("<![CDATA[", at):
            end = _find_comment_end(source, at)
            return HtmlText(source[at + 9 : end].removesuffix("]]>"), literal=True), end
        return None, _find_comment_end(source, at)
    match = TAG_PATTERN.match(source, at)
    if match is None:
        # `</` before anything but a letter is a comment. A tag without an end hides all text after it, as in browsers.
        is_comment = following == "/" and not source[at + 2 : at + 3].isalpha()
        end = source.find(">", at) if is_comment else -1
        return None, end + 1 if end >= 0 else len(source)
    tag = HtmlTag(match[2].lower(), closing=bool(match[1]), raw=match[3], start=at, end=match.end())
    if tag.name in RAW_TEXT_ELEMENTS and not tag.closing and not xml:
        # Everything up to the end tag is text.
        end_tag = RAW_TEXT_END_TAGS[tag.name].search(source, tag.end)
        tag.content = source[tag.end : end_tag.start() if end_tag else len(source)]
        tag.end = end_tag.end() if end_tag else len(source)
    return tag, tag.end


def _find_comment_end(source: str, at: int) -> int:
    if not source.startswith("<!--", at):
        mark, length = ("]]>", 3) if source.startswith("<![CDATA[", at) else (">", 1)
    elif source.startswith((">", "->"), at + 4):
        mark, length = ">", 1
    else:
        mark, length = "-->", 3
    end = source.find(mark, at + 2)
    return len(source) if end == -1 else end + length
