"""Read e-books (EPUB 2 and 3): chapters in reading order, their XHTML as web pages."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from outrider.pages.document import Document, tidy_text
from outrider.pages.extract import extract
from outrider.pages.mime.charset import decode_body
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.archives.zip_archive import ZipArchive
from outrider.pages.readers.ooxml.package import ELEMENTS_PER_TAG, ISO_DATE
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, parse_tree

EPUB_KIND = "e-book"
MAX_CHAPTERS = 5_000
NOTE_LABEL = re.compile(r"\[\^([\w-]{1,40})\]")
NOTE_REFERENCE = re.compile(r"""<a\s[^<>]{0,500}?epub:type\s*=\s*["'][^"'<>]{0,100}?\bnoteref\b[^<>]{0,500}>""")
FRAGMENT_LINK = re.compile(r"""\bhref\s*=\s*["']#([^"'<>\s]{1,100})["']""")
NAMED_ANCHOR = re.compile(r"""(\s(?:id=["']|href=["']#))([^"'<>\s]{1,100})(["'])""")


def read_epub(source: ReaderInput) -> Document:
    """Return each chapter under its heading, or under its name in the table of contents.

    Raises:
        Refused: code `encrypted` (also for books with rights management) or `too_large`.
        Unavailable: code `broken_file`.
    """
    book = EpubPackage(source)
    draft = DocumentDraft(source, "epub")
    titles = book.read_toc()
    tags_left = source.max_tags * ELEMENTS_PER_TAG
    labels: set[str] = set()
    for path in book.iter_chapters():
        if draft.is_full or tags_left < 0:
            draft.is_cut = True
            break
        body = book.archive.read_head(path, 2 * source.max_chars)  # half of it may be pictures
        tags_left -= body.count(b"<")
        chapter = decode_body(body)[0]
        del body
        _write_chapter(draft, chapter, titles.get(path, ""), labels)
    facts = book.read_facts()
    draft.skipped_deep += book.budget.skipped_deep
    return draft.build_document(facts, metadata=book.read_metadata())


def _write_chapter(draft: DocumentDraft, chapter: str, title: str, labels: set[str]) -> None:
    heading_chars = 300  # a chapter's own heading is among them
    page = extract(_mark_notes(chapter), main=False, chars=draft.source.max_chars, tags=draft.source.max_tags)
    text = page.markdown
    if not text.strip() or text == page.title:
        return
    if title and "#" not in text[:heading_chars] and not text.lower().startswith(title.lower()):
        draft.add_heading(2, tidy_text(title))
    # Most books count notes from 1 in each chapter; make their labels unique in the book.
    own = set(NOTE_LABEL.findall(text))
    if own & labels:
        prefixes = range(2, MAX_CHAPTERS + 2)
        prefix = next(number for number in prefixes if not any(f"{number}-{label}" in labels for label in own))
        text = NOTE_LABEL.sub(rf"[^{prefix}-\1]", text)
        own = {f"{prefix}-{label}" for label in own}
    labels |= own
    draft.add_block(text)
    for link in page.links:
        draft.resolve_link(link.url, link.text)
    draft.tables += page.tables[: max(0, 500 - len(draft.tables))]


def _mark_notes(source: str) -> str:
    """Prefix the ids of a chapter's notes with `fn-`.

    The notes of web pages are recognized by this prefix.

    EPUB 3.3 marks references to notes with `epub:type="noteref"`.
    """
    max_notes = 5_000  # of one chapter
    links = map(FRAGMENT_LINK.search, NOTE_REFERENCE.findall(source)[:max_notes])
    note_ids = {link[1] for link in links if link}
    if not note_ids:
        return source

    def rename_anchor(anchor: re.Match[str]) -> str:
        return f"{anchor[1]}fn-{anchor[2]}{anchor[3]}" if anchor[2] in note_ids else anchor[0]

    return NAMED_ANCHOR.sub(rename_anchor, source)


@dataclass
class EpubPackage:
    """The package document of a book: its parts and their order."""

    source: ReaderInput

    def __post_init__(self) -> None:
        self.archive = ZipArchive(self.source, EPUB_KIND)
        self.budget = ElementBudget(self.source.max_tags * ELEMENTS_PER_TAG)
        container = self._parse_part("META-INF/container.xml")
        paths = [rootfile.get("full-path") for rootfile in container.iter_descendants("container:rootfile")]
        self.path = next((path for path in paths if path in self.archive), "")
        if not self.path:
            raise build_broken_error(self.source, EPUB_KIND, "its package document is missing")
        # Obfuscated fonts do not hide the text, anything else that is encrypted does.
        font_algorithms = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
        for entry in self._parse_part("META-INF/encryption.xml").iter_descendants("enc:EncryptedData"):
            method = entry.get_value("enc:EncryptionMethod", attribute="Algorithm")
            if method not in font_algorithms:
                raise build_encrypted_error(self.source, EPUB_KIND, "is protected by digital rights management")
        self.root = self._parse_part(self.path)
        if self.root.find("opf:spine") is None:
            raise build_broken_error(self.source, EPUB_KIND, "its package document names no chapters")
        self.folder = posixpath.dirname(self.path)
        manifest = self.root.find("opf:manifest") or XmlElement("")
        self.items = {item.get("id"): item for item in manifest.iter_named("opf:item")}

    def iter_chapters(self) -> Iterator[str]:
        """Yield the paths of the chapters in reading order (EPUB 3.3 section 5.7), each once.

        A page that is a picture has its text in a fallback (section 5.6.2).
        """
        chapter_types = frozenset(
            {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
        )
        max_fallbacks = 5
        spine = self.root.find("opf:spine") or XmlElement("")
        seen: set[str] = set()
        for reference in list(spine.iter_named("opf:itemref"))[:MAX_CHAPTERS]:
            item = self.items.get(reference.get("idref"))
            for _ in range(max_fallbacks):
                if item and item.get("media-type") not in chapter_types:
                    item = self.items.get(item.get("fallback"))
            if not item or item.get("media-type") not in chapter_types or "nav" in item.get("properties").split():
                continue
            path = self._resolve_path(item.get("href"), self.folder)
            if path not in seen:
                seen.add(path)
                yield path

    def read_toc(self) -> dict[str, str]:
        """Return each file's title in the table of contents.

        It is read from the NCX of EPUB 2, which EPUB 3 books usually contain, too.
        """
        spine = self.root.find("opf:spine") or XmlElement("")
        ncx_items = (item for item in self.items.values() if item.get("media-type") == "application/x-dtbncx+xml")
        item = self.items.get(spine.get("toc")) or next(ncx_items, None)
        path = self._resolve_path(item.get("href"), self.folder) if item else ""
        titles: dict[str, str] = {}
        for point in self._parse_part(path).iter_descendants("ncx:navPoint") if path else ():
            target = point.get_value("ncx:content", attribute="src") or ""
            label = point.find("ncx:navLabel")
            if label:
                titles.setdefault(self._resolve_path(target, posixpath.dirname(path)), " ".join(label.text.split()))
        return titles

    def read_facts(self) -> dict[str, str]:
        """Return title, author and the like (Dublin Core in the package document)."""
        texts = self._collect_metadata()
        date = ISO_DATE.match(texts.get("dc:date", [""])[0]) or ISO_DATE.match(texts.get("dcterms:modified", [""])[0])
        return {
            "title": texts.get("dc:title", [""])[0],
            "author": ", ".join(texts.get("dc:creator", [])),
            "description": extract(texts.get("dc:description", [""])[0], main=False, tags=1_000).text,
            "language": texts.get("dc:language", [""])[0],
            "published": date[0] if date else texts.get("dc:date", [""])[0][:4],
            "site": texts.get("dc:publisher", [""])[0],
        }

    def read_metadata(self) -> dict[str, object]:
        """Return identifiers and subjects."""
        texts = self._collect_metadata()
        named = {"identifiers": texts.get("dc:identifier", []), "subjects": texts.get("dc:subject", [])}
        return {name: [tidy_text(value)[:300] for value in values[:50]] for name, values in named.items() if values}

    def _collect_metadata(self) -> dict[str, list[str]]:
        texts: dict[str, list[str]] = {}
        metadata = self.root.find("opf:metadata") or XmlElement("")
        for element in metadata.walk():
            text = " ".join(element.text.split())
            if element.name.startswith(("dc:", "dcterms:")) and text:
                texts.setdefault(element.name, []).append(text)
        return texts

    def _parse_part(self, path: str) -> XmlElement:
        try:
            return parse_tree(self.archive.iter_chunks(path), self.budget) if path in self.archive else XmlElement("")
        except MalformedXML as error:
            raise build_broken_error(self.source, EPUB_KIND, f"its part {path[:100]} is malformed ({error})") from None

    @staticmethod
    def _resolve_path(href: str, folder: str) -> str:
        return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


reader = DocumentReader("epub", ("application/epub+zip",), read_epub, suffixes=(".epub",), needs_whole_body=True)
