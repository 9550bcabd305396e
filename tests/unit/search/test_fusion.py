from hypothesis import given
from hypothesis import strategies as st

from outrider.search.outcome import RRF_K, Ranking, deduplicate_hits, fuse_rankings
from outrider.search.provider import ProviderRank, SearchHit
from outrider.search.urls import canonicalize_url, parse_host

URLS = st.builds(
    "{}://{}{}/{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["", "www.", "m."]),
    st.sampled_from(["a.example", "b.example", "c.example"]),
    st.integers(0, 6),
    st.sampled_from(["", "/", "?utm_source=x", "#top"]),
)
HITS = st.lists(
    st.builds(SearchHit, title=st.text(min_size=1, max_size=3), url=URLS, snippet=st.text(max_size=3)), max_size=8
)
RANKINGS = st.lists(HITS, max_size=5).map(
    lambda many: [Ranking(f"p{at}", hits, 1.0 + at / 10) for at, hits in enumerate(many)]
)


def build_hit(url: str, **more) -> SearchHit:
    return SearchHit(title=url, url=url, **more)


@given(RANKINGS, st.randoms())
def test_the_order_of_providers_makes_no_difference(rankings, random):
    mixed = list(rankings)
    random.shuffle(mixed)
    assert fuse_rankings(mixed) == fuse_rankings(rankings)


@given(RANKINGS)
def test_every_page_appears_once_and_none_is_lost(rankings):
    pages = [canonicalize_url(each.url) for each in fuse_rankings(rankings)]
    assert len(pages) == len(set(pages))
    assert set(pages) == {canonicalize_url(each.url) for ranking in rankings for each in ranking.hits}


@given(RANKINGS)
def test_fusing_a_fused_ranking_changes_no_order(rankings):
    once = fuse_rankings(rankings)
    assert [each.url for each in fuse_rankings([Ranking("again", once)])] == [each.url for each in once]


@given(RANKINGS, st.integers(1, 3), st.integers(1, 10))
def test_limits_per_host_and_per_answer_hold(rankings, cap, limit):
    fused = fuse_rankings(rankings, limit=limit, per_domain=cap)
    hosts = [parse_host(canonicalize_url(each.url)) for each in fused]
    assert len(fused) <= limit
    assert all(hosts.count(host) <= cap for host in hosts)
    assert [each.rank for each in fused] == list(range(1, len(fused) + 1))


@given(RANKINGS)
def test_scores_are_the_sums_of_their_sources_and_never_rise(rankings):
    weights = {ranking.provider: ranking.weight for ranking in rankings}
    scores = []
    for each in fuse_rankings(rankings):
        assert each.score is not None
        scores.append(each.score)
        assert abs(each.score - sum(weights[it.provider] / (RRF_K + it.rank) for it in each.sources)) < 1e-12
    assert scores == sorted(scores, reverse=True)


@given(HITS)
def test_one_providers_hits_keep_their_order_without_duplicates(hits):
    ranked = [SearchHit(each.title, each.url, rank=rank) for rank, each in enumerate(hits, start=1)]
    kept = deduplicate_hits(ranked)
    assert [each.rank for each in kept] == list(range(1, len(kept) + 1))
    assert [canonicalize_url(each.url) for each in kept] == list(
        dict.fromkeys(canonicalize_url(each.url) for each in hits)
    )


def test_hits_found_by_several_providers_come_first():
    fused = fuse_rankings(
        [
            Ranking("a", [build_hit("https://only-a.example/1"), build_hit("https://both.example/")]),
            Ranking(
                "b", [build_hit("https://only-b.example/1"), build_hit("http://www.both.example", snippet="words")]
            ),
        ]
    )
    assert fused[0].url == "https://both.example/"
    assert fused[0].sources == (ProviderRank("a", 2), ProviderRank("b", 2))
    assert fused[0].provider == "a+b"
    assert fused[0].snippet == "words"


def test_pictures_on_one_page_are_distinguished_by_their_own_address():
    page = "https://gallery.example/"
    pictures = [build_hit(page, image_url=f"https://img.example/{number}.png") for number in (1, 2, 1)]
    assert len(fuse_rankings([Ranking("a", pictures)])) == 2
