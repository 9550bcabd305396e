"""Read RSS, Atom, RDF and JSON Feed as lists of entries.

Feeds are read as a stream of tags, not as XML: real ones are often malformed, and hostile ones hold entities that
expand without end. It is also many times faster than feedparser.
"""

import json
from dataclasses import dataclass, field, replace
from typing import Any

from outrider.pages.document import Document, DocumentLink, strip_markdown, tidy_text, to_single_line
from outrider.pages.extract import extract
from outrider.pages.mime.html_tokens import HtmlTag, iter_tokens
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.json import read_json
from outrider.pages.urls import resolve_url

MAX_ENTRIES = 200
MAX_VALUE_CHARS = 20_000  # of one element
FIELD_NAMES = {  # RSS 2.0, RSS 1.0 with Dublin Core, RFC 4287
    "title": "title",
    "link": "url",
    "pubdate": "when",
    "published": "when",
    "dc:date": "when",
    "updated": "updated",
    "description": "summary",
    "subtitle": "summary",
    "tagline": "summary",
    "summary": "summary",
    "content:encoded": "content",
    "content": "content",
    "language": "language",
    "dc:language": "language",
    "guid": "guid",
    "author": "author",
    "dc:creator": "author",
    "itunes:author": "author",
    "name": "author",
}


@dataclass
class FeedParser:
    """Collects the first value of each field of a feed.

    It does so for the feed and for each entry.
    """

    about: dict[str, str] = field(default_factory=dict)
    entries: list[dict[str, str]] = field(default_factory=list)
    total: int = 0
    _entry: dict[str, str] | None = None
    _open: str = ""
    _pieces: list[str] = field(default_factory=list)

    def handle_tag(self, tag: HtmlTag) -> None:
        item_elements = frozenset({"item", "entry"})
        name = tag.name.removeprefix("atom:").removeprefix("rss:")
        if name in item_elements:
            self._open, self._entry = "", None
            self._pieces.clear()
            if not tag.closing:
                self.total += 1
                self._entry = {}
                if len(self.entries) < MAX_ENTRIES:
                    self.entries.append(self._entry)
        elif self._open and name == self._open and tag.closing:
            self._set_field(FIELD_NAMES[name], "".join(self._pieces).strip())
            self._open = ""
            self._pieces.clear()
        elif self._open == "author" and name in ("name", "itunes:name") and not tag.closing:
            self._open = name  # an Atom author holds a name element, an RSS author is a string
            self._pieces.clear()
        elif name == "enclosure" and not tag.closing:
            self._set_field("media", tag.get("url"))
        elif not self._open and not tag.closing and name in FIELD_NAMES:
            self._start_field(name, tag)

    def handle_text(self, text: str) -> None:
        if self._open:
            self._pieces.append(text[:MAX_VALUE_CHARS])

    def _start_field(self, name: str, tag: HtmlTag) -> None:
        """Open a field, or record an Atom link, whose values are attributes."""
        link_fields = {"alternate": "url", "enclosure": "media"}
        if name == "link" and tag.get("href"):
            rel = tag.get("rel") or "alternate"
            if rel in link_fields:
                self._set_field(link_fields[rel], tag.get("href"))
        elif name == "guid" and tag.get("ispermalink").lower() == "false":
            return
        elif not tag.raw.endswith("/"):
            self._open = name
            self._pieces.clear()

    def _set_field(self, name: str, value: str) -> None:
        fields = self.about if self._entry is None else self._entry
        if value:
            fields.setdefault(name, value[:MAX_VALUE_CHARS])


def read_feed(source: ReaderInput) -> Document:
    """Return an XML feed's entries. Never raises."""
    feed, base = FeedParser(), ""  # the base of addresses in an Atom feed (RFC 4287, section 2)
    for token in iter_tokens(source.text, max_tags=source.max_tags, xml=True):
        if isinstance(token, HtmlTag):
            feed.handle_tag(token)
            base = base or (token.get("xml:base") if token.name == "feed" else "")
        else:
            feed.handle_text(token.text)
    metadata = feed.about | {"description": feed.about.get("summary", "")}
    entries = []
    for entry in feed.entries:
        guid = entry.get("guid", "")  # the entry's URL unless it says otherwise (RSS 2.0)
        entries.append(
            {
                "title": entry.get("title", ""),
                "url": entry.get("url") or (guid if guid.startswith(("http://", "https://")) else ""),
                "author": entry.get("author", ""),
                "media": entry.get("media", ""),
                "when": entry.get("when") or entry.get("updated", ""),
                "summary": entry.get("summary") or entry.get("content", ""),
            }
        )
    source = replace(source, url=resolve_url(base, source.url) or source.url)
    return _build_document(source, metadata, entries, total=feed.total)


