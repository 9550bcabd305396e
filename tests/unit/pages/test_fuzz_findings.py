"""Minimized inputs that fuzzing found must not fail again."""

import re
import struct
import tracemalloc
from collections import Counter

import pytest

from outrider import extract
from outrider.core.errors import Unavailable
from outrider.pages.site_markdown import resolve_links
from support.documents.office_files import read_document

PAGE_URL = "https://site.example/folder/page"
WIDE = 200_000  # spaces in one line: quadratic work on them would take minutes
MANY = 6_000  # blocks; each one used to scan all others


def count_words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", re.sub(r"\]\([^()\s]*\)|[*~`\\\[\]]", "", text)))


@pytest.mark.parametrize("html", [b"<math><link>\t", b"<math><source>h", b"<math><input>>", b"<svg><img>x<br>y"])
def test_void_elements_in_formulas_and_svg_break_nothing(html: bytes):
    assert extract(html, url=PAGE_URL).kind


@pytest.mark.parametrize(
    "html",
    [
        "a<g><img>9/1<g><img>8",
        "<pre><table><td>h<d><td>a e<d><td>l",
        "<a href=w>s<a><a href=w>h l<a>e <a href=w>t<a><a href=w>e 0<a>A",
        '<a href="#fn2">2<p id="fn2">s t f 8<a>',
    ],
)
def test_text_and_markdown_hold_the_same_words(html: str):
    document = extract(html, url=PAGE_URL)
    assert count_words(document.markdown) == count_words(document.text)
    assert document.text


def test_a_footnote_inside_its_back_link_keeps_its_words():
    note = '<a href="#cite_note-1">1<a><li id="cite_note-1"><a href=#citeref>see page nine'
    assert extract(note, main=False).markdown == "[^1]\n\n[^1]: see page nine"


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x14", "\x85", "\xa0", "\u2000", "<", " "])
def test_characters_that_would_end_a_markdown_address_are_escaped(sign: str):
    document = extract(f"<p>Read <a href='one{sign}two'>this</a> first.</p>", url=PAGE_URL)
    [link] = document.links
    assert re.fullmatch(r"https://site\.example/folder/one(%[0-9A-F]{2})*two", link.url)
    assert f"[this]({link.url})" in document.markdown


def test_a_wide_gap_takes_no_longer_than_its_length():
    assert extract(f"<pre>one{' ' * WIDE}two</pre>").text.split() == ["one", "two"]
    assert read_document(b"one" + b" " * WIDE + b"two", "x.txt").text.split() == ["one", "two"]
    assert read_document(b"<?xml version='1.0'?><a" + b" " * WIDE + b">two</a>", "x.xml").text == "two"


def test_blank_lines_of_a_listing_are_kept():
    assert "```\na\n\n\n\nb\n```" in extract("<pre>a\n\n\n\nb</pre>").markdown
    lines = "<pre><div>a<br></div><div><br></div><div>b</div></pre>"
    assert "```\na\n\nb\n```" in extract(lines).markdown


@pytest.mark.parametrize("tag", ["meta", "link", "time", "base", "script", "style", "title"])
def test_empty_author_elements_break_nothing(tag: str):
    assert extract(f"<{tag} itemprop=author></{tag}><p>Words that are read.").text == "Words that are read."


@pytest.mark.parametrize("tag", ["table", "pre", "ul", "dl", "blockquote"])
@pytest.mark.nightly
def test_deeply_nested_structures_take_linear_time(tag: str):
    page = f"<{tag}>" * 390 + "<p>The old light</p>" * MANY
    assert extract(page, main=True).text.count("The old light") > MANY / 2


def test_unclosed_svg_elements_take_linear_time():
    page = "<p>The old light</p>" + "<svg ><path d='M0'/>" * 8_000 + " " * 1_500_000
    assert extract(page).text == "The old light"


def test_thousands_of_blocks_in_one_heading_take_linear_time():
    page = "<h1>Lights" + "<article><p>The old light</p></article>" * MANY
    assert extract(page, main=False).text.count("The old light") == MANY


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>[a<b>](x)</b>", "[a]\\(**x)**"),
        ("<p>[a<span>]</span><b></b><i>(</i>x)", "[a]\\(x)"),
        ("<p>[a<span>](x)</span>", "[a]\\(x)"),
        ("<p>a <span>*b</span><span>*</span>", "a \\*b\\*"),
        ("<p>`<span>a</span>` <u>&amp;</u>lt;", "\\`a\\` \\&lt;"),
    ],
)
def test_characters_of_adjacent_elements_do_not_form_markup(html: str, markdown: str):
    assert extract(html, url=PAGE_URL, main=False).markdown == markdown


@pytest.mark.parametrize(
    "html", ["<p>a\x01bc\x02b d", "<p>a\x03*x*\x04 d", "<p>a<code>\x04b</code>c<b>\x03d</b>", "<pre>\x01i\x02</pre>a"]
)
def test_control_characters_in_a_page_do_not_become_markup(html: str):
    document = extract(html, url=PAGE_URL, main=False)
    assert document.markdown.replace("\\", "").replace("**d**", "d") in (
        "abcb d",
        "a*x* d",
        "a`b`cd",
        "```\ni\n```\n\na",
    )
    assert count_words(document.markdown) == count_words(document.text)


def test_a_note_keeps_the_words_of_a_long_back_link():
    note = '<p>Fact<a href="#fn1" id="r1">1</a><ol><li id="fn1">Book. <a href="#r1">{}</a></ol>'
    assert extract(note.format("Jump up"), main=False).markdown == "Fact[^1]\n\n[^1]: Book."
    assert extract(note.format("Jump up"), main=False).text == "Fact1\n\nBook."
    note_text = "It is told at length on page nine"
    assert extract(note.format(note_text), main=False).markdown == f"Fact[^1]\n\n[^1]: Book. {note_text}"


def test_columns_without_values_are_listed_before_the_records_of_a_wide_table():
    head = "".join(f"<th>c{at}" for at in range(22))
    assert extract(f"<table><tr>{head}<tr><td>v", main=False).markdown.splitlines()[1:] == ["- c0: v"]
    assert extract(f"<table><tr>{head}<tr><td>v", main=False).markdown.startswith("- c1; c2; c3;")


@pytest.mark.parametrize("html", ["<option><div><p>Words that are read.", "<p><option>Words that are read.</option>"])
def test_an_option_outside_a_select_is_shown(html: str):
    assert extract(html).text == "Words that are read."
    assert "Wend" not in extract(f"{html}<select><option>Wend<optgroup><option>Wend</select>").text


@pytest.mark.parametrize("rows", [MANY, 4 * MANY])
def test_no_row_of_a_long_table_is_lost(rows: int):
    document = extract(f"<table><tr><th>Name<th>Lit<tr><td>Wend<td>yes{'<tr>' * rows}<tr><td>Reed<td>no", main=False)
    assert count_words(document.markdown.replace("|", " ").replace("-", "")) == count_words(document.text)
    assert "Reed" in document.text


def test_posts_in_the_cells_of_a_table_name_their_authors():
    posts = "".join(
        f'<div class="post"><div class="post-author">{name}</div>Lamps burn.</div>' for name in ("Ann", "Ben", "Cleo")
    )
    document = extract(f"<table><tr><td><p>Lights</p>{posts}<tr><td colspan=2>End</table>")
    assert count_words(document.markdown) == count_words(document.text)


def test_repeated_sectors_in_a_compound_file_take_bounded_memory():
    header = struct.pack("<8s22xHH34xLL109L", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 9, 6, 0, 1, *[0] * 109)
    body = header[:512].ljust(512, b"\x00") + struct.pack("<128L", *[0] * 128) * 400
    tracemalloc.start()
    try:
        with pytest.raises(Unavailable) as caught:
            read_document(body, "x.msg")
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert caught.value.code == "broken_file"
    assert held < 50 * len(body)


def test_a_page_with_lines_of_zero_height_is_read():
    body = (
        b"%PDF-\n1 0 obj<<///Pages 2 0 R>>2 0 obj<<///Kids[3 0 R>endobj\n3 0 obj<</]/Contents 4 0 R\n"
        b"4 0 obj<<>>stream\n1>-1 0 0 0 cm 1 Tf(e t)Tj endobj\ntrailer<</Root 1 0 R>>"
    )
    assert read_document(body, "x.pdf").kind == "pdf"


def test_runs_of_backticks_of_all_lengths_take_linear_time():
    markdown = "x ".join("`" * length for length in range(1, 2_500)) + " [a](b)"
    assert resolve_links(markdown, "https://tides.example/").endswith(" [a](https://tides.example/b)")
