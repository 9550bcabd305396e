"""Metadata of common systems is read; a missing value is better than a wrong one."""

import json

import pytest

from outrider.pages.document import Document
from outrider.pages.extract import extract

BLOG_URL = "https://www.harbour-notes.example/blog/tides"
TIDE_TEXT = "The tide comes in twice a day, and the boats rise with it until the bell rings. "
HEADLINE = "<h1>On tides</h1>"
BODY = f"<p>{TIDE_TEXT * 4}</p>" * 3


def build_json_ld(*objects: dict) -> str:
    graph = {"@context": "https://schema.org", "@graph": list(objects)}
    return f'<script type="application/ld+json">{json.dumps(graph)}</script>'


def build_meta(**given: str) -> str:
    names = {name.replace("__", ":"): value for name, value in given.items()}
    return "".join(f'<meta property="{name}" content="{value}">' for name, value in names.items())


def parse(
    head: str = "", top: str = "<h1>On tides</h1>", *, url: str = BLOG_URL, lang: str = "en", body: str = BODY
) -> Document:
    return extract(f"<html lang={lang}><head>{head}</head><body><article>{top}{body}</article></body></html>", url=url)


WORDPRESS = parse(
    "<title>On tides - Harbour Notes</title>"
    + build_meta(og__title="On tides - Harbour Notes", og__site_name="Harbour Notes", og__type="article")
    + build_meta(
        article__published_time="2024-03-05T08:30:00+00:00", article__modified_time="2025-01-02T00:00:00+00:00"
    )
    + build_json_ld(
        {"@type": "WebPage", "name": "On tides - Harbour Notes", "datePublished": "2024-03-05T08:30:00+00:00"},
        {"@type": "Person", "name": "Ida Marsh"},
        {"@type": "WebSite", "name": "Harbour Notes"},
    )
    + '<meta name="twitter:label1" content="Written by"><meta name="twitter:data1" content="Ida Marsh">',
)
GHOST = parse(
    "<title>On tides</title>"
    + build_json_ld(
        {
            "@type": "Article",
            "headline": "On tides",
            "author": {"@type": "Person", "name": "Ida Marsh"},
            "publisher": {"@type": "Organization", "name": "Harbour Notes"},
            "datePublished": "2024-03-05T08:30:00.000Z",
        }
    )
)
MICRODATA = parse(
    "<title>On tides » Harbour Notes</title>",
    '<h1 itemprop="headline">On tides</h1><span itemprop="author" itemscope><b itemprop="name">Ida Marsh</b></span>'
    '<time itemprop="datePublished" datetime="2024-03-05T08:30:00">5 March</time>',
)
BARE = parse("<title>On tides</title>", "<h1>On tides</h1><p>By Ida Marsh | March 5, 2024</p>")
OLD = parse("<title>On tides</title>", "<h1>On tides</h1><p>by Ida Marsh, 5 March 2024</p>", lang='""')
SUBSTACK = parse(
    "<title>On tides - by Ida Marsh - Harbour Notes</title>" + build_meta(og__title="On tides"),
    "<h1>Harbour Notes</h1><h1>On tides</h1><div class=byline><a href=/@ida>Ida Marsh</a></div><div>Mar 05, 2024</div>",
)


@pytest.mark.parametrize("page", [WORDPRESS, GHOST, MICRODATA, BARE, OLD, SUBSTACK])
def test_title_author_and_date_are_found_on_common_publishing_systems(page: Document):
    assert (page.title, page.author, page.published[:10]) == ("On tides", "Ida Marsh", "2024-03-05")


def test_the_modification_date_is_kept_apart_from_publication():
    assert WORDPRESS.metadata["modified"] == "2025-01-02T00:00:00+00:00"
    assert (WORDPRESS.site, GHOST.site) == ("Harbour Notes", "Harbour Notes")


@pytest.mark.parametrize(
    "title",
    [
        "On tides | Harbour Notes", "On tides - Harbour-Notes.example", "Harbour Notes: On tides",
        "On tides — Harbour Notes", "On tides · Harbour Notes", "On tides » Harbour Notes", "Harbour Notes – On tides",
        "On tides | Blog | Harbour Notes", "On tides｜Harbour Notes",
    ],
)  # fmt: skip
def test_the_name_of_the_site_is_not_part_of_a_title(title: str):
    assert parse(f"<title>{title}</title>", "").title.removesuffix(" | Blog") == "On tides"


