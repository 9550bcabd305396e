"""Who wrote the posts of a discussion."""

import pytest

from outrider.pages.content.main import parsed
from outrider.pages.content.posts import heads_of
from outrider.pages.content.walk import cut_into_blocks

BODY = "What the post says"


def authors_of(head: str) -> list[str]:
    """The authors told of two posts that begin so, if only their bodies are kept."""
    post = f"<div class=post>{head}<div class=text><p>{BODY}</p></div></div>"
    page = cut_into_blocks(parsed(post * 2).body)
    return list(heads_of(page, [at for at, text in enumerate(page.texts) if text == BODY]).values())


@pytest.mark.parametrize(
    "beside",
    [
        "<div class=user-state><a href=/status>Offline</a></div>",
        "<div class=user-rank>Patron</div>",
        "<dl class=userinfo><dt>Joined<dd>Legend</dl>",
    ],
)
def test_the_link_that_is_named_as_its_address_is_the_author(beside: str):
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
def test_labels_and_titles_are_no_authors(head: str):
    assert authors_of(head) == []
