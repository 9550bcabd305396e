"""RSS, Atom, RDF and JSON Feed, as a list of their entries.

Feedparser reads what feeds really are like, wrong charsets and broken XML included; its time is
bounded by the size it is given.
"""

import io
import json
from typing import Any

from outrider.pages.document import Document, Link, line_of, plain, tidy
from outrider.pages.extract import extract
from outrider.pages.inline import absolute
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.json import read_json

BYTES = 1_500_000
ENTRIES = 200
SUMMARY = 600  # characters of an entry's summary


def read_feed(source: Source) -> Document:
    """An XML feed."""
    import feedparser

    headers = {"content-location": source.url, "content-type": f"application/xml; charset={source.charset or ''}"}
    body = source.body[:BYTES]
    parsed = feedparser.parse(
        io.BytesIO(body), response_headers=headers if source.charset else {"content-location": source.url},
        resolve_relative_uris=False, sanitize_html=False,
    )  # fmt: skip
    feed = parsed.feed
    entries = [_entry(entry) for entry in parsed.entries[:ENTRIES]]
    about = {"title": feed.get("title"), "description": feed.get("subtitle"), "language": feed.get("language")}
    return _document(source, about, entries, total=len(parsed.entries))


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


def _entry(entry: Any) -> dict[str, str]:
    content = entry.get("summary") or next((each.get("value", "") for each in entry.get("content", [])), "")
    when = entry.get("published") or entry.get("updated") or ""
    return {"title": entry.get("title", ""), "url": entry.get("link", ""), "when": when, "summary": content}


def _item(item: dict[str, Any]) -> dict[str, str]:
    given = {
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
        blocks.append(_listed(link, entry))
        if link.url:
            links.setdefault(link.url, link)
    if total > len(entries):
        blocks.append(f"({total - len(entries)} more entries)")
    markdown = tidy("\n\n".join(blocks))
    return Document(
        markdown, plain(markdown), title, summary, language=line_of(_string(about, "language"), 20), kind="feed",
        links=list(links.values()), metadata={"entries": total},
    )  # fmt: skip


def _listed(link: Link, entry: dict[str, str]) -> str:
    name = (link.text or link.url or "(untitled)").replace("[", "(").replace("]", ")")
    head = f"- [{name}]({link.url})" if link.url else f"- {name}"
    when = line_of(entry["when"], 60)
    summary = line_of(_text(entry["summary"]), SUMMARY)
    return head + (f" ({when})" if when else "") + (f"\n  {summary}" if summary and summary != link.text else "")


def _string(about: dict[str, Any], name: str) -> str:
    value = about.get(name)
    return value if isinstance(value, str) else ""


def _text(markup: str) -> str:
    """The visible text of a title or summary that may be HTML."""
    return extract(markup[:20_000], main=False, tags=2_000).text if "<" in markup or "&" in markup else markup


FEEDS = ("application/rss+xml", "application/atom+xml", "application/rdf+xml", "application/x-rss+xml")
feed = Reader("feed", FEEDS, read_feed, suffixes=(".rss", ".atom"), rank=20)
json_feed = Reader("json_feed", ("application/feed+json",), read_json_feed, rank=20)
