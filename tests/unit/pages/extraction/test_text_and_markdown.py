"""A document's text and Markdown have the same words in the same order."""

import re

import pytest
from evals.extraction.corpus import OWN_CORPUS
from evals.structure.evaluate import PAGES_FOLDER
from evals.structure.judge import find_links

from outrider.pages.extract import extract

HTML_FILES = sorted([*PAGES_FOLDER.glob("*.html"), *(OWN_CORPUS / "html").glob("*.html")])
WORD_PATTERN = re.compile(r"\w+")
FENCE = re.compile(r"^[>\s]*(?:- )*```\S*$", re.MULTILINE)
NUMBER = re.compile(r"^((?:> )*\s*(?:- )*)\d+\. ", re.MULTILINE)
TASK = re.compile(r"^(\s*)- \[[x ]\] ", re.MULTILINE)
MARK = re.compile(r"\[\^[^\]\n]*\]:?|\*\*|~~|[*`\\]|(?<!\w)_|_(?!\w)")
REFERENCE = re.compile(r"\[\^([^\]\n]*)\](?!:)")
SPAN = re.compile(rb"(?:row|col)span", re.IGNORECASE)


def list_shown_words(markdown: str) -> list[str]:
    """Return the words of Markdown, without addresses, fences, item numbers, task boxes and marks."""
    text = TASK.sub(r"\1", markdown)
    for link in sorted(find_links(text), key=lambda each: -each.start):
        text = text[: link.start] + text[slice(*link.label)] + text[link.end :]
    return WORD_PATTERN.findall(MARK.sub("", REFERENCE.sub(r" \1 ", NUMBER.sub(r"\1", FENCE.sub("", text)))))


def test_text_and_markdown_agree(subtests: pytest.Subtests):
    for path in HTML_FILES:
        for main in [True, False]:
            with subtests.test(main=main, path=path):
                source = path.read_bytes()
                read = extract(source, url="https://manual.example/guide/page", main=main)
                markdown, text = (
                    list_shown_words(read.markdown),
                    WORD_PATTERN.findall(MARK.sub("", FENCE.sub("", read.text))),
                )
                if SPAN.search(source):  # cells that span rows are repeated in each of them
                    rest = iter(markdown)
                    assert all(word in rest for word in text)
                else:
                    assert markdown == text