def read_json_feed(source: ReaderInput) -> Document:
    """Return a JSON Feed's entries (jsonfeed.org/version/1.1); show other JSON as JSON. Never raises."""
    try:
        feed = json.loads(source.text)
    except (ValueError, RecursionError):
        return read_json(source)
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        return read_json(source)
    entries = []
    for item in items[:MAX_ENTRIES]:
        if not isinstance(item, dict):
            continue
        authors, media = item.get("authors"), item.get("attachments")
        author = authors[0] if isinstance(authors, list) and authors else item.get("author")
        attachment = media[0] if isinstance(media, list) and media else None
        entry = {
            "author": author.get("name") if isinstance(author, dict) else None,
            "media": attachment.get("url") if isinstance(attachment, dict) else None,
            "title": item.get("title"),
            "url": item.get("url") or item.get("external_url"),
            "when": item.get("date_published") or item.get("date_modified"),
            "summary": item.get("summary") or item.get("content_text") or item.get("content_html"),
        }
        entries.append({name: value if isinstance(value, str) else "" for name, value in entry.items()})
    return _build_document(source, feed, entries, total=len(items))


def _build_document(
    source: ReaderInput, metadata: dict[str, Any], entries: list[dict[str, str]], *, total: int
) -> Document:
    title = to_single_line(_to_visible_text(_get_string(metadata, "title")))
    summary = to_single_line(_to_visible_text(_get_string(metadata, "description")))
    blocks = [f"# {title}"] if title else []
    blocks += [summary] if summary else []
    links: dict[str, DocumentLink] = {}
    for entry in entries:
        link = DocumentLink(
            to_single_line(_to_visible_text(entry["title"]), 300), resolve_url(entry["url"], source.url)
        )
        media = resolve_url(entry["media"], source.url)
        blocks.append(_format_entry(link, entry, media))
        for found_link in (link, DocumentLink("", media)):
            if found_link.url:
                links.setdefault(found_link.url, found_link)
    if total > len(entries):
        blocks.append(f"({total - len(entries)} more entries)")
    markdown = tidy_text("\n\n".join(blocks))
    return Document(
        markdown, strip_markdown(markdown), title, summary, kind="feed",
        language=to_single_line(_get_string(metadata, "language"), 20),
        author=to_single_line(_to_visible_text(_get_string(metadata, "author"))),
        links=list(links.values()), metadata={"entries": total},
    )  # fmt: skip


def _format_entry(link: DocumentLink, entry: dict[str, str], media: str) -> str:
    max_summary_chars = 600
    name = (link.text or link.url or "(untitled)").replace("[", "(").replace("]", ")")
    head = f"- [{name}]({link.url})" if link.url else f"- {name}"
    author = to_single_line(_to_visible_text(entry["author"]), 100)
    facts = ", ".join(filter(None, (author, to_single_line(entry["when"], 60))))
    summary = to_single_line(_to_visible_text(entry["summary"]), max_summary_chars)
    lines = [head + (f" ({facts})" if facts else "")]
    lines += [summary] if summary and summary != link.text else []
    return "\n  ".join([*lines, *([f"media: <{media}>"] if media else [])])


def _get_string(metadata: dict[str, Any], name: str) -> str:
    value = metadata.get(name)
    return value if isinstance(value, str) else ""


def _to_visible_text(markup: str) -> str:
    """Return the visible text of a title or summary that may be HTML."""
    return extract(markup[:MAX_VALUE_CHARS], main=False, tags=2_000).text if "<" in markup or "&" in markup else markup


feed_reader = DocumentReader(
    "feed",
    ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/x-rss+xml"),
    read_feed,
    suffixes=(".rss", ".atom"),
    rank=20,
)
json_feed_reader = DocumentReader("json_feed", ("application/feed+json",), read_json_feed, rank=20)
