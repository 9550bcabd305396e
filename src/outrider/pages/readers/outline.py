"""Lists of addresses in XML: OPML (opml.org/spec2.opml) and sitemaps (sitemaps.org/protocol.html).

Read as a stream of tags, as feeds are.
"""

from outrider.pages.document import Document, to_single_line
from outrider.pages.mime.html_tokens import HtmlTag, iter_tokens
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.draft import DocumentDraft


def read_opml(source: ReaderInput) -> Document:
    """The outline as a nested list, its entries leading where they say."""
    draft, depth, title, in_title = DocumentDraft(source, "outline"), 0, "", False
    seen = 0
    for token in iter_tokens(source.text, max_tags=source.max_tags, xml=True):
        seen += isinstance(token, HtmlTag)
        if not isinstance(token, HtmlTag):
            title, in_title = (title or token.text, False) if in_title else (title, False)
        elif token.name == "title":
            in_title = not token.closing
        elif token.name == "outline" and token.closing:
            depth = max(0, depth - 1)
        elif token.name == "outline":
            _write_entry(draft, token, depth)
            depth += not token.raw.rstrip().endswith("/")
    draft.is_cut = draft.is_cut or source.is_cut or seen >= source.max_tags
    if title:
        draft.blocks.insert(0, f"# {to_single_line(title)}")
    return draft.build_document({"title": title})


def _write_entry(draft: DocumentDraft, tag: HtmlTag, depth: int) -> None:
    max_depth = 8
    url_attributes = ("htmlurl", "xmlurl", "url")
    words = to_single_line(tag.get("text") or tag.get("title"), 300)
    addresses = [draft.resolve_link(given, words) for name in url_attributes if (given := tag.get(name))]
    address = next((each for each in addresses if each), "")
    label = words.replace("[", "(").replace("]", ")") or address
    more = f" (feed: {addresses[-1]})" if len(addresses) > 1 and addresses[-1] != address else ""
    draft.add_item(min(depth, max_depth), (f"[{label}]({address})" if address else label) + more)


def read_sitemap(source: ReaderInput) -> Document:
    """The addresses, with the time of their last change where it is told."""
    draft, name, found = DocumentDraft(source, "sitemap"), "", {"loc": "", "lastmod": ""}
    total = 0
    for token in iter_tokens(source.text, max_tags=max(source.max_tags, 300_000), xml=True):
        if not isinstance(token, HtmlTag):
            if name and not found[name]:
                found[name] = token.text.strip()
            continue
        local = token.name.rpartition(":")[2]
        name = local if local in found and not token.closing and ":" not in token.name else ""
        if local in ("url", "sitemap") and token.closing:
            address = draft.resolve_link(found["loc"])
            total += bool(address)
            changed = f" ({to_single_line(found['lastmod'], 40)})" if found["lastmod"] else ""
            draft.add_item(0, f"<{address}>{changed}" if address else "")
        if local in ("url", "sitemap"):
            found = {"loc": "", "lastmod": ""}
    draft.is_cut = draft.is_cut or source.is_cut
    return draft.build_document(metadata={"entries": total})


opml_reader = DocumentReader(
    "outline", ("text/x-opml", "text/x-opml+xml", "application/opml+xml"), read_opml, suffixes=(".opml",), rank=20
)
sitemap_reader = DocumentReader("sitemap", ("application/sitemap+xml",), read_sitemap, rank=20)
