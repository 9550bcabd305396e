"""RSS, Atom, RDF and JSON Feed, as a list of their entries.

Feeds are read as a stream of tags, not as XML: real ones are often broken, and hostile ones hold
entities that explode. (Feedparser takes 9 s for a feed of 1.5 MB where this takes half a second.)
"""

import json
from dataclasses import dataclass, field
from typing import Any

from outrider.pages.address import absolute
from outrider.pages.document import Document, Link, line_of, plain, tidy
from outrider.pages.extract import extract
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.json import read_json
from outrider.pages.sniffing.markup import Tag, tokens

ENTRIES = 200
SUMMARY = 600  # characters of an entry's summary
VALUE = 20_000  # characters of one element that are looked at
LINKS = {"alternate": "url", "enclosure": "media"}
ITEMS = frozenset({"item", "entry"})
FIELDS = {  # RSS 2.0, RSS 1.0 with Dublin Core, RFC 4287
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
class Feed:
    """Takes a feed's tokens: the first value of each field, for the feed and for each entry."""

    about: dict[str, str] = field(default_factory=dict)
    entries: list[dict[str, str]] = field(default_factory=list)
    total: int = 0
    _entry: dict[str, str] | None = None
    _open: str = ""
    _pieces: list[str] = field(default_factory=list)

    def tag(self, tag: Tag) -> None:
        name = tag.name.removeprefix("atom:").removeprefix("rss:")
        if name in ITEMS:
            self._begin(closing=tag.closing)
        elif self._open and name == self._open and tag.closing:
            self._end()
        elif self._open == "author" and name in ("name", "itunes:name") and not tag.closing:
            self._open = name  # Atom's authors hold a name, those of RSS are one
            self._pieces.clear()
        elif name == "enclosure" and not tag.closing:
            self._set("media", tag.get("url"))
        elif not self._open and not tag.closing and name in FIELDS:
            self._start(name, tag)

    def text(self, text: str) -> None:
        if self._open:
            self._pieces.append(text[:VALUE])

    def _begin(self, *, closing: bool) -> None:
        self._open, self._entry = "", None
        self._pieces.clear()
        if not closing:
            self.total += 1
            self._entry = {}
            if len(self.entries) < ENTRIES:
                self.entries.append(self._entry)

    def _start(self, name: str, tag: Tag) -> None:
        """A field opens; Atom's links say all in their attributes."""
        if name == "link" and tag.get("href"):
            rel = tag.get("rel") or "alternate"
            if rel in LINKS:
                self._set(LINKS[rel], tag.get("href"))
        elif name == "guid" and tag.get("ispermalink").lower() == "false":
            return
        elif not tag.raw.endswith("/"):
            self._open = name
            self._pieces.clear()

    def _end(self) -> None:
        self._set(FIELDS[self._open], "".join(self._pieces).strip())
        self._open = ""
        self._pieces.clear()

    def _set(self, name: str, value: str) -> None:
        where = self.about if self._entry is None else self._entry
        if value:
            where.setdefault(name, value[:VALUE])


def read_feed(source: Source) -> Document:
    """An XML feed."""
    feed = Feed()
    for token in tokens(source.text, tags=source.tags, xml=True):
        if isinstance(token, Tag):
            feed.tag(token)
        else:
            feed.text(token.text)
    about = feed.about | {"description": feed.about.get("summary", "")}
    return _document(source, about, [_entry(each) for each in feed.entries], total=feed.total)


def read_json_feed(source: Source) -> Document:
    """A JSON Feed (jsonfeed.org/version/1.1); JSON that is none is shown as JSON."""
    try:
        feed = json.loads(source.text)
    except (ValueError, RecursionError):
        return read_json(source)
    items = feed.get("items") if isinstance(feed, dict) else None
    if not isinstance(items, list):
        return read_json(source)
    entries = [_item(item) for item in items[:ENTRIES] if isinstance(item, dict)]
    return _document(source, feed, entries, total=len(items))


def _entry(entry: dict[str, str]) -> dict[str, str]:
    return {
        "title": entry.get("title", ""),
        "url": entry.get("url") or _web(entry.get("guid", "")),
        "author": entry.get("author", ""),
        "media": entry.get("media", ""),
        "when": entry.get("when") or entry.get("updated", ""),
        "summary": entry.get("summary") or entry.get("content", ""),
    }


def _web(guid: str) -> str:
    """A guid that is the entry's address, as it is unless it says otherwise (RSS 2.0)."""
    return guid if guid.startswith(("http://", "https://")) else ""


def _item(item: dict[str, Any]) -> dict[str, str]:
    people = item.get("authors")
    first = people[0] if isinstance(people, list) and people else item.get("author")
    media = item.get("attachments")
    attached = media[0] if isinstance(media, list) and media else None
    given = {
        "author": first.get("name") if isinstance(first, dict) else None,
        "media": attached.get("url") if isinstance(attached, dict) else None,
        "title": item.get("title"),
        "url": item.get("url") or item.get("external_url"),
        "when": item.get("date_published") or item.get("date_modified"),
        "summary": item.get("summary") or item.get("content_text") or item.get("content_html"),
    }
    return {name: value if isinstance(value, str) else "" for name, value in given.items()}


def _document(source: Source, about: dict[str, Any], entries: list[dict[str, str]], *, total: int) -> Document:
    title, summary = line_of(_text(_string(about, "title"))), line_of(_text(_string(about, "description")))
    blocks = [f"# {title}"] if title else []
    blocks += [summary] if summary else []
    links: dict[str, Link] = {}
    for entry in entries:
        link = Link(line_of(_text(entry["title"]), 300), absolute(entry["url"], source.url))
        media = absolute(entry["media"], source.url)
        blocks.append(_listed(link, entry, media))
        for each in (link, Link("", media)):
            if each.url:
                links.setdefault(each.url, each)
    if total > len(entries):
        blocks.append(f"({total - len(entries)} more entries)")
    markdown = tidy("\n\n".join(blocks))
    return Document(
        markdown, plain(markdown), title, summary, language=line_of(_string(about, "language"), 20), kind="feed",
        author=line_of(_text(_string(about, "author"))),
        links=list(links.values()), metadata={"entries": total},
    )  # fmt: skip


def _listed(link: Link, entry: dict[str, str], media: str) -> str:
    name = (link.text or link.url or "(untitled)").replace("[", "(").replace("]", ")")
    head = f"- [{name}]({link.url})" if link.url else f"- {name}"
    told = ", ".join(fact for fact in (line_of(_text(entry["author"]), 100), line_of(entry["when"], 60)) if fact)
    summary = line_of(_text(entry["summary"]), SUMMARY)
    lines = [head + (f" ({told})" if told else "")]
    lines += [summary] if summary and summary != link.text else []
    return "\n  ".join([*lines, *([f"media: <{media}>"] if media else [])])


def _string(about: dict[str, Any], name: str) -> str:
    value = about.get(name)
    return value if isinstance(value, str) else ""


def _text(markup: str) -> str:
    """The visible text of a title or summary that may be HTML."""
    return extract(markup[:VALUE], main=False, tags=2_000).text if "<" in markup or "&" in markup else markup


XML_FEEDS = ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/x-rss+xml")
feed = Reader("feed", XML_FEEDS, read_feed, suffixes=(".rss", ".atom"), rank=20)
json_feed = Reader("json_feed", ("application/feed+json",), read_json_feed, rank=20)
