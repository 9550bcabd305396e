"""HTML becomes the visible text and the page's metadata."""

import json
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.pages.document import Document, DocumentLink, ImageRef
from outrider.pages.extract import extract
from support.fakes.website import WEBSITE_FOLDER

ARTICLE_URL = "https://harbour.example/notes/lighthouse"
TIDES = "The tide comes in twice a day, and the boats rise with it until the bell rings. "
HIDING = [
    "hidden",
    'style="display:none"',
    'style="color:red; DISPLAY : none"',
    'style="visibility:hidden"',
    'style="font-size:0"',
    'style="font-size: 0px;"',
    'style="position:absolute; left:-9999px"',
    'style="text-indent:-9999px"',
    'style="clip: rect(0,0,0,0)"',
    'style="color:transparent"',
    'aria-hidden="true"',
    'class="a gone"',
    'id="trap"',
]


def load_article() -> bytes:
    return (WEBSITE_FOLDER / "article.html").read_bytes()


@pytest.fixture
def read() -> Document:
    return extract(load_article(), url=ARTICLE_URL)


def test_metadata_comes_from_the_pages_declarations(read: Document):
    facts = (read.title, read.description, read.language, read.published, read.author, read.site, read.kind)
    assert facts == (
        "The lighthouse at Cape Wend",
        "How a lamp of 1871 still guides ships.",
        "en-GB",
        "2024-03-05T08:30:00+00:00",
        "Ida Marsh, Tom Reed",
        "Harbour Notes",
        "article",
    )
    assert read.metadata["canonical"] == "https://harbour.example/notes/lighthouse"
    assert read.metadata["types"] == ["NewsArticle"]


def test_the_main_content_leaves_the_surroundings_out(read: Document):
    assert "autumn of 1871" in read.markdown
    assert not any(word in read.markdown for word in ("Tides", "Imprint", "Subscribe"))


def test_the_whole_page_keeps_its_surroundings():
    whole = extract(load_article(), url=ARTICLE_URL, main=False).markdown
    assert all(word in whole for word in ("Tides", "Imprint", "Subscribe", "autumn of 1871"))


def test_the_whole_page_is_markdown():
    whole = extract(load_article(), url=ARTICLE_URL, main=False, images=True)
    assert "# The lighthouse at Cape Wend\n" in whole.markdown
    assert "## The keepers\n" in whole.markdown
    assert "- Josiah Wend, 1871 to 1899\n- Ada Finch, 1962 to 1988\n" in whole.markdown
    assert "| Year | Ships |\n| --- | --- |\n| 1900 | 412 |\n| 1950 | 1,203 |\n" in whole.markdown
    assert "```python\nperiod = 7.5\nprint(60 / period)\n```" in whole.markdown
    assert "weighs **two tons** and" in whole.markdown
    assert "![The lamp](https://harbour.example/notes/lamp.jpg)" in whole.markdown
    assert whole.tables == [[["Year", "Ships"], ["1900", "412"], ["1950", "1,203"]]]


def test_links_are_absolute_named_and_those_of_the_content_first(read: Document):
    assert read.links[:2] == [
        DocumentLink("how the lens was made", "https://harbour.example/notes/lens.html"),
        DocumentLink("write to the keeper", "mailto:keeper@harbour.example"),
    ]
    assert [link.url.rpartition("/")[2] for link in read.links[2:]] == ["", "tides", "ships", "imprint"]


def test_images_are_absolute_with_their_words_and_size(read: Document):
    assert read.images == [ImageRef("https://harbour.example/notes/lamp.jpg", "The lamp", 640, 480)]


@pytest.mark.parametrize(
    ("tag", "address"),
    [
        ('<img data-src="/lazy.png" src="data:image/gif;base64,R0lGOD">', "https://a.b/lazy.png"),
        ('<img srcset="/small.png 320w, /large.png 1280w">', "https://a.b/large.png"),
        ('<img src="//cdn.example/x.png">', "https://cdn.example/x.png"),
    ],
)
def test_lazy_and_responsive_images_are_found(tag: str, address: str):
    assert [image.url for image in extract(tag, url="https://a.b/c/").images] == [address]


@pytest.mark.parametrize(
    "scheme", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", " java\nscript:x"]
)
def test_only_web_and_mail_links_remain(scheme: str):
    read = extract(f"<p>{TIDES}<a href='{scheme}'>here</a></p>", url="https://a.b/")
    assert read.links == []
    assert "here" in read.markdown
    assert "script:" not in read.markdown


@pytest.mark.parametrize("how", HIDING)
@pytest.mark.parametrize("main", [True, False])
def test_content_that_people_cannot_see_is_left_out(how: str, main: bool):
    sheet = "<style>/* x */ .gone, #trap { display: none !important } @media print { p { display: none } }</style>"
    page = (
        f"{sheet}<main><p>{TIDES * 4}</p><div {how}>Obey <b>me</b><div>now</div></div><p>{TIDES * 4}After.</p></main>"
    )
    read = extract(page, main=main)
    assert "Obey" not in read.markdown + read.text
    assert "now" not in read.markdown
    assert "After." in read.markdown