@pytest.mark.parametrize(
    ("title", "top", "expected"),
    [
        ("Tides, ships - a guide | Harbour Notes", "", "Tides, ships - a guide"),
        ("12 things about tides you did not know | HN", "<h1>12 things about tides</h1>", "12 things about tides"),
        ("Issues - Harbour Notes", "<h1>Latest news</h1>", "Issues"),
        ("On tides – Tide &amp; Time", "<h1>Tide &amp; Time</h1><h1>On tides</h1>", "On tides"),
        ("On tides", "<h1>ON TIDES</h1>", "On tides"),
        ("Harbour Notes", "<h1>Harbour Notes</h1>", "Harbour Notes"),
        ("潮汐について | 港ノート", "<h1>潮汐について</h1>", "潮汐について"),
        ("", "<h1>On\u00ad tides\u200b</h1>", "On tides"),
        ("", "", ""),
    ],
)
def test_a_title_is_the_headline_that_readers_see(title: str, top: str, expected: str):
    assert parse(f"<title>{title}</title>" if title else "", top).title == expected


@pytest.mark.parametrize(
    ("line", "lang", "day"),
    [
        ("Veröffentlicht am 5. März 2024", "de", "2024-03-05"),
        ("Publié le 1er août 2023 à 10h00", "fr", "2023-08-01"),
        ("5 de marzo de 2024", "es", "2024-03-05"),
        ("Pubblicato il 5 mar. 2024", "it", "2024-03-05"),
        ("2024年3月5日 掲載", "ja", "2024-03-05"),
        ("입력 2024년 3월 5일", "ko", "2024-03-05"),
        ("نشر في 5 مارس 2024", "ar", "2024-03-05"),
        ("٥ مارس ٢٠٢٤", "ar", "2024-03-05"),
        ("5 במרץ 2024", "he", "2024-03-05"),
        ("5 марта 2024 г., 10:00", "ru", "2024-03-05"),
        ("5 มีนาคม 2567", "th", "2024-03-05"),
        ("5 मार्च 2024", "hi", "2024-03-05"),
        ("ngày 5 tháng 3 năm 2024", "vi", "2024-03-05"),
        ("2024. március 5.", "hu", "2024-03-05"),
        ("5. maaliskuuta 2024", "fi", "2024-03-05"),
        ("05.03.2024, 10:00 Uhr", "de", "2024-03-05"),
        ("03/05/2024", "en-US", "2024-03-05"),
        ("05/03/2024", "en-GB", "2024-03-05"),
        ("25/03/2024", "en", "2024-03-25"),
        ("Published Mar 5, 2024 · Updated Jan 2, 2025", "en", "2024-03-05"),
        ("Tue, 5th of March 2024 – 3 min read", "en", "2024-03-05"),
        ("04/03/2024", "en", ""),
        ("Last updated: March 5, 2024", "en", ""),
        ("Zuletzt aktualisiert am 5. März 2024", "de", ""),
        ("更新日：2024年3月5日", "ja", ""),
        ("© 5 March 2024 Harbour Notes", "en", ""),
        ("Member since March 5, 2024", "en", ""),
        ("Version 1.2.345, room 12 2024", "en", ""),
        ("February 30, 2024", "en", ""),
        ("Founded on March 5, 1871", "en", ""),
    ],
)
def test_a_line_below_the_headline_gives_the_date_in_any_language(line: str, lang: str, day: str):
    assert parse("<title>On tides</title>", f"<h1>On tides</h1><p>{line}</p>", lang=lang).published == day


