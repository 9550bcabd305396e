"""Recorded result pages: results, omissions, and the names of pages without results."""

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.errors import Unavailable
from outrider.search.hits import clean_text
from outrider.search.page_providers import load_engines
from outrider.search.provider import Query, RenderedPage
from outrider.search.result_page import parse_result_page, resolve_result_url
from support.fakes import result_pages

TEA, NONSENSE = Query("oolong tea"), Query("qzx captcha qzx")
FIRST_RESULT = ("Oolong, between green & black", "leaves.example", "oolong is bruised before it dries")
SECOND = ("The gardens of Formosa", "https://garden.example/formosa", "High mountain leaves, rolled by hand.")
WALLS = [
    ("google", "captcha", "captcha"),
    ("google", "consent", "consent"),
    ("google", "blocked", "blocked"),
    ("bing", "captcha", "captcha"),
    ("duckduckgo", "captcha", "captcha"),
    ("yahoo", "consent", "consent"),
    ("ecosia", "captcha", "captcha"),
    ("yandex", "captcha", "captcha"),
    ("baidu", "captcha", "captcha"),
]
SENT_TO = [
    ("google", "https://consent.google.com/m?continue=https://www.google.com/search", "consent"),
    ("google", "https://www.google.com/sorry/index?continue=https://www.google.com/search", "captcha"),
    ("yandex", "https://yandex.com/showcaptcha?cc=1", "captcha"),
    ("baidu", "https://wappass.baidu.com/static/captcha/tuxing.html", "captcha"),
    ("yahoo", "https://consent.yahoo.com/v2/collectConsent", "consent"),
]


def parse_engine_page(engine: str, kind: str, query: Query = TEA) -> list[tuple[str, str, str]]:
    """Return (title, url, snippet) of the results on one of the engine's pages."""
    return parse_results(engine, result_pages.read_result_page(engine, kind), query)


def parse_results(engine: str, markup: str, query: Query = TEA, url: str = "") -> list[tuple[str, str, str]]:
    facts = load_engines()[engine]
    items = parse_result_page(facts, RenderedPage(url or facts.build_url(query), markup), query)
    return [(clean_text(item["title"]), item["url"], clean_text(item["snippet"])) for item in items]


@pytest.mark.parametrize("engine", result_pages.ENGINES)
def test_results_are_read_with_their_targets_and_texts(engine):
    first, second, *_ = parse_engine_page(engine, "results")
    assert first[0] == FIRST_RESULT[0]
    assert first[1].startswith("https://leaves.example/oolong")
    assert "Half way between two worlds" in first[2]
    assert (second[0], second[1].partition("?")[0]) == SECOND[:2]
    assert second[2].startswith(SECOND[2])


@pytest.mark.parametrize("engine", result_pages.ENGINES)
def test_advertisements_own_pages_and_summaries_are_not_results(engine):
    titles = [title for title, _, _ in parse_engine_page(engine, "results")]
    assert not {"Buy oolong", "Buy oolong now", "More places", "Deals", "A summary nobody asked for"} & set(titles)
    assert len(titles) == len(set(titles)) <= 3


def test_the_scripted_page_is_parsed_like_the_plain_one():
    assert [row[0] for row in parse_engine_page("duckduckgo", "scripted")] == [FIRST_RESULT[0], SECOND[0]]


@pytest.mark.parametrize("engine", ["google", "bing"])
def test_an_address_written_in_several_ways_is_one_result(engine):
    assert len([row for row in parse_engine_page(engine, "results") if "formosa" in row[1] or "oolong" in row[1]]) == 2


@pytest.mark.parametrize("engine", ["google", "bing", "duckduckgo", "yahoo"])
def test_redirects_are_unwrapped_with_all_parameters_of_their_targets(engine):
    assert any(row[1].endswith("?a=1&b=2") for row in parse_engine_page(engine, "results"))


def test_escaped_markup_stays_text():
    assert any("<b> is no markup here" in row[2] for row in parse_engine_page("google", "results"))


@pytest.mark.parametrize("engine", ["google", "bing", "duckduckgo", "ecosia", "yandex", "baidu"])
def test_an_empty_result_is_not_a_failure_even_if_the_query_mentions_captchas(engine):
    assert parse_engine_page(engine, "nothing", NONSENSE) == []


@pytest.mark.parametrize(("engine", "kind", "code"), WALLS)
def test_block_and_consent_pages_are_named(engine, kind, code):
    with pytest.raises(Unavailable) as caught:
        parse_engine_page(engine, kind)
    assert caught.value.code == code
    assert load_engines()[engine].title in caught.value.message
    assert "search.browser.engines" in caught.value.hint


