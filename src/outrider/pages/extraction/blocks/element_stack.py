"""Which element is in which, and what of each is kept: its tag, its names, its place among the blocks."""

from outrider.pages.extraction.blocks.class_words import categorize_names, categorize_role
from outrider.pages.extraction.blocks.hidden_elements import HiddenElements, HidingRule
from outrider.pages.extraction.blocks.page_blocks import BLOCK_TAGS, PIECE_NEXT_CELL, TAG_NUMBERS, Attributes

CUSTOM_TAG_NUMBER = TAG_NUMBERS["custom"]
RENDERED_ATTRIBUTE_TAGS = frozenset({"td", "th", "ol", "pre", "li"})  # elements of which the renderer asks attributes
HEADLINE_TAGS = frozenset({"h1", "h2"})  # those of which one may be the page's headline
AUTHOR_ATTRIBUTES = frozenset({"itemprop", "data-author", "author"})  # attributes that may say who wrote something
ROOT_ELEMENT_ROW = (-1, 0, 0, 0, -1, 0)  # what stands for the element around the body
SignatureKey = tuple[int, int, str]  # signature of the element around, number of the tag, classes
TAG_CATEGORY_BITS = [0] * len(BLOCK_TAGS)
for _tag, _name in (
    ("nav", "nav"), ("header", "header"), ("footer", "footer"), ("aside", "side"), ("main", "main"),
    ("article", "article"), ("form", "form"), ("dialog", "popup"), ("button", "action"), ("figcaption", "caption"),
    ("pre", "code"), ("address", "place"),
):  # fmt: skip
    TAG_CATEGORY_BITS[TAG_NUMBERS[_tag]] = categorize_names(_name)


class ElementStack(HiddenElements):
    """The block at hand, and the open elements around it.

    Attributes:
        signatures: Signature and category bits of what is made so; the bits are those of tag and classes.
    """

    __slots__ = ("signatures",)

    def __init__(self, by_rule: HidingRule | None, shown: frozenset[int]) -> None:
        super().__init__(by_rule, shown)
        self.signatures: dict[SignatureKey, tuple[int, int]] = {}

    def begin_element(self, tag: str, given: Attributes) -> None:
        """A block-level element begins."""
        page, up = self.page, self.current
        elements = page.elements
        self.current = me = len(elements)
        number, classes, names, own = TAG_NUMBERS.get(tag, CUSTOM_TAG_NUMBER), "", "", 0
        if given:
            names = classes = given.get("class") or ""
            if tag in RENDERED_ATTRIBUTE_TAGS:
                page.attributes[me] = given
            if len(given) > 1 or not classes:
                names, own = self._read_attributes(me, number, given, classes)
        if tag in HEADLINE_TAGS:
            page.headings.append(me)
        _, _, _, inherited, signature, _ = elements[up] if me else ROOT_ELEMENT_ROW
        key = signature, number, classes
        signature, made = self.signatures.get(key) or self._make(key)
        own |= made
        elements.append((up, number, own, inherited | own, signature, len(page.texts)))
        page.last.append(0)
        page.names.append(names)

    def _read_attributes(self, me: int, number: int, given: Attributes, names: str) -> tuple[str, int]:
        """Notes what the attributes of an element say besides its classes: its names, and its bits by them."""
        own = 0
        if name := given.get("id"):
            names += " " + name
            own = categorize_names(name)
            self.record_anchor(name)
        if name := given.get("role"):
            own |= categorize_role(name)
        if not AUTHOR_ATTRIBUTES.isdisjoint(given):
            self._record_author(me, number, given)
        return names, own

    def _make(self, key: SignatureKey) -> tuple[int, int]:
        """A signature for elements that are made so, and their bits."""
        made = self.signatures[key] = len(self.signatures), TAG_CATEGORY_BITS[key[1]] | categorize_names(key[2])
        return made

    def _record_author(self, me: int, number: int, given: Attributes) -> None:
        """Notes what an element says about who wrote what it holds."""
        if "itemprop" in given and given["itemprop"] == "author":
            self.page.authors.add(me)
        if name := given.get("data-author") or (number == CUSTOM_TAG_NUMBER and given.get("author")):
            self.page.signed_authors[me] = name

    def end_element(self) -> None:
        """A block-level element ends."""
        if self.pieces:
            self.flush_block()
        page, me = self.page, self.current
        page.last[me] = len(page.texts)
        self.current = page.elements[me][0]

    def end_cell(self) -> None:
        """A cell ends: its words wait for the rest of the row, unless they are long."""
        page, me = self.page, self.current
        if self.has_words:
            if self.is_long_cell():
                self.flush_block()
            else:
                self.pieces.append((PIECE_NEXT_CELL, me))
        page.last[me] = len(page.texts)
        self.current = page.elements[me][0]

    def end_listing(self) -> None:
        """A listing ends."""
        self.end_element()
        self.listing_depth -= 1
