"""Listings of sites' own highlighters keep exact lines and the language, without numbers and buttons."""

import pytest

from outrider.pages.extract import extract

CODE = "if x:\n    y()"


def extract_markdown(body: str) -> str:
    return extract(body, url="https://site.example/a/", main=False).markdown


def build_rows(number: str, line: str, between: str = "") -> str:
    """Build a table of numbered lines with these attributes of its cells."""
    return "<table>" + "".join(
        f"<tr><td {number} data-line-number={at}></td>{between}<td {line}>{text}</td></tr>"
        for at, text in enumerate(CODE.split("\n"), 1)
    )


@pytest.mark.parametrize(
    "source",
    [
        build_rows('class="blob-num js-line-number"', 'class="blob-code blob-code-inner"'),
        build_rows("class=lines-num", 'class="lines-code chroma"'),
        build_rows("class=lines-num", 'class="lines-code chroma"', "<td class=lines-escape></td>"),
        "<pre><span class=lineno>1 </span>if x:\n<span class=lineno>2 </span>    y()\n</pre>",
        (
            "<table class=blob><tr><td class=linenumbers><pre><a href=#n1>1</a>\n<a href=#n2>2</a>\n</pre></td>"
            "<td class=lines><pre><code>if x:\n    y()\n</code></pre></td></tr></table>"
        ),
        (
            "<div class=fragment><div class=line><a id=l1></a><span class=lineno>    1</span><b>if</b> x:</div>"
            "\n<div class=line><span class=lineno>    2</span>    y()</div>\n</div>"
        ),
        "<div class=fragment><div class=line>if x:</div><div class=line>    y()</div></div>",
        "<pre><span class=source-line-no>001</span>if x:\n<span class=source-line-no>002</span>    y()</pre>",
        "<pre><a href=#1 id=1 data-nosnippet>1</a>if x:\n<a href=#2 id=2 data-nosnippet>2</a>    y()</pre>",
        "<code style='white-space: pre-wrap; display: block'>if x:\n    y()</code>",
        "<pre>if x:\n    y()<ul class=pre-numbering><li>1</li><li>2</li></ul></pre>",
    ],
)
def test_a_listing_with_numbered_lines_loses_the_numbers(source: str):
    assert extract_markdown(source) == f"```\n{CODE}\n```"


@pytest.mark.parametrize(
    "source",
    [
        (
            "<div class='line-numbers'><a href=#L1>1</a><a href=#L2>2</a></div><pre class='code highlight'><code>"
            "<span class=line lang=python>if x:</span>\n<span class=line lang=python>    y()</span></code></pre>"
        ),
        (
            "<div class='highlight-python'><table class=highlighttable><tr><td class=linenos><pre>1\n2</pre></td>"
            "<td class=code><div><pre>if x:\n    y()\n</pre></div></td></tr></table></div>"
        ),
        "<pre lang=python><span class=linenos>1</span>if x:\n<span class=linenos>2</span>    y()</pre>",
        "<pre data-lang=python><span class=ln>1</span>if x:\n<span class=ln>2</span>    y()</pre>",
        (
            "<figure class='highlight python'><table><tr><td class=gutter><pre>1<br>2</pre></td>"
            "<td class=code><pre>if x:<br>    y()</pre></td></tr></table></figure>"
        ),
        "<pre data-language=python><code><span data-line>if x:</span><span data-line>    y()</span></code></pre>",
        "<div class='highlight hl-ipython3'><pre>if x:\n    y()</pre></div>",
        "<pre data-syntaxhighlighter-params='brush: python; gutter: false'>if x:\n    y()</pre>",
        "<pre language=python><code>if x:\n    y()</code></pre>",
        (
            "<pre><code class=language-python><span class='linenumber react-line-number'>1</span>if x:\n"
            "<span class='linenumber react-line-number'>2</span>    y()</code></pre>"
        ),
        "<div class=language-python><span class=lang>py</span><pre>if x:\n    y()</pre></div>",
        "<div class=language-python><div><span class=language-name>Python</span></div><pre>if x:\n    y()</pre></div>",
        "<pre class=language-python>if x:\n    y()</pre><div class=toolbar><span>Python</span></div>",
    ],
)
def test_the_language_of_a_listing_is_found_wherever_it_is_declared(source: str):
    assert extract_markdown(source) == f"```python\n{CODE}\n```"


@pytest.mark.parametrize(
    "button",
    [
        "<button class=copy-to-clipboard-button>Copy</button>",
        "<button class=copybtn>Copy</button>",
        "<button aria-label='Copy code to clipboard'>Copy</button>",
        "<button data-clipboard-target=#x>Copy</button>",
    ],
)
def test_a_copy_button_is_not_text(button: str):
    assert extract_markdown(f"<div>{button}<pre>{CODE}</pre></div>") == f"```\n{CODE}\n```"
    assert extract_markdown("<p><button class='body-copy'>Apply</button>") == "Apply"


def test_diffs_keep_their_plus_and_minus_signs():
    source = "<table><tr><td class=blob-num>1</td><td class=blob-code><span data-code-marker='-'>x</span></td></tr>"
    source += "<tr><td class=blob-num>1</td><td class=blob-code><span data-code-marker='+'>y</span></td></tr></table>"
    assert extract_markdown(source) == "```\n-x\n+y\n```"


def test_numbers_that_are_part_of_the_code_stay():
    source = "<pre><span class=mi>1</span>\n<span class=line-numbers>let x</span>\n<a href=#section2>3</a></pre>"
    assert extract_markdown(source) == "```\n1\nlet x\n3\n```"


def test_a_class_or_fragment_alone_does_not_make_a_listing():
    assert extract_markdown("<div class=fragment><p>Words of a poem.</div>") == "Words of a poem."
    assert extract_markdown("<table><tr><td class=code>A1<td>one<tr><td class=code>B2<td>two</table>").startswith("|")


def test_deeply_nested_line_numbers_and_styles_are_scanned_once():
    deep = "word " * 100_000
    assert extract_markdown("<pre>" + "<span class=lineno>" * 300 + deep).startswith("```\nword word")
    assert extract_markdown("<code style='white-space:pre'>" * 300 + deep).startswith("`word word")
