"""E-books (EPUB 3.3, and 2 before it): the chapters in reading order, their XHTML read as web pages are."""

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
    """The chapters, each under its heading; one without takes its name from the table of contents.

    Raises:
        Refused: code `encrypted` (also for books with rights management) or `too_large`.
        Unavailable: code `broken_file`.
    """
    book = EpubPackage(source)
    draft = DocumentDraft(source, "epub")
    titles = book.read_toc()
    left = source.max_tags * ELEMENTS_PER_TAG
    labels: set[str] = set()
    for path in book.iter_chapters():
        if draft.is_full or left < 0:
            draft.is_cut = True
            break
        body = book.archive.read(path)
        left -= body.count(b"<")
        _write_chapter(draft, body, titles.get(path, ""), labels)
    facts = book.read_facts()
    draft.skipped_deep += book.budget.skipped_deep
    return draft.build_document(facts, metadata=book.read_metadata())


def _write_chapter(draft: DocumentDraft, body: bytes, title: str, labels: set[str]) -> None:
    heading_chars = 300  # characters of a chapter in which its heading would stand
    page = extract(
        _mark_notes(decode_body(body)[0]), main=False, chars=draft.source.max_chars, tags=draft.source.max_tags
    )
    text = page.markdown
    if not text.strip() or text == page.title:
        return
    if title and "#" not in text[:heading_chars] and not text.lower().startswith(title.lower()):
        draft.add_heading(2, tidy_text(title))
    draft.add_block(_relabel_notes(text, labels))
    for link in page.links:
        draft.resolve_link(link.url, link.text)
    draft.tables += page.tables[: max(0, 500 - len(draft.tables))]


def _mark_notes(source: str) -> str:
    """A chapter whose notes are named as those of web pages are, by which they are told (EPUB 3.3 calls them so)."""
    max_notes = 5_000  # of one chapter
    wanted = {found[1] for tag in NOTE_REFERENCE.findall(source)[:max_notes] if (found := FRAGMENT_LINK.search(tag))}
    if not wanted:
        return source

    def rename_anchor(found: re.Match[str]) -> str:
        return f"{found[1]}fn-{found[2]}{found[3]}" if found[2] in wanted else found[0]

    return NAMED_ANCHOR.sub(rename_anchor, source)


def _relabel_notes(text: str, labels: set[str]) -> str:
    """A chapter whose notes have labels of their own: most books count from 1 in each."""
    found = set(NOTE_LABEL.findall(text))
    if found & labels:
        chapter = next(at for at in range(2, MAX_CHAPTERS + 2) if not any(f"{at}-{each}" in labels for each in found))
        text = NOTE_LABEL.sub(rf"[^{chapter}-\1]", text)
        found = {f"{chapter}-{each}" for each in found}
    labels |= found
    return text


@dataclass
class EpubPackage:
    """The package of a book: what its parts are, and their order."""

    source: ReaderInput

    def __post_init__(self) -> None:
        self.archive = ZipArchive(self.source, EPUB_KIND)
        self.budget = ElementBudget(self.source.max_tags * ELEMENTS_PER_TAG)
        container = self._parse_part("META-INF/container.xml")
        paths = [each.get("full-path") for each in container.iter_descendants("container:rootfile")]
        self.path = next((path for path in paths if path in self.archive), "")
        if not self.path:
            raise build_broken_error(self.source, EPUB_KIND, "its package document is missing")
        self._refuse_encrypted()
        self.root = self._parse_part(self.path)
        if self.root.find("opf:spine") is None:
            raise build_broken_error(self.source, EPUB_KIND, "its package document names no chapters")
        self.folder = posixpath.dirname(self.path)
        manifest = self.root.find("opf:manifest") or XmlElement("")
        self.items = {each.get("id"): each for each in manifest.iter_named("opf:item")}

    def iter_chapters(self) -> Iterator[str]:
        """The names of the chapters' files in reading order (EPUB 3.3 section 5.7)."""
        chapter_types = frozenset(
            {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
        )
        spine = self.root.find("opf:spine") or XmlElement("")
        for reference in list(spine.iter_named("opf:itemref"))[:MAX_CHAPTERS]:
            item = self.items.get(reference.get("idref"))
            if item and item.get("media-type") in chapter_types and "nav" not in item.get("properties").split():
                yield self._resolve_path(item.get("href"), self.folder)

    def read_toc(self) -> dict[str, str]:
        """What the table of contents calls each file: by the NCX, which readers of EPUB 3 carry along too."""
        spine = self.root.find("opf:spine") or XmlElement("")
        item = self.items.get(spine.get("toc")) or next(
            (each for each in self.items.values() if each.get("media-type") == "application/x-dtbncx+xml"), None
        )
        path = self._resolve_path(item.get("href"), self.folder) if item else ""
        titles: dict[str, str] = {}
        for point in self._parse_part(path).iter_descendants("ncx:navPoint") if path else ():
            target = point.get_value("ncx:content", attribute="src") or ""
            label = point.find("ncx:navLabel")
            if label:
                titles.setdefault(self._resolve_path(target, posixpath.dirname(path)), " ".join(label.text.split()))
        return titles

    def read_facts(self) -> dict[str, str]:
        """Title, author and the like (Dublin Core in the package document)."""
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
        """Identifiers and subjects."""
        texts = self._collect_metadata()
        named = {"identifiers": texts.get("dc:identifier", []), "subjects": texts.get("dc:subject", [])}
        return {name: [tidy_text(each)[:300] for each in values[:50]] for name, values in named.items() if values}

    def _collect_metadata(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        metadata = self.root.find("opf:metadata") or XmlElement("")
        for each in metadata.walk():
            text = " ".join(each.text.split())
            if each.name.startswith(("dc:", "dcterms:")) and text:
                found.setdefault(each.name, []).append(text)
        return found

    def _refuse_encrypted(self) -> None:
        """Raises Refused if a chapter is encrypted; a font that is obfuscated locks nobody out."""
        font_algorithms = (
            "http://www.idpf.org/2008/embedding",
            "http://ns.adobe.com/pdf/enc#RC",
        )  # they hide fonts, not texts
        for each in self._parse_part("META-INF/encryption.xml").iter_descendants("enc:EncryptedData"):
            method = each.get_value("enc:EncryptionMethod", attribute="Algorithm")
            if method not in font_algorithms:
                raise build_encrypted_error(self.source, EPUB_KIND, "is protected by digital rights management")

    def _parse_part(self, path: str) -> XmlElement:
        body = self.archive.read(path)
        try:
            return parse_tree(body, self.budget) if body else XmlElement("")
        except MalformedXML as error:
            raise build_broken_error(self.source, EPUB_KIND, f"its part {path[:100]} is malformed ({error})") from None

    @staticmethod
    def _resolve_path(href: str, folder: str) -> str:
        return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


reader = DocumentReader("epub", ("application/epub+zip",), read_epub, suffixes=(".epub",), needs_whole_body=True)
