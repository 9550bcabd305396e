"""E-books of one XML file (FictionBook 2): made into the web page that they would be, and read as one."""

from collections.abc import Iterator
from dataclasses import replace
from html import escape

from outrider.pages.document import Document, to_single_line
from outrider.pages.extract import extract
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.ooxml.package import ELEMENTS_PER_TAG
from outrider.pages.readers.parsing.draft import describe_skipped_depth
from outrider.pages.readers.parsing.errors import build_broken_error
from outrider.pages.readers.parsing.xml import ElementBudget, MalformedXML, XmlElement, parse_tree

HTML_TAGS = {  # of FictionBook 2.21, as HTML calls them; what is not named is only what it holds
    "p": "p", "v": "p", "text-author": "p", "date": "p", "subtitle": "h6", "cite": "blockquote",
    "epigraph": "blockquote", "poem": "blockquote", "annotation": "blockquote", "stanza": "div", "section": "section",
    "emphasis": "em", "strong": "strong", "strikethrough": "s", "code": "code", "sup": "sup", "sub": "sub",
    "pre": "pre",
    "table": "table", "tr": "tr", "td": "td", "th": "th",
}  # fmt: skip
OMITTED_ELEMENTS = frozenset({"binary", "image", "empty-line", "description", "stylesheet"})


def read_fictionbook(source: ReaderInput) -> Document:
    """The book in its order, its notes last.

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
        raise build_broken_error(source, kind_name, "it does not begin as such a file does")
    page = "".join(_iter_html(root, 0))
    made = extract(
        f"<html><body>{page}</body></html>", url=source.url, main=False, chars=source.max_chars, tags=source.max_tags
    )
    if budget.skipped_deep:
        told = f"\n\n{describe_skipped_depth(budget.skipped_deep)}"
        made = replace(made, markdown=made.markdown + told, text=made.text + told)
    cut = {"cut": True} if budget.is_spent or budget.skipped_deep else {}
    return replace(made, kind="fictionbook", metadata=made.metadata | cut, **_read_facts(root))


def _iter_html(element: XmlElement, depth: int) -> Iterator[str]:
    """What an element becomes; `depth` counts the sections around it, which their titles tell by their level."""
    if element.name in OMITTED_ELEMENTS:
        return
    if element.name == "title":
        level = min(depth + 1, 6)
        yield f"<h{level}>{escape(' '.join(_join_words(each) for each in element.iter_children()))}</h{level}>"
        return
    opening, closing = _build_tags(element)
    yield opening
    is_notes = element.name == "body" and element.get("name") in ("notes", "comments")
    for child in _iter_notes(element) if is_notes else _group_code_lines(element.children):
        if isinstance(child, str):
            yield escape(child)
        else:
            yield from _iter_html(child, depth + (child.name == "section"))
    yield closing


def _group_code_lines(children: list[XmlElement | str]) -> Iterator[XmlElement | str]:
    """What an element holds, paragraphs of nothing but code as one listing."""
    lines: list[str] = []
    for child in children:
        code = _get_code_line(child)
        if code is None and not (lines and isinstance(child, str) and child.isspace()):
            yield from _build_listing(lines)
            lines = []
            yield child
        elif code is not None:
            lines.append(code)
    yield from _build_listing(lines)


def _get_code_line(child: XmlElement | str) -> str | None:
    if isinstance(child, str) or child.name != "p":
        return None
    told = [each for each in child.children if isinstance(each, XmlElement) or each.strip()]
    return told[0].text if len(told) == 1 and isinstance(told[0], XmlElement) and told[0].name == "code" else None


def _build_listing(lines: list[str]) -> Iterator[XmlElement]:
    """One line stays a paragraph."""
    if len(lines) > 1:
        yield XmlElement("pre", {}, ["\n".join(lines)])
    elif lines:
        yield XmlElement("p", {}, [XmlElement("code", {}, [lines[0]])])


def _iter_notes(body: XmlElement) -> Iterator[XmlElement]:
    """Notes without their titles, which are the marks that lead to them."""
    for note in body.iter_named("section"):
        yield replace(note, children=[each for each in note.children if isinstance(each, str) or each.name != "title"])


def _build_tags(element: XmlElement) -> tuple[str, str]:
    note_prefix = "#fn-"  # how web pages call the places of notes, by which these are told
    span_attributes = ("colspan", "rowspan")
    if element.name == "a":
        address = next((value for name, value in element.attributes.items() if name.endswith("href")), "")
        return f'<a href="{escape(note_prefix + address[1:] if address.startswith("#") else address)}">', "</a>"
    tag = HTML_TAGS.get(element.name, "")
    spans = "".join(f' {name}="{escape(element.get(name))}"' for name in span_attributes if element.get(name))
    named = f' id="{escape(note_prefix[1:] + element.get("id"))}"' if element.get("id") else ""
    return (f"<{tag}{named}{spans}>", f"</{tag}>") if tag else ("", "")


def _join_words(element: XmlElement) -> str:
    pieces = (child if isinstance(child, str) else _join_words(child) for child in element.children)
    return " ".join("".join(pieces).split())


def _read_facts(root: XmlElement) -> dict[str, str]:
    told = root.find("description", "title-info") or XmlElement("")
    people = (
        " ".join(_read_text(author, part) for part in ("first-name", "middle-name", "last-name"))
        for author in told.iter_named("author")
    )
    return {
        "title": _read_text(told, "book-title"),
        "author": to_single_line(", ".join(filter(None, (" ".join(each.split()) for each in people)))),
        "language": _read_text(told, "lang")[:20],
        "published": _read_text(told, "date")[:40],
    }


def _read_text(element: XmlElement, name: str) -> str:
    found = element.find(name)
    return to_single_line("".join(child for child in found.children if isinstance(child, str))) if found else ""


reader = DocumentReader(
    "fictionbook",
    ("application/x-fictionbook+xml",),
    read_fictionbook,
    suffixes=(".fb2",),
    needs_whole_body=True,
    rank=40,
)