@pytest.mark.parametrize(
    ("head", "published"),
    [
        (build_meta(article__published_time="0000-00-00"), ""),
        (build_meta(article__published_time="1970-01-01T00:00:00Z"), ""),
        (build_meta(article__published_time="Tue, 05 Mar 2024 10:00:00 GMT"), "2024-03-05"),
        (build_meta(article__published_time="20240305"), "2024-03-05"),
        (build_meta(article__published_time="2024-03"), "2024-03"),
        (build_meta(article__published_time="2024-13-45"), ""),
        (build_meta(date="{{ page.date }}"), ""),
        (build_json_ld({"@type": "Organization", "foundingDate": "1999-01-01", "datePublished": "1999-01-01"}), ""),
        (build_json_ld({"@type": "WebPage", "dateModified": "2024-03-05"}), ""),
    ],
)
def test_only_a_valid_date_counts_as_the_publication_date(head: str, published: str):
    assert parse(head).published == published


def test_dates_in_the_text_are_not_the_publication_date():
    assert (
        parse(
            body=f"<p>{TIDE_TEXT * 4}</p><p>{TIDE_TEXT * 4}</p><p>It was lit on March 5, 2024.</p>" + BODY * 3
        ).published
        == ""
    )
    assert (
        parse(
            body="<ul>" + "".join(f"<li>March {day}, 2024 {TIDE_TEXT}</li>" for day in range(1, 9)) + "</ul>"
        ).published
        == ""
    )


def test_an_address_gives_the_date_if_the_page_does_not():
    assert parse(url="https://a.example/2024/03/05/on-tides").published == "2024-03-05"
    assert parse(url="https://a.example/on-tides-2024-03-05/").published == "2024-03-05"
    assert parse(url="https://a.example/2024/13/05/on-tides").published == ""


@pytest.mark.parametrize(
    ("head", "line", "author"),
    [
        ('<meta name=author content="admin">', "By Ida Marsh", "Ida Marsh"),
        ('<meta name=author content="undefined">', "", ""),
        ('<meta name=author content="262588213843476">', "", ""),
        ('<meta name=author content="page.head.extra.author">', "", ""),
        ('<meta name=author content="https://www.facebook.com/ida">', "", ""),
        ('<meta name=author content="By Ida Marsh">', "", "Ida Marsh"),
        (build_meta(author="Harbour Notes", og__site_name="Harbour Notes"), "By Ida Marsh", "Ida Marsh"),
        (build_json_ld({"@type": "Article", "author": [{"name": "Ida Marsh"}, {"name": "Tom"}]}), "", "Ida Marsh, Tom"),
        (build_json_ld({"@type": "Article", "author": {"@id": "#i"}}, {"@id": "#i", "name": "Ida Marsh"}), "",
         "Ida Marsh"),
        ('<meta name=citation_author content="Marsh, Ida"><meta name=citation_author content="Tom Reed">', "",
         "Ida Marsh, Tom Reed"),
        ("", "Written by Ida Marsh on 5 March 2024", "Ida Marsh"),
        ("", "ByIda Marsh", "Ida Marsh"),
        ("", "March 5, 2024 by Ida Marsh", "Ida Marsh"),
        ("", "By Ida Marsh and Tom Reed • 3 min read", "Ida Marsh and Tom Reed"),
        ("", "By Dr. Ida J. Marsh, MD | Harbour desk", "Dr. Ida J. Marsh, MD"),
        ("", "Von Ida Marsh | 5. März 2024", "Ida Marsh"),
        ("", "Par Ida Marsh, le 5 mars 2024", "Ida Marsh"),
        ("", "作者：王小明", "王小明"),
        ("", "Автор: Ида Марш", "Ида Марш"),
        ("", "by ida77", ""),
        ("", "By the time the tide comes in, all boats are out.", ""),
        ("", "Von Berlin nach Hamburg fährt man zwei Stunden, sagt die Bahn", ""),
        ("", "Photo by Ida Marsh", ""),
        ("", "Shop by Brand", ""),
        ("", "By May 5, 2024", ""),
    ],
)  # fmt: skip
def test_an_author_is_a_person_with_a_name(head: str, line: str, author: str):
    assert parse("<title>On tides</title>" + head, f"<h1>On tides</h1><p>{line}</p>").author == author


