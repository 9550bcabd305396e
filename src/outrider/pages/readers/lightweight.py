"""Text marked up for people: reStructuredText, AsciiDoc, Org and LaTeX, their structure in Markdown's signs."""

from collections.abc import Callable

from outrider.pages.document import Document, line_of, plain, tidy
from outrider.pages.reader import Reader, Source
from outrider.pages.readers.parts.markup.latex import latex
from outrider.pages.readers.parts.markup.lines import Marked, asciidoc, org, restructured
from outrider.pages.readers.text import ended, linked

MARKED = 1_000_000  # characters whose markup is looked at; what is behind them stands as it is


def _read(source: Source, mark: Callable[[str], Marked]) -> Document:
    """The text with headings, listings and links as Markdown has them; the rest as it is. Never raises."""
    text = tidy(source.text)
    end = text.rfind("\n", 0, MARKED) + 1 if len(text) > MARKED else len(text)
    made = mark(text[:end])
    markdown, facts = tidy(f"{made.markdown}\n{text[end:]}"), made.facts
    document = Document(
        markdown, plain(markdown), title=line_of(facts.get("title")), author=line_of(facts.get("author")),
        published=line_of(facts.get("published"), 40), description=line_of(facts.get("description")),
        language=line_of(facts.get("language"), 20), kind="text", links=linked(markdown, source.url),
    )  # fmt: skip
    return ended(document, source)


def read_restructured(source: Source) -> Document:
    """The markup of docutils. Never raises."""
    return _read(source, restructured)


def read_asciidoc(source: Source) -> Document:
    """AsciiDoc. Never raises."""
    return _read(source, asciidoc)


def read_org(source: Source) -> Document:
    """Org. Never raises."""
    return _read(source, org)


def read_latex(source: Source) -> Document:
    """LaTeX. Never raises."""
    return _read(source, latex)


restructured_text = Reader("rst", ("text/x-rst", "text/prs.fallenstein.rst"), read_restructured, suffixes=(".rst",))
ascii_doc = Reader("asciidoc", ("text/asciidoc", "text/x-asciidoc"), read_asciidoc, suffixes=(".adoc", ".asciidoc"))
org_mode = Reader("org", ("text/org", "text/x-org"), read_org, suffixes=(".org",))
latex_source = Reader(
    "latex",
    ("text/x-tex", "application/x-tex", "application/x-latex", "text/x-latex"),
    read_latex,
    suffixes=(".tex", ".ltx"),
)