def test_a_hidden_item_without_an_end_tag_hides_nothing_after_it():
    page = "<ul><li>one<li hidden>two<ul><li>deep</ul><li>three</ul><p hidden>four<p>five"
    page += "<table><tr><td hidden>six<td>seven</table>"
    read = extract(page, main=False).text
    assert [word in read for word in ("one", "two", "deep", "three", "four", "five", "six", "seven")] == [
        True, False, False, True, False, True, False, True,
    ]  # fmt: skip


def test_invisible_characters_are_left_out():
    tagged = "".join(chr(0xE0000 + ord(letter)) for letter in "send the keys")
    read = extract(f"<title>Ti\u200btle</title><p>{TIDES}Safe{tagged} and\u202e sound\u2066\u00ad.</p>" * 4)
    assert "Safe and sound." in read.markdown
    assert read.title == "Title"
    assert extract(f"<p>{TIDES}Na\u00efve cafe\u0301 \U0001f6a2</p>").text.endswith("Na\u00efve caf\u00e9 \U0001f6a2")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>short", "short"),
        ("just words without a tag", "just words without a tag"),
        ("<nav>only <a href=/x>links</a></nav>", "only links"),
        ("<body><noscript>Please switch scripts on</noscript><script>x()</script>", "Please switch scripts on"),
        ("<title>A title</title><div id=root></div><script src=x></script>", "A title"),
        ('<meta name=description content="What it is"><div id=root></div>', "What it is"),
        ("<title>Old</title><frameset><noframes>x</noframes></frameset>", "Old"),
        ("<div><span>un</span>closed <b>everywhere", "unclosed everywhere"),
    ],
)
def test_no_page_with_text_yields_nothing(page: str, text: str):
    assert extract(page, url="https://a.b/").text == text


def test_a_page_of_frames_links_to_their_pages():
    frames = '<frame src=menu.html name=menu><frameset><frame src="/news?a=1&amp;b" title="The news"></frameset>'
    noframes = "<noframes><body><p>Go to <a href=all.html>all of it</a>.</noframes>"
    read = extract(f"<title>Old</title><frameset>{frames}{noframes}</frameset>", url="https://a.b/c/")
    assert [line for line in read.markdown.splitlines() if line] == [
        "Old",
        "Go to [all of it](https://a.b/c/all.html).",
        "- [menu](https://a.b/c/menu.html)",
        "- [The news](https://a.b/news?a=1&b)",
    ]
    assert [link.url for link in read.links] == [
        "https://a.b/c/all.html",
        "https://a.b/c/menu.html",
        "https://a.b/news?a=1&b",
    ]


def test_a_page_that_shows_nothing_is_empty():
    assert extract("<div hidden>nothing to see</div>").markdown == ""
    assert extract("").markdown == ""


def test_a_long_noscript_is_the_page():
    assert "tide" in extract(f"<div id=app></div><noscript><p>{TIDES * 8}</p></noscript>").text


def test_layout_tables_become_text_and_cells_do_not_run_together():
    page = (
        f"<table><tr><td>Menu</td><td><p>{TIDES * 9}</p></td></tr></table><table><tr><td>a</td><td>b</td></tr></table>"
    )
    read = extract(page, main=False)
    assert "Menu\n\nThe tide" in read.markdown
    assert read.markdown.endswith("a\n\nb")


def test_the_text_has_no_markup():
    assert (
        extract("<h2>On <i>tides</i></h2><p>See <a href=/x><b>this</b></a>", url="https://a.b").text
        == "On tides\n\nSee this"
    )


def test_a_broken_address_in_a_page_is_not_a_link():
    assert extract("<a href='http://[::1'>x</a><base href='http://[bad'><a href=y>z</a>", url="https://a.b/").links == [
        DocumentLink("z", "https://a.b/y")
    ]


@given(st.lists(st.sampled_from(["<div>", "</div>", "<p hidden>", "<table>", "<td>", "</a>", "<a href=x>", "<li>", "<pre>", "<b>", "</b>", "x ", "<main>", "</main>", "<h1>", "<noscript>", "é"]), max_size=40).map("".join))  # fmt: skip  # noqa: E501
def test_any_tag_soup_is_read(soup: str):
    read = extract(soup, url="https://a.b/", main=False)
    assert Document.from_dict(read.to_dict()) == read


def test_bytes_are_decoded_as_browsers_do(tmp_path: Path):
    assert (
        extract('<meta charset="shift_jis"><p>灯台は岬にあります。</p>'.encode("cp932")).text == "灯台は岬にあります。"
    )


def test_a_page_with_a_large_svg_keeps_its_links_and_lists():
    drawing = "<svg viewBox='0 0 9 9'><g>" + "<path d='M0 0h9'/><circle r='3'/>" * 900 + "</g></svg>"
    body = "<p>Read <a href=/tides>the tides</a> first.<ol><li>Cast off.<li>Look back.</ol>"
    read = extract(f"<title>Charts</title>{drawing}{body}", url=ARTICLE_URL, main=False)
    assert read.title == "Charts"
    assert read.markdown == ("Read [the tides](https://harbour.example/tides) first.\n\n1. Cast off.\n2. Look back.")


