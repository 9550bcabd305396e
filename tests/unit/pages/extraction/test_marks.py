"""Markdown marks are exactly where a CommonMark parser finds them."""

import pytest

from outrider.pages.extract import extract

BASE_URL = "https://site.example/a/"


def extract_markdown(body: str, **options) -> str:
    return extract(body, url=BASE_URL, main=False, **options).markdown


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<b>S</b><b>aving</b> time", "**Saving** time"),
        ("<code>a</code><code>b</code>", "`ab`"),
        ("Fortune<b>\u00ae</b> list", "Fortune\u00ae list"),
        ("<b>Label:</b>text", "**Label**:text"),
        ("\u6ce8<b>\u300c\u610f\u300d</b>\u5b57", "\u6ce8\u300c**\u610f**\u300d\u5b57"),
        ("<b>\ud55c\uad6d\uc5b4(\u97d3)</b>\ub294", "**\ud55c\uad6d\uc5b4**(\u97d3)\ub294"),
        (
            "\u0939\u093f<b>\u0928\u094d\u0926\u0940</b>\u092e\u0947\u0902",
            "\u0939\u093f**\u0928\u094d\u0926\u0940**\u092e\u0947\u0902",
        ),
        (
            "\u0e17\u0e35\u0e48<b>\u0e19\u0e35\u0e48</b>\u0e04\u0e37\u0e2d",
            "\u0e17\u0e35\u0e48**\u0e19\u0e35\u0e48**\u0e04\u0e37\u0e2d",
        ),
        ("\u0939\u093f<b>(\u0928)</b>", "\u0939\u093f(**\u0928)**"),
        ("Tent<b>. Budget:</b> none", "Tent. **Budget:** none"),
        ("was<s>$1,299</s> now", "was ~~$1,299~~ now"),
        ("5*<b>LUOA</b>", "5\\***LUOA**"),
        ("<b>* top</b> size", "**\\* top** size"),
        ("run `<code>ls -l</code>` now", "run \\``ls -l`\\` now"),
        ("*taken from <a href=/x>All</a>*", "\\*taken from [All](https://site.example/x)*"),
        ("5 * <a href=/x>All</a> * 3", "5 * [All](https://site.example/x) * 3"),
        ("<b>x * y</b>", "**x * y**"),
        ("\\<em>x</em> C:\\", "\\\\*x* C:\\"),
        ("<a href=/x>bar\\</a>", "[bar\\\\](https://site.example/x)"),
        ("<a href=/x>a`b</a>`", "[a\\`b](https://site.example/x)`"),
        ("<em>one<br>two</em>", "*one\ntwo*"),
        ("<b>one <b>two</b></b> three", "**one two** three"),
        ("<i><s><b>one</b></s></i>", "*~~**one**~~*"),
        ("<b><i><code>x</code> y</i></b>", "***`x` y***"),
        ("<em>a*b</em>", "*a\\*b*"),
        ("<i>x</i><b>y</b>", "*x***y**"),
        ("<b><a href=/x>All</a></b>s", "[All](https://site.example/x)s"),
        ("<b>\u200b</b>here", "here"),
        ("<code>``</code>", "``` `` ```"),
        ("see!<a href=/x>this</a>", "see\\![this](https://site.example/x)"),
        ("<script type='math/tex'>a</script><script type='math/tex'>b</script>", "$a$ $b$"),
    ],
)
def test_emphasis_works_whatever_is_next_to_it(source: str, found: str):
    assert extract_markdown(f"<p>{source}</p>") == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<p>&amp;lt; and &amp;#65; and R&amp;D</p>", "\\&lt; and \\&#65; and R&D"),
        ("<p>Of __init__ and snake_case</p>", "Of \\_\\_init\\_\\_ and snake_case"),
        ("<a href=/x>Class: [^...]</a>", "[Class: \\[^...\\]](https://site.example/x)"),
        ("<p><a href=/x><i>\uf09a</i></a></p><p>Follow</p>", "Follow"),
        ("<p>\\* and C:\\dir</p>", "\\\\* and C:\\dir"),
        ("<p>1.</p><p>9.1</p>", "1\\.\n\n9.1"),
        ("<p>[1]: http://x.example</p>", "\\[1]: http://x.example"),
        ("<h2>Notes #</h2>", "## Notes \\#"),
        ("<p>a | b<br>--- | ---<br>c | d</p>", "a | b\n\\--- | ---\nc | d"),
        ("<p>a | b<br>|:-|-:|<br>| c</p>", "a | b\n\\|:-|-:|\n| c"),
        ("<p>$5 for *this* one, $6 for that</p>", "$5 for \\*this\\* one, $6 for that"),
        ("<p>$x_1*y_1*$ and *that*</p>", "$x_1*y_1*$ and \\*that\\*"),
        (r"<p>\(a_b*c*\) and _that_</p>", r"\(a_b*c*\) and \_that\_"),
    ],
)
def test_special_characters_in_text_are_taken_literally(source: str, found: str):
    assert extract_markdown(source) == found


