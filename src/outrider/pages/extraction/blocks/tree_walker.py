"""Cut a page into blocks in one walk over the parser's tree."""

from functools import lru_cache
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from outrider.pages.extraction.blocks.block_builder import INLINE_CLOSED
from outrider.pages.extraction.blocks.element_handlers import (
    END_BLOCK,
    NO_CONTENT,
    SKIP_CONTENT,
    ElementHandler,
    ElementHandlers,
)
from outrider.pages.extraction.blocks.hidden_elements import HidingRule
from outrider.pages.extraction.blocks.page_blocks import PageBlocks

MIN_OVERLAY_CHARS = 1_500  # an overlay hides at least this much
MIN_HIDDEN_SHARE = 0.3  # of all text of the page
MAX_NODES = 200_000


def cut_into_blocks(body: Any, nodes: int = MAX_NODES, hides: HidingRule | None = None, url: str = "") -> PageBlocks:
    """Return the blocks of a page that are shown.

    If style sheet rules hide much of the page, they are ignored, because scripts show that content later. If a single
    element hides most of the page, it is an overlay and counts as shown, up to three levels deep.

    Args:
        body: The page's body node.
        nodes: Number of nodes to visit before the page is truncated.
        hides: Returns whether a style sheet hides an element.
        url: Address of the page, to recognize links to places in it.
    """
    min_rule_hidden_chars = 500  # rules that hide at least this much may be ignored
    address = url.partition("#")[0]
    path_start = address.find("/", address.find("//") + 2)
    prefixes = (f"{address}#", f"{address[path_start:]}#") if path_start > 0 else ()
    walker = TreeWalker(hides, prefixes)
    page = walker.walk_tree(body, nodes)
    if walker.rule_hidden_chars > max(
        min_rule_hidden_chars, (page.hidden_chars + walker.text_chars) * MIN_HIDDEN_SHARE
    ):
        hides = None
        walker = TreeWalker(hides, prefixes)
        page = walker.walk_tree(body, nodes)
    revealed: frozenset[int] = frozenset()
    for min_ratio in (1, 4, 4):  # hidden to shown text, for one more overlay to be likely
        if page.hidden_chars <= max(MIN_OVERLAY_CHARS, walker.text_chars * min_ratio):
            break
        min_chars = max(MIN_OVERLAY_CHARS, (page.hidden_chars + walker.text_chars) * MIN_HIDDEN_SHARE)
        overlays = {node for node, chars in walker.hidden_chars_by_node.items() if chars > min_chars}
        if overlays <= revealed:
            break
        revealed |= overlays
        walker = TreeWalker(hides, prefixes, revealed)
        page = walker.walk_tree(body, nodes)
        page.has_overlay = True
    return page


class TreeWalker(ElementHandlers):
    """Walk over a tree in document order."""

    __slots__ = ("hidden_chars_by_node", "open_elements", "rule_hidden_chars")

    def __init__(
        self, by_rule: HidingRule | None, same_page_prefixes: tuple[str, ...], revealed: frozenset[int] = frozenset()
    ) -> None:
        super().__init__(by_rule, revealed)
        self.same_page_prefixes = same_page_prefixes
        self.open_elements: list[tuple[Any, int]] = []  # node and end code
        self.hidden_chars_by_node: dict[int, int] = {}  # by memory id
        self.rule_hidden_chars = 0  # hidden by style sheets

    def walk_tree(self, body: Any, nodes: int) -> PageBlocks:
        """Return the blocks of the body after visiting at most `nodes` nodes."""
        self._begin_body(body, nodes)
        known_handlers, text_id = _build_tag_handlers()
        open_elements, handlers, end_handlers = self.open_elements, {**known_handlers}, self.END_HANDLERS
        no_content, handle_block, node = NO_CONTENT, self.HANDLERS["div"], body.first_child
        while node is not None or open_elements:
            if node is None:
                node, end = open_elements.pop()
                if end == END_BLOCK:
                    self.end_element()
                else:
                    end_handlers[end](self)
                node = node.next
            elif (tag_id := node.tag_id) == text_id:
                if self.has_words or self.listing_depth or not node.is_empty_text_node:
                    self.add_text(node.text_content)
                node = node.next
            else:
                if tag_id not in handlers:  # a custom element, or a rare one
                    tag = node.tag or "-comment"
                    handlers[tag_id] = self.HANDLERS.get(tag) or self.HANDLERS[""], tag
                handle, tag = handlers[tag_id]
                end = self.handle_block(node, tag) if handle is handle_block else handle(self, node, tag)
                self.nodes_left -= 2  # the element, and the text before it
                if end < no_content and self.nodes_left >= 0 and (child := node.first_child) is not None:
                    open_elements.append((node, end))
                    node = child
                else:
                    node = self._find_next_node(node, end)
        self.end_element()
        return self.page

    def _begin_body(self, body: Any, nodes: int) -> None:
        self.body, self.nodes_left = body, nodes
        self.begin_element("body", body.attributes)
        # The body's own categories do not count for the elements in it.
        parent, tag_number, bits, _, signature, first_block = self.page.elements[0]
        self.page.elements[0] = parent, tag_number, bits, 0, signature, first_block

    def _find_next_node(self, node: Any, end: int) -> Any:
        """Return the node after an element whose content is not visited, or None."""
        if self.nodes_left < 0:  # the page exceeds the limits: close all open elements
            self.page.truncated = True
            for _, end_code in reversed([*self.open_elements, (None, end)]):
                if end_code < NO_CONTENT:
                    self.END_HANDLERS[end_code](self)
            self.open_elements.clear()
            return None
        if end < NO_CONTENT:
            self.END_HANDLERS[end](self)
        elif end > NO_CONTENT:
            self._skip_content(node, end)
        return node.next

    def _skip_content(self, node: Any, end: int) -> None:
        """Skip the content of an element, and count its characters if it is hidden."""
        child = node.first_child
        while child is not None and not child.is_element_node:
            child = child.next
        if child is not None:
            self.inline_boundary |= INLINE_CLOSED
        if end == SKIP_CONTENT:
            return
        texts = [inner.text_content for inner in node.traverse(include_text=True, skip_empty=True)]
        chars = self.hidden_chars_by_node[node.mem_id] = sum([len(text.strip()) for text in texts if text])
        self.page.hidden_chars += chars
        self.rule_hidden_chars += chars * self.hidden_by_rule
        self.nodes_left -= len(texts)


@lru_cache(maxsize=1)
def _build_tag_handlers() -> tuple[dict[int, tuple[ElementHandler, str]], int]:
    """Return handlers by the parser's tag ids.

    Ids are cheaper to read than names; the id of text is returned, too.

    Only the names that the parser knows have the same ids in every tree.
    """
    first_custom_tag_id = 1_000  # the parser knows 200 names, and gives higher ids to the page's own
    tree: Any = LexborHTMLParser("<!---->x")
    numbers = {tag: tree.create_node(tag).tag_id for tag in TreeWalker.HANDLERS if tag and tag[0] != "-"}
    numbers["-comment"] = tree.root.prev.tag_id
    handlers = {
        number: (TreeWalker.HANDLERS[tag], tag) for tag, number in numbers.items() if number < first_custom_tag_id
    }
    return handlers, tree.body.first_child.tag_id
