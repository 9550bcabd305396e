"""What a page's JSON-LD says of the product that it sells (schema.org/Product)."""

from typing import Any

from outrider.pages.content.facts import Facts, words_of
from outrider.pages.document import line_of

TYPES = frozenset({"Product", "ProductGroup", "IndividualProduct", "ProductModel", "Vehicle", "Car"})
LABELS = {
    "name": "Name", "brand": "Brand", "price": "Price", "availability": "Availability", "rating": "Rating", "sku": "SKU"
}  # fmt: skip
SHOWN = ("brand", "price", "availability", "rating", "sku")


def product_of(facts: Facts) -> dict[str, str]:
    """Name, brand, SKU, price with its currency, availability and rating, as far as they are declared."""
    found = next((each for each in facts.linked if not TYPES.isdisjoint(words_of(each.get("@type")))), None)
    if not found:
        return {}
    offer = _first(found.get("offers"))
    told = {
        "name": _text(found.get("name")),
        "brand": _text(found.get("brand")),
        "sku": _text(found.get("sku")) or _text(found.get("gtin13")) or _text(found.get("mpn")),
        "price": _price(offer),
        "availability": _text(offer.get("availability")).rpartition("/")[2],
        "rating": _rating(_first(found.get("aggregateRating"))),
    }
    return {name: value for name, value in told.items() if value}


def lines_of(product: dict[str, str], text: str) -> list[str]:
    """The facts that a page's text does not hold, one a line."""
    return [f"{LABELS[name]}: {product[name]}" for name in SHOWN if name in product and not _said(product[name], text)]


def _said(value: str, text: str) -> bool:
    return value in text or value.partition(" ")[0] in text


def _first(value: Any) -> dict[str, Any]:
    """The object that a value is, or begins with."""
    value = value[0] if isinstance(value, list) and value else value
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"
    return line_of(next(iter(words_of(value)), ""), 200)


def _price(offer: dict[str, Any]) -> str:
    inner = _first(offer.get("offers")) or _first(offer.get("priceSpecification"))
    currency = _text(offer.get("priceCurrency")) or _text(inner.get("priceCurrency"))
    low, high = _text(offer.get("lowPrice")), _text(offer.get("highPrice"))
    price = _text(offer.get("price")) or _text(inner.get("price"))
    if not price and low:
        price = low if high in ("", low) else f"{low} to {high}"
    return f"{price} {currency}".strip() if price else ""


def _rating(rating: dict[str, Any]) -> str:
    value = _text(rating.get("ratingValue"))
    if not value:
        return ""
    count = _text(rating.get("reviewCount")) or _text(rating.get("ratingCount"))
    return f"{value} of {_text(rating.get('bestRating')) or '5'}" + (f" ({count} ratings)" if count else "")
