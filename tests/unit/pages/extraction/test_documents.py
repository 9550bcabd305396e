"""Pages of documentation generators become clean Markdown."""

from outrider.pages.extract import extract


def extract_markdown(body: str) -> str:
    return extract(body, url="https://site.example/a/", main=False).markdown


def test_a_footnote_in_the_text_of_a_paper_becomes_parentheses():
    note = (
        "<span class='ltx_note ltx_role_footnote'><sup class=ltx_note_mark>1</sup><span class=ltx_note_outer>"
        "<span class=ltx_note_content><sup class=ltx_note_mark>1</sup><span class='ltx_tag ltx_tag_note'>1</span>"
        "Small ones.</span></span></span>"
    )
    assert extract_markdown(f"<p>Herons eat fish{note} each day.") == "Herons eat fish (Small ones.) each day."


def test_a_listing_of_a_paper_is_code():
    line = "<div class=ltx_listingline><span class='ltx_tag ltx_tag_listingline'><span>{}</span></span>{}</div>"
    source = (
        "<div class='ltx_listing ltx_lstlisting ltx_lst_language_Python'><div class=ltx_listing_data>"
        "<a href=data:text/plain;base64,eA==>\u2b07</a></div>"
        f"{line.format(1, '<span>if</span><span> </span>x:')}{line.format(2, '<span>    </span>y()')}</div>"
    )
    assert extract_markdown(source) == "```python\nif x:\n    y()\n```"


def test_a_reference_of_a_class_has_sections_and_signatures():
    source = (
        "<ul class=details-list><li><section><h2>Methods</h2><ul class=member-list><li><section><h3>fly</h3>"
        "<div class=member-signature><span>public</span>&nbsp;<a href=x>boolean</a>&nbsp;fly(int&nbsp;height,\n int x)"
        "</div><p>Flies.</p><ul><li>up<li>down</ul></section></li></ul></section></li></ul>"
    )
    signature = "```\npublic boolean fly(int height,\n int x)\n```"
    assert extract_markdown(source) == f"## Methods\n\n### fly\n\n{signature}\n\nFlies.\n\n- up\n- down"


def test_the_uses_of_a_class_have_sections():
    source = (
        "<section class=class-uses><ul class=block-list><li><section><h2>Uses of <a href=x>Tank</a> in y</h2>"
        "<div class=caption><span>Fields in y</span></div></section></li>"
        "<li><section><h2>Uses in z</h2></section></li></ul>"
        "<ul class=summary-list><li><section><h2>Fields</h2><p>None.</p></section></li></ul></section>"
    )
    assert extract_markdown(source) == (
        "## Uses of [Tank](https://site.example/a/x) in y\n\nFields in y\n\n## Uses in z\n\n## Fields\n\nNone."
    )


def test_a_term_without_a_category_does_not_look_like_a_definition():
    term = "<dt><span class=category>{}: </span><span><strong>celldisp</strong> <em>(<var>c</var>)</em></span></dt>"
    source = f"<dl class=def>{term.format('')}<dd><p>Display it.</p></dd>{term.format('Function')}<dd>Again.</dd></dl>"
    assert extract_markdown(source) == ("**celldisp** *(c)*\n: Display it.\n\nFunction: **celldisp** *(c)*\n: Again.")


def test_an_index_has_its_headings_above_groups_of_rows():
    source = (
        "<table><tr><td></td><th>Index Entry</th><td>&nbsp;</td><th> Section</th></tr><tr><td colspan=4><hr></td></tr>"
        "<tr><th>A</th><td></td><td></td></tr>"
        "<tr><td></td><td><a href=x#y>argn</a>:</td><td>&nbsp;</td><td><a href=x>Shift</a></td></tr></table>"
    )
    link = "https://site.example/a/x"
    assert extract_markdown(source) == (
        f"|  | Index Entry | Section |\n| --- | --- | --- |\n| A |  |  |\n|  | [argn]({link}#y): | [Shift]({link}) |"
    )


def test_an_invisible_summary_is_not_text():
    source = "<details class=toggle open><summary class=hideme>{}</summary><p>Flies.</p></details>"
    assert extract_markdown(source.format("<span>Expand description</span>")) == "Flies."
    assert extract_markdown(source.replace("hideme", "shown").format("More")) == "More\n\nFlies."


def test_screen_reader_text_is_separated_from_the_words_that_follow():
    source = "<p><strong><span class=visually-hidden>Warning</span>You can be fined.</strong>"
    assert extract_markdown(source) == "**Warning You can be fined.**"
    assert extract_markdown("<p>Pre<span class=bold>mat</span>ure ends.") == "Premature ends."
