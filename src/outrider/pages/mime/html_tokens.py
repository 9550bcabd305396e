"""HTML as a stream of tags and text: one pass, no tree.

Trees of hostile pages cost what a reader cannot pay: a hundred thousand open elements take lexbor
12 s, four thousand open `<b a=1>`, `<b a=2>` … before paragraphs 3 GB (the standard reopens each of
them in every paragraph). This scanner takes time and memory in proportion to the source, whatever
stands in it, and follows the tokenizer of html.spec.whatwg.org as far as text and attributes need.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html import unescape
from itertools import islice

# Possessive groups: what was read is never tried again, so each character is looked at once.
TAG_PATTERN = re.compile(
    r"""<(/?)([a-zA-Z][^\s/>]*+)((?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+'|(?!["'])))*+)>""",
)
# Not possessive as a whole: up to Python 3.11.4 a possessive group keeps what its failed last turn has read
# (python/cpython#101955). Nothing follows it, so it never goes back anyway.
TEXT_RUN = re.compile(r"[^<]*+(?:<(?![a-zA-Z/!?])[^<]*+)*")
ATTRIBUTE_PATTERN = re.compile(r"""([^\s"'>/=]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>]++))?""")
MAX_TAG_ATTRIBUTES = 1_000  # of one tag that are looked at
RAW_TEXT_ELEMENTS = frozenset(
    {"script", "style", "xmp", "iframe", "noembed", "noframes", "noscript", "textarea", "title", "plaintext"}
)
VOID_ELEMENTS = frozenset("area base br col embed hr img input link meta param source track wbr".split())  # noqa: SIM905


@dataclass(slots=True)
class HtmlText:
    """Characters between tags; references are not yet resolved, unless they are `literal`."""

    raw: str
    literal: bool = False

    @property
    def text(self) -> str:
        return unescape(self.raw) if "&" in self.raw and not self.literal else self.raw


@dataclass
class HtmlTag:
    """A tag. `content` is what stands inside of elements that hold no markup, such as script."""

    name: str
    closing: bool
    raw: str
    content: str = ""
    start: int = 0
    end: int = 0

    @cached_property
    def attributes(self) -> dict[str, str]:
        """The attributes by lower-case name, the first of equal names, references resolved."""
        found: dict[str, str] = {}
        if self.raw and not self.raw.isspace():
            for match in islice(ATTRIBUTE_PATTERN.finditer(self.raw), MAX_TAG_ATTRIBUTES):
                value = match[2] or ""
                if value[:1] in ('"', "'"):
                    value = value[1:-1]
                found.setdefault(match[1].lower(), unescape(value) if "&" in value else value)
        return found

    def get(self, name: str) -> str:
        """An attribute without spaces around it; empty if missing."""
        return self.attributes.get(name, "").strip() if self.raw else ""

    @property
    def is_void(self) -> bool:
        """Whether the element has no content and no end tag."""
        return self.name in VOID_ELEMENTS


HtmlToken = HtmlText | HtmlTag


def iter_tokens(source: str, *, max_tags: int, xml: bool = False) -> Iterator[HtmlToken]:
    """The source's tags and texts in order; comments, doctypes and instructions are left out.

    Args:
        source: The HTML.
        max_tags: After so many tags the rest is left out.
        xml: Whether it is XML: every element may hold markup, and CDATA sections are text.
    """
    at, left = 0, max_tags
    while at < len(source):
        run = TEXT_RUN.match(source, at)
        end = run.end() if run else at
        if end > at:
            yield HtmlText(source[at:end])
        if end == len(source):
            return
        found, at = _read_markup(source, end, xml=xml)
        if isinstance(found, HtmlTag):
            left -= 1
            if left < 0:
                return
        if found is not None:
            yield found


def _read_markup(source: str, at: int, *, xml: bool) -> tuple[HtmlToken | None, int]:
    """What begins at a `<`, and where it ends."""
    following = source[at + 1 : at + 2]
    if following in ("!", "?"):
        if xml and source.startswith("<![CDATA[", at):
            end = _find_comment_end(source, at)
            return HtmlText(source[at + 9 : end].removesuffix("]]>"), literal=True), end
        return None, _find_comment_end(source, at)
    match = TAG_PATTERN.match(source, at)
    if match is None:
        return _skip_unfinished(source, at, following)
    tag = HtmlTag(match[2].lower(), closing=bool(match[1]), raw=match[3], start=at, end=match.end())
    if tag.name in RAW_TEXT_ELEMENTS and not tag.closing and not xml:
        return _read_raw_text(source, tag)
    return tag, tag.end


def _skip_unfinished(source: str, at: int, following: str) -> tuple[HtmlToken | None, int]:
    """`</` before anything but a letter is a comment; a tag without an end loses what follows, as in browsers."""
    if following == "/" and not source[at + 2 : at + 3].isalpha():
        end = source.find(">", at)
        return None, end + 1 if end != -1 else len(source)
    return None, len(source)


def _find_comment_end(source: str, at: int) -> int:
    if not source.startswith("<!--", at):
        mark, length = ("]]>", 3) if source.startswith("<![CDATA[", at) else (">", 1)
    elif source.startswith((">", "->"), at + 4):
        mark, length = ">", 1
    else:
        mark, length = "-->", 3
    end = source.find(mark, at + 2)
    return len(source) if end == -1 else end + length


def _read_raw_text(source: str, tag: HtmlTag) -> tuple[HtmlTag, int]:
    """An element whose content is text up to its end tag; one token for all of it."""
    end = _closers(tag.name).search(source, tag.end)
    tag.content = source[tag.end : end.start() if end else len(source)]
    tag.end = end.end() if end else len(source)
    return tag, tag.end


RAW_TEXT_END_TAGS = {name: re.compile(rf"</{name}(?=[\s/>])[^>]*+>?", re.IGNORECASE) for name in RAW_TEXT_ELEMENTS}


def _closers(name: str) -> re.Pattern[str]:
    return RAW_TEXT_END_TAGS[name]
