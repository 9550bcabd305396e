"""Where the elements of a page stand: in which quotes, items, tables, headings and definitions."""

import re
from typing import NamedTuple

from outrider.pages.content.walking.blocks import CELLS, NUMBER, Blocks

HEADINGS = {NUMBER[f"h{level}"]: level for level in range(1, 7)}
LI, PRE, QUOTE, TABLE, TERM, DETAIL = (NUMBER[tag] for tag in ("li", "pre", "blockquote", "table", "dt", "dd"))
LISTS = frozenset(NUMBER[tag] for tag in ("ul", "ol", "menu"))
HOLDERS = frozenset({LI, QUOTE})
POSTED = re.compile(  # of quotes as some forums write posts
    r"(?:^|\s)(?:postcontent|messageText|(?:post|comment|message)-?(?:body|text|content))(?:\s|$)", re.IGNORECASE
)
SECTIONS = frozenset({"details-list", "member-list", "blockList", "blockListLast"})  # lists of Javadoc, of sections
NEAR = 4  # lists that may stand between an item and another list that belongs to it
TERMS, DETAILS = 1, 2  # parts of a list of definitions


class Place(NamedTuple):
    """Where a block-level element stands.

    Attributes:
        holders: The quotes and items that hold it, outer ones first.
        table, pre: The table and the listing that it is part of; -1 for none.
        level: Of the heading that it is part of; 0 for none.
        term: `TERMS` or `DETAILS` in a list of definitions, else 0.
        part: The `dd`, or the heading, that it is part of.
    """

    holders: tuple[int, ...] = ()
    table: int = -1
    pre: int = -1
    level: int = 0
    term: int = 0
    part: int = -1


NOWHERE = Place()


def _held(p: Place, _tag: int, element: int) -> Place:
    if p.pre >= 0:  # as lines of a listing
        return p
    return Place((*p.holders, element), p.table, p.pre, p.level, 0, p.part)


CHANGES = {
    **dict.fromkeys(HOLDERS, _held),
    TABLE: lambda p, _t, e: Place(p.holders, e, p.pre, p.level, p.term, p.part),
    PRE: lambda p, _t, e: Place(p.holders, p.table, e if p.pre < 0 else p.pre, p.level, p.term, p.part),
    TERM: lambda p, _t, _e: Place(p.holders, p.table, p.pre, p.level, TERMS),
    DETAIL: lambda p, _t, e: Place(p.holders, p.table, p.pre, p.level, DETAILS, e),
    **{tag: lambda p, t, e: Place(p.holders, p.table, p.pre, HEADINGS[t], 0, e) for tag in HEADINGS},
    **dict.fromkeys(CELLS, lambda p, _t, _e: Place(p.holders, p.table, p.pre)),
}


CHANGING = frozenset(CHANGES) | LISTS  # what stands in any other element stands where that does


class Places:
    """The places of the elements of one page, each found once.

    Args:
        page: The blocks.
    """

    __slots__ = ("_known", "_page")

    def __init__(self, page: Blocks) -> None:
        self._page = page
        self._known = {-1: NOWHERE}

    def of(self, element: int) -> Place:
        """Where an element stands, told from the nearest ancestor that is known."""
        known, elements = self._known, self._page.elements
        if (place := known.get(element)) is not None:
            return place
        path = []
        while (found := known.get(element)) is None:
            path.append(element)
            element = elements[element][0]
        place = found
        for each in reversed(path):
            tag = elements[each][1]
            if tag not in CHANGING:
                known[each] = place
                continue
            place = self._beside(each) or place if tag in LISTS else place
            make = None if tag in HOLDERS and self._is_layout(tag, each) else CHANGES.get(tag)
            place = known[each] = make(place, tag, each) if make else place
        return place

    def _is_layout(self, tag: int, element: int) -> bool:
        """Whether a quote is a post of a forum, or an item a section of a reference."""
        names = self._page.names
        if tag == QUOTE:
            return POSTED.search(names[element]) is not None
        parent = self._page.elements[element][0]
        return parent >= 0 and names[parent] in SECTIONS

    def _beside(self, element: int) -> Place | None:
        """The place of the item before a list that stands in another list, not in an item of it: it belongs there."""
        elements = self._page.elements
        parent = elements[element][0]
        if parent < 0 or elements[parent][1] not in LISTS:
            return None
        at = element
        for _ in range(NEAR):
            at -= 1
            while at > parent and elements[at][0] != parent:
                at = elements[at][0]
            if at <= parent or elements[at][1] not in LISTS:
                break
        return self.of(at) if at > parent and elements[at][1] == LI else None