@pytest.mark.parametrize("run", [" ", ".", "*", "_a ", " ,", "\u00a0 "])
def test_long_runs_next_to_emphasis_take_no_time(run: str):
    assert len(extract_markdown(f"<p><b>x</b>y{run * 60_000}z <i>,</i>{run * 60_000}")) < 500_000


def test_brackets_in_text_are_not_references():
    found = extract_markdown("<p>See [1] and <a href=/x>this</a>.</p>", links="references")
    assert found == "See \\[1] and [this][1].\n\n[1]: https://site.example/x"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<ol reversed><li>c<li>b<li>a</ol>", "3. c\n2. b\n1. a"),
        ("<ul><li>a</ul><ul><li>b</ul>", "- a\n\n- b"),
        ("<ul><li>a</li><ul><li>inner</li></ul><li>b</li></ul>", "- a\n  - inner\n- b"),
        ("<ul><li><p>one</p><p>two</p><li>b</ul>", "- one\n\n  two\n- b"),
        ("<ul><li>a<div>b</div></ul>", "- a\n  b"),
        ("<ul><li>a<ol start=3><li>c</ol></ul>", "- a\n\n  3. c"),
        ("<ul><li>a<blockquote>said</blockquote>b</ul>", "- a\n\n  > said\n\n  b"),
        ("<ul><li><pre>x\n\ny</pre></ul>", "- ```\n  x\n\n  y\n  ```"),
        ("<ul><li>a<pre>x</pre><p>b</p><li>c</ul>", "- a\n\n  ```\n  x\n  ```\n\n  b\n- c"),
        (
            "<ul><li>a<table><tr><th>x<th>y<tr><td>1<td>2</table>b<li>c</ul>",
            "- a\n\n  | x | y |\n  | --- | --- |\n  | 1 | 2 |\n\n  b\n- c",
        ),
        ("<blockquote><p>one<p>two<ul><li>a</ul></blockquote>", "> one\n>\n> two\n>\n> - a"),
        ("<blockquote><div>one</div><div>two</div></blockquote>", "> one\n>\n> two"),
        ("<blockquote>one</blockquote><blockquote>two</blockquote>", "> one\n\n> two"),
        ("<dl><dt>A<dt>B<dd><p>one<p>two<dd>three<dt>C<dd>four</dl>", "A\nB\n: one\n  two\n: three\n\nC\n: four"),
        ("<div><code>a<br>&nbsp;b<br>c</code></div>", "```\na\n b\nc\n```"),
    ],
)
def test_adjacent_blocks_are_joined_or_separated_correctly(source: str, found: str):
    assert extract_markdown(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("E = mc<sup>2</sup>, 10<sup>-3</sup> m<sup>2</sup>", "E = mc^2, 10^-3 m^2"),
        ("<i>x</i><sup>2</sup> + a<sup>n+1</sup>", "*x*^2 + a^(n+1)"),
        ("now $1,299<sup>00</sup>", "now $1,299.00"),
        ("5<sup>1</sup>/<sub>2</sub> cups, <sup>3</sup>&frasl;<sub>4</sub> l", "5 1/2 cups, 3\u20444 l"),
        ("a <a href=/x>Study</a><sup>1</sup>", "a [Study](https://site.example/x)1"),
        ("the 10<sup>th</sup>, a fact<sup>2</sup>, as is<sup>a</sup>", "the 10th, a fact2, as isa"),
    ],
)
def test_superscripts_after_numbers_and_variables_are_exponents(source: str, found: str):
    assert extract_markdown(f"<p>{source}</p>") == found


