"""Where the elements of a page stand: in which quotes, items, tables, headings and definitions."""

import re
from typing import NamedTuple

from outrider.pages.extraction.blocks.page_blocks import CELL_TAG_NUMBERS, TAG_NUMBERS, PageBlocks

HEADING_LEVELS = {TAG_NUMBERS[f"h{level}"]: level for level in range(1, 7)}
LI_TAG, PRE_TAG, QUOTE_TAG, TABLE_TAG, DT_TAG, DD_TAG = (
    TAG_NUMBERS[tag] for tag in ("li", "pre", "blockquote", "table", "dt", "dd")
)
LIST_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("ul", "ol", "menu"))
HOLDER_TAGS = frozenset({LI_TAG, QUOTE_TAG})
POST_QUOTE_CLASS = re.compile(  # of quotes as some forums write posts
    r"(?:^|\s)(?:postcontent|messageText|(?:post|comment|message)-?(?:body|text|content))(?:\s|$)", re.IGNORECASE
)
TERM_PART, DETAIL_PART = 1, 2  # parts of a list of definitions


class BlockContext(NamedTuple):
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


ROOT_CONTEXT = BlockContext()


def _add_holder(p: BlockContext, _tag: int, element: int) -> BlockContext:
    if p.pre >= 0:  # as lines of a listing
        return p
    return BlockContext((*p.holders, element), p.table, p.pre, p.level, 0, p.part)


CONTEXT_CHANGES = {
    **dict.fromkeys(HOLDER_TAGS, _add_holder),
    TABLE_TAG: lambda p, _t, e: BlockContext(p.holders, e, p.pre, p.level, p.term, p.part),
    PRE_TAG: lambda p, _t, e: BlockContext(p.holders, p.table, e if p.pre < 0 else p.pre, p.level, p.term, p.part),
    DT_TAG: lambda p, _t, _e: BlockContext(p.holders, p.table, p.pre, p.level, TERM_PART),
    DD_TAG: lambda p, _t, e: BlockContext(p.holders, p.table, p.pre, p.level, DETAIL_PART, e),
    **{tag: lambda p, t, e: BlockContext(p.holders, p.table, p.pre, HEADING_LEVELS[t], 0, e) for tag in HEADING_LEVELS},
    **dict.fromkeys(CELL_TAG_NUMBERS, lambda p, _t, _e: BlockContext(p.holders, p.table, p.pre)),
}


CONTEXT_TAGS = frozenset(CONTEXT_CHANGES) | LIST_TAGS  # what stands in any other element stands where that does


class BlockContexts:
    """The places of the elements of one page, each found once.

    Args:
        page: The blocks.
    """

    __slots__ = ("_known", "_page")

    def __init__(self, page: PageBlocks) -> None:
        self._page = page
        self._known = {-1: ROOT_CONTEXT}

    def get_context(self, element: int) -> BlockContext:
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
            if tag not in CONTEXT_TAGS:
                known[each] = place
                continue
            place = self._find_preceding_item(each) or place if tag in LIST_TAGS else place
            make = None if tag in HOLDER_TAGS and self._is_layout_element(tag, each) else CONTEXT_CHANGES.get(tag)
            place = known[each] = make(place, tag, each) if make else place
        return place

    def _is_layout_element(self, tag: int, element: int) -> bool:
        """Whether a quote is a post of a forum, or an item a section of a reference."""
        javadoc_list_classes = frozenset(
            {"details-list", "member-list", "blockList", "blockListLast"}
        )  # lists of Javadoc, of sections
        names = self._page.names
        if tag == QUOTE_TAG:
            return POST_QUOTE_CLASS.search(names[element]) is not None
        parent = self._page.elements[element][0]
        return parent >= 0 and names[parent] in javadoc_list_classes

    def _find_preceding_item(self, element: int) -> BlockContext | None:
        """The place of the item before a list that stands in another list, not in an item of it: it belongs there."""
        max_preceding_lists = 4  # lists that may stand between an item and another list that belongs to it
        elements = self._page.elements
        parent = elements[element][0]
        if parent < 0 or elements[parent][1] not in LIST_TAGS:
            return None
        at = element
        for _ in range(max_preceding_lists):
            at -= 1
            while at > parent and elements[at][0] != parent:
                at = elements[at][0]
            if at <= parent or elements[at][1] not in LIST_TAGS:
                break
        return self.get_context(at) if at > parent and elements[at][1] == LI_TAG else None
