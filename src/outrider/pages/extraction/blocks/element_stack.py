"""Track the open block-level elements and their places among the blocks."""

from outrider.pages.extraction.blocks.class_words import categorize_names, categorize_role
from outrider.pages.extraction.blocks.hidden_elements import HiddenElements, HidingRule
from outrider.pages.extraction.blocks.page_blocks import BLOCK_TAGS, PIECE_NEXT_CELL, TAG_NUMBERS, Attributes

CUSTOM_TAG_NUMBER = TAG_NUMBERS["custom"]
RENDERED_ATTRIBUTE_TAGS = frozenset({"td", "th", "ol", "pre", "li"})  # the Markdown writer reads their attributes
HEADLINE_TAGS = frozenset({"h1", "h2"})
AUTHOR_ATTRIBUTES = frozenset({"itemprop", "data-author", "author"})
ROOT_ELEMENT_ROW = (-1, 0, 0, 0, -1, 0)  # the parent of the body
SignatureKey = tuple[int, int, str]  # signature of the parent, tag number, classes
TAG_CATEGORY_BITS = [0] * len(BLOCK_TAGS)
for _tag, _name in (
    ("nav", "nav"), ("header", "header"), ("footer", "footer"), ("aside", "side"), ("main", "main"),
    ("article", "article"), ("form", "form"), ("dialog", "popup"), ("button", "action"), ("figcaption", "caption"),
    ("pre", "code"), ("address", "place"),
):  # fmt: skip
    TAG_CATEGORY_BITS[TAG_NUMBERS[_tag]] = categorize_names(_name)


class ElementStack(HiddenElements):
    """Record block-level elements around the current block.

    Attributes:
        signatures: Signature number and category bits by signature of the parent, tag and classes.
    """

    __slots__ = ("signatures",)

    def __init__(self, by_rule: HidingRule | None, revealed: frozenset[int]) -> None:
        super().__init__(by_rule, revealed)
        self.signatures: dict[SignatureKey, tuple[int, int]] = {}

    def begin_element(self, tag: str, attributes: Attributes) -> None:
        """Open a block-level element."""
        page, parent = self.page, self.current
        elements = page.elements
        self.current = element = len(elements)
        number, classes, names, bits = TAG_NUMBERS.get(tag, CUSTOM_TAG_NUMBER), "", "", 0
        if attributes:
            names = classes = attributes.get("class") or ""
            if tag in RENDERED_ATTRIBUTE_TAGS:
                page.attributes[element] = attributes
            if len(attributes) > 1 or not classes:
                names, bits = self._read_attributes(element, number, attributes, classes)
        if tag in HEADLINE_TAGS:
            page.headings.append(element)
        _, _, _, inherited, signature, _ = elements[parent] if element else ROOT_ELEMENT_ROW
        key = signature, number, classes
        known = self.signatures.get(key)
        if known is None:
            known = self.signatures[key] = len(self.signatures), TAG_CATEGORY_BITS[number] | categorize_names(classes)
        signature, signature_bits = known
        bits |= signature_bits
        elements.append((parent, number, bits, inherited | bits if bits else inherited, signature, self.next_block))
        page.last.append(0)
        page.names.append(names)

    def _read_attributes(self, element: int, tag_number: int, attributes: Attributes, names: str) -> tuple[str, int]:
        """Record attributes other than the class. Return the element's names and their category bits."""
        bits = 0
        if name := attributes.get("id"):
            names += " " + name
            bits = categorize_names(name)
            self.record_anchor(name)
        if name := attributes.get("role"):
            bits |= categorize_role(name)
        if not AUTHOR_ATTRIBUTES.isdisjoint(attributes):
            if "itemprop" in attributes and attributes["itemprop"] == "author":
                self.page.authors.add(element)
            if name := attributes.get("data-author") or (tag_number == CUSTOM_TAG_NUMBER and attributes.get("author")):
                self.page.signed_authors[element] = name
        return names, bits

    def end_element(self) -> None:
        """Close the current block-level element."""
        if self.pieces:
            self.flush_block()
        page, element = self.page, self.current
        page.last[element] = self.next_block
        self.current = page.elements[element][0]

    def end_cell(self) -> None:
        """Close a table cell. Short cells stay in the block of their row."""
        page, element = self.page, self.current
        if self.has_words:
            if self.is_long_cell():
                self.flush_block()
            else:
                self.pieces.append((PIECE_NEXT_CELL, element))
        page.last[element] = self.next_block
        self.current = page.elements[element][0]

    def end_listing(self) -> None:
        """Close a code listing."""
        self.end_element()
        self.listing_depth -= 1
