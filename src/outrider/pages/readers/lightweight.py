"""Read reStructuredText, AsciiDoc, Org and manual pages as Markdown."""

from collections.abc import Callable

from outrider.pages.document import Document, strip_markdown, tidy_text, to_single_line
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers.parsing.lightweight_markup import (
    ConvertedMarkup,
    convert_asciidoc,
    convert_org,
    convert_rst,
)
from outrider.pages.readers.parsing.man_page import convert_man_page, is_man_page
from outrider.pages.readers.text import collect_links, mark_cut, read_text


def _convert_source(source: ReaderInput, convert: Callable[[str], ConvertedMarkup]) -> Document:
    """Convert headings, listings and links to Markdown; keep the rest unchanged. Never raises."""
    max_markup_chars = 1_000_000  # the rest is appended unconverted
    text = tidy_text(source.text)
    end = text.rfind("\n", 0, max_markup_chars) + 1 if len(text) > max_markup_chars else len(text)
    converted = convert(text[:end])
    markdown, facts = tidy_text(f"{converted.markdown}\n{text[end:]}"), converted.facts
    document = Document(
        markdown, strip_markdown(markdown), title=to_single_line(facts.get("title")),
        author=to_single_line(facts.get("author")),
        published=to_single_line(facts.get("published"), 40), description=to_single_line(facts.get("description")),
        language=to_single_line(facts.get("language"), 20), kind="text", links=collect_links(markdown, source.url),
    )  # fmt: skip
    return mark_cut(document, source)


def read_rst(source: ReaderInput) -> Document:
    """Return reStructuredText (docutils) as Markdown. Never raises."""
    return _convert_source(source, convert_rst)


def read_asciidoc(source: ReaderInput) -> Document:
    """Return AsciiDoc as Markdown. Never raises."""
    return _convert_source(source, convert_asciidoc)


def read_org(source: ReaderInput) -> Document:
    """Return an Org document as Markdown. Never raises."""
    return _convert_source(source, convert_org)


def read_man(source: ReaderInput) -> Document:
    """Return a manual page as Markdown; logs may have the same suffix, and are read as text. Never raises."""
    return _convert_source(source, convert_man_page) if is_man_page(source.text) else read_text(source)


rst_reader = DocumentReader("rst", ("text/x-rst", "text/prs.fallenstein.rst"), read_rst, suffixes=(".rst",))
asciidoc_reader = DocumentReader(
    "asciidoc", ("text/asciidoc", "text/x-asciidoc"), read_asciidoc, suffixes=(".adoc", ".asciidoc")
)
org_reader = DocumentReader("org", ("text/org", "text/x-org"), read_org, suffixes=(".org",))
man_reader = DocumentReader(
    "man",
    ("text/troff", "application/x-troff", "application/x-troff-man"),
    read_man,
    suffixes=(*(f".{section}" for section in range(1, 9)), ".man", ".mdoc", ".roff"),
)
