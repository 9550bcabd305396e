import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.search.urls import canonicalize_url, is_web_url, is_within_site, unwrap_redirect

SAME = [
    "https://example.com/a",
    "http://example.com/a",
    "https://www.example.com/a/",
    "https://m.example.com/a",
    "https://amp.example.com/a/amp/",
    "https://EXAMPLE.com:443/a#part",
    "http://example.com:80/a?utm_source=x&gclid=1&fbclid=2&utm_medium=y",
    "https://example.com/a?amp=1",
    "https://www.google.com/amp/s/example.com/a",
    "https://example-com.cdn.ampproject.org/c/s/example.com/a/amp",
    "https://www.google.com/url?q=https%3A%2F%2Fexample.com%2Fa&sa=U",
    "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa&rut=abc",
    "//duckduckgo.com/l/?uddg=https%3A%2F%2Fexample.com%2Fa",
    "https://www.bing.com/ck/a?!&&p=1&u=a1aHR0cHM6Ly9leGFtcGxlLmNvbS9h&ntb=1",
    "https://r.search.yahoo.com/_ylt=A/RV=2/RE=1/RO=10/RU=https%3a%2f%2fexample.com%2fa/RK=2/RS=x-",
]
HOSTS = st.sampled_from(
    ["example.com", "a.b.example.org", "www.m.example.com", "10.0.0.1", "[::1]", "xn--bcher-kva.example"]
)
PATHS = st.text(alphabet="ab/.-_%amp~ é", max_size=12).map(lambda text: text.replace(" ", "%20"))
QUERIES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "utm_source", "gclid", "amp", "url", "q"]), st.text("ab1/&=", max_size=4)),
    max_size=4,
)


@pytest.mark.parametrize("url", SAME)
def test_equivalent_addresses_have_one_canonical_form(url):
    assert canonicalize_url(url) == "https://example.com/a"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.com/a", "https://example.com/b"),
        ("https://example.com/a", "https://example.com/A"),
        ("https://example.com/a?page=1", "https://example.com/a?page=2"),
        ("https://example.com/a", "https://example.com:8443/a"),
        ("https://example.com/a", "https://docs.example.com/a"),
        ("https://m.de/a", "https://de/a"),
        ("https://example.com/camp", "https://example.com/c"),
    ],
)
def test_different_pages_stay_different(one, other):
    assert canonicalize_url(one) != canonicalize_url(other)


@given(st.sampled_from(["http", "https", "HTTPS"]), HOSTS, PATHS, QUERIES)
def test_canonicalization_is_idempotent(scheme, host, path, query):
    url = f"{scheme}://{host}/{path}" + ("?" + "&".join(f"{name}={value}" for name, value in query) if query else "")
    once = canonicalize_url(url)
    assert canonicalize_url(once) == once


@given(st.text(max_size=60))
def test_any_text_can_be_parsed_as_an_address(text):
    for each in (text, f"https://{text}", f"https://www.google.com/url?q={text}", f"https://bing.com/ck/a?u=a1{text}"):
        assert isinstance(canonicalize_url(each), str)
        assert isinstance(unwrap_redirect(each), str)
        is_web_url(each)
        is_within_site(each, "example.com")


def test_redirects_to_unsafe_targets_are_not_unwrapped():
    for url in (
        "https://duckduckgo.com/l/?uddg=javascript%3Aalert(1)",
        "https://www.google.com/url?q=/search",
        "https://www.bing.com/ck/a?u=a1%%%",
        "https://www.google.com/search?q=x",
    ):
        assert unwrap_redirect(url) == url


@pytest.mark.parametrize(
    ("url", "site", "inside"),
    [
        ("https://example.com/a", "example.com", True),
        ("https://docs.example.com/a", "https://www.Example.com/", True),
        ("https://notexample.com/a", "example.com", False),
        ("https://example.com.evil.org/", "example.com", False),
        ("https://example.com/docs/a", "example.com/docs", True),
        ("https://example.com/docs", "example.com/docs/", True),
        ("https://example.com/docs-old/a", "example.com/docs", False),
        ("https://example.com/blog", "example.com/docs", False),
        ("https://mit.edu/", ".edu", True),
    ],
)
def test_a_site_is_a_host_with_its_subdomains_and_path(url, site, inside):
    assert is_within_site(url, site) is inside
