"""Lightweight markup is converted to Markdown where it shows structure."""

import pytest

from outrider.pages.document import Document
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import ReaderInput
from outrider.pages.registry import find_reader

PYTHON = "```python\n# no heading\ndef f():\n    return 1\n```"


def read_text(text: str, name: str) -> Document:
    body = text.encode()
    mime = detect_mime_type("text/plain", body, name)
    return find_reader(mime, name, len(body)).read(ReaderInput(body, f"https://harbour.example/{name}", mime))


def test_restructuredtext_headings_listings_and_links_are_read():
    document = read_text(
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


def test_asciidoc_headings_listings_links_and_metadata_are_read():
    document = read_text(
        "= Tides\n:author: Ida Marsh\n:revdate: 2024-03-05\n\n== One\n\nSee https://e.org/x[the page].\n\n"
        "[source,python]\n----\n# no heading\ndef f():\n    return 1\n----\n\n....\n== plain\n....\n",
        "a.adoc",
    )
    assert document.markdown == (
        f"# Tides\n\n## One\n\nSee [the page](https://e.org/x).\n\n{PYTHON}\n\n```\n== plain\n```"
    )
    assert (document.title, document.author, document.published) == ("Tides", "Ida Marsh", "2024-03-05")


def test_asciidoc_tables_are_tables_with_a_row_a_line_or_a_cell_a_line():
    table = "| Light | Built |\n| --- | --- |\n| Wend | 1871, and again in 1902 |\n| Tern | 1902 |"
    for cells in (
        "|Light |Built\n\n|Wend |1871, and\nagain in 1902\n|Tern |1902",
        "|Light\n|Built\n\n|Wend\na|1871, and again in 1902\n\n|Tern\n|1902",
    ):
        text = f'[cols="1,2",options="header"]\n|===\n{cells}\n|===\nAfter.\n'
        assert read_text(text, "a.adoc").markdown == f"{table}\n\nAfter."


def test_org_titles_and_headings_are_read_without_drawers():
    document = read_text(
        "#+TITLE: Tides\n#+AUTHOR: Ida\n* TODO One   :tag:\n:PROPERTIES:\n:ID: 1\n:END:\n"
        "See [[https://e.org][this]].\n#+begin_src python\n# no heading\ndef f():\n    return 1\n#+end_src\n** Two\n",
        "a.org",
    )
    assert document.markdown == f"# Tides\n\n## One\n\nSee [this](https://e.org).\n\n{PYTHON}\n\n### Two"
    assert document.author == "Ida"


def test_latex_is_shown_as_source_code():
    assert read_text("\\section{One} 5\\%\n", "a.tex").markdown == "```latex\n\\section{One} 5\\%\n```"


@pytest.mark.parametrize("name", ["a.rst", "a.adoc", "a.org"])
def test_text_without_markup_loses_no_word(name: str):
    text = "The tide comes in.\n\nIt goes out again, 5 times: a, b and c.\n"
    assert read_text(text, name).markdown == text.strip()


def test_manual_pages_have_headings_options_listings_and_fonts():
    page = (
        '.\\" a comment\n.TH TIDE 1\n.de XX\nhidden\n. .\n.SH SYNOPSIS\n.B tide\n[\\fB\\-a\\fP|\\fIport\\fR]\n'
        '.SH OPTIONS\n.TP\n.BR \\-a ", " \\-\\-all\nShow all\ntides\\(emhigh\n.IP "\\(bu" 2\none\n.RS\n.PP\nmore\n.RE\n'
        ".PP\nSee:\n.nf\n  tide \\-a | \\fBless\\fR\n.fi\nThe end of caf\\['e].\n"
    )
    document = read_text(page, "tide.1")
    assert document.markdown == (
        "# TIDE(1)\n\n## SYNOPSIS\n\n**tide** [**-a**|*port*]\n\n## OPTIONS\n\n"
        "- **-a**, **--all**: Show all tides—high\n- one\n\n    more\n\n"
        "See:\n\n```\n  tide -a | less\n```\n\nThe end of café."
    )
    assert document.title == "TIDE(1)"


def test_bsd_manual_pages_are_read_and_logs_are_not_taken_for_them():
    page = (
        ".Dd May 5, 2024\n.Dt TIDE 1\n.Os\n.Sh NAME\n.Nm tide\n.Nd show tides\n.Sh SYNOPSIS\n"
        ".Nm\n.Op Fl a Ar port , Fl Fl all\n.Nm\n.Sh DESCRIPTION\n.Bl -tag\n"
        ".It Fl a Ns Ar x\nAll of\n.Xr port 5 .\n.El\n"
    )
    assert read_text(page, "tide.1").markdown == (
        "# TIDE(1)\n\n## NAME\n\n**tide** — show tides\n\n## SYNOPSIS\n\n"
        "**tide** [**-a** *port*, **--all**]\n\n**tide**\n\n## DESCRIPTION\n\n- **-a***x*: All of port(5)."
    )
    assert (
        read_text("Nov 23 started\n.TH is no macro here\n", "app.log.1").markdown
        == "Nov 23 started\n.TH is no macro here"
    )


def test_indented_restructuredtext_is_a_quote_or_content_and_not_code():
    text = (
        "A word.\n\n    A quote.\n\nterm\n    One.\n\n    Two.\n\n"
        ".. note::\n\n    Mind::\n\n        the tide\n\n    Now.\n\n"
        "* item\n\n    more\n"
    )
    assert read_text(text, "a.rst").markdown == (
        "A word.\n\n> A quote.\n\nterm\n    One.\n\nTwo.\n\n.. note::\n\nMind:\n\n```\nthe tide\n```\n\nNow.\n\n"
        "* item\n\n    more"
    )


def test_indented_org_text_is_text_and_lists_keep_their_levels():
    text = "* Tides\n    They come.\n\n    They go.\n\n    - one\n      - two\n    After.\n"
    assert read_text(text, "a.org").markdown == "# Tides\n\nThey come.\n\nThey go.\n\n- one\n  - two\nAfter."


def test_asciidoc_tables_have_the_header_that_asciidoc_defines():
    text = "{}|===\n|a |b{}\n|1 |2\n|===\n"
    head, none = "| a | b |\n| --- | --- |\n| 1 | 2 |", "|  |  |\n| --- | --- |\n| a | b |\n| 1 | 2 |"
    for attributes, gap, shown in (
        ("", "", none),
        ("", "\n", head),
        ("[%header]\n", "", head),
        ("[options=header]\n.Tides\n", "", f"Tides\n\n{head}"),
        ("[%noheader]\n", "\n", none),
        (".Tides\n[cols=2*]\n", "", f"Tides\n\n{none}"),
    ):
        assert read_text(text.format(attributes, gap), "a.adoc").markdown == shown
    assert read_text("|===\n|===\n\nwords\n", "a.adoc").markdown == "words"
