"""Read the product that a page declares.

JSON-LD, microdata and meta elements can declare it.
"""

import re
from typing import Any

from outrider.pages.document import to_single_line
from outrider.pages.extraction.metadata.page_facts import PageFacts, list_texts

PRODUCT_TYPES = frozenset({"Product", "ProductGroup", "IndividualProduct", "ProductModel", "Vehicle", "Car"})
PRODUCT_PROPERTIES = frozenset(
    "name brand sku price lowPrice highPrice priceCurrency availability ratingValue bestRating reviewCount "  # noqa: SIM905
    "ratingCount".split()
)
DECIMAL_PATTERN = re.compile(r"\d+(?:\.\d+)?")
MAX_OFFERS = 200


def read_product(facts: PageFacts, tree: Any = None) -> dict[str, str]:
    """Return the declared name, brand, SKU, price with currency, availability and rating.

    Args:
        facts: The facts that the page declares.
        tree: The parsed page, if it is a product page, to read its microdata as well.
    """
    products = [item for item in facts.json_ld_objects if not PRODUCT_TYPES.isdisjoint(list_texts(item.get("@type")))]
    titles = f"{facts.find_title()} {facts.title_tag}".lower()
    named = (item for item in products if (name := _format_value(item.get("name"))) and name.lower() in titles)
    product = next(named, products[0] if products else {})
    if not product and tree is not None:
        product = _read_microdata_product(tree) or _read_meta_product(facts)
    if not product:
        return {}
    variants = _list_objects(product.get("hasVariant") or product.get("model"))
    offers = _list_objects(product.get("offers"))
    offers = offers or [offer for variant in variants for offer in _list_objects(variant.get("offers"))][:MAX_OFFERS]
    availabilities = [_format_value(offer.get("availability")).rpartition("/")[2] for offer in offers]
    availabilities = [availability for availability in availabilities if availability]
    fields = {
        "name": _format_value(product.get("name")),
        "brand": _format_value(product.get("brand")),
        "sku": next(filter(None, (_format_value(product.get(name)) for name in ("sku", "gtin13", "mpn"))), ""),
        "price": _format_price(offers),
        "availability": "InStock" if "InStock" in availabilities else next(iter(availabilities), ""),
        "rating": _format_rating(_get_first_object(product.get("aggregateRating"))),
    }
    return {name: value for name, value in fields.items() if value}


def format_missing_facts(product: dict[str, str], text: str) -> list[str]:
    """Return the product facts that a page's text does not mention, one per line."""
    labels = {"brand": "Brand", "price": "Price", "availability": "Availability", "rating": "Rating", "sku": "SKU"}
    return [
        f"{label}: {product[name]}"
        for name, label in labels.items()
        if name in product and not _is_value_in_text(product[name], text)
    ]


def _is_value_in_text(value: str, text: str) -> bool:
    """Return whether a text has a value.

    The value is a number with any separators of thousands and decimals.
    """
    first = value.partition(" ")[0]
    if not DECIMAL_PATTERN.fullmatch(first):
        return value in text or first in text
    integer, _, cents = first.partition(".")
    groups = [group[::-1] for group in re.findall(r"\d{1,3}", integer[::-1])][::-1]
    integer_pattern = r"[.,\s\u2019']?".join(groups)
    cents = cents.rstrip("0")
    cents_pattern = rf"[.,]{cents}0*" if cents else r"(?:[.,]0{1,2})?"
    return re.search(rf"(?<!\d)(?<!\d[.,]){integer_pattern}{cents_pattern}(?![.,]?\d)", text) is not None


def _read_microdata_product(tree: Any) -> dict[str, Any]:
    """Return the product of the page's microdata in the form of JSON-LD (schema.org/Product)."""
    item = tree.css_first('[itemtype*="schema.org/Product" i]')
    if item is None:
        return {}
    properties: dict[str, str] = {}
    for node in item.css("[itemprop]"):
        attributes = node.attributes
        value = (
            attributes.get("content") or attributes.get("href") or to_single_line(node.text(separator=" ")[:300], 100)
        )
        for name in (attributes.get("itemprop") or "").split():
            if value and name in PRODUCT_PROPERTIES and (name != "name" or _belongs_to_item(node, item)):
                properties.setdefault(name, value)
    return {**properties, "offers": properties, "aggregateRating": properties}


def _belongs_to_item(node: Any, item: Any) -> bool:
    # The name of a brand, a breadcrumb or a review inside the item is not the item's.
    node = node.parent if "itemscope" not in node.attributes else None
    while node is not None and "itemscope" not in node.attributes:
        node = node.parent
    return node is not None and node.mem_id == item.mem_id


def _read_meta_product(facts: PageFacts) -> dict[str, Any]:
    """Return the product of the page's meta elements (ogp.me and its product extension)."""
    offer = {
        name: next((facts.meta_values[meta] for meta in metas if meta in facts.meta_values), "")
        for name, metas in {
            "price": ("product:price:amount", "og:price:amount"),
            "priceCurrency": ("product:price:currency", "og:price:currency"),
            "availability": ("product:availability", "og:availability"),
        }.items()
    }
    brand, sku = facts.meta_values.get("product:brand", ""), facts.meta_values.get("product:retailer_item_id", "")
    return {"offers": offer, "brand": brand, "sku": sku} if offer["price"] else {}


def _list_objects(value: Any) -> list[dict[str, Any]]:
    values = value if isinstance(value, list) else [value]
    return [item for item in values[:MAX_OFFERS] if isinstance(item, dict)]


def _get_first_object(value: Any) -> dict[str, Any]:
    return next(iter(_list_objects(value)), {})


def _format_value(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"
    return to_single_line(next(iter(list_texts(value)), ""), 200)


def _format_price(offers: list[dict[str, Any]]) -> str:
    """Return the price, or the lowest and highest, with the currency of the first offer."""
    currency, prices = "", list[str]()
    for offer in offers:
        inner = _get_first_object(offer.get("offers")) or _get_first_object(offer.get("priceSpecification"))
        currency = currency or _format_value(offer.get("priceCurrency")) or _format_value(inner.get("priceCurrency"))
        price = _format_value(offer.get("price")) or _format_value(inner.get("price"))
        bounds = [price] if price else [_format_value(offer.get("lowPrice")), _format_value(offer.get("highPrice"))]
        prices += filter(None, bounds)
    amounts = [price for price in prices if DECIMAL_PATTERN.fullmatch(price)] or prices[:1]
    amounts = [amount for amount in amounts if amount.strip("0.")] or amounts  # zero marks items that are not sold
    if not amounts:
        return ""
    if len(amounts) == 1:
        return f"{amounts[0]} {currency}".strip()
    low, high = min(amounts, key=float), max(amounts, key=float)
    return f"{low if float(low) == float(high) else f'{low} to {high}'} {currency}".strip()


def _format_rating(rating: dict[str, Any]) -> str:
    value = _format_value(rating.get("ratingValue"))
    if not value:
        return ""
    count = _format_value(rating.get("reviewCount")) or _format_value(rating.get("ratingCount"))
    value = f"{float(value):.2f}".rstrip("0").rstrip(".") if DECIMAL_PATTERN.fullmatch(value) else value
    return f"{value} of {_format_value(rating.get('bestRating')) or '5'}" + (f" ({count} ratings)" if count else "")
