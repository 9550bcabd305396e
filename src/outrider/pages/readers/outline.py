"""Lists of addresses in XML: OPML (opml.org/spec2.opml) and sitemaps (sitemaps.org/protocol.html).

Read as a stream of tags, as feeds are.
"""

from outrider.pages.document import Document, line_of
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.sniffing.markup import Tag, tokens

ADDRESSES = ("htmlurl", "xmlurl", "url")
DEEPEST = 8


def read_opml(source: Source) -> Document:
    """The outline as a nested list, its entries leading where they say."""
    draft, depth, title, in_title = Draft(source, "outline"), 0, "", False
    seen = 0
    for token in tokens(source.text, tags=source.tags, xml=True):
        seen += isinstance(token, Tag)
        if not isinstance(token, Tag):
            title, in_title = (title or token.text, False) if in_title else (title, False)
        elif token.name == "title":
            in_title = not token.closing
        elif token.name == "outline" and token.closing:
            depth = max(0, depth - 1)
        elif token.name == "outline":
            _entry(draft, token, depth)
            depth += not token.raw.rstrip().endswith("/")
    draft.cut = draft.cut or source.cut or seen >= source.tags
    if title:
        draft.blocks.insert(0, f"# {line_of(title)}")
    return draft.document({"title": title})


def _entry(draft: Draft, tag: Tag, depth: int) -> None:
    words = line_of(tag.get("text") or tag.get("title"), 300)
    addresses = [draft.address(given, words) for name in ADDRESSES if (given := tag.get(name))]
    address = next((each for each in addresses if each), "")
    label = words.replace("[", "(").replace("]", ")") or address
    more = f" (feed: {addresses[-1]})" if len(addresses) > 1 and addresses[-1] != address else ""
    draft.item(min(depth, DEEPEST), (f"[{label}]({address})" if address else label) + more)


def read_sitemap(source: Source) -> Document:
    """The addresses, with the time of their last change where it is told."""
    draft, name, found = Draft(source, "sitemap"), "", {"loc": "", "lastmod": ""}
    total = 0
    for token in tokens(source.text, tags=max(source.tags, 300_000), xml=True):
        if not isinstance(token, Tag):
            if name and not found[name]:
                found[name] = token.text.strip()
            continue
        local = token.name.rpartition(":")[2]
        name = local if local in found and not token.closing and ":" not in token.name else ""
        if local in ("url", "sitemap") and token.closing:
            address = draft.address(found["loc"])
            total += bool(address)
            changed = f" ({line_of(found['lastmod'], 40)})" if found["lastmod"] else ""
            draft.item(0, f"<{address}>{changed}" if address else "")
        if local in ("url", "sitemap"):
            found = {"loc": "", "lastmod": ""}
    draft.cut = draft.cut or source.cut
    return draft.document(metadata={"entries": total})


opml = Reader(
    "outline", ("text/x-opml", "text/x-opml+xml", "application/opml+xml"), read_opml, suffixes=(".opml",), rank=20
)
sitemap = Reader("sitemap", ("application/sitemap+xml",), read_sitemap, rank=20)
