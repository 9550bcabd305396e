"""The posts of a discussion keep their authors."""

import pytest

from outrider.pages.extract import extract
from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.main_content import parse_html
from outrider.pages.extraction.markdown.posts import build_post_heads, find_posts

BODY = "What the post says"


def authors_of(*heads: str) -> list[str]:
    """Return the authors of posts with these heads if only the bodies are kept; one head is used twice."""
    heads = heads if len(heads) > 1 else heads * 2
    posts = [f"<div class=post>{head}<div class=text><p>{BODY}</p></div></div>" for head in heads]
    page = cut_into_blocks(parse_html("".join(posts)).body)
    chosen = [at for at, text in enumerate(page.texts) if text == BODY]
    return list(map(str, build_post_heads(page, chosen, find_posts(page, chosen)).values()))


@pytest.mark.parametrize(
    "beside",
    [
        "<div class=user-state><a href=/status>Offline</a></div>",
        "<div class=user-rank>Patron</div>",
        "<dl class=userinfo><dt>Joined<dd>Legend</dl>",
    ],
)
def test_the_link_whose_address_matches_its_name_is_the_author(beside: str):
    assert (
        authors_of(f"{beside}<div><span class=author><a href=/user/anna-may>Anna May</a></span></div>")
        == ["Anna May"] * 2
    )


def test_a_name_without_a_link_is_an_author():
    assert authors_of("<div><span class=author>Anna May</span></div>") == ["Anna May"] * 2


@pytest.mark.parametrize(
    "head",
    [
        "<dl class=userinfo><dt><span class=user>Joined</span></dl>",
        "<h5 class=usertitle><span class=user>Patron</span></h5>",
    ],
)
def test_labels_and_titles_are_not_authors(head: str):
    assert authors_of(head) == []


def test_a_rank_or_status_that_only_some_posts_have_is_not_an_author():
    banner = "<div class=user-banner>Supporter</div>"
    name = "<div class=user-name><a href=/u/anna-may>Anna May</a></div>"
    guest = "<div class=user-name>Guest 6381</div>"
    assert authors_of(banner + name, banner + guest) == ["Anna May", "Guest 6381"]


def test_the_person_a_post_answers_is_not_its_author():
    answered = "<div class=parent><a href=/user/tom>Tom Reed</a> <a href=/user/tom>tom</a></div>"
    name = "<div class=author><a href=/user/anna>anna</a></div><p>@tom I think so.</p>"
    assert authors_of(answered + name, answered + name) == ["anna", "anna"]


def test_the_declared_author_takes_precedence_over_the_editor():
    def card(name: str, more: str) -> str:
        return f"<div class=user-details {more}><a href=/users/1/{name}>{name}</a></div>"

    head = card("peter", "") + card("booster", "itemprop=author")
    assert authors_of(head, head) == ["booster", "booster"]


def test_a_number_of_a_post_is_not_a_name():
    head = "<div class=author><a href=/p/3>#3</a></div><div class=author-name><a href=/u/may>may</a></div>"
    assert authors_of(head, head) == ["may", "may"]


def list_heads(source: str) -> list[str]:
    """List the heads of posts if only their bodies are kept."""
    page = cut_into_blocks(parse_html(source).body)
    chosen = [at for at, text in enumerate(page.texts) if text == BODY]
    return list(map(str, build_post_heads(page, chosen, find_posts(page, chosen)).values()))


def test_posts_with_an_author_attribute_need_no_other_hint():
    post = "<div class='thing id-{0} comment' data-author=anna{0}><p class=tagline>{0} points</p><p>{1}</p></div>"
    assert list_heads(post.format(1, BODY) + post.format(2, BODY)) == ["anna1", "anna2"]
    custom = "<x-comment author=anna{0}><p>reply</p><p>{1}</p></x-comment>"
    assert list_heads(custom.format(1, BODY) + custom.format(2, BODY)) == ["anna1", "anna2"]


def test_posts_with_differing_class_names_are_recognised_as_alike():
    post = "<div class='post number{0}'><p><a class=author href=/user/anna{0}>anna{0}</a></p><p>{1}</p></div>"
    assert list_heads(post.format(1, BODY) + post.format(2, BODY)) == ["anna1", "anna2"]


def test_a_question_before_its_answers_has_an_author_and_a_time_may_be_a_title():
    by = "<p><span title='2026-01-0{0} 10:00:00Z'>then</span> <a class=user href=/users/{0}/anna{0}>anna{0}</a>"
    answer = f"<div class='answer'><p>{BODY}</p>{by}</div>"
    question = f"<div class='question'><p>{BODY}</p>{by}</div>".format(1)
    expected = ["anna1 \u00b7 2026-01-01", "anna2 \u00b7 2026-01-02", "anna3 \u00b7 2026-01-03"]
    assert list_heads(question + answer.format(2) + answer.format(3)) == expected


def test_a_post_marked_up_as_a_blockquote_is_not_a_quote():
    source = f"<blockquote class=postcontent>{BODY}</blockquote><blockquote>said</blockquote>"
    assert extract(source, main=False).markdown == f"{BODY}\n\n> said"


def test_a_quoted_author_gets_their_own_line():
    source = "<blockquote><div><cite>Anna wrote:</cite>I do.</div></blockquote>"
    assert extract(source, main=False).markdown == "> Anna wrote:\n>\n> I do."


def test_the_heading_of_a_post_links_to_its_author_and_to_itself():
    words = "Apples keep for months in a cellar that is dark, and cool, and not too dry. " * 4
    post = "<div class=post><div class=author><a href=/user/{0}>{0}</a></div><div class=state><a href=/p/{1}>"
    post += "<time datetime=2026-01-0{1}>Jan {1}</time></a></div><div class=text><p>{2}</p></div></div>"
    source = "".join(post.format(name, at, words) for at, name in enumerate(["anna", "bob", "carl", "dan"], 1))
    read = extract(f"<title>Apples</title><h1>Apples</h1>{source}", url="https://site.example/t/")
    head = "**[bob](https://site.example/user/bob)** \u00b7 [2026-01-02](https://site.example/p/2)\n\nApples keep"
    assert head in read.markdown
    assert "bob \u00b7 2026-01-02\n\nApples keep" in read.text


def test_text_separated_from_a_link_only_by_a_style_sheet_gets_a_space():
    source = "<p><span><a href=/u/anna><span>anna</span></a></span><span><time>January 1</time></span>"
    assert extract(source, url="https://site.example/", main=False).text == "anna January 1"
    source = "<p><a href=/x><b>Java</b></a><span>Script</span> and <a href=/y>it</a><span>em</span>."
    assert extract(source, url="https://site.example/", main=False).text == "JavaScript and item."