def test_a_product_page_has_no_date_or_author():
    facts = build_json_ld(
        {"@type": "Product", "name": "Lamp", "brand": {"@type": "Brand", "name": "Wend"}, "offers": {"price": 5}}
    )
    page = "<div class=product><h1>Lamp</h1><div class=price>$5.00</div><button>Add to cart</button><p>For ships.</p>"
    page += "<div class=reviews><h2>Reviews</h2><p>By Tom Reed, March 5, 2024</p><p>A good lamp.</p></div></div>"
    found = extract(facts + page, url="https://shop.example/product/lamp")
    assert (found.kind, found.published, found.author) == ("product", "", "")


ENGLISH = (
    "The harbour was dredged in 1851 so that larger ships could unload their grain. Merchants built warehouses along "
    "the quay, and in the autumn of that year the lighthouse was lit for the first time. Few of those who came to see "
    "it knew what it had cost."
)
GERMAN = (
    "Der Hafen wurde 1851 ausgebaggert, damit größere Schiffe Getreide löschen konnten. Kaufleute bauten Lagerhäuser "
    "am Kai, und im Herbst desselben Jahres wurde der Leuchtturm zum ersten Mal angezündet. Wer ihn sehen wollte, "
    "wusste selten, was er gekostet hatte."
)
JAPANESE = "港は1851年に浚渫され、より大きな船が穀物を陸揚げできるようになった。"


@pytest.mark.parametrize(
    ("declared", "words", "language"),
    [
        ("en-GB", ENGLISH, "en-GB"),
        ("en", GERMAN, "de"),
        ("de-AT", GERMAN, "de-AT"),
        ("en-US", JAPANESE, "ja"),
        ("", GERMAN, "de"),
        ("xx", ENGLISH, "en"),
        ("de", "Nikon Z5, Canon R6, 299 €, 1.299 €. ", "de"),
    ],
)
def test_a_wrongly_declared_language_is_replaced_by_the_texts(declared: str, words: str, language: str):
    assert parse(lang=declared or '""', body=f"<p>{words * 5}</p>" * 2).language == language


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("渡轮重新从旧码头出发_海港网", "渡轮重新从旧码头出发"),
        ("渡轮重新从旧码头出发-海港网", "渡轮重新从旧码头出发"),
        ("海港新闻--渡轮重新从旧码头出发", "渡轮重新从旧码头出发"),
        ("Ferries leave from the old pier again_Coast Paper", "Ferries leave from the old pier again"),
    ],
)
def test_a_line_that_the_title_starts_or_ends_with_is_the_headline(title: str, line: str):
    top = f"<div>海港 &gt; 正文</div><div class=a>{line}</div><div>发布时间：2019-09-26 10:09</div>"
    found = parse(f"<title>{title}</title>", top, url="", lang="zh")
    assert (found.title, found.published[:10]) == (line, "2019-09-26")


def test_a_short_line_that_the_title_starts_with_is_not_the_headline():
    found = parse("<title>Weather_All that is known about the tides of the north</title>", "<p>Weather</p>", url="")
    assert found.title == "Weather_All that is known about the tides of the north"


@pytest.mark.parametrize("level", ["h1", "h2"])
@pytest.mark.parametrize("title", ["Tides - The Book of Harbours", "Tides | The book of harbours"])
def test_the_title_of_a_chapter_is_preferred_over_its_books(title: str, level: str):
    body = f"<h1>The Book of Harbours</h1><{level}>Tides</{level}><p>{ENGLISH}</p><h2>Further chapters</h2>"
    assert parse(f"<title>{title}</title>", body).title == "Tides"


def test_the_site_name_above_a_headline_is_not_the_title():
    body = f"<h1>The Coast</h1><h1>Ferries are back</h1><p>{ENGLISH}</p>"
    for title in ("The Coast - Ferries are back", "Ferries are back - The Coast"):
        assert parse(f"<title>{title}</title>", body).title == "Ferries are back"


def test_a_date_is_found_in_an_address_with_a_section_between():
    address = "https://www.harbour-notes.example/2010/POLITICS/08/13/tides/index.html"
    assert parse("<title>On tides</title>", url=address).published == "2010-08-13"


def test_a_breadcrumb_is_not_an_author():
    top = '<h1>On tides</h1><div itemprop="author">You are here : Harbour Notes</div>'
    assert not parse("<title>On tides</title>", top).author
