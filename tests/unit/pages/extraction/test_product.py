"""A product's declared data is read from its page."""

import json
from typing import Any

import pytest

from outrider.pages.extract import extract

DESK_HTML = (
    "<title>Oak Desk - Wend</title>{}<h1>Oak Desk</h1><p>A desk of oak, 75 cm high and 120 cm wide, which lasts."
    "</p><p>Made by hand in our own workshop; ships within three days.</p><button>Add to cart</button>"
)
OFFER = {"@type": "Offer", "price": "5", "priceCurrency": "GBP"}


def read_product(data: Any) -> dict[str, str]:
    source = data if isinstance(data, str) else json.dumps(data)
    script = f'<script type="application/ld+json">{source}</script>'
    return extract(DESK_HTML.format(script), url="https://shop.example/p/oak-desk").metadata["product"]


@pytest.mark.parametrize(
    "data",
    [
        {"@type": "Product", "name": "Oak Desk", "offers": OFFER},
        {"@type": "http://schema.org/Product", "name": "Oak Desk", "offers": [OFFER]},
        {"@graph": [{"@type": "WebPage"}, {"@type": ["Product"], "name": "Oak Desk", "offers": OFFER}]},
        {"@type": "Product", "name": "Oak Desk", "offers": {"priceSpecification": [OFFER]}},
        {"@type": "ProductGroup", "name": "Oak Desk", "hasVariant": [{"@type": "Product", "offers": OFFER}]},
        [{"@type": "Product", "name": "Pine Desk"}, {"@type": "Product", "name": "Oak Desk", "offers": OFFER}],
        '{"@type": "Product", "name": "Oak Desk", "offers": {"price": "5", "priceCurrency": "GBP",},}',
    ],
)
def test_a_product_is_found_however_it_is_declared(data: Any):
    assert read_product(data) == {"name": "Oak Desk", "price": "5 GBP"}


@pytest.mark.parametrize(
    ("offers", "price"),
    [
        ([OFFER, {**OFFER, "price": 7.5}], "5 to 7.5 GBP"),
        ([OFFER, {**OFFER, "price": "5.00"}, {**OFFER, "price": "0"}], "5 GBP"),
        ({"@type": "AggregateOffer", "lowPrice": "10", "highPrice": "20", "priceCurrency": "USD"}, "10 to 20 USD"),
        ({**OFFER, "price": "1.299,00"}, "1.299,00 GBP"),
    ],
)
def test_prices_of_several_offers_are_a_range(offers: Any, price: str):
    assert read_product({"@type": "Product", "name": "Oak Desk", "offers": offers})["price"] == price


def test_entities_in_names_are_decoded():
    assert read_product({"@type": "Product", "name": "Oak &amp; Ash"})["name"] == "Oak & Ash"


@pytest.mark.parametrize(
    ("price", "text", "is_in_text"),
    [
        ("5", "75 cm", False),
        ("5", "only 5 left", True),
        ("199.9", "\u20ac199,90", True),
        ("1299", "$1,299.00", True),
        ("199", "199.50", False),
        ("19.5", "119.50", False),
    ],
)
def test_a_price_is_matched_only_as_a_whole_number(price: str, text: str, is_in_text: bool):
    data = json.dumps({"@type": "Product", "name": "Oak Desk", "offers": {**OFFER, "price": price}})
    script = f'<script type="application/ld+json">{data}</script>'
    words = "Made by hand in our own workshop of oak from the hills above the town, and it lasts for years."
    source = f"<title>Oak Desk</title>{script}<h1>Oak Desk</h1><p>{words} {text}</p><button>Add to cart</button>"
    assert ("Price:" in extract(source, url="https://shop.example/p/oak-desk", main=False).text) != is_in_text


def test_microdata_and_meta_elements_declare_products_too():
    script = '<script type="application/ld+json">{"@type": "Offer"}</script>'
    marked = (
        '<div itemscope itemtype="https://schema.org/Product"><p itemprop=crumb itemscope><i itemprop=name>Home'
        "</i></p><b itemprop=name>Oak Desk</b>"
        "<meta itemprop=price content=19.5><meta itemprop=priceCurrency content=EUR><link itemprop=availability href='https://schema.org/InStock'></div>"
    )
    read = extract(DESK_HTML.format(script + marked), url="https://shop.example/p/oak-desk")
    assert read.metadata["product"] == {"name": "Oak Desk", "price": "19.5 EUR", "availability": "InStock"}
    metas = (
        '<meta property="product:price:amount" content="19.5"><meta property="product:price:currency" content="EUR">'
    )
    read = extract(DESK_HTML.format(script + metas), url="https://shop.example/p/oak-desk")
    assert read.metadata["product"] == {"price": "19.5 EUR"}
