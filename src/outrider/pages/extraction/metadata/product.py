"""What a page declares of the product that it sells: in JSON-LD (schema.org/Product), microdata, or meta elements."""

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
MAX_OFFERS = 200  # that are looked at


def read_product(facts: PageFacts, tree: Any = None) -> dict[str, str]:
    """Name, brand, SKU, price with its currency, availability and rating, as far as they are declared.

    Args:
        facts: What the page declares.
        tree: The parsed page, if it is one of a product, whose microdata are then looked at.
    """
    found = _find_json_ld_product(facts)
    if not found and tree is not None:
        found = _read_microdata_product(tree) or _read_meta_product(facts)
    if not found:
        return {}
    offers = _collect_offers(found)
    told = {
        "name": _format_value(found.get("name")),
        "brand": _format_value(found.get("brand")),
        "sku": _format_value(found.get("sku")) or _format_value(found.get("gtin13")) or _format_value(found.get("mpn")),
        "price": _format_price(offers),
        "availability": _find_availability(offers),
        "rating": _format_rating(_get_first_object(found.get("aggregateRating"))),
    }
    return {name: value for name, value in told.items() if value}


def format_missing_facts(product: dict[str, str], text: str) -> list[str]:
    """The facts that a page's text does not hold, one a line."""
    shown_properties = ("brand", "price", "availability", "rating", "sku")
    property_labels = {
        "name": "Name", "brand": "Brand", "price": "Price", "availability": "Availability", "rating": "Rating", "sku": "SKU"
    }  # fmt: skip
    return [
        f"{property_labels[name]}: {product[name]}"
        for name in shown_properties
        if name in product and not _is_value_in_text(product[name], text)
    ]


def _is_value_in_text(value: str, text: str) -> bool:
    """Whether a text says a value: a number as a whole, whatever sign stands before its cents and thousands."""
    first = value.partition(" ")[0]
    if not DECIMAL_PATTERN.fullmatch(first):
        return value in text or first in text
    whole, _, cents = first.partition(".")
    thousands = r"[.,\s\u2019']?".join([part[::-1] for part in re.findall(r"\d{1,3}", whole[::-1])][::-1])
    cents = cents.rstrip("0")
    ends = rf"[.,]{cents}0*" if cents else r"(?:[.,]0{1,2})?"
    return re.search(rf"(?<!\d)(?<!\d[.,]){thousands}{ends}(?![.,]?\d)", text) is not None


def _find_json_ld_product(facts: PageFacts) -> dict[str, Any]:
    """The product of the JSON-LD that is called as the page is, or else the first."""
    found = [each for each in facts.json_ld_objects if not PRODUCT_TYPES.isdisjoint(list_texts(each.get("@type")))]
    titles = f"{facts.find_title()} {facts.title_tag}".lower()
    named = (each for each in found if (name := _format_value(each.get("name"))) and name.lower() in titles)
    return next(named, found[0] if found else {})


def _read_microdata_product(tree: Any) -> dict[str, Any]:
    """The product of the page's microdata, as JSON-LD would have it."""
    product_selector = '[itemtype*="schema.org/Product" i]'
    item = tree.css_first(product_selector)
    if item is None:
        return {}
    told: dict[str, str] = {}
    for node in item.css("[itemprop]"):
        attributes = node.attributes
        value = (
            attributes.get("content") or attributes.get("href") or to_single_line(node.text(separator=" ")[:300], 100)
        )
        for name in (attributes.get("itemprop") or "").split():
            if value and name in PRODUCT_PROPERTIES and (name != "name" or _belongs_to_item(node, item)):
                told.setdefault(name, value)
    return {**told, "offers": told, "aggregateRating": told}


def _belongs_to_item(node: Any, item: Any) -> bool:
    """Whether a property is the item's own, not that of a brand, a crumb or a review in it."""
    node = node.parent if "itemscope" not in node.attributes else None
    while node is not None and "itemscope" not in node.attributes:
        node = node.parent
    return node is not None and node.mem_id == item.mem_id


def _read_meta_product(facts: PageFacts) -> dict[str, Any]:
    """The product of the page's meta elements (ogp.me and its extension for products)."""
    told = {
        name: next((facts.meta_values[each] for each in metas if each in facts.meta_values), "")
        for name, metas in {
            "price": ("product:price:amount", "og:price:amount"),
            "priceCurrency": ("product:price:currency", "og:price:currency"),
            "availability": ("product:availability", "og:availability"),
        }.items()
    }
    brand, sku = facts.meta_values.get("product:brand", ""), facts.meta_values.get("product:retailer_item_id", "")
    return {"offers": told, "brand": brand, "sku": sku} if told["price"] else {}


def _collect_offers(product: dict[str, Any]) -> list[dict[str, Any]]:
    """The offers of a product, or of its variants."""
    found = _list_objects(product.get("offers"))
    variants = product.get("hasVariant") or product.get("model")
    found = found or [offer for variant in _list_objects(variants) for offer in _list_objects(variant.get("offers"))]
    return found[:MAX_OFFERS]


def _list_objects(value: Any) -> list[dict[str, Any]]:
    values = value if isinstance(value, list) else [value]
    return [each for each in values[:MAX_OFFERS] if isinstance(each, dict)]


def _get_first_object(value: Any) -> dict[str, Any]:
    """The object that a value is, or begins with."""
    return next(iter(_list_objects(value)), {})


def _format_value(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"
    return to_single_line(next(iter(list_texts(value)), ""), 200)


def _format_price(offers: list[dict[str, Any]]) -> str:
    """The price, or the lowest and the highest, with the currency of the first offer."""
    currency, prices = "", list[str]()
    for offer in offers:
        inner = _get_first_object(offer.get("offers")) or _get_first_object(offer.get("priceSpecification"))
        currency = currency or _format_value(offer.get("priceCurrency")) or _format_value(inner.get("priceCurrency"))
        price = _format_value(offer.get("price")) or _format_value(inner.get("price"))
        both = [price] if price else [_format_value(offer.get("lowPrice")), _format_value(offer.get("highPrice"))]
        prices += [each for each in both if each]
    amounts = [each for each in prices if DECIMAL_PATTERN.fullmatch(each)] or prices[:1]
    amounts = [each for each in amounts if each.strip("0.")] or amounts  # nothing is the price of what is not sold
    if not amounts:
        return ""
    low, high = (min(amounts, key=float), max(amounts, key=float)) if len(amounts) > 1 else (amounts[0], amounts[0])
    same = low == high or (len(amounts) > 1 and float(low) == float(high))
    return f"{low if same else f'{low} to {high}'} {currency}".strip()


def _find_availability(offers: list[dict[str, Any]]) -> str:
    """Whether it is to be had: what the first offer says that is in stock, or the first one at all."""
    told = [found.rpartition("/")[2] for offer in offers if (found := _format_value(offer.get("availability")))]
    return next((each for each in told if each == "InStock"), told[0] if told else "")


def _format_rating(rating: dict[str, Any]) -> str:
    value = _format_value(rating.get("ratingValue"))
    if not value:
        return ""
    count = _format_value(rating.get("reviewCount")) or _format_value(rating.get("ratingCount"))
    value = f"{float(value):.2f}".rstrip("0").rstrip(".") if DECIMAL_PATTERN.fullmatch(value) else value
    return f"{value} of {_format_value(rating.get('bestRating')) or '5'}" + (f" ({count} ratings)" if count else "")
