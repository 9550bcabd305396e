"""E-books (EPUB 3.3, and 2 before it): the chapters in reading order, their XHTML read as web pages are."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from outrider.pages.charset import decode
from outrider.pages.document import Document, tidy
from outrider.pages.extract import extract
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.archive import Archive
from outrider.pages.readers.parts.opc import DATE, ELEMENTS
from outrider.pages.readers.parts.refusals import broken, encrypted
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.parts.xml import Budget, Element, MalformedXML, tree

KIND = "e-book"
CHAPTERS = 5_000
PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # they hide fonts, not texts
HEAD = 300  # characters of a chapter in which its heading would stand


def read(source: Source) -> Document:
    """The chapters, each under its heading; one without takes its name from the table of contents.

    Raises:
        Refused: code `encrypted` (also for books with rights management) or `too_large`.
        Unavailable: code `broken_file`.
    """
    book = Book(source)
    draft = Draft(source, "epub")
    titles = book.contents()
    left = source.tags * ELEMENTS
    for path in book.chapters():
        if draft.full or left < 0:
            draft.cut = True
            break
        body = book.archive.read(path)
        left -= body.count(b"<")
        _chapter(draft, body, titles.get(path, ""))
    return draft.document(book.facts(), metadata=book.further())


def _chapter(draft: Draft, body: bytes, title: str) -> None:
    page = extract(decode(body)[0], main=False, chars=draft.source.chars, tags=draft.source.tags)
    text = page.markdown
    if not text.strip() or text == page.title:
        return
    if title and "#" not in text[:HEAD] and not text.lower().startswith(title.lower()):
        draft.heading(2, tidy(title))
    draft.add(text)
    for link in page.links:
        draft.address(link.url, link.text)
    draft.tables += page.tables[: max(0, 500 - len(draft.tables))]


@dataclass
class Book:
    """The package of a book: what its parts are, and their order."""

    source: Source

    def __post_init__(self) -> None:
        self.archive = Archive(self.source, KIND)
        self.budget = Budget(self.source.tags * ELEMENTS)
        container = self._tree("META-INF/container.xml")
        paths = [each.get("full-path") for each in container.all("container:rootfile")]
        self.path = next((path for path in paths if path in self.archive), "")
        if not self.path:
            raise broken(self.source, KIND, "its package document is missing")
        self._refuse_locked()
        self.root = self._tree(self.path)
        if self.root.find("opf:spine") is None:
            raise broken(self.source, KIND, "its package document names no chapters")
        self.folder = posixpath.dirname(self.path)
        manifest = self.root.find("opf:manifest") or Element("")
        self.items = {each.get("id"): each for each in manifest.each("opf:item")}

    def chapters(self) -> Iterator[str]:
        """The names of the chapters' files in reading order (EPUB 3.3 section 5.7)."""
        spine = self.root.find("opf:spine") or Element("")
        for reference in list(spine.each("opf:itemref"))[:CHAPTERS]:
            item = self.items.get(reference.get("idref"))
            if item and item.get("media-type") in PAGES and "nav" not in item.get("properties").split():
                yield self._path(item.get("href"), self.folder)

    def contents(self) -> dict[str, str]:
        """What the table of contents calls each file: by the NCX, which readers of EPUB 3 carry along too."""
        spine = self.root.find("opf:spine") or Element("")
        item = self.items.get(spine.get("toc")) or next(
            (each for each in self.items.values() if each.get("media-type") == "application/x-dtbncx+xml"), None
        )
        path = self._path(item.get("href"), self.folder) if item else ""
        titles: dict[str, str] = {}
        for point in self._tree(path).all("ncx:navPoint") if path else ():
            target = point.value("ncx:content", attribute="src") or ""
            label = point.find("ncx:navLabel")
            if label:
                titles.setdefault(self._path(target, posixpath.dirname(path)), " ".join(label.text.split()))
        return titles

    def facts(self) -> dict[str, str]:
        """Title, author and the like (Dublin Core in the package document)."""
        texts = self._metadata()
        date = DATE.match(texts.get("dc:date", [""])[0]) or DATE.match(texts.get("dcterms:modified", [""])[0])
        return {
            "title": texts.get("dc:title", [""])[0],
            "author": ", ".join(texts.get("dc:creator", [])),
            "description": extract(texts.get("dc:description", [""])[0], main=False, tags=1_000).text,
            "language": texts.get("dc:language", [""])[0],
            "published": date[0] if date else texts.get("dc:date", [""])[0][:4],
            "site": texts.get("dc:publisher", [""])[0],
        }

    def further(self) -> dict[str, object]:
        """Identifiers and subjects."""
        texts = self._metadata()
        named = {"identifiers": texts.get("dc:identifier", []), "subjects": texts.get("dc:subject", [])}
        return {name: [tidy(each)[:300] for each in values[:50]] for name, values in named.items() if values}

    def _metadata(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        metadata = self.root.find("opf:metadata") or Element("")
        for each in metadata.walk():
            text = " ".join(each.text.split())
            if each.name.startswith(("dc:", "dcterms:")) and text:
                found.setdefault(each.name, []).append(text)
        return found

    def _refuse_locked(self) -> None:
        """Raises Refused if a chapter is encrypted; a font that is obfuscated locks nobody out."""
        for each in self._tree("META-INF/encryption.xml").all("enc:EncryptedData"):
            method = each.value("enc:EncryptionMethod", attribute="Algorithm")
            if method not in FONTS:
                raise encrypted(self.source, KIND, "is protected by digital rights management")

    def _tree(self, path: str) -> Element:
        body = self.archive.read(path)
        try:
            return tree(body, self.budget) if body else Element("")
        except MalformedXML as error:
            raise broken(self.source, KIND, f"its part {path[:100]} is malformed ({error})") from None

    @staticmethod
    def _path(href: str, folder: str) -> str:
        return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


reader = Reader("epub", ("application/epub+zip",), read, suffixes=(".epub",), whole=True)
