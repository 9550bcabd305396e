"""Compare the Markdown that a site publishes of a page with our own reading of the page."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from urllib.parse import urlsplit

from outrider.core.http import HttpResponse
from outrider.pages.document import Document, strip_markdown
from outrider.pages.fetched_page import MARKDOWN_TWIN_KEY, FetchedPage
from outrider.pages.urls import resolve_url

LINK_ELEMENT = re.compile(r"<link\b[^>]{0,2000}>", re.IGNORECASE)
ATTRIBUTE = re.compile(r"(?<![a-z-])([a-z-]++)\s*+=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>\"']+))", re.IGNORECASE)
LINK_HEADER = re.compile(r"<([^<>]{1,2000})>((?:\s*;\s*[\w*-]+\s*=\s*(?:\"[^\"]{0,200}\"|[^\s,;\"]{1,200})){1,10})")
WORD = re.compile(r"\w+")
CODE_FENCE = re.compile(r"^ {0,3}(`{3,}+|~{3,}+)[^\n]*+\n.*?(?:^ {0,3}\1[`~]*+[ \t]*+$|\Z)", re.MULTILINE | re.DOTALL)
# What a reader of rendered Markdown never sees: comments, and link definitions that are used as comments.
HIDDEN_MARKDOWN = re.compile(
    r"<!--.*?(?:-->|\Z)|^\[(?://|comment)?[^\[\]\n]{0,100}\]:[ \t]*(?:#|<>)[^\n]*$", re.MULTILINE | re.DOTALL
)
LINKED_HOST = re.compile(r"(?:https?:)?//([\w.-]+)", re.IGNORECASE)


@dataclass(frozen=True)
class ShownTwin:
    """The part of a twin that its page shows.

    Attributes:
        markdown: The twin without the lines that no person sees on the page.
        unseen_lines: Those lines.
    """

    markdown: str
    unseen_lines: frozenset[str]


def find_markdown_twin(page: FetchedPage, response: HttpResponse) -> str:
    """Return the Markdown that a page declares on its own host, in its head or a Link header, or "".

    Both say `rel=alternate type=text/markdown`. The page's own address means that it depends on the Accept header.
    """
    head_chars = 100_000
    head = (page.html or "")[:head_chars]
    elements = LINK_ELEMENT.findall(head) if "text/markdown" in head else []
    links = [(given.get("href", "").replace("&amp;", "&"), given) for given in map(_read_attributes, elements)]
    links += [
        (match[1], _read_attributes(match[2])) for match in LINK_HEADER.finditer(response.headers.get("link", ""))
    ]
    for target, given in links:
        is_markdown = given.get("type", "").partition(";")[0].strip().lower() == "text/markdown"
        if is_markdown and "alternate" in given.get("rel", "").lower().split() and target:
            address = resolve_url(target, page.url).partition("#")[0]
            if address and urlsplit(address)[:2] == urlsplit(page.url)[:2]:
                return address
    return ""


def _read_attributes(text: str) -> dict[str, str]:
    return {match[1].lower(): match[2] or match[3] or match[4] or "" for match in ATTRIBUTE.finditer(text)}


def match_twin(ours: Document, twin: str, html: str) -> ShownTwin | None:
    """Return what a page shows of its twin; None if that is less than our reading, or says something else.

    Lines that the page does not show may be instructions for models, so they are left out. A twin with many of them,
    with such lines in its listings, or with addresses on hosts that the page does not name is not used at all.
    """
    min_words, min_kept, max_ratio = 20, 0.95, 1.15
    max_unseen_words = 60  # of left out lines; an index for models that documentation sites put before each page has 30
    shown_words = _split_words(f"{ours.title}\n{ours.text}")
    shown_pairs = set(pairwise(shown_words))
    text = HIDDEN_MARKDOWN.sub("", twin)
    if any(_is_unseen(_split_words(code), shown_pairs) for is_code, code in _split_code(text) if is_code):
        return None
    unseen = frozenset(_find_unseen_lines(text, shown_pairs))
    kept_text = drop_lines(text, unseen)
    published, shown = Counter(_split_words(strip_markdown(kept_text))), Counter(shown_words)
    body = Counter(_split_words(ours.text))
    is_complete = body.total() >= min_words and (body & published).total() >= min_kept * body.total()
    added = (published - shown).total()
    is_short = published.total() <= max_ratio * shown.total() and added <= 10 + 0.05 * published.total()
    unseen_words = sum(len(WORD.findall(line)) for line in unseen)
    named = html.lower() + ours.markdown.lower()
    has_known_hosts = all(host in named for host in {match[1].lower() for match in LINKED_HOST.finditer(kept_text)})
    if not (is_complete and is_short and has_known_hosts) or unseen_words > max(
        max_unseen_words, 0.15 * len(shown_words)
    ):
        return None
    return ShownTwin(kept_text.strip(), unseen)


def drop_lines(markdown: str, unseen_lines: frozenset[str]) -> str:
    """Return Markdown without comments and without these lines; listings stay as they are."""
    parts = []
    for is_code, text in _split_code(HIDDEN_MARKDOWN.sub("", markdown)):
        lines = text.split("\n")
        parts.append(text if is_code else "\n".join(line for line in lines if line.strip() not in unseen_lines))
    return re.sub(r"\n{3,}", "\n\n", "".join(parts)) if unseen_lines else "".join(parts)


def apply_twin(page: FetchedPage, markdown: str, address: str) -> FetchedPage:
    """Return the page with the text of its twin; all other facts are those of the page."""
    document = page.document
    metadata = document.metadata | {MARKDOWN_TWIN_KEY: address}
    return replace(
        page, document=replace(document, markdown=markdown, text=strip_markdown(markdown), metadata=metadata)
    )


def _split_code(markdown: str) -> Iterator[tuple[bool, str]]:
    """Yield the pieces of a Markdown text, and whether each is a fenced listing."""
    start = 0
    for match in CODE_FENCE.finditer(markdown):
        yield False, markdown[start : match.start()]
        yield True, match[0]
        start = match.end()
    yield False, markdown[start:]


def _find_unseen_lines(markdown: str, shown_pairs: set[tuple[str, str]]) -> Iterator[str]:
    """Yield the lines that a page does not show; all lines of a paragraph that it does not show as a whole."""
    for is_code, text in _split_code(markdown):
        for paragraph in [] if is_code else re.split(r"\n[ \t]*\n", text):
            lines = [line.strip() for line in paragraph.split("\n") if line.strip()]
            is_unseen = _is_unseen(_split_words(strip_markdown(paragraph)), shown_pairs)
            yield from (
                line for line in lines if is_unseen or _is_unseen(_split_words(strip_markdown(line)), shown_pairs)
            )


def _split_words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def _is_unseen(words: list[str], shown_pairs: set[tuple[str, str]]) -> bool:
    """Return whether most neighbouring words of a passage are not neighbours on the page."""
    min_words, min_share = 4, 0.5
    seen = sum(pair in shown_pairs for pair in pairwise(words))
    return len(words) >= min_words and seen < min_share * (len(words) - 1)
