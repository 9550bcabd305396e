"""Which element is in which, and what of each is kept: its tag, its names, its place among the blocks."""

from outrider.pages.content.walking.blocks import NEXT_CELL, NUMBER, TAGS, Given
from outrider.pages.content.walking.unseen import Hides, Unseen
from outrider.pages.content.walking.words import bits, role

CUSTOM = NUMBER["custom"]
TOLD = frozenset({"td", "th", "ol", "pre", "li"})  # elements of which the renderer asks attributes
HEADINGS = frozenset({"h1", "h2"})  # those of which one may be the page's headline
SIGNED = frozenset({"itemprop", "data-author", "author"})  # attributes that may say who wrote something
OUTSIDE = (-1, 0, 0, 0, -1, 0)  # what stands for the element around the body
Made = tuple[int, int, str]  # signature of the element around, number of the tag, classes
TAG_BITS = [0] * len(TAGS)
for _tag, _name in (
    ("nav", "nav"), ("header", "header"), ("footer", "footer"), ("aside", "side"), ("main", "main"),
    ("article", "article"), ("form", "form"), ("dialog", "popup"), ("button", "action"), ("figcaption", "caption"),
    ("pre", "code"), ("address", "place"),
):  # fmt: skip
    TAG_BITS[NUMBER[_tag]] = bits(_name)


class Nesting(Unseen):
    """The block at hand, and the open elements around it.

    Attributes:
        made: Signature and category bits of what is made so; the bits are those of tag and classes.
    """

    __slots__ = ("made",)

    def __init__(self, by_rule: Hides | None, shown: frozenset[int]) -> None:
        super().__init__(by_rule, shown)
        self.made: dict[Made, tuple[int, int]] = {}

    def begin(self, tag: str, given: Given) -> None:
        """A block-level element begins."""
        page, up = self.page, self.current
        elements = page.elements
        self.current = me = len(elements)
        number, classes, names, own = NUMBER.get(tag, CUSTOM), "", "", 0
        if given:
            names = classes = given.get("class") or ""
            if tag in TOLD:
                page.given[me] = given
            if len(given) > 1 or not classes:
                names, own = self._tell(me, number, given, classes)
        if tag in HEADINGS:
            page.headings.append(me)
        _, _, _, inherited, signature, _ = elements[up] if me else OUTSIDE
        key = signature, number, classes
        signature, made = self.made.get(key) or self._make(key)
        own |= made
        elements.append((up, number, own, inherited | own, signature, len(page.texts)))
        page.last.append(0)
        page.names.append(names)

    def _tell(self, me: int, number: int, given: Given, names: str) -> tuple[str, int]:
        """Notes what the attributes of an element say besides its classes: its names, and its bits by them."""
        own = 0
        if name := given.get("id"):
            names += " " + name
            own = bits(name)
            self.name_place(name)
        if name := given.get("role"):
            own |= role(name)
        if not SIGNED.isdisjoint(given):
            self._sign(me, number, given)
        return names, own

    def _make(self, key: Made) -> tuple[int, int]:
        """A signature for elements that are made so, and their bits."""
        made = self.made[key] = len(self.made), TAG_BITS[key[1]] | bits(key[2])
        return made

    def _sign(self, me: int, number: int, given: Given) -> None:
        """Notes what an element says about who wrote what it holds."""
        if "itemprop" in given and given["itemprop"] == "author":
            self.page.authors.add(me)
        if name := given.get("data-author") or (number == CUSTOM and given.get("author")):
            self.page.signed[me] = name

    def end(self) -> None:
        """A block-level element ends."""
        if self.pieces:
            self.flush()
        page, me = self.page, self.current
        page.last[me] = len(page.texts)
        self.current = page.elements[me][0]

    def end_cell(self) -> None:
        """A cell ends: its words wait for the rest of the row, unless they are long."""
        page, me = self.page, self.current
        if self.filled:
            if self.is_long():
                self.flush()
            else:
                self.pieces.append((NEXT_CELL, me))
        page.last[me] = len(page.texts)
        self.current = page.elements[me][0]

    def end_listing(self) -> None:
        """A listing ends."""
        self.end()
        self.listing -= 1
