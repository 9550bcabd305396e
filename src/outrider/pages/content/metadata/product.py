"""What a page declares of the product that it sells: in JSON-LD (schema.org/Product), microdata, or meta elements."""

import re
from typing import Any

from outrider.pages.content.metadata.facts import Facts, words_of
from outrider.pages.document import line_of

TYPES = frozenset({"Product", "ProductGroup", "IndividualProduct", "ProductModel", "Vehicle", "Car"})
LABELS = {
    "name": "Name", "brand": "Brand", "price": "Price", "availability": "Availability", "rating": "Rating", "sku": "SKU"
}  # fmt: skip
SHOWN = ("brand", "price", "availability", "rating", "sku")
ITEM = '[itemtype*="schema.org/Product" i]'
PROPERTIES = frozenset(
    "name brand sku price lowPrice highPrice priceCurrency availability ratingValue bestRating reviewCount "  # noqa: SIM905
    "ratingCount".split()
)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
OFFERS = 200  # that are looked at


def product_of(facts: Facts, tree: Any = None) -> dict[str, str]:
    """Name, brand, SKU, price with its currency, availability and rating, as far as they are declared.

    Args:
        facts: What the page declares.
        tree: The parsed page, if it is one of a product, whose microdata are then looked at.
    """
    found = _declared(facts)
    if not found and tree is not None:
        found = _itemized(tree) or _meta(facts)
    if not found:
        return {}
    offers = _offers(found)
    told = {
        "name": _text(found.get("name")),
        "brand": _text(found.get("brand")),
        "sku": _text(found.get("sku")) or _text(found.get("gtin13")) or _text(found.get("mpn")),
        "price": _price(offers),
        "availability": _availability(offers),
        "rating": _rating(_first(found.get("aggregateRating"))),
    }
    return {name: value for name, value in told.items() if value}


def lines_of(product: dict[str, str], text: str) -> list[str]:
    """The facts that a page's text does not hold, one a line."""
    return [f"{LABELS[name]}: {product[name]}" for name in SHOWN if name in product and not _said(product[name], text)]


def _said(value: str, text: str) -> bool:
    """Whether a text says a value: a number as a whole, whatever sign stands before its cents and thousands."""
    first = value.partition(" ")[0]
    if not NUMBER.fullmatch(first):
        return value in text or first in text
    whole, _, cents = first.partition(".")
    thousands = r"[.,\s\u2019']?".join([part[::-1] for part in re.findall(r"\d{1,3}", whole[::-1])][::-1])
    cents = cents.rstrip("0")
    ends = rf"[.,]{cents}0*" if cents else r"(?:[.,]0{1,2})?"
    return re.search(rf"(?<!\d)(?<!\d[.,]){thousands}{ends}(?![.,]?\d)", text) is not None


def _declared(facts: Facts) -> dict[str, Any]:
    """The product of the JSON-LD that is called as the page is, or else the first."""
    found = [each for each in facts.linked if not TYPES.isdisjoint(words_of(each.get("@type")))]
    titles = f"{facts.title()} {facts.title_tag}".lower()
    named = (each for each in found if (name := _text(each.get("name"))) and name.lower() in titles)
    return next(named, found[0] if found else {})


def _itemized(tree: Any) -> dict[str, Any]:
    """The product of the page's microdata, as JSON-LD would have it."""
    item = tree.css_first(ITEM)
    if item is None:
        return {}
    told: dict[str, str] = {}
    for node in item.css("[itemprop]"):
        given = node.attributes
        value = given.get("content") or given.get("href") or line_of(node.text(separator=" ")[:300], 100)
        for name in (given.get("itemprop") or "").split():
            if value and name in PROPERTIES and (name != "name" or _is_of(node, item)):
                told.setdefault(name, value)
    return {**told, "offers": told, "aggregateRating": told}


def _is_of(node: Any, item: Any) -> bool:
    """Whether a property is the item's own, not that of a brand, a crumb or a review in it."""
    node = node.parent if "itemscope" not in node.attributes else None
    while node is not None and "itemscope" not in node.attributes:
        node = node.parent
    return node is not None and node.mem_id == item.mem_id


def _meta(facts: Facts) -> dict[str, Any]:
    """The product of the page's meta elements (ogp.me and its extension for products)."""
    told = {
        name: next((facts.metas[each] for each in metas if each in facts.metas), "")
        for name, metas in {
            "price": ("product:price:amount", "og:price:amount"),
            "priceCurrency": ("product:price:currency", "og:price:currency"),
            "availability": ("product:availability", "og:availability"),
        }.items()
    }
    brand, sku = facts.metas.get("product:brand", ""), facts.metas.get("product:retailer_item_id", "")
    return {"offers": told, "brand": brand, "sku": sku} if told["price"] else {}


def _offers(product: dict[str, Any]) -> list[dict[str, Any]]:
    """The offers of a product, or of its variants."""
    found = _objects(product.get("offers"))
    variants = product.get("hasVariant") or product.get("model")
    found = found or [offer for variant in _objects(variants) for offer in _objects(variant.get("offers"))]
    return found[:OFFERS]


def _objects(value: Any) -> list[dict[str, Any]]:
    values = value if isinstance(value, list) else [value]
    return [each for each in values[:OFFERS] if isinstance(each, dict)]


def _first(value: Any) -> dict[str, Any]:
    """The object that a value is, or begins with."""
    return next(iter(_objects(value)), {})


def _text(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"
    return line_of(next(iter(words_of(value)), ""), 200)


def _price(offers: list[dict[str, Any]]) -> str:
    """The price, or the lowest and the highest, with the currency of the first offer."""
    currency, prices = "", list[str]()
    for offer in offers:
        inner = _first(offer.get("offers")) or _first(offer.get("priceSpecification"))
        currency = currency or _text(offer.get("priceCurrency")) or _text(inner.get("priceCurrency"))
        price = _text(offer.get("price")) or _text(inner.get("price"))
        both = [price] if price else [_text(offer.get("lowPrice")), _text(offer.get("highPrice"))]
        prices += [each for each in both if each]
    amounts = [each for each in prices if NUMBER.fullmatch(each)] or prices[:1]
    amounts = [each for each in amounts if each.strip("0.")] or amounts  # nothing is the price of what is not sold
    if not amounts:
        return ""
    low, high = (min(amounts, key=float), max(amounts, key=float)) if len(amounts) > 1 else (amounts[0], amounts[0])
    same = low == high or (len(amounts) > 1 and float(low) == float(high))
    return f"{low if same else f'{low} to {high}'} {currency}".strip()


def _availability(offers: list[dict[str, Any]]) -> str:
    """Whether it is to be had: what the first offer says that is in stock, or the first one at all."""
    told = [found.rpartition("/")[2] for offer in offers if (found := _text(offer.get("availability")))]
    return next((each for each in told if each == "InStock"), told[0] if told else "")


def _rating(rating: dict[str, Any]) -> str:
    value = _text(rating.get("ratingValue"))
    if not value:
        return ""
    count = _text(rating.get("reviewCount")) or _text(rating.get("ratingCount"))
    value = f"{float(value):.2f}".rstrip("0").rstrip(".") if NUMBER.fullmatch(value) else value
    return f"{value} of {_text(rating.get('bestRating')) or '5'}" + (f" ({count} ratings)" if count else "")
