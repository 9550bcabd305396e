"""The main content of pages: choice, form and robustness."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.pages.extraction.main_content import extract_main_content
from outrider.pages.extraction.markdown.style import MarkdownStyle
from outrider.pages.extraction.parse.source_limits import limit_source

PROSE = (
    "The river ran under the square for sixty years, in a pipe of concrete, until a dry summer made people ask why. "
)
FRAGMENTS = ["<p>", "</p>", "<table>", "<td>", "<li>", "<b>", "</a>", "<pre>", "<br>", "\x00", "<!--", "'", "<", "語"]
FRAGMENTS += ['"', "word ", "<a href=x>", "<td rowspan=3>"]
PARAGRAPHS = "".join(f"<p>{PROSE * 3}{at}</p>" for at in range(6))
RIVER_HTML = f"""<!doctype html><html><head><title>How a town got its river back</title></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/news">News</a></li></ul></nav>
<main><article><h1>How a town got its river back</h1>{PARAGRAPHS}</article></main>
<footer><p>Copyright. <a href="/terms">Terms of use</a></p></footer></body></html>"""


def extract_whole(body: str, *, images: bool = False) -> str:
    return extract_main_content(
        body, "https://site.example/a/", main=False, style=MarkdownStyle(images=images)
    ).markdown


def test_the_article_is_kept_and_its_surroundings_are_not():
    found = extract_main_content(RIVER_HTML, "https://town.example/2024/river")
    assert found.text.count("sixty years") == 18
    assert "Terms of use" not in found.text
    assert "News" not in found.text


def test_a_page_with_any_text_is_never_empty():
    assert extract_main_content("<p>hi").text == "hi"
    assert extract_main_content("<title>Only a title</title><body></body>").text == "Only a title"
    assert (
        extract_main_content('<script type="application/ld+json">{"articleBody": "Told \\"here\\"."}</script>').text
        == 'Told "here".'
    )
    assert extract_main_content(b"").text == ""


@pytest.mark.parametrize(
    ("declared", "text", "markdown"),
    [
        ("Two *stars* here\n# No heading", "Two *stars* here\n# No heading", "Two \\*stars\\* here\n\n\\# No heading"),
        ("<p>Told <b>boldly</b></p><p>a < b</p>", "Told boldly\n\na < b", "Told **boldly**\n\na < b"),
    ],
)
def test_an_article_declared_only_in_json_is_read_as_text_or_markup(declared: str, text: str, markdown: str):
    found = extract_main_content(f'<script type="application/ld+json">{json.dumps({"articleBody": declared})}</script>')
    assert (found.text, found.markdown.strip()) == (text, markdown)


@pytest.mark.parametrize(
    "hidden",
    [
        '<div style="display: none">secret</div>',
        '<p style="font-size:0px">secret</p>',
        '<span style="position:absolute;left:-9999px">secret</span>',
        '<p style="opacity: 0">secret</p>',
        "<div hidden>secret</div>",
        '<div aria-hidden="true">secret</div>',
        '<p style="visibility:hidden">secret</p>',
        "<noscript>secret</noscript>",
    ],
)
def test_hidden_content_is_left_out(hidden):
    assert "secret" not in extract_main_content(RIVER_HTML.replace("<article>", f"<article>{hidden}")).text


@pytest.mark.parametrize(
    "rule",
    ["opacity:0", "color:red;opacity:.0;", "max-height:0;overflow:hidden", "-webkit-text-fill-color:transparent"],
)
def test_a_rule_that_makes_text_invisible_hides_it_unless_another_shows_it_again(rule):
    text = "<p class=gone>The secret is that the river was never gone.</p>"
    assert "secret" not in extract_whole(f"<style>.gone{{{rule}}}</style>{text}")
    for more in (f".gone{{{rule};transition:all 1s}}", f".gone{{{rule}}} .shown .gone{{margin:0}}"):
        assert "secret" in extract_whole(f"<style>{more}</style>{text}"), more


def test_text_in_the_colour_of_the_page_is_hidden():
    page = RIVER_HTML.replace(
        "<article>", "<article><p><font color=#ffffff>secret</font><font color=navy>blue</font></p>"
    )
    found = extract_main_content(page).text
    assert "secret" not in found
    assert "blue" in found
    assert "secret" in extract_main_content(page.replace("<article>", "<article bgcolor=black>")).text


def test_hidden_characters_are_counted():
    assert extract_main_content(f"<div hidden>{'x' * 70}</div>{RIVER_HTML}").metadata["hidden"] == 70


def test_a_closed_tab_panel_and_a_page_behind_an_overlay_are_read():
    panel = '<div role="tabpanel" aria-labelledby="t1" hidden>the details</div>'
    assert "the details" in extract_whole(panel)
    curtain = RIVER_HTML.replace("<main>", '<main><div style="opacity:0">').replace("</main>", "</div></main>")
    assert "sixty years" in extract_main_content(curtain).text


@pytest.mark.parametrize(
    "panel",
    [
        '<div class="faq__answer" style="display: none">the details</div>',
        '<div class="accordion__content closed" aria-hidden="true">the details</div>',
        '<div class="tab-pane" hidden>the details</div>',
        '<div style="transform: translateY(54px); opacity: 0">the details</div>',
        '<p style="color: rgb(255, 255, 255); background-color: rgb(34, 34, 34)">the details</p>',
    ],
)
def test_content_that_a_reader_can_open_or_scroll_to_is_read(panel):
    assert "the details" in extract_whole(panel)


@pytest.mark.parametrize(
    "hidden",
    [
        '<div class="faq-modal" role="dialog" hidden>secret</div>',
        '<div class="accordion nav-menu" style="display:none">secret</div>',
        '<div class="faq__answer" style="font-size:0">secret</div>',
        '<div class="accordion-content" style="position:absolute;left:-9999px">secret</div>',
        '<div style="opacity:0;transform:translateX(-99999px)">secret</div>',
        '<p style="color:rgb(1,2,3);background-color:rgb(1,2,3)">secret</p>',
        '<p style="color:white;background-color:white">secret</p>',
    ],
)
def test_the_name_of_a_panel_does_not_reveal_hidden_text(hidden):
    assert "secret" not in extract_main_content(RIVER_HTML.replace("<article>", f"<article>{hidden}")).text


def test_a_page_behind_two_overlays_is_read():
    curtain = '<div style="display:none">' * 2
    page = RIVER_HTML.replace("<main>", f"<main>{curtain}").replace("</main>", "</div></div></main>")
    assert "sixty years" in extract_main_content(page).text


def test_a_noscript_element_that_contains_the_page_is_read():
    assert "sixty years" in extract_main_content(f"<body><noscript><div>{PROSE * 6}</div></noscript></body>").text


def test_headings_lists_and_quotes_keep_their_order_and_depth():
    found = extract_whole(
        "<h2>Top <em>two</em></h2><ol start=3><li>one<ul><li>inner</li></ul></li><li>two</li></ol>"
        "<blockquote><p>said</p><blockquote>deep</blockquote></blockquote><dl><dt>Term</dt><dd>Detail</dd></dl>"
    )
    assert found == "## Top *two*\n\n3. one\n   - inner\n4. two\n\n> said\n>\n> > deep\n\nTerm\n: Detail"


def test_a_listing_keeps_its_language_and_white_space():
    found = extract_whole('<pre><code class="language-python">def f():\n\n    return  1\n</code></pre>')
    assert found == "```python\ndef f():\n\n    return  1\n```"


def test_a_table_has_a_header_row_and_its_spans_are_resolved():
    found = extract_whole(
        "<table><tr><th>A<th colspan=2>B</tr><tr><td rowspan=2>1<td>2<td>3|4</tr><tr><td>5<td>6</tr></table>"
    )
    assert found == "| A | B | B |\n| --- | --- | --- |\n| 1 | 2 | 3\\|4 |\n| 1 | 5 | 6 |"


def test_a_table_for_layout_becomes_its_paragraphs():
    found = extract_whole(f"<table><tr><td>menu</td><td><p>{PROSE * 8}</p><p>second</p></td></tr></table>")
    assert "|" not in found
    assert found.endswith("second")


def test_links_are_absolute_and_unsafe_ones_are_text():
    found = extract_whole(
        '<p><a href="../b?x=1">good</a> <a href="javascript:alert(1)">bad</a> <a href="#top">up</a></p>'
    )
    assert found == "[good](https://site.example/b?x=1) bad up"


def test_pictures_are_shown_on_request():
    page = '<figure><img src="/z.png" alt="A heron"><figcaption>At dawn</figcaption></figure>'
    assert extract_whole(page) == "At dawn"
    assert extract_whole(page, images=True) == "![A heron](https://site.example/z.png)\n\nAt dawn"


def test_formulas_are_latex():
    assert extract_whole(r'<p>Half: <math alttext="\frac{1}{2}"><mn>1</mn></math></p>') == r"Half: $\frac{1}{2}$"
    katex = '<math><semantics><mi>x</mi><annotation encoding="application/x-tex">x^2</annotation></semantics></math>'
    assert extract_whole(f"<p>So {katex}</p>") == "So $x^2$"
    assert extract_whole(r'<p>So <script type="math/tex">y_1</script></p>') == "So $y_1$"


def test_an_unclosed_frame_does_not_hide_the_page():
    counter = '<noscript><iframe src="//count.example/ns" height="0" /></noscript>'
    assert "sixty years" in extract_main_content(RIVER_HTML.replace("<main>", f"{counter}<main>")).text


def test_a_pathological_source_is_thinned_without_losing_text():
    assert extract_main_content("<div>" * 50_000 + "kept").text == "kept"
    assert limit_source(b"<div>" * 50_000 + b"kept", 1_000_000).count(b"<div>") < 1_000
    assert extract_main_content("<div " + "".join(f"a{at}=1 " for at in range(50_000)) + ">kept</div>").text == "kept"
    assert "kept" in extract_main_content("".join(f"<b a={at}>" for at in range(4_000)) + "<p>kept</p>" * 500).text


def test_an_equals_sign_at_the_end_of_a_value_does_not_start_another_value():
    """Base64 ends with it, so the value does not continue to the next quotation mark."""
    picture = b"<picture><source srcset='data:image/svg+xml;base64,PHN2Zz4=' />"
    text = b"<p>Sixty years of light, and it's all here.</p>" * 500
    source = picture + text + b"</picture>"
    assert limit_source(source, 1_000_000) == source


@pytest.mark.parametrize(
    "before",
    [b"", b"<source srcset='data:,4=' />" + b"x " * 12_000, b"<svg><style>", b"<!-- <a b='=\">' -->", b"<a b=c="],
)
def test_attributes_that_contain_tag_ends_are_cut_whatever_precedes_them(before):
    source = before + b"<p " + b" ".join(b"a%d='>'" % at for at in range(20_000)) + b">kept"
    assert len(limit_source(source, 1_000_000)) < len(before) + 1_000


def test_end_tags_in_comments_and_scripts_close_nothing():
    for hiding in (b"<!--</div>-->", b"<script>'</div>'</script>"):
        assert limit_source((b"<div>" + hiding) * 5_000 + b"kept", 1_000_000).count(b"<div>") < 1_000


@given(
    st.lists(st.sampled_from(FRAGMENTS), max_size=60).map("".join)
    | st.text()
)  # fmt: skip
def test_no_source_breaks_extraction(source):
    found = extract_main_content(source, "https://site.example/")
    assert isinstance(found.markdown, str)
    extract_whole(source)


@given(st.lists(st.text(alphabet="abcdefgh ", min_size=3, max_size=40).filter(str.strip), min_size=1, max_size=8))
def test_text_and_markdown_contain_the_same_words(paragraphs):
    found = extract_main_content("".join(f"<div><p>{each}</p></div>" for each in paragraphs), main=False)
    assert found.text.split() == found.markdown.split() == " ".join(paragraphs).split()


def test_a_short_text_between_navigation_links_is_extracted_without_them():
    ways = "".join(f"<li><a href=/{name}>{name}</a>" for name in ("index", "next", "previous", "search"))
    around = "<h3>Navigation</h3>" + f"<ul>{ways}</ul>"
    source = (
        "<title>SIZE_LIMIT - Manual</title><body>" + f"<div class=related>{around}</div>"
        "<div class=document><div class=body><h1>SIZE_LIMIT</h1><p>New in version 3.12.</p>"
        "<p>This variable allows to override the default limit of sizes.</p></div></div>"
        f"<div class=sphinxsidebar>{around}</div><div class=related>{around}</div><div class=footer>Copyright</div>"
    )
    text = extract_main_content(source, url="https://manual.example/variable/SIZE_LIMIT.html").text
    assert "override the default" in text
    assert "previous" not in text
