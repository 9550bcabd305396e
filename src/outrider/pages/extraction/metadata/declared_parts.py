"""List the parts of its content that a page declares: ingredients, steps, questions with answers.

They come from the JSON-LD types Recipe, HowTo and FAQPage of schema.org, as search engines read them.
"""

import re
from html import unescape
from typing import Any

from outrider.pages.extraction.metadata.page_facts import list_texts

MAX_TEXTS = 200
MARKUP_PATTERN = re.compile(r"<[^<>]*>")


def list_declared_parts(json_ld_objects: list[dict[str, Any]]) -> list[list[str]]:
    """Return lists of texts that belong together, such as the ingredients of a recipe.

    Together they have `MAX_TEXTS` texts at most.
    """
    properties = ("recipeIngredient", "ingredients", "recipeInstructions", "step")
    is_faq = any("FAQPage" in list_texts(item.get("@type")) for item in json_ld_objects)
    lists, count = list[list[str]](), 0
    for item in json_ld_objects:
        found = [_list_nested_texts(item[name]) for name in properties if item.get(name)]
        if is_faq and item.get("acceptedAnswer"):
            found.append([*list_texts(item.get("name"))[:1], *_list_nested_texts(item["acceptedAnswer"])])
        for texts in found:
            if texts and count + len(texts) <= MAX_TEXTS:
                lists.append(texts)
                count += len(texts)
    return lists


def _list_nested_texts(value: Any, depth: int = 0) -> list[str]:
    """Return the texts of a declared value without markup."""
    max_depth = 6
    nested_properties = ("text", "itemListElement", "step")  # of sections and steps
    if isinstance(value, str):
        return [MARKUP_PATTERN.sub(" ", unescape(value))]
    if depth >= max_depth:
        return []
    if isinstance(value, dict):
        value = [value[name] for name in nested_properties if value.get(name)]
    members = value[:MAX_TEXTS] if isinstance(value, list) else []
    return [text for member in members for text in _list_nested_texts(member, depth + 1)][:MAX_TEXTS]
