"""Read definition lists as rows of a term and its definition."""

from typing import Any

from outrider.pages.values.offered_value import TextReader
from outrider.pages.values.phrases import find_next_element
from outrider.pages.values.tables import MAX_ROWS, Row


def read_definitions(tree: Any, texts: TextReader) -> list[list[Row]]:
    """Return the terms of definition lists, each with the first text of its definition."""
    max_lists = 200
    term_labels = ("name", "term", "option", "parameter", "signature", "question")
    detail_labels = ("description", "definition", "meaning", "answer")
    by_class: dict[str, list[Row]] = {}
    for number, found in enumerate(tree.css("dl")[:max_lists], 1):
        rows = by_class.setdefault(found.attributes.get("class") or "", [])
        for term in [node for node in found.iter() if node.tag == "dt"][:MAX_ROWS]:
            place = f"definition list {number}, {texts.read(term)[:60]!r}"
            detail = find_next_element(term)
            while detail is not None and detail.tag == "dt":  # several terms with one definition
                detail = find_next_element(detail)
            parts = [(term, label) for label in term_labels]
            if detail is not None and detail.tag == "dd":
                first = next((each for each in detail.iter() if each.tag == "p"), detail)
                parts += [(first, label) for label in detail_labels]
            offers = [texts.offer(node, (label,), "definition list", place, 0.6) for node, label in parts]
            rows.append((place, [offer for offer in offers if offer]))
    return [*by_class.values()]
