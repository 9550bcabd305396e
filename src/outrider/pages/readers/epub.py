"""E-books (EPUB 3.3, and 2 before it): the chapters in reading order, their XHTML read as web pages are."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

from outrider.pages.document import Document, tidy
from outrider.pages.extract import extract
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.archives.archive import Archive
from outrider.pages.readers.parts.openxml.package import DATE, ELEMENTS
from outrider.pages.readers.parts.refusals import broken, encrypted
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.readers.parts.xml import Budget, Element, MalformedXML, tree
from outrider.pages.sniffing.charset import decode

KIND = "e-book"
CHAPTERS = 5_000
PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"})
FONTS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")  # they hide fonts, not texts
LABEL = re.compile(r"\[\^([\w-]{1,40})\]")
NOTES = 5_000  # of one chapter
NOTEREF = re.compile(r"""<a\s[^<>]{0,500}?epub:type\s*=\s*["'][^"'<>]{0,100}?\bnoteref\b[^<>]{0,500}>""")
TARGET = re.compile(r"""\bhref\s*=\s*["']#([^"'<>\s]{1,100})["']""")
NAMED = re.compile(r"""(\s(?:id=["']|href=["']#))([^"'<>\s]{1,100})(["'])""")
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
    labels: set[str] = set()
    for path in book.chapters():
        if draft.full or left < 0:
            draft.cut = True
            break
        body = book.archive.read(path)
        left -= body.count(b"<")
        _chapter(draft, body, titles.get(path, ""), labels)
    facts = book.facts()
    draft.deep += book.budget.deep
    return draft.document(facts, metadata=book.further())


def _chapter(draft: Draft, body: bytes, title: str, labels: set[str]) -> None:
    page = extract(_noted(decode(body)[0]), main=False, chars=draft.source.chars, tags=draft.source.tags)
    text = page.markdown
    if not text.strip() or text == page.title:
        return
    if title and "#" not in text[:HEAD] and not text.lower().startswith(title.lower()):
        draft.heading(2, tidy(title))
    draft.add(_relabelled(text, labels))
    for link in page.links:
        draft.address(link.url, link.text)
    draft.tables += page.tables[: max(0, 500 - len(draft.tables))]


def _noted(source: str) -> str:
    """A chapter whose notes are named as those of web pages are, by which they are told (EPUB 3.3 calls them so)."""
    wanted = {found[1] for tag in NOTEREF.findall(source)[:NOTES] if (found := TARGET.search(tag))}
    if not wanted:
        return source

    def named(found: re.Match[str]) -> str:
        return f"{found[1]}fn-{found[2]}{found[3]}" if found[2] in wanted else found[0]

    return NAMED.sub(named, source)


def _relabelled(text: str, labels: set[str]) -> str:
    """A chapter whose notes have labels of their own: most books count from 1 in each."""
    found = set(LABEL.findall(text))
    if found & labels:
        chapter = next(at for at in range(2, CHAPTERS + 2) if not any(f"{at}-{each}" in labels for each in found))
        text = LABEL.sub(rf"[^{chapter}-\1]", text)
        found = {f"{chapter}-{each}" for each in found}
    labels |= found
    return text


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
