"""Addresses are normalized for readers."""

import pytest

from outrider.pages.urls import resolve_url

BASE = "https://site.example/folder/page?x=1"


@pytest.mark.parametrize(
    ("address", "found"),
    [
        ("/a?utm_source=news&utm_medium=mail", "https://site.example/a"),
        ("/a?id=3&fbclid=x9&page=2#end", "https://site.example/a?id=3&page=2#end"),
        ("https://shop.example/?gclid=7&q=a%26b", "https://shop.example/?q=a%26b"),
        ("b?mc_cid=1;mc_eid=2", "https://site.example/folder/b"),
        ("/news#", "https://site.example/news"),
        ("?UTM_Campaign=&y=", "https://site.example/folder/page?y="),
    ],
)
def test_tracking_parameters_are_removed(address: str, found: str):
    assert resolve_url(address, BASE) == found


@pytest.mark.parametrize(
    "address",
    [
        "https://a.example/?utm=1&source=2",
        "https://a.example/?q=utm_source=1",
        "https://a.example/?next=%2F%3Futm_source%3D1",
        "https://a.example/#?utm_source=1",
        "https://files.example/x?utm_source=1&X-Amz-Signature=2",
        "https://files.example/x?gclid=1&sig=2",
    ],
)
def test_similar_or_signed_parameters_are_kept(address: str):
    assert resolve_url(address, BASE) == address
