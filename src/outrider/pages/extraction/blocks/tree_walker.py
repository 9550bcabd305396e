"""A page cut into blocks: one walk over the parser's tree."""

from functools import lru_cache
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from outrider.pages.extraction.blocks.block_builder import INLINE_CLOSED
from outrider.pages.extraction.blocks.element_handlers import (
    END_BLOCK,
    NO_CONTENT,
    SKIP_DROPPED,
    ElementHandler,
    ElementHandlers,
)
from outrider.pages.extraction.blocks.hidden_elements import HidingRule
from outrider.pages.extraction.blocks.page_blocks import PageBlocks

MIN_OVERLAY_CHARS = 1_500  # characters that an element hides at least, if it is a curtain
MIN_HIDDEN_SHARE = 0.3  # of all of the page's text
MAX_NODES = 200_000


def cut_into_blocks(body: Any, nodes: int = MAX_NODES, hides: HidingRule | None = None, url: str = "") -> PageBlocks:
    """The blocks of a page that are shown.

    Rules of style sheets that hide much of a page are what its scripts begin with: they are left unheeded.
    An element that hides the bulk of its page is a curtain that a script draws, not a trick: it is
    looked behind, and behind a second one where nearly all is still hidden. Of 1,497 pages every fortieth is of that
    kind.
    """
    min_rule_hidden_chars = 500  # characters that rules of style sheets hide at least, if they are not to be trusted
    overlay_ratios = (1, 4, 4)  # times the text that is shown, which is hidden at least before another curtain is drawn
    here = _build_same_page_prefixes(url)
    walk = TreeWalker(hides, here)
    page = walk.walk_tree(body, nodes)
    if walk.rule_hidden_chars > max(min_rule_hidden_chars, (page.hidden_chars + walk.text_chars) * MIN_HIDDEN_SHARE):
        walk = TreeWalker(None, here)
        page = walk.walk_tree(body, nodes)
        hides = None
    shown: frozenset[int] = frozenset()
    for times in overlay_ratios:
        if page.hidden_chars <= max(MIN_OVERLAY_CHARS, walk.text_chars * times) or not (
            behind := _find_overlays(walk, page.hidden_chars) - shown
        ):
            break
        shown |= behind
        walk = TreeWalker(hides, here, shown)
        page = walk.walk_tree(body, nodes)
        page.has_overlay = True
    return page


def _build_same_page_prefixes(url: str) -> tuple[str, ...]:
    """What addresses of places in a page begin with."""
    page = url.partition("#")[0]
    root = page.find("/", page.find("//") + 2)
    return (f"{page}#", f"{page[root:]}#") if root > 0 else ()


def _find_overlays(walk: "TreeWalker", hidden: int) -> frozenset[int]:
    """The elements that hide the bulk of a page of which so many characters are hidden."""
    least = max(MIN_OVERLAY_CHARS, (hidden + walk.text_chars) * MIN_HIDDEN_SHARE)
    return frozenset(node for node, chars in walk.hidden_chars_by_node.items() if chars > least)


