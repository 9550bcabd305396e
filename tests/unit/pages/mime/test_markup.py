"""The scanner sees what a browser's tokenizer sees."""

from hypothesis import given
from hypothesis import strategies as st

from outrider.pages.mime.html_tokens import HtmlTag, HtmlText, iter_tokens

PARTS = [
    "<p>",
    "</p",
    "<a href='x",
    '"',
    "'",
    ">",
    "<!--",
    "-->",
    "<script>",
    "</script >",
    "&amp;",
    "=",
    " ",
    "text",
    "<![CDATA[",
    "]]>",
]


def list_tokens(source: str, **options: bool) -> list[str]:
    stream = iter_tokens(source, max_tags=1_000, **options)
    return [each.text if isinstance(each, HtmlText) else ("/" if each.closing else "") + each.name for each in stream]


def read_attributes(source: str) -> dict[str, str]:
    return next(each.attributes for each in iter_tokens(source, max_tags=1) if isinstance(each, HtmlTag))


def test_tags_text_and_entities_are_tokenised():
    assert list_tokens("<P>a &lt; b</P><br/>c") == ["p", "a < b", "/p", "br", "c"]


def test_a_bracket_in_running_text_is_text():
    assert list_tokens("1 < 2 <3 and <p>4") == ["1 < 2 <3 and ", "p", "4"]


def test_attributes_are_read_in_every_notation():
    given = read_attributes("""<a HREF="x?a=1&amp;b=2" title='it "is"' data-x = y checked don't>""")
    assert given == {"href": "x?a=1&b=2", "title": 'it "is"', "data-x": "y", "checked": "", "don": "", "t": ""}


def test_the_first_of_equal_attributes_counts():
    assert read_attributes("<p class=a class=b>") == {"class": "a"}


def test_a_bracket_inside_of_quotes_does_not_end_the_tag():
    assert list_tokens('<a title="x > y">z</a>') == ["a", "z", "/a"]


def test_scripts_and_comments_hold_no_tags():
    assert list_tokens("<script>if (a < b) '<p>'</script><!-- <p> -->x<!-->y<!doctype html>z") == [
        "script",
        "x",
        "y",
        "z",
    ]


def test_an_unfinished_tag_swallows_the_rest():
    assert list_tokens("a<p title='never closed>b") == ["a"]


def test_cdata_sections_are_plain_text_in_xml():
    assert list_tokens("<title><![CDATA[a < &amp; b]]></title>", xml=True) == ["title", "a < &amp; b", "/title"]


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join), st.booleans())
def test_any_source_can_be_tokenised(source: str, xml: bool):
    for token in iter_tokens(source, max_tags=100, xml=xml):
        assert isinstance(token, HtmlText) or token.attributes is not None
