"""Read lists of URLs in XML: OPML (opml.org/spec2.opml) and sitemaps (sitemaps.org/protocol.html).

Both are read as a stream of tags, as feeds are.
"""

from outrider.pages.document import Document, to_single_line
from outrider.pages.mime.html_tokens import HtmlTag, iter_tokens
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.draft import DocumentDraft, format_link


def read_opml(source: ReaderInput) -> Document:
    """Return the outline as a nested list of links. Never raises."""
    max_depth = 8
    url_attributes = ("htmlurl", "xmlurl", "url")
    draft, depth, title, in_title = DocumentDraft(source, "outline"), 0, "", False
    tag_count = 0
    for token in iter_tokens(source.text, max_tags=source.max_tags, xml=True):
        tag_count += isinstance(token, HtmlTag)
        if not isinstance(token, HtmlTag):
            title, in_title = (title or token.text, False) if in_title else (title, False)
        elif token.name == "title":
            in_title = not token.closing
        elif token.name == "outline" and token.closing:
            depth = max(0, depth - 1)
        elif token.name == "outline":
            label = to_single_line(token.get("text") or token.get("title"), 300)
            urls = [draft.resolve_link(value, label) for name in url_attributes if (value := token.get(name))]
            url = next(filter(None, urls), "")
            feed = f" (feed: {urls[-1]})" if len(urls) > 1 and urls[-1] != url else ""
            text = format_link(label or url, url) if url else label.replace("[", "(").replace("]", ")")
            draft.add_item(min(depth, max_depth), text + feed)
            depth += not token.raw.rstrip().endswith("/")
    draft.is_cut = draft.is_cut or source.is_cut or tag_count >= source.max_tags
    if title:
        draft.blocks.insert(0, f"# {to_single_line(title)}")
    return draft.build_document({"title": title})


def read_sitemap(source: ReaderInput) -> Document:
    """Return the listed URLs, with their last change where the sitemap states it. Never raises."""
    draft, field, entry = DocumentDraft(source, "sitemap"), "", {"loc": "", "lastmod": ""}
    total = 0
    for token in iter_tokens(source.text, max_tags=max(source.max_tags, 300_000), xml=True):
        if not isinstance(token, HtmlTag):
            if field and not entry[field]:
                entry[field] = token.text.strip()
            continue
        name = token.name.rpartition(":")[2]
        # Elements with a prefix belong to extensions, such as the `image:loc` of image sitemaps.
        field = name if name in entry and not token.closing and ":" not in token.name else ""
        if name in ("url", "sitemap") and token.closing:
            url = draft.resolve_link(entry["loc"])
            total += bool(url)
            changed = f" ({to_single_line(entry['lastmod'], 40)})" if entry["lastmod"] else ""
            draft.add_item(0, f"<{url}>{changed}" if url else "")
        if name in ("url", "sitemap"):
            entry = {"loc": "", "lastmod": ""}
    draft.is_cut = draft.is_cut or source.is_cut
    return draft.build_document(metadata={"entries": total})


opml_reader = DocumentReader(
    "outline", ("text/x-opml", "text/x-opml+xml", "application/opml+xml"), read_opml, suffixes=(".opml",), rank=20
)
sitemap_reader = DocumentReader("sitemap", ("application/sitemap+xml",), read_sitemap, rank=20)
