"""Embedded content becomes a link at its place; adverts do not."""

import pytest

from outrider.pages.extract import extract

BASE_URL = "https://site.example/a/"
SHOWN = "a video"


def extract_markdown(body: str, **options) -> str:
    return extract(body, url=BASE_URL, main=False, **options).markdown


def extract_embed(source: str) -> str:
    """Extract the part between two paragraphs."""
    return (
        extract_markdown(f"<p>Before it.</p>{source}<p>Behind it.</p>")
        .removeprefix("Before it.")
        .removesuffix("Behind it.")
    )


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("https://www.youtube.com/embed/EgWUVWZR6o4?rel=0&start=3", "https://www.youtube.com/watch?v=EgWUVWZR6o4"),
        ("//www.youtube-nocookie.com/embed/EgWUVWZR6o4", "https://www.youtube.com/watch?v=EgWUVWZR6o4"),
        ("https://www.youtube.com/embed/videoseries?list=PL1-a", "https://www.youtube.com/playlist?list=PL1-a"),
        ("https://player.vimeo.com/video/706604197?dnt=1", "https://vimeo.com/706604197"),
        ("https://player.vimeo.com/video/706604197?h=0a1b&dnt=1", "https://vimeo.com/706604197/0a1b"),
        ("https://www.dailymotion.com/embed/video/x8abc", "https://www.dailymotion.com/video/x8abc"),
        ("https://open.spotify.com/embed/episode/7ab", "https://open.spotify.com/episode/7ab"),
        ("//player.bilibili.com/player.html?aid=1&bvid=BV1xx", "https://www.bilibili.com/video/BV1xx"),
        ("https://w.soundcloud.com/player/?url=https%3A//soundcloud.com/a/b&x=1", "https://soundcloud.com/a/b"),
        ("https://www.facebook.com/plugins/video.php?href=https%3A%2F%2Ffb.watch%2Fx%2F&w=3", "https://fb.watch/x/"),
        ("https://www.google.com/maps/embed?pb=!1m1!2d81.8!3d-21.4!5e0", "https://www.google.com/maps?ll=-21.4,81.8"),
        ("https://www.youtube.com/embed/live_stream?channel=a", "https://www.youtube.com/embed/live_stream?channel=a"),
        ("/embed/chart-7", "https://site.example/embed/chart-7"),
    ],
)
def test_a_frame_becomes_a_link_to_the_page_it_shows(address: str, page: str):
    assert extract_embed(f'<iframe src="{address}" title="{SHOWN}"></iframe>') == f"\n\n[{SHOWN}]({page})\n\n"


@pytest.mark.parametrize(
    ("source", "link"),
    [
        ("<video src=clip.mp4 controls></video>", "[clip.mp4](https://site.example/a/clip.mp4)"),
        ("<video aria-label=Talk><source src=/t.webm></video>", "[Talk](https://site.example/t.webm)"),
        ("<audio controls src=/t.mp3></audio>", "[t.mp3](https://site.example/t.mp3)"),
        ("<object data=/p.pdf type=application/pdf>no viewer</object>", "[p.pdf](https://site.example/p.pdf)"),
        ("<embed src=/p.pdf type=application/pdf>", "[p.pdf](https://site.example/p.pdf)"),
        (
            "<object><param name=movie value=x><embed src='//www.youtube.com/v/EgWUVWZR6o4'></object>",
            "[youtube.com](https://www.youtube.com/watch?v=EgWUVWZR6o4)",
        ),
        ("<iframe allowfullscreen src=https://a.example/x></iframe>", "[a.example](https://a.example/x)"),
        (
            "<iframe src=about:blank data-src=https://a.example/embed/x></iframe>",
            "[a.example](https://a.example/embed/x)",
        ),
        (
            "<lite-youtube videoid=EgWUVWZR6o4><a href=/x>Play: it</a></lite-youtube>",
            "[Play: it](https://www.youtube.com/watch?v=EgWUVWZR6o4)",
        ),
        (
            "<amp-youtube data-videoid=EgWUVWZR6o4></amp-youtube>",
            "[youtube.com](https://www.youtube.com/watch?v=EgWUVWZR6o4)",
        ),
    ],
)
def test_media_become_links_named_by_their_label_file_or_site(source: str, link: str):
    assert extract_embed(source) == f"\n\n{link}\n\n"


@pytest.mark.parametrize(
    "source",
    [
        "<iframe></iframe>",
        "<iframe src=about:blank allowfullscreen></iframe>",
        "<iframe src=https://a.example/widget></iframe>",
        "<iframe src=https://ad.doubleclick.net/embed/x></iframe>",
        "<iframe src=https://a.example/embed/x width=1 height=1></iframe>",
        "<iframe src=https://a.example/embed/x hidden></iframe>",
        "<iframe class=ad-frame src=https://a.example/embed/x></iframe>",
        "<div class=ads><iframe src=https://a.example/embed/x></iframe></div>",
        "<iframe src=https://a.example/embed/newsletter></iframe>",
        "<video autoplay loop muted src=background.mp4></video>",
        "<video></video>",
        "<object data=logo.svg type=image/svg+xml></object>",
        "<embed src=menu.swf>",
    ],
)
def test_adverts_trackers_forms_and_backgrounds_are_not_links(source: str):
    assert extract_embed(source) == "\n\n"


def test_embedded_media_stay_in_their_list_item_and_appear_once():
    frame = "<iframe title=it src=https://a.example/embed/x></iframe>"
    source = f"<ul><li>one{frame}<li>two</ul>{frame}<p>end"
    assert extract_markdown(source) == "- one\n\n  [it](https://a.example/embed/x)\n- two\n\nend"


def test_text_contains_the_titles_of_embedded_media():
    read = extract("<p>One.<iframe title='A *b*' src=/embed/x></iframe><p>Two.", url=BASE_URL, main=False)
    assert read.text == "One.\n\nA *b*\n\nTwo."
    assert read.markdown == "One.\n\n[A \\*b\\*](https://site.example/embed/x)\n\nTwo."
    assert [link.url for link in read.links] == ["https://site.example/embed/x"]


def test_only_media_within_the_content_are_shown():
    words = "A sentence about apples that grow in the garden behind the house, and of who picks them. " * 4
    frame = "<iframe src=https://a.example/embed/{} allowfullscreen></iframe>"
    footer = f"<footer class=footer><nav><a href=/x>Home</a> {frame.format('foot')}<a href=/y>About</a></nav></footer>"
    figure = f"<figure>{frame.format('figure')}<figcaption>Apples</figcaption></figure>"
    body = f"<article><h1>Apples</h1><p>{words}</p>{frame.format('inside')}<p>{words}</p>{figure}</article>{footer}"
    read = extract(f"<title>Apples</title>{body}", url=BASE_URL).markdown
    assert "embed/inside" in read
    assert "embed/figure" in read
    assert "embed/foot" not in read


@pytest.mark.parametrize(("links", "shown"), [("none", "it"), ("references", "[it][1]")])
def test_embedded_media_follow_the_link_style(links: str, shown: str):
    source = "<p>One.</p><iframe title=it src=/embed/x></iframe><p>Two."
    assert extract_markdown(source, links=links).split("\n\n")[1] == shown
