"""The structure of a page becomes Markdown."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.pages.document import Document
from outrider.pages.extract import extract

BASE_URL = "https://site.example/a/"
CODE_LINES = "def f():\n\n    return  1"


def extract_whole(body: str, **options) -> Document:
    return extract(body, url=BASE_URL, main=False, **options)


@pytest.mark.parametrize(
    "source",
    [
        f"<pre>{CODE_LINES}\n</pre>",
        "<pre>def f():<br><br>    return  1</pre>",
        "<pre><div>def f():</div><div></div><div>    return  1</div></pre>",
        "<pre><div>def f():<br></div><div><br></div><div>    return  1</div></pre>",
        f"<table class=highlighttable><tr><td class=linenos><pre>1\n2\n3</pre><td><pre>{CODE_LINES}</pre></table>",
        f"<table><tr><td class=gutter><pre>1\n2\n3</pre><td><pre><code>{CODE_LINES}</code></pre></table>",
    ],
)
def test_a_listing_keeps_each_line_without_numbers(source: str):
    assert extract_whole(source).markdown == f"```\n{CODE_LINES}\n```"


@pytest.mark.parametrize(
    "source",
    [
        "<pre><code class='language-rust'>x</code></pre>",
        "<pre class='lang-rust prettyprint'>x</pre>",
        "<pre class='brush: rust; gutter: false'>x</pre>",
        "<pre data-lang=rust>x</pre>",
        "<pre><code class='hljs rust'>x</code></pre>",
        "<div class='highlight highlight-source-rust'><pre>x</pre></div>",
        "<div class='language-rust highlighter-rouge'><div class=highlight><pre class=highlight>x</pre></div></div>",
        "<pre class='sourceCode rust'>x</pre>",
        "<pre tabindex=0 class=chroma><code class='language-rust' data-lang=rust>x</code></pre>",
        "<pre><code data-lang=rust>x</code></pre>",
        "<pre class='src src-rust'>x</pre>",
        "<pre class=EnlighterJSRAW data-enlighter-language=rust>x</pre>",
        "<pre lang=rust>x</pre>",
        "<div class='mw-highlight mw-highlight-lang-rust'><pre>x</pre></div>",
    ],
)
def test_a_listing_names_its_language_however_the_page_does(source: str):
    assert extract_whole(source).markdown == "```rust\nx\n```"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("<span class=line><b>one</b></span><span class=line>two</span>", "one\ntwo"),
        ("<span class=line>one</span>\n<span class=line></span>\n<span class=line>two</span>", "one\n\ntwo"),
        ("one<span class=gatsby-highlight-code-line>  two</span>three\nfour", "one\n  two\nthree\nfour"),
    ],
)
def test_lines_separated_only_by_a_style_sheet_are_lines(source: str, lines: str):
    read = extract_whole(f"<pre><code>{source}</code></pre>")
    assert read.markdown == f"```\n{lines}\n```"
    assert read.text == lines


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("<code><b>rewrite</b> <code>on</code> | <code>off</code></code>", "`rewrite on | off`"),
        ("<code>List&lt;<a href=/t>T</a>&gt;</code>", "`List<T>`"),
        ("<code><a href=/t>T</a></code>", "[`T`](https://site.example/t)"),
        ("<kbd><kbd>Ctrl</kbd>+<kbd>C</kbd></kbd>", "`Ctrl+C`"),
        ("<code>10<sup>6</sup></code>", "`10^6`"),
        ('<a href="code">a*b*</a>', "[a\\*b\\*](https://site.example/a/code)"),
    ],
)
def test_code_contains_no_other_markup(source: str, markdown: str):
    assert extract_whole(f"<p>So {source} holds").markdown == f"So {markdown} holds"


def test_brackets_in_separate_elements_do_not_form_a_link():
    assert extract_whole("<p>[a]<i></i>(b) holds").markdown == "[a]\\(b) holds"


def test_a_listing_of_one_line_in_a_cell_is_code():
    row = "<tr><th>Default:<td><pre>cache on | off;</pre>"
    assert r"| Default: | `cache on \| off;` |" in extract_whole(f"<table>{row}<tr><th>Since<td>1.2</table>").markdown


@pytest.mark.parametrize(
    "link", ["<a href=#p>#</a>", "<a href=/a#p><span>\u00b6</span></a>", "<a href=#p> \u00a7 </a>"]
)
def test_a_self_link_in_a_heading_is_left_out(link: str):
    read = extract_whole(f"<h2>Providers{link}</h2><p>Text<h2>{link}Prices</h2>")
    assert read.markdown == "## Providers\n\nText\n\n## Prices"
    assert read.text == "Providers\n\nText\n\nPrices"


def test_list_items_without_own_words_do_not_indent_their_inner_items():
    inner = "<ul><li>one<li>two<ul><li>deep</ul></ul>"
    assert extract_whole(f"<ul><li>{inner}</li><li>three</ul>").markdown == "- one\n- two\n  - deep\n- three"


def test_emphasis_contains_no_space_at_its_ends():
    assert extract_whole("<p><b>If:\u00a0</b>you <i>\u00a0do\u2003</i>so").markdown == "**If:** you *do* so"


def test_a_fence_is_longer_than_those_in_its_listing():
    assert extract_whole("<pre>```\nx\n```</pre>").markdown == "````\n```\nx\n```\n````"


def test_a_caption_and_row_headings_of_a_table_are_kept():
    read = extract_whole("<table><caption>Tides</caption><tr><th>High<td>6:12<tr><th>Low<td>12:30</table>")
    assert read.markdown == "Tides\n\n|  |  |\n| --- | --- |\n| High | 6:12 |\n| Low | 12:30 |"
    assert read.tables == [[["High", "6:12"], ["Low", "12:30"]]]


def test_a_row_of_one_cell_is_the_title_of_its_table():
    read = extract_whole("<table><tr><th colspan=2>Lamp<tr><td>Price<td>9<tr><td>Light<td>2 lm</table>")
    assert read.markdown == "Lamp\n\n| Price | 9 |\n| --- | --- |\n| Light | 2 lm |"


@pytest.mark.parametrize("tag", ["div", "span", "x-part"])
@pytest.mark.parametrize("kind", ["table", "grid"])
def test_elements_with_table_roles_form_a_table(tag: str, kind: str):
    rows = [["columnheader", "Ship", "Night"], ["cell", "Sloop", "12 €"], ["gridcell", "Yawl", "30 €"]]
    cells = ["".join(f"<{tag} role={role}>{each}</{tag}>" for each in words) for role, *words in rows]
    lines = "".join(f"<{tag} role=row>{each}</{tag}>" for each in cells)
    read = extract_whole(f"<p>Prices<div role={kind}><{tag} role=rowgroup>{lines}</{tag}></div><p>end")
    assert read.markdown == "Prices\n\n| Ship | Night |\n| --- | --- |\n| Sloop | 12 € |\n| Yawl | 30 € |\n\nend"
    assert read.tables == [[["Ship", "Night"], ["Sloop", "12 €"], ["Yawl", "30 €"]]]


def test_the_grids_of_javadoc_are_tables():
    cells = [("table-header col-first", "Type"), ("table-header col-last", "Method")]
    cells += [("col-first odd-row-color", "<code>int</code>"), ("col-last odd-row-color", "<code>size()</code>")]
    cells += [("col-first", "<code>void</code>"), ("col-last", "<div class=block>Ends it.</div>")]
    grid = "".join(f"<div class='{names}'>{words}</div>" for names, words in cells)
    table = "| Type | Method |\n| --- | --- |\n| `int` | `size()` |\n| `void` | Ends it. |"
    made = "<!-- Generated by javadoc (17) --><title>List</title>"
    assert extract_whole(f"{made}<div class='summary-table two-column-summary'>{grid}</div>").markdown == table
    nested = f"{made}<div class=summary-table><div class=col-last><div class=summary-table>{grid}</div></div></div>"
    assert "Ends it." in extract_whole(nested).markdown


def test_a_very_wide_table_becomes_records():
    head, row = ("".join(f"<{tag}>{word}{at}" for at in range(25)) for tag, word in (("th", "c"), ("td", "v")))
    read = extract_whole(f"<table><tr>{head}<tr>{row}</table>")
    assert read.markdown.startswith("- c0: v0; c1: v1; ")
    assert len(read.tables[0][0]) == 25


def test_a_table_that_holds_a_table_is_layout():
    inner = "<table><tr><th>A<th>B<tr><td>1<td>2</table>"
    read = extract_whole(f"<table><tr><td>menu<td>{inner}<tr><td>foot<td>end</table>")
    assert read.markdown == "menu\n\n| A | B |\n| --- | --- |\n| 1 | 2 |\n\nfoot\n\nend"


def test_headings_in_items_and_links_around_blocks_are_kept():
    read = extract_whole("<ul><li><a href=b><img src=c><h2>Name</h2><p>Words</p></a></ul>")
    assert read.markdown == "- ## [Name](https://site.example/a/b)\n  Words"


def test_elements_with_the_heading_role_are_headings():
    read = extract_whole("<div role=heading aria-level=3>One</div><p>a<div role=heading>Two</div><p>b")
    assert read.markdown == "### One\n\na\n\n## Two\n\nb"


def test_ordered_lists_are_numbered_as_on_the_page():
    assert extract_whole("<ol start=5><li>a<li value=9>b<li>c</ol>").markdown == "5. a\n9. b\n10. c"


def test_footnotes_come_last_without_back_links():
    read = extract_whole(
        '<p>One<sup><a href="#fn1" id=r1>1</a></sup> and two<a href="#fn2">[2]</a>.</p>'
        '<ol><li id=fn1><p>First. <a href="#r1">\u21a9</a></p><li id=fn2><a href="#fnref2">^</a> Second.</ol><p>After.'
    )
    assert read.markdown == "One[^1] and two[^2].\n\nAfter.\n\n[^1]: First.\n[^2]: Second."
    assert read.text.index("After.") < read.text.index("First.")


def test_a_formula_without_source_is_read_from_its_rendering():
    drawn = (
        '<span class="katex"><span class="katex-html" aria-hidden="true"><span class="mord">x+y</span></span></span>'
    )
    assert extract_whole(f"<p>So {drawn} holds").markdown == "So x+y holds"


@pytest.mark.parametrize(
    ("source", "latex"),
    [
        ("<math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>", "$E = mc^{2}$"),
        ("<math display=block><mfrac><mn>1</mn><msqrt><mi>x</mi></msqrt></mfrac></math>", r"$$\frac{1}{\sqrt{x}}$$"),
        (
            "<math><munderover><mo>\u2211</mo><mi>i</mi><mi>n</mi></munderover><msub><mi>\u03b1</mi><mi>i</mi></msub></math>",
            r"$\sum_{i}^{n}\alpha_{i}$",
        ),
        (r'<math alttext="{\displaystyle a/b}"><mi>a</mi></math>', "$a/b$"),
        ('<script type="math/tex; mode=display">y_1</script>', "$$y_1$$"),
        (
            (
                '<mjx-container><mjx-math aria-hidden="true"><mjx-mi>x</mjx-mi></mjx-math><mjx-assistive-mml>'
                "<math><mi>x</mi></math></mjx-assistive-mml></mjx-container>"
            ),
            "$x$",
        ),
        (
            (
                '<span class="mwe-math-mathml-inline" style="display: none"><math alttext="z"><mi>z</mi></math></span>'
                '<img class="mwe-math-fallback-image-inline" aria-hidden="true" alt="z">'
            ),
            "$z$",
        ),
        (
            (
                "<span class=katex><span class=katex-mathml><math><semantics><mi>k</mi>"
                '<annotation encoding="application/x-tex">k</annotation></semantics></math></span>'
                '<span class=katex-html aria-hidden="true">k</span></span>'
            ),
            "$k$",
        ),
        (
            (
                '<mjx-container class="MathJax"><mjx-math aria-hidden="true"><mjx-c></mjx-c></mjx-math>'
                "<mjx-assistive-mml><math><mi>v</mi></math></mjx-assistive-mml></mjx-container>"
            ),
            "$v$",
        ),
        ("<img class=latex src=x.png alt='\\frac{1}{2}'>", r"$\frac{1}{2}$"),
        ("<span class=ztext-math data-tex='a_1'>a1</span>", "$a_1$"),
        ("<img src='https://www.zhihu.com/equation?tex=b%5E2' alt='b^2'>", "$b^2$"),
        ("<span class='math inline'>c_1</span>", "$c_1$"),
        ("<span class='math inline'>\\(c_1\\)</span>", "\\(c_1\\)"),
        ("<span class=MathJax_SVG data-mathml='&lt;math>&lt;mi>d&lt;/mi>&lt;/math>'><svg></svg></span>", "$d$"),
        (
            (
                "<span class='mjx-chtml MathJax_CHTML' data-mathml='&lt;math>&lt;mi>e&lt;/mi>&lt;/math>'><span>e</span>"
                "<span><math><mi>e</mi></math></span></span><script type='math/tex'>e_1</script>"
            ),
            "$e_1$",
        ),
        ("<mjx-container class=MathJax><mjx-math data-latex='f^2'><mjx-c></mjx-c></mjx-math></mjx-container>", "$f^2$"),
        ("<math><semantics><mi>g</mi><annotation encoding=LaTeX>g_0</annotation></semantics></math>", "$g_0$"),
        ("<math><mi>u</mi></math> <img class=mwe-math-fallback-image-inline src=x.svg alt='v'>", "$u$ $v$"),
        (
            (
                "<mjx-container><mjx-math aria-hidden=true><mjx-c></mjx-c></mjx-math><mjx-assistive-mml>"
                "<math><mi>w</mi></math></mjx-assistive-mml></mjx-container>"
            ),
            "$w$",
        ),
    ],
)
def test_formulas_are_latex_wherever_they_come_from(source: str, latex: str):
    assert extract_whole(f"<p>So {source} holds").markdown == f"So {latex} holds"


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("# no heading", "\\# no heading"),
        ("1. no item", "1\\. no item"),
        ("- no item", "\\- no item"),
        ("a *b* c", "a \\*b\\* c"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("snake_case_name", "snake_case_name"),
        ("&lt;b> and 1 &lt; 2", "\\<b> and 1 < 2"),
        ("[a](b)", "[a]\\(b)"),
        ("$9 is -5%", "$9 is -5%"),
    ],
)
def test_text_does_not_become_markup_by_accident(source: str, markdown: str):
    assert extract_whole(f"<p>{source}</p>").markdown == markdown


def test_brackets_in_the_words_of_a_link_do_not_end_it():
    assert extract_whole("<a href=x>one] two</a>").markdown == "[one\\] two](https://site.example/a/x)"


def test_links_are_listed_at_the_end_or_left_out_on_request():
    page = "<p><a href=b>one</a>, <a href=c>two</a>, <a href=b>three</a>"
    references = "[1]: https://site.example/a/b\n[2]: https://site.example/a/c"
    assert extract_whole(page, links="references").markdown == f"[one][1], [two][2], [three][1]\n\n{references}"
    assert extract_whole(page, links="none").markdown == "one, two, three"
    assert len(extract_whole(page, links="none").links) == 2


def test_odd_characters_of_addresses_are_escaped():
    assert extract_whole('<a href="a\x0cb">x</a>').markdown == "[x](https://site.example/a/a%0Cb)"


PRODUCT = {
    "@type": "Product", "name": "Lamp", "brand": {"name": "Wend"}, "sku": "L1",
    "offers": {"price": 12.5, "priceCurrency": "EUR", "availability": "https://schema.org/InStock"},
    "aggregateRating": {"ratingValue": 4.5, "reviewCount": 12},
}  # fmt: skip


def test_a_product_shows_declared_facts_that_the_page_does_not():
    read = extract_whole(f'<script type="application/ld+json">{json.dumps(PRODUCT)}</script><h1>Lamp</h1><p>By Wend')
    facts = "Price: 12.5 EUR", "Availability: InStock", "Rating: 4.5 of 5 (12 ratings)", "SKU: L1"
    assert read.kind == "product"
    assert read.metadata["product"]["price"] == "12.5 EUR"
    assert read.markdown == "\n".join(f"- {line}" for line in facts) + "\n\n# Lamp\n\nBy Wend"
    assert read.text == "\n".join(facts) + "\n\nLamp\n\nBy Wend"


def test_posts_of_a_discussion_name_their_authors_and_dates():
    words = "The tide was high when we came in, and nobody was on the pier to take the line from us. " * 4
    posts = "".join(
        f'<div class=post><div class=username><a href=/u/{name}>{name}</a></div><time datetime="2024-03-0{at}T08:30">'
        f"then</time><div class=post-body><p>{words}</p></div></div>"
        for at, name in enumerate(("Ida", "Tom", "Ada"), 1)
    )
    read = extract(f"<title>Tides</title><h1>Tides</h1>{posts}", url="https://forum.example/t/1").text
    assert [name in read for name in ("Ida", "Tom", "Ada")] == [True] * 3
    assert read.index("Ida") < read.index("Tom") < read.index("Ada")


@pytest.mark.parametrize("page", ["<math><link>\t", "<math><input>>", "<svg><br>x</svg>y", "a<g><img>9/1<g><img>8"])
def test_void_elements_with_content_break_nothing(page: str):
    read = extract_whole(page)
    assert read.text.split() == read.markdown.replace("\\", "").split()


def test_tab_panels_are_read_and_edit_links_of_headings_dropped():
    read = extract_whole(
        "<h2>Install <span class=mw-editsection>[edit]</span></h2><div role=tabpanel hidden>conda install</div>"
    )
    assert read.markdown == "## Install\n\nconda install"


@pytest.mark.parametrize(
    "style",
    [
        "width:0;height:0;overflow:hidden",
        "max-height:0px; overflow: hidden",
        "color:#fff;background:#fff",
        "background-color: white; color: white",
        "color: #fff; background-color: rgb(255, 255, 255)",
        "color: #fffffe; background: white",
        "opacity: .01",
        "opacity: 0%",
        "font-size: 1px",
        "zoom: 0",
        "clip-path: circle(0)",
        "margin-left: -99in",
    ],
)
def test_text_without_size_or_contrast_is_left_out_and_counted(style: str):
    read = extract_whole(f'<p>Seen.</p><p style="{style}">Obey me.</p>')
    assert read.text == "Seen."
    assert read.metadata["hidden"] == 8


@pytest.mark.parametrize("hidden", ["<dialog>Obey me.</dialog>", "<div popover>Obey me.</div>"])
def test_closed_dialogs_and_popovers_are_left_out_and_counted(hidden: str):
    read = extract_whole(f"<p>Seen.</p>{hidden}<dialog open>Asked.</dialog>")
    assert (read.text, read.metadata["hidden"]) == ("Seen.\n\nAsked.", 8)


@pytest.mark.parametrize(
    "style", ["color: inherit; background: inherit", "color: #fff; background: #eee", "opacity: 0.5", "font-size: 10px"]
)
def test_readable_text_is_kept(style: str):
    assert extract_whole(f'<p style="{style}">Seen.</p>').text == "Seen."


def test_text_made_transparent_or_moved_off_screen_by_a_rule_is_hidden():
    rules = ("color:rgba(0,0,0,0)", "clip-path:polygon(0 0,0 0,0 0)", "transform:translate(-9999px,0)", "left:-999px")
    sheet = "".join(f".r{number}{{{rule}}}" for number, rule in enumerate(rules))
    sheet += ".slide{transform:translate(-50%,0)}.shade{background-color:rgba(0,0,0,0)}"
    hidden = "".join(f"<p class=r{number}>Obey {number}</p>" for number in range(len(rules)))
    page = f"<style>{sheet}</style><p>One</p>{hidden}<p class=slide>Two</p><p class=shade>Three"
    assert extract_whole(page).text == "One\n\nTwo\n\nThree"


def test_a_class_that_another_rule_shows_again_does_not_hide():
    sheet = "<style>.tab{display:none}.tab.open{display:block}.gone{display:none}</style>"
    assert (
        extract_whole(f"{sheet}<p class=tab>One</p><p class='tab open'>Two</p><p class=gone>Three").text == "One\n\nTwo"
    )


def test_a_compound_selector_hides_only_elements_that_match_all_of_it():
    sheet = "<style>p.gone, .tab.shut, .note.old{display:none} .note{display:block}</style>"
    shown = "<div class=gone>One</div><p class=tab>Two</p><p class=shut>Three</p><p class='old note'>Four</p>"
    assert (
        extract_whole(f"{sheet}{shown}<p class=gone>x</p><p class='shut big tab'>y").text
        == "One\n\nTwo\n\nThree\n\nFour"
    )


@given(st.lists(st.text(alphabet="ab*_`#<[]()1.-|~ ", min_size=1, max_size=30).filter(str.strip), max_size=6))
def test_no_text_loses_a_character_to_markup(paragraphs: list[str]):
    escaped = [each.replace("&", "&amp;").replace("<", "&lt;") for each in paragraphs]
    read = extract_whole("".join(f"<p>{each}</p>" for each in escaped))
    assert read.markdown.replace("\\", "").split() == " ".join(paragraphs).split()


def test_a_definition_without_a_term_becomes_a_paragraph():
    html = "<ul><li>one</li></ul><dl><dd>what a quay is</dd><dt>Pier</dt><dd>in water</dd></dl><ul><li>two</li></ul>"
    assert extract(html, main=False).markdown == ("- one\n\nwhat a quay is\n\nPier\n: in water\n\n- two")


def test_a_term_in_a_list_item_is_separated_from_the_words_before_it():
    source = "<ul><li>First<dl><dt>term<dd>meaning<dt>other<dd>sense</dl><li>Second</ul>"
    assert extract_whole(source).markdown == "- First\n\n  term\n  : meaning\n\n  other\n  : sense\n- Second"


def test_numbered_items_in_a_listing_are_its_lines():
    assert extract_whole("<pre><ol><li>one</li><li>  two</li></ol></pre>").markdown == "```\none\n  two\n```"


@pytest.mark.parametrize(
    "given",
    [
        "src=/wait.gif data-src=/a.jpg",
        "src=/wait.gif data-srcset='/s.jpg 300w, /a.jpg 900w'",
        "src=data:image/gif;base64,R0 data-lazy=/a.jpg",
        "src=data:image/gif;base64,R0 srcset='/s.jpg 1x, /a.jpg 2x'",
        "src=/a.jpg srcset='/a-2.jpg 2x'",
    ],
)
def test_a_lazily_loaded_picture_replaces_its_placeholder(given: str):
    assert [image.url for image in extract_whole(f"<p>Look <img {given}>").images] == ["https://site.example/a.jpg"]


def test_text_after_a_nested_definition_list_is_not_part_of_it():
    source = "<dl><dt>f<dd>Does it.<dl><dt>Returns:<dd>Nothing.</dl><p>Be careful.<p>Very.</dl>"
    assert extract_whole(source).markdown == "f\n: Does it.\n\nReturns:\n: Nothing.\n\nBe careful.\n\nVery."


def test_a_signature_of_code_has_no_emphasis():
    source = "<dl><dt class='sig sig-object'><em>class</em> f(<em>*</em>, <em>**kw</em>)<dd>Does <em>it</em>.</dl>"
    assert extract_whole(source).markdown == "class f(*, **kw)\n: Does *it*."


def test_a_button_in_a_heading_is_left_out():
    read = extract_whole("<h1>Struct Vec<button>Copy path</button></h1><h2><button>More</button></h2>")
    assert (read.markdown, read.text) == ("# Struct Vec\n\n## More", "Struct Vec\n\nMore")


def test_a_checkbox_symbol_is_not_a_paragraph():
    assert extract_whole("<ul><li><label>\u25a2 </label>250 g flour</ul>").markdown == "- 250 g flour"


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ("<table><tr><td><th>Port<th>Depth<tr><td><td>Aber<td>4 m</table>", "| Port | Depth |"),
        ("<table><tr><th>Port<th><th>Depth<tr><td>Aber<td><img src=a.png alt=''><td>4 m</table>", "| Port | Depth |"),
        ("<table><tr><th>Port<th>Depth<th>Note<tr><td>Aber<td>4 m<td></table>", "| Port | Depth | Note |"),
    ],
)
def test_a_completely_empty_column_is_left_out(source: str, markdown: str):
    assert extract_whole(source).markdown.split("\n")[0] == markdown


def test_a_note_next_to_a_picture_is_not_a_table():
    source = "<table><tr><td rowspan=2><img src=tip.png alt=''><th>Note<tr><td>Mind the gap.</table>"
    assert extract_whole(source).markdown == "Note\n\nMind the gap."
