"""E-books of one XML file (FictionBook 2): made into the web page that they would be, and read as one."""

from collections.abc import Iterator
from dataclasses import replace
from html import escape

from outrider.pages.document import Document, line_of
from outrider.pages.extract import extract
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.openxml.package import ELEMENTS
from outrider.pages.readers.parts.refusals import broken
from outrider.pages.readers.parts.writing import too_deep
from outrider.pages.readers.parts.xml import Budget, Element, MalformedXML, tree

KIND = "e-book"
TAGS = {  # of FictionBook 2.21, as HTML calls them; what is not named is only what it holds
    "p": "p", "v": "p", "text-author": "p", "date": "p", "subtitle": "h6", "cite": "blockquote",
    "epigraph": "blockquote", "poem": "blockquote", "annotation": "blockquote", "stanza": "div", "section": "section",
    "emphasis": "em", "strong": "strong", "strikethrough": "s", "code": "code", "sup": "sup", "sub": "sub",
    "pre": "pre",
    "table": "table", "tr": "tr", "td": "td", "th": "th",
}  # fmt: skip
LEFT_OUT = frozenset({"binary", "image", "empty-line", "description", "stylesheet"})
SPANS = ("colspan", "rowspan")
NOTE = "#fn-"  # how web pages call the places of notes, by which these are told


def read(source: Source) -> Document:
    """The book in its order, its notes last.

    Raises:
        Unavailable: code `broken_file`.
    """
    budget = Budget(source.tags * ELEMENTS)
    try:
        root = tree(source.body, budget)
    except MalformedXML as error:
        raise broken(source, KIND, str(error)) from None
    if root.name != "FictionBook":
        raise broken(source, KIND, "it does not begin as such a file does")
    page = "".join(_html(root, 0))
    made = extract(
        f"<html><body>{page}</body></html>", url=source.url, main=False, chars=source.chars, tags=source.tags
    )
    if budget.deep:
        told = f"\n\n{too_deep(budget.deep)}"
        made = replace(made, markdown=made.markdown + told, text=made.text + told)
    cut = {"cut": True} if budget.spent or budget.deep else {}
    return replace(made, kind="fictionbook", metadata=made.metadata | cut, **_facts(root))


def _html(element: Element, depth: int) -> Iterator[str]:
    """What an element becomes; `depth` counts the sections around it, which their titles tell by their level."""
    if element.name in LEFT_OUT:
        return
    if element.name == "title":
        level = min(depth + 1, 6)
        yield f"<h{level}>{escape(' '.join(_words(each) for each in element.elements()))}</h{level}>"
        return
    opening, closing = _tags(element)
    yield opening
    is_notes = element.name == "body" and element.get("name") in ("notes", "comments")
    for child in _notes(element) if is_notes else _listed(element.children):
        if isinstance(child, str):
            yield escape(child)
        else:
            yield from _html(child, depth + (child.name == "section"))
    yield closing


def _listed(children: list[Element | str]) -> Iterator[Element | str]:
    """What an element holds, paragraphs of nothing but code as one listing."""
    lines: list[str] = []
    for child in children:
        code = _line_of_code(child)
        if code is None and not (lines and isinstance(child, str) and child.isspace()):
            yield from _listing(lines)
            lines = []
            yield child
        elif code is not None:
            lines.append(code)
    yield from _listing(lines)


def _line_of_code(child: Element | str) -> str | None:
    if isinstance(child, str) or child.name != "p":
        return None
    told = [each for each in child.children if isinstance(each, Element) or each.strip()]
    return told[0].text if len(told) == 1 and isinstance(told[0], Element) and told[0].name == "code" else None


def _listing(lines: list[str]) -> Iterator[Element]:
    """One line stays a paragraph."""
    if len(lines) > 1:
        yield Element("pre", {}, ["\n".join(lines)])
    elif lines:
        yield Element("p", {}, [Element("code", {}, [lines[0]])])


def _notes(body: Element) -> Iterator[Element]:
    """Notes without their titles, which are the marks that lead to them."""
    for note in body.each("section"):
        yield replace(note, children=[each for each in note.children if isinstance(each, str) or each.name != "title"])


def _tags(element: Element) -> tuple[str, str]:
    if element.name == "a":
        address = next((value for name, value in element.attributes.items() if name.endswith("href")), "")
        return f'<a href="{escape(NOTE + address[1:] if address.startswith("#") else address)}">', "</a>"
    tag = TAGS.get(element.name, "")
    spans = "".join(f' {name}="{escape(element.get(name))}"' for name in SPANS if element.get(name))
    named = f' id="{escape(NOTE[1:] + element.get("id"))}"' if element.get("id") else ""
    return (f"<{tag}{named}{spans}>", f"</{tag}>") if tag else ("", "")


def _words(element: Element) -> str:
    pieces = (child if isinstance(child, str) else _words(child) for child in element.children)
    return " ".join("".join(pieces).split())


def _facts(root: Element) -> dict[str, str]:
    told = root.find("description", "title-info") or Element("")
    people = (
        " ".join(_text(author, part) for part in ("first-name", "middle-name", "last-name"))
        for author in told.each("author")
    )
    return {
        "title": _text(told, "book-title"),
        "author": line_of(", ".join(filter(None, (" ".join(each.split()) for each in people)))),
        "language": _text(told, "lang")[:20],
        "published": _text(told, "date")[:40],
    }


def _text(element: Element, name: str) -> str:
    found = element.find(name)
    return line_of("".join(child for child in found.children if isinstance(child, str))) if found else ""


reader = Reader("fictionbook", ("application/x-fictionbook+xml",), read, suffixes=(".fb2",), whole=True, rank=40)
