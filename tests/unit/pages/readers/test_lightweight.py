"""Texts with a light markup: what tells their structure is Markdown's, the rest stands as it was written."""

import pytest

from outrider.pages.document import Document
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import ReaderInput
from outrider.pages.registry import find_reader

PYTHON = "```python\n# no heading\ndef f():\n    return 1\n```"


def read(text: str, name: str) -> Document:
    body = text.encode()
    mime = detect_mime_type("text/plain", body, name)
    return find_reader(mime, name, len(body)).read(ReaderInput(body, f"https://harbour.example/{name}", mime))


def test_restructured_text_has_its_levels_by_order_its_listings_and_links():
    document = read(
        ".. _top:\n\n=====\nTides\n=====\n\nSee ``x`` and `a link <https://e.org/x>`_::\n\n    a = 1\n      b\n\n"
        "One\n---\n\n.. code-block:: python\n   :linenos:\n\n   # no heading\n   def f():\n       return 1\n\n"
        "Two\n~~~\n\nwords\n\nThree\n-----\n",
        "a.rst",
    )
    assert document.markdown == (
        "# Tides\n\nSee `x` and [a link](https://e.org/x):\n\n```\na = 1\n  b\n```\n\n"
        f"## One\n\n{PYTHON}\n\n### Two\n\nwords\n\n## Three"
    )
    assert (document.title, document.kind, document.links[0].url) == ("Tides", "text", "https://e.org/x")


def test_asciidoc_has_its_headings_listings_links_and_facts():
    document = read(
        "= Tides\n:author: Ida Marsh\n:revdate: 2024-03-05\n\n== One\n\nSee https://e.org/x[the page].\n\n"
        "[source,python]\n----\n# no heading\ndef f():\n    return 1\n----\n\n....\n== plain\n....\n",
        "a.adoc",
    )
    assert document.markdown == (
        f"# Tides\n\n## One\n\nSee [the page](https://e.org/x).\n\n{PYTHON}\n\n```\n== plain\n```"
    )
    assert (document.title, document.author, document.published) == ("Tides", "Ida Marsh", "2024-03-05")


def test_org_has_its_title_above_its_headings_and_no_drawers():
    document = read(
        "#+TITLE: Tides\n#+AUTHOR: Ida\n* TODO One   :tag:\n:PROPERTIES:\n:ID: 1\n:END:\n"
        "See [[https://e.org][this]].\n#+begin_src python\n# no heading\ndef f():\n    return 1\n#+end_src\n** Two\n",
        "a.org",
    )
    assert document.markdown == f"# Tides\n\n## One\n\nSee [this](https://e.org).\n\n{PYTHON}\n\n### Two"
    assert document.author == "Ida"


def test_latex_has_its_sections_items_looks_and_formulas_and_no_comments():
    document = read(
        "\\documentclass{article}\n\\title{On \\emph{tides}\\thanks{x}}\n"
        "\\author{Ida Marsh \\and Tom}\n\\date{\\today}\n"
        "\\begin{document}\n\\maketitle\n\\section{One} Text with $x^2$, 5\\% and \\emph{words}. % gone\n"
        "\\begin{itemize}\n  \\item first\n  \\item[b] second\n\\end{itemize}\n\\subsection{Two}\\label{s}\n"
        "\\begin{verbatim}\n% kept\n\\section{no}\n\\end{verbatim}\n"
        "\\begin{equation}\na = b\n\\end{equation}\n\\end{document}\n",
        "a.tex",
    )
    assert document.markdown == (
        "# On tides\n\n## One\n\nText with $x^2$, 5% and *words*.\n- first\n- **b** second\n\n### Two\n\n"
        "```\n% kept\n\\section{no}\n```\n\n$$\na = b\n$$"
    )
    assert (document.title, document.author, document.published) == ("On tides", "Ida Marsh, Tom", "")


@pytest.mark.parametrize("name", ["a.rst", "a.adoc", "a.org", "a.tex"])
def test_no_word_is_lost_of_what_has_no_markup(name: str):
    text = "The tide comes in.\n\nIt goes out again, 5 times: a, b and c.\n"
    assert read(text, name).markdown == text.strip()