@pytest.mark.parametrize(("engine", "url", "code"), SENT_TO)
def test_the_final_address_reveals_a_block_page(engine, url, code):
    with pytest.raises(Unavailable) as caught:
        parse_results(engine, "<p>Any page at all, with enough text on it to be an answer.</p>", url=url)
    assert caught.value.code == code


@pytest.mark.parametrize("engine", result_pages.ENGINES)
def test_a_redesigned_page_is_a_failure_and_never_an_empty_result(engine):
    with pytest.raises(Unavailable) as caught:
        parse_results(engine, result_pages.REDESIGNED_PAGE_HTML.format("oolong"))
    assert caught.value.code == "bad_reply"


@pytest.mark.parametrize("engine", result_pages.ENGINES)
def test_an_empty_page_is_a_block(engine):
    with pytest.raises(Unavailable) as caught:
        parse_results(engine, "<html><body><div id=main></div></body></html>")
    assert caught.value.code == "blocked"


@pytest.mark.parametrize("engine", result_pages.ENGINES)
def test_linked_headings_are_results_if_no_class_name_is_known(engine):
    link = '<a href="https://{0}.example/x?a=1"><h3>{0} &lt;b&gt;</h3></a>'
    row = f"<section>{link}<cite>{{0}}.example</cite><p>About {{0}}.</p></section>"
    ad = '<section><h3><a href="https://ad.example/">Pay</a></h3><span>Sponsored</span></section>'
    menu = '<nav><h3><a href="https://menu.example/">Menu</a></h3></nav>'
    page = f"<main>{menu}<h1>Found</h1>{ad}{row.format('one')}{row.format('two')}</main><footer>Bye</footer>"
    assert parse_results(engine, page) == [
        ("one <b>", "https://one.example/x?a=1", "About one."),
        ("two <b>", "https://two.example/x?a=1", "About two."),
    ]


def test_a_query_word_is_not_taken_for_an_advertisement_label():
    page = '<main><h3><a href="https://one.example/">Ads</a></h3><p>How <b>ads</b> work</p></main>'
    assert [row[0] for row in parse_results("google", page, Query("ads"))] == ["Ads"]


@pytest.mark.parametrize("engine", result_pages.ENGINES)
def test_a_search_address_contains_the_query_and_no_unset_options(engine):
    plain_address = load_engines()[engine].build_url(Query("a b&c=d/ü", count=5))
    assert plain_address.startswith(load_engines()[engine].base_url)
    assert "a+b%26c%3Dd%2F%C3%BC" in plain_address
    assert "None" not in plain_address


def test_the_google_address_matches_the_contract():
    assert (
        load_engines()["google"].build_url(Query("tea pot", count=5)) == "https://www.google.com/search?q=tea+pot&num=5"
    )


def test_dates_regions_and_pages_are_sent_if_the_engine_supports_them():
    query = Query("tea", count=10, page=3, freshness="week", language="de", region="at", safe="strict")
    google = load_engines()["google"].build_url(query)
    assert all(each in google for each in ("tbs=qdr%3Aw", "hl=de", "gl=at", "start=20", "safe=active"))
    assert all(
        each in load_engines()["bing"].build_url(query) for each in ("setlang=de", "cc=AT", "first=21", "adlt=strict")
    )
    assert all(each in load_engines()["duckduckgo"].build_url(query) for each in ("kl=at-de", "df=w", "kp=1"))


@given(st.text(), st.sampled_from(result_pages.ENGINES))
def test_any_link_can_be_resolved(href, engine):
    facts = load_engines()[engine]
    url = resolve_result_url(facts, href, facts.base_url + "/search?q=x")
    assert not url or url.startswith(("http://", "https://"))


@given(st.text(max_size=300), st.sampled_from(result_pages.ENGINES))
def test_any_page_is_parsed_or_fails_with_a_known_code(text, engine):
    for markup in (text, f"<h3><a href='{html.escape(text)}'>{html.escape(text)}</a></h3>"):
        try:
            parse_results(engine, markup)
        except Unavailable as error:
            assert error.code in {"blocked", "bad_reply", "captcha", "consent"}  # noqa: PT017


def test_a_page_of_thousands_of_headings_is_read_in_reasonable_time():
    rows = "".join(f'<h3><a href="https://e{number}.example/">t</a></h3>' for number in range(30_000))
    assert len(parse_results("google", f"<main>{rows}</main>")) == 100