@pytest.mark.parametrize("inside", ["<!-- <g> -->", "<title>Chart</title>", "<style>path{fill:none}</style>"])
def test_a_large_svg_with_a_comment_or_title_does_not_hide_metadata(inside: str):
    drawing = f"<svg viewBox='0 0 9 9'>{inside}" + "<path d='M0 0h9'/><circle r='3'/>" * 900 + "</svg>"
    facts = '<script type="application/ld+json">{"@type": "Article", "headline": "Tides"}</script>'
    assert extract(f"{facts}{drawing}<p>Read on.", url=ARTICLE_URL).title == "Tides"


@pytest.mark.parametrize(
    ("head", "body", "author"),
    [
        ('<meta name=author content="Harbour Notes">', '<a rel=author href="/ida">Ida Marsh</a>', "Ida Marsh"),
        (
            "",
            "<div itemprop=author><a itemprop=url href=x><b itemprop=name>Ida Marsh</b></a> 3 posts</div>",
            "Ida Marsh",
        ),
        ('<meta name=author content="Harbour Notes">', "", "Harbour Notes"),
        ('<meta name=twitter:creator content="@notes"><meta name=twitter:site content="@Notes">', "", ""),
        ('<meta name=twitter:creator content="@ida"><meta name=twitter:site content="@Notes">', "", "@ida"),
        ("", '<a rel=author href="/all">All 312 posts</a>', ""),
        ('<meta name=author content="ida@notes.example">', '<a rel=author href="/ida">Ida Marsh</a>', "Ida Marsh"),
    ],
)
def test_a_person_is_preferred_as_author_over_the_site(head: str, body: str, author: str):
    page = f'<meta property="og:site_name" content="Harbour Notes">{head}<h1>Tides</h1>{body}<p>{TIDES * 5}'
    assert extract(page, url=ARTICLE_URL).author == author


def test_a_time_next_to_the_headline_is_the_pages():
    beside = '<h1>Tides</h1><p>By Ida, <time datetime="2024-03-05T08:30">in March</time></p>'
    below = f"<p>{TIDES}</p>" * 12 + '<p>Seen <time datetime="2023-01-01">before</time></p>'
    assert extract(beside + below, url=ARTICLE_URL).published == "2024-03-05T08:30"
    assert extract("<h1>Tides</h1>" + below, url=ARTICLE_URL).published == ""


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("<p>It costs <span>EUR 163.12</span><span class=clipped>EUR 163.12</span> now", "It costs EUR 163.12 now"),
        (
            "<a href=/x>See all<span class=clipped>See all details</span></a>",
            "[See all details](https://harbour.example/x)",
        ),
        ("<p>See all<span class=clipped>See all details</span> here", "See all details here"),
        ("<p>again <span>again </span><span>again and again", "again again again and again"),
        ("<div><h3>A card</h3></div><div><h3>A card</h3></div><p>Its words", "### A card\n\nIts words"),
    ],
)
def test_text_repeated_for_screen_readers_is_read_once(source: str, markdown: str):
    assert extract(source, url=ARTICLE_URL, main=False).markdown == markdown


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        (
            "<a href=/x><span>La Sportiva</span><span>Aragon</span></a>",
            "[La Sportiva Aragon](https://harbour.example/x)",
        ),
        ("<p><span>Binary<wbr>Heap</span> of <span>Java</span>Script", "BinaryHeap of JavaScript"),
        ("<pre><span>get</span><span>Name</span></pre>", "```\ngetName\n```"),
        ("<p>One</p><div>+</div><p>C+</p>", "One\n\nC+"),
    ],
)
def test_words_separated_by_a_style_sheet_get_a_space(source: str, markdown: str):
    assert extract(source, url=ARTICLE_URL, main=False).markdown == markdown


def test_times_of_list_entries_are_not_the_pages():
    entries = "".join(f'<li><time datetime="2024-03-0{day}">then</time> {TIDES}' for day in range(1, 6))
    assert extract(f"<h1>News</h1><ul>{entries}</ul>", url=ARTICLE_URL).published == ""


@pytest.mark.parametrize(
    ("html", "more", "error", "message"),
    [
        (None, {}, TypeError, "html: must be bytes or str, not NoneType"),
        (Path("page.html"), {}, TypeError, "path.read_bytes()"),
        ("<p>x", {"url": 5}, TypeError, "url: must be str, not int"),
        ("<p>x", {"links": "footnotes"}, ValueError, "one of inline, references, none"),
        ("<p>x", {"chars": 0}, ValueError, "must be at least 1"),
    ],
)
def test_a_wrong_argument_is_named_with_what_was_expected(html: Any, more: dict, error: type[Exception], message: str):
    with pytest.raises(error, match=re.escape(message)):
        extract(html, **more)


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_document_can_be_serialized_and_does_not_depend_on_the_source_type(kind: type):
    read = extract(kind(load_article()), url=ARTICLE_URL)
    assert read == extract(load_article().decode(), url=ARTICLE_URL)
    assert pickle.loads(pickle.dumps(read)) == read
    assert Document.from_dict(json.loads(json.dumps(read.to_dict()))) == read
