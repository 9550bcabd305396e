"""Read FictionBook 2 e-books by converting them to a web page."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from io import StringIO
from itertools import chain

from outrider.pages.document import Document, to_single_line
from outrider.pages.extract import extract
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.ooxml.package import ELEMENTS_PER_TAG
from outrider.pages.readers.parsing.draft import describe_skipped_depth
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, parse_tree

HTML_TAGS = {  # FictionBook 2.21 elements as HTML; of other elements only the content is kept
    "p": "p", "v": "p", "text-author": "p", "date": "p", "subtitle": "h6", "cite": "blockquote",
    "epigraph": "blockquote", "poem": "blockquote", "annotation": "blockquote", "stanza": "div", "section": "section",
    "emphasis": "em", "strong": "strong", "strikethrough": "s", "code": "code", "sup": "sup", "sub": "sub",
    "pre": "pre",
    "table": "table", "tr": "tr", "td": "td", "th": "th",
}  # fmt: skip
OMITTED_ELEMENTS = frozenset({"binary", "image", "empty-line", "description", "stylesheet"})


def read_fictionbook(source: ReaderInput) -> Document:
    """Return the book in its order, its notes last.

    Raises:
        Unavailable: code `broken_file`.
    """
    kind_name = "e-book"
    budget = ElementBudget(source.max_tags * ELEMENTS_PER_TAG)
    try:
        root = parse_tree(source.body, budget)
    except MalformedXML as error:
        raise build_broken_error(source, kind_name, str(error)) from None
    if root.name != "FictionBook":
        raise build_broken_error(source, kind_name, "its root element is not FictionBook")
    facts, page = _read_facts(root), StringIO()  # which takes a tenth of a list of pieces
    page.writelines(chain(("<html><body>",), _iter_html(root, 0), ("</body></html>",)))
    del root
    document = extract(page.getvalue(), url=source.url, main=False, chars=source.max_chars, tags=source.max_tags)
    if budget.skipped_deep:
        notice = f"\n\n{describe_skipped_depth(budget.skipped_deep)}"
        document = replace(document, markdown=document.markdown + notice, text=document.text + notice)
    cut = {"cut": True} if budget.is_spent or budget.skipped_deep else {}
    return replace(document, kind="fictionbook", metadata=document.metadata | cut, **facts)


def _iter_html(element: XmlElement, depth: int) -> Iterator[str]:
    """Yield an element as HTML; `depth` is its number of enclosing sections, which sets the heading level."""
    if element.name in OMITTED_ELEMENTS:
        return
    if element.name == "title":
        level = min(depth + 1, 6)
        yield f"<h{level}>{escape(' '.join(_join_words(line) for line in element.iter_children()))}</h{level}>"
        return
    opening, closing = _build_tags(element)
    yield opening
    children = _group_code_lines(element.children)
    if element.name == "body" and element.get("name") in ("notes", "comments"):
        # The titles of notes repeat the reference marks.
        children = (
            replace(note, children=[part for part in note.children if isinstance(part, str) or part.name != "title"])
            for note in element.iter_named("section")
        )
    for child in children:
        if isinstance(child, str):
            yield escape(child)
        else:
            yield from _iter_html(child, depth + (child.name == "section"))
    yield closing


def _group_code_lines(children: Sequence[XmlElement | str]) -> Iterator[XmlElement | str]:
    """Yield children with successive code-only paragraphs joined into one listing."""
    lines: list[str] = []
    for child in children:
        code = None
        if isinstance(child, XmlElement) and child.name == "p":
            parts = [part for part in child.children if isinstance(part, XmlElement) or part.strip()]
            if len(parts) == 1 and isinstance(parts[0], XmlElement) and parts[0].name == "code":
                code = parts[0].text
        if code is not None:
            lines.append(code)
        elif not (lines and isinstance(child, str) and child.isspace()):
            yield from _build_listing(lines)
            lines = []
            yield child
    yield from _build_listing(lines)


def _build_listing(lines: list[str]) -> Iterator[XmlElement]:
    """Yield the lines as a listing; a single one stays a paragraph."""
    if len(lines) > 1:
        yield XmlElement("pre", {}, ["\n".join(lines)])
    elif lines:
        yield XmlElement("p", {}, [XmlElement("code", {}, [lines[0]])])


def _build_tags(element: XmlElement) -> tuple[str, str]:
    # Anchors with the prefix `fn-` are recognized as notes by the reader of web pages.
    if element.name == "a":
        href = next((value for name, value in element.attributes.items() if name.endswith("href")), "")
        return f'<a href="{escape("#fn-" + href[1:] if href.startswith("#") else href)}">', "</a>"
    tag = HTML_TAGS.get(element.name, "")
    spans = "".join(f' {name}="{escape(element.get(name))}"' for name in ("colspan", "rowspan") if element.get(name))
    anchor = f' id="{escape("fn-" + element.get("id"))}"' if element.get("id") else ""
    return (f"<{tag}{anchor}{spans}>", f"</{tag}>") if tag else ("", "")


def _join_words(element: XmlElement) -> str:
    pieces = (child if isinstance(child, str) else _join_words(child) for child in element.children)
    return " ".join("".join(pieces).split())


def _read_facts(root: XmlElement) -> dict[str, str]:
    info = root.find("description", "title-info") or XmlElement("")
    authors = (
        " ".join(_read_text(author, part) for part in ("first-name", "middle-name", "last-name"))
        for author in info.iter_named("author")
    )
    return {
        "title": _read_text(info, "book-title"),
        "author": to_single_line(", ".join(filter(None, (" ".join(author.split()) for author in authors)))),
        "language": _read_text(info, "lang")[:20],
        "published": _read_text(info, "date")[:40],
    }


def _read_text(element: XmlElement, name: str) -> str:
    named = element.find(name) or XmlElement("")
    return to_single_line("".join(child for child in named.children if isinstance(child, str)))


reader = DocumentReader(
    "fictionbook",
    ("application/x-fictionbook+xml",),
    read_fictionbook,
    suffixes=(".fb2",),
    needs_whole_body=True,
    rank=40,
)
