"""Find the quotes, items, tables, headings and definitions around an element."""

import re
from typing import NamedTuple

from outrider.pages.extraction.blocks.page_blocks import CELL_TAG_NUMBERS, TAG_NUMBERS, PageBlocks

HEADING_LEVELS = {TAG_NUMBERS[f"h{level}"]: level for level in range(1, 7)}
LI_TAG, PRE_TAG, QUOTE_TAG, TABLE_TAG, DT_TAG, DD_TAG = (
    TAG_NUMBERS[tag] for tag in ("li", "pre", "blockquote", "table", "dt", "dd")
)
LIST_TAGS = frozenset(TAG_NUMBERS[tag] for tag in ("ul", "ol", "menu"))
HOLDER_TAGS = frozenset({LI_TAG, QUOTE_TAG})
POST_QUOTE_CLASS = re.compile(  # some forums write posts as quotes
    r"(?:^|\s)(?:postcontent|messageText|(?:post|comment|message)-?(?:body|text|content))(?:\s|$)", re.IGNORECASE
)
TERM_PART, DETAIL_PART = 1, 2
MAX_HOLDERS = 40  # deeper quotes and items are treated as part of these: each element has a copy of all


class BlockContext(NamedTuple):
    """The structures around a block-level element.

    Attributes:
        holders: The quotes and items that hold it, outer ones first.
        table, pre: The table and the listing that it is part of, -1 for none.
        level: Level of the heading that it is part of, 0 for none.
        term: `TERM_PART` or `DETAIL_PART` in a list of definitions, else 0.
        part: The `dd` or the heading that it is part of, -1 for none.
    """

    holders: tuple[int, ...] = ()
    table: int = -1
    pre: int = -1
    level: int = 0
    term: int = 0
    part: int = -1


ROOT_CONTEXT = BlockContext()


def _add_holder(p: BlockContext, _tag: int, element: int) -> BlockContext:
    if p.pre >= 0 or len(p.holders) == MAX_HOLDERS:  # items can be the lines of a listing
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


CONTEXT_TAGS = frozenset(CONTEXT_CHANGES) | LIST_TAGS  # all other elements have their parent's context


class BlockContexts:
    """The contexts of the elements of one page, each computed once.

    Args:
        page: The blocks.
    """

    __slots__ = ("_known", "_page")

    def __init__(self, page: PageBlocks) -> None:
        self._page = page
        self._known = {-1: ROOT_CONTEXT}

    def get_context(self, element: int) -> BlockContext:
        """Return the context of an element, starting from its nearest known ancestor."""
        known, elements = self._known, self._page.elements
        path = []
        while (context := known.get(element)) is None:
            path.append(element)
            element = elements[element][0]
        for inner in reversed(path):
            tag = elements[inner][1]
            if tag in LIST_TAGS:
                context = self._find_preceding_item(inner) or context
            elif tag in CONTEXT_TAGS and not (tag in HOLDER_TAGS and self._is_layout_element(tag, inner)):
                context = CONTEXT_CHANGES[tag](context, tag, inner)
            known[inner] = context
        return context

    def _is_layout_element(self, tag: int, element: int) -> bool:
        """Return whether a quote is a forum's post, or an item a section of an API reference."""
        names = self._page.names
        if tag == QUOTE_TAG:
            return POST_QUOTE_CLASS.search(names[element]) is not None
        parent = self._page.elements[element][0]
        # Javadoc writes sections as lists: the last two before JDK 16.
        section_lists = {"summary-list", "details-list", "member-list", "block-list", "blockList", "blockListLast"}
        return parent >= 0 and names[parent] in section_lists

    def _find_preceding_item(self, element: int) -> BlockContext | None:
        """Return the context of the item that a following list belongs to."""
        max_preceding_lists = 4  # that belong to the same item
        elements = self._page.elements
        parent = elements[element][0]
        if parent < 0 or elements[parent][1] not in LIST_TAGS:
            return None
        sibling = element
        for _ in range(max_preceding_lists):
            sibling -= 1
            while sibling > parent and elements[sibling][0] != parent:
                sibling = elements[sibling][0]
            if sibling <= parent or elements[sibling][1] not in LIST_TAGS:
                break
        return self.get_context(sibling) if sibling > parent and elements[sibling][1] == LI_TAG else None