def test_a_heading_of_blocks_is_one_line():
    assert (
        extract_markdown("<h4><div>Example 1 of 4:</div><div>Counter</div></h4><p>Text")
        == "#### Example 1 of 4: Counter\n\nText"
    )


def test_consecutive_rules_between_blocks_become_one():
    assert extract_markdown("<hr><p>One<hr><hr><p>Two<ul><li>a<hr><p>b</ul><hr><h2>Three</h2>four<hr>") == (
        "One\n\n---\n\nTwo\n\n- a\n\n  b\n\n---\n\n## Three\n\nfour"
    )


def test_rules_are_kept_between_lists_but_not_inside_one():
    assert extract_markdown("<ul><li>a</ul><hr><ul><li>b</ul>") == "- a\n\n---\n\n- b"
    assert extract_markdown("<blockquote>a</blockquote><hr><blockquote>b</blockquote>") == "> a\n\n---\n\n> b"
    assert extract_markdown("<ul><li>a<hr><li>b</ul>") == "- a\n- b"


def test_a_repeated_heading_is_dropped_only_on_the_same_level():
    assert (
        extract_markdown("<h1>Install</h1><h2>Install</h2><h2>Install</h2><p>Run") == "# Install\n\n## Install\n\nRun"
    )


def test_a_list_may_start_at_any_number():
    assert extract_markdown("<ol start=123456789><li>a</ol>") == "123456789. a"


def test_a_table_made_mostly_of_listings_is_unfolded_and_others_inline_them():
    listing = "<pre>if x:\n    y</pre>"
    source = f"<table><tr><th>Before<th>After<tr><td>{listing}<td>{listing.replace('x', 'not x')}</table>"
    assert extract_markdown(source) == "Before\n\nAfter\n\n```\nif x:\n    y\n```\n\n```\nif not x:\n    y\n```"
    rows = "".join(f"<tr><td>{name}<td>{'means ' * 9}" for name in ("one", "two"))
    assert "| `if x:` `y` | that |" in extract_markdown(f"<table>{rows}<tr><td>{listing}<td>that</table>")


def test_the_footer_of_a_table_comes_last():
    source = "<table><thead><tr><th>A<th>B</thead><tfoot><tr><td>All<td>3</tfoot><tbody><tr><td>x<td>3</tbody></table>"
    assert extract_markdown(source) == "| A | B |\n| --- | --- |\n| x | 3 |\n| All | 3 |"


@pytest.mark.parametrize("address", ["https://site.example/a/#n1", "/a/#n1"])
def test_links_within_the_page_are_recognised_in_every_form(address: str):
    source = f'<p>Fact<a href="{address}">1</a></p><p><a id="n1">1</a> A book.</p><p><a href="{address}">Up</a>'
    assert extract_markdown(source.replace("n1", "fn1")) == "Fact[^1]\n\nUp\n\n[^1]: A book."


def test_nested_code_is_marked_once_at_any_depth():
    found = extract("<p>a " + "<code>b " * 3_000, main=False).markdown
    assert found.count("`") == 2
