"""Listings without a `pre` element, and content of listings that is not code."""

import pytest

from outrider.pages.extract import extract


def extract_markdown(body: str) -> str:
    return extract(body, url="https://site.example/a/", main=False).markdown


GITHUB = (
    '<table class="highlight js-file-line-container">'
    '<tr><td class="blob-num" data-line-number=1></td><td class="blob-code"><span>if</span> x:</td></tr>'
    '<tr><td class="blob-num" data-line-number=2></td><td class="blob-code">\n</td></tr>'
    '<tr><td class="blob-num" data-line-number=3></td><td class="blob-code">    <span>y</span>()</td></tr></table>'
)
HIGHLIGHT_LINES = (
    '<pre><code class="hljs"><table class="hljs-ln"><tr><td class="hljs-ln-numbers"><div class="hljs-ln-n"></div></td>'
    '<td class="hljs-ln-code">if x:</td></tr><tr><td class="hljs-ln-numbers"><div class="hljs-ln-n"></div></td>'
    '<td class="hljs-ln-code">    y()</td></tr></table></code></pre>'
)
SYNTAX_HIGHLIGHTER = (
    '<div class="syntaxhighlighter"><div class="toolbar"><a>?</a></div><table><tr><td class="gutter">'
    '<div class="line">1</div><div class="line">2</div></td><td class="code"><div class="line"><code>if x:</code></div>'
    '<div class="line"><code>&nbsp;&nbsp;&nbsp;&nbsp;</code><code>y()</code></div></td></tr></table></div>'
)
CRAYON = (
    '<table class="crayon-table"><tr><td class="crayon-nums"><div>1</div><div>2</div></td><td class="crayon-code">'
    '<div class="crayon-pre"><div>if x:</div><div>    y()</div></div></td></tr></table>'
)
EDITOR = (
    '<div class="CodeMirror-code"><div><div class="CodeMirror-linenumber">1</div><pre class="CodeMirror-line">if x:'
    '</pre></div><div><div class="CodeMirror-linenumber">2</div><pre class="CodeMirror-line">    y()</pre></div></div>'
)
NEW_EDITOR = '<div class="cm-content"><div class="cm-line">if x:</div><div class="cm-line">    y()</div></div>'
NUMBERED_ROWS = (
    '<pre><table><tr><td class="lineno">1</td><td>if x:</td></tr><tr><td class="lineno">2</td><td>    y()</td></tr>'
    "</table></pre>"
)


def test_a_table_of_code_lines_is_a_listing():
    assert extract_markdown(GITHUB) == "```\nif x:\n\n    y()\n```"


@pytest.mark.parametrize("source", [HIGHLIGHT_LINES, SYNTAX_HIGHLIGHTER, CRAYON, EDITOR, NEW_EDITOR, NUMBERED_ROWS])
def test_listings_of_every_code_editor_widget_are_recognised(source: str):
    assert extract_markdown(source) == "```\nif x:\n    y()\n```"


@pytest.mark.parametrize(
    "tool",
    [
        "<button>Copy</button>",
        "<div class='copy-btn'>Copy</div>",
        "<a class='btn clipboard'>Copy</a>",
        "<span class=copybutton>Copy</span>",
        "<clipboard-copy>Copy</clipboard-copy>",
    ],
)
def test_buttons_in_listings_are_not_code(tool: str):
    assert extract_markdown(f"<pre>run it{tool}</pre>") == "```\nrun it\n```"


def test_tasks_show_whether_they_are_done():
    source = (
        "<ul><li class=task-list-item><input type=checkbox checked disabled> sown</li>"
        "<li class=task-list-item><input type=checkbox disabled><p>reaped</p></li></ul>"
        "<ul><li><label><input type=checkbox> filter</label></li></ul>"
    )
    assert extract_markdown(source) == "- [x] sown\n- [ ] reaped\n\n- filter"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("<ruby>\u6f22<rp>(</rp><rt>\u304b\u3093</rt><rp>)</rp></ruby>", "\u6f22(\u304b\u3093)"),
        ("He said <q>yes</q>.", "He said \u201cyes\u201d."),
        ("At <relative-time datetime=2026-01-02>Jan 2</relative-time> it ended.", "At Jan 2 it ended."),
        ("Good <g-emoji>\u2764</g-emoji> news", "Good \u2764 news"),
        ("<img src='https://latex.codecogs.com/svg.latex?%5Cinline%20%5Cfrac%7Ba%7D%7Bb%7D' alt=x>", r"$\frac{a}{b}$"),
        ("<img src='https://s0.wp.com/latex.php?latex=e%5E2&bg=fff'>", "$e^2$"),
        ("Is <script type='math/asciimath'>sum x</script> it?", "Is `sum x` it?"),
        ("Is <script type='math/mml'><math><mi>k</mi></math></script> it?", "Is $k$ it?"),
    ],
)
def test_inline_elements_keep_their_meaning(source: str, found: str):
    assert extract_markdown(f"<p>{source}</p>") == found