class TreeWalker(ElementHandlers):
    """One pass over a tree in document order."""

    __slots__ = ("hidden_chars_by_node", "open_elements", "rule_hidden_chars")

    def __init__(
        self, by_rule: HidingRule | None, here: tuple[str, ...] = (), shown: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(by_rule, shown)
        self.same_page_prefixes = here
        self.open_elements: list[tuple[Any, int]] = []  # the open elements, and what they do when they end
        self.hidden_chars_by_node: dict[int, int] = {}
        self.rule_hidden_chars = 0  # characters that rules of style sheets hide

    def walk_tree(self, body: Any, nodes: int) -> PageBlocks:
        """Walks from the body's node down, over so many nodes."""
        self.body = body
        self._begin(body)
        self.nodes_left = nodes
        above, ends, known, text, nothing = (
            self.open_elements,
            self.END_HANDLERS,
            {**_build_tag_handlers()},
            _find_text_tag_id(),
            NO_CONTENT,
        )
        node, block = body.first_child, self.HANDLERS["div"]
        while node is not None or above:
            if node is None:
                node, end = above.pop()
                if end == END_BLOCK:
                    self.end_element()
                else:
                    ends[end](self)
                node = node.next
            elif (kind := node.tag_id) == text:
                if self.has_words or self.listing_depth or not node.is_empty_text_node:
                    self.add_text(node.text_content)
                node = node.next
            else:
                if kind not in known:
                    known[kind] = _unknown(node)
                action, tag = known[kind]
                end = self._handle_block(node, tag) if action is block else action(self, node, tag)
                self.nodes_left -= 2  # it and the text before it
                if end < nothing and self.nodes_left >= 0 and (inner := node.first_child) is not None:
                    above.append((node, end))
                    node = inner
                else:
                    node = self._find_next_node(node, end)
        self.end_element()
        return self.page

    def _begin(self, body: Any) -> None:
        """The body begins; what it says of itself counts for nothing below it."""
        self.begin_element("body", body.attributes)
        up, tag, own, _, signature, first = self.page.elements[0]
        self.page.elements[0] = up, tag, own, 0, signature, first

    def _find_next_node(self, node: Any, end: int) -> Any:
        """What comes after an element that nothing is looked for in: the next one beside it, or None."""
        if self.nodes_left < 0:
            return self._stop_early(end)
        if end < NO_CONTENT:
            self.END_HANDLERS[end](self)
        elif end > NO_CONTENT:
            self._skip_content(node, end)
        return node.next

    def _stop_early(self, end: int) -> None:
        """Ends all that is open: the page holds more than is looked at."""
        self.page.truncated = True
        for _, each in reversed([*self.open_elements, (None, end)]):
            if each < NO_CONTENT:
                self.END_HANDLERS[each](self)
        self.open_elements.clear()

    def _skip_content(self, node: Any, end: int) -> None:
        """Leaves out what an element holds; counts the characters of what is hidden."""
        if _has_child_elements(node):
            self.inline_boundary |= INLINE_CLOSED
        if end == SKIP_DROPPED:
            return
        inside = [each.text_content for each in node.traverse(include_text=True, skip_empty=True)]
        chars = self.hidden_chars_by_node[node.mem_id] = sum([len(text.strip()) for text in inside if text])
        self.page.hidden_chars += chars
        self.rule_hidden_chars += chars * self.hidden_by_rule
        self.nodes_left -= len(inside)


def _unknown(node: Any) -> tuple[ElementHandler, str]:
    """What to do with an element whose number tells nothing: it is of the page's own making, or a rare one."""
    tag = node.tag or "-comment"
    return TreeWalker.HANDLERS.get(tag) or TreeWalker.HANDLERS[""], tag


@lru_cache(maxsize=1)
def _build_tag_handlers() -> dict[int, tuple[ElementHandler, str]]:
    """What to do with elements, by the parser's numbers of their names: those cost less to ask for than names.

    Only names that the parser knows have numbers that are the same in every tree.
    """
    first_custom_tag_id = (
        1_000  # from which on the parser's numbers of names are those of the page's own names; it knows 200
    )
    tree: Any = LexborHTMLParser("<!---->")
    numbers = {tag: tree.create_node(tag).tag_id for tag in TreeWalker.HANDLERS if tag and tag[0] != "-"}
    numbers["-comment"] = tree.root.prev.tag_id
    return {number: (TreeWalker.HANDLERS[tag], tag) for tag, number in numbers.items() if number < first_custom_tag_id}


@lru_cache(maxsize=1)
def _find_text_tag_id() -> int:
    """The parser's number of text."""
    tree: Any = LexborHTMLParser("x")
    return tree.body.first_child.tag_id


def _has_child_elements(node: Any) -> bool:
    inner = node.first_child
    while inner is not None and not inner.is_element_node:
        inner = inner.next
    return inner is not None
