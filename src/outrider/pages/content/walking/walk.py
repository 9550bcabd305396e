"""A page cut into blocks: one walk over the parser's tree."""

from functools import lru_cache
from typing import Any

from selectolax.lexbor import LexborHTMLParser

from outrider.pages.content.walking.blocks import Blocks
from outrider.pages.content.walking.elements import BLOCK, DROP, NOTHING, Action, Elements
from outrider.pages.content.walking.passage import SHUT
from outrider.pages.content.walking.unseen import Hides

CURTAIN = 1_500  # characters that an element hides at least, if it is a curtain
CURTAINS = (1, 4, 4)  # times the text that is shown, which is hidden at least before another curtain is drawn
RULED = 500  # characters that rules of style sheets hide at least, if they are not to be trusted
CURTAIN_SHARE = 0.3  # of all of the page's text
NODES = 200_000
OWN_NUMBERS = 1_000  # from which on the parser's numbers of names are those of the page's own names; it knows 200


def cut_into_blocks(body: Any, nodes: int = NODES, hides: Hides | None = None, url: str = "") -> Blocks:
    """The blocks of a page that are shown.

    Rules of style sheets that hide much of a page are what its scripts begin with: they are left unheeded.
    An element that hides the bulk of its page is a curtain that a script draws, not a trick: it is
    looked behind, and behind a second one where nearly all is still hidden. Of 1,497 pages every fortieth is of that
    kind.
    """
    here = _here(url)
    walk = Walk(hides, here)
    page = walk.run(body, nodes)
    if walk.ruled > max(RULED, (page.hidden + walk.length) * CURTAIN_SHARE):
        walk = Walk(None, here)
        page = walk.run(body, nodes)
        hides = None
    shown: frozenset[int] = frozenset()
    for times in CURTAINS:
        if page.hidden <= max(CURTAIN, walk.length * times) or not (behind := _curtains(walk, page.hidden) - shown):
            break
        shown |= behind
        walk = Walk(hides, here, shown)
        page = walk.run(body, nodes)
        page.curtain = True
    return page


def _here(url: str) -> tuple[str, ...]:
    """What addresses of places in a page begin with."""
    page = url.partition("#")[0]
    root = page.find("/", page.find("//") + 2)
    return (f"{page}#", f"{page[root:]}#") if root > 0 else ()


def _curtains(walk: "Walk", hidden: int) -> frozenset[int]:
    """The elements that hide the bulk of a page of which so many characters are hidden."""
    least = max(CURTAIN, (hidden + walk.length) * CURTAIN_SHARE)
    return frozenset(node for node, chars in walk.hidden_from.items() if chars > least)


class Walk(Elements):
    """One pass over a tree in document order."""

    __slots__ = ("above", "hidden_from", "ruled")

    def __init__(self, by_rule: Hides | None, here: tuple[str, ...] = (), shown: frozenset[int] = frozenset()) -> None:
        super().__init__(by_rule, shown)
        self.here = here
        self.above: list[tuple[Any, int]] = []  # the open elements, and what they do when they end
        self.hidden_from: dict[int, int] = {}
        self.ruled = 0  # characters that rules of style sheets hide

    def run(self, body: Any, nodes: int) -> Blocks:
        """Walks from the body's node down, over so many nodes."""
        self.body = body
        self._begin(body)
        self.left = nodes
        above, ends, known, text, nothing = self.above, self.ENDS, {**_known()}, _text_id(), NOTHING
        node, block = body.first_child, self.ACTIONS["div"]
        while node is not None or above:
            if node is None:
                node, end = above.pop()
                if end == BLOCK:
                    self.end()
                else:
                    ends[end](self)
                node = node.next
            elif (kind := node.tag_id) == text:
                if self.filled or self.listing or not node.is_empty_text_node:
                    self.add(node.text_content)
                node = node.next
            else:
                if kind not in known:
                    known[kind] = _unknown(node)
                action, tag = known[kind]
                end = self._block(node, tag) if action is block else action(self, node, tag)
                self.left -= 2  # it and the text before it
                if end < nothing and self.left >= 0 and (inner := node.first_child) is not None:
                    above.append((node, end))
                    node = inner
                else:
                    node = self._pass(node, end)
        self.end()
        return self.page

    def _begin(self, body: Any) -> None:
        """The body begins; what it says of itself counts for nothing below it."""
        self.begin("body", body.attributes)
        up, tag, own, _, signature, first = self.page.elements[0]
        self.page.elements[0] = up, tag, own, 0, signature, first

    def _pass(self, node: Any, end: int) -> Any:
        """What comes after an element that nothing is looked for in: the next one beside it, or None."""
        if self.left < 0:
            return self._stop(end)
        if end < NOTHING:
            self.ENDS[end](self)
        elif end > NOTHING:
            self._pass_over(node, end)
        return node.next

    def _stop(self, end: int) -> None:
        """Ends all that is open: the page holds more than is looked at."""
        self.page.cut = True
        for _, each in reversed([*self.above, (None, end)]):
            if each < NOTHING:
                self.ENDS[each](self)
        self.above.clear()

    def _pass_over(self, node: Any, end: int) -> None:
        """Leaves out what an element holds; counts the characters of what is hidden."""
        if _holds_elements(node):
            self.seam |= SHUT
        if end == DROP:
            return
        inside = [each.text_content for each in node.traverse(include_text=True, skip_empty=True)]
        chars = self.hidden_from[node.mem_id] = sum([len(text.strip()) for text in inside if text])
        self.page.hidden += chars
        self.ruled += chars * self.ruled_here
        self.left -= len(inside)


def _unknown(node: Any) -> tuple[Action, str]:
    """What to do with an element whose number tells nothing: it is of the page's own making, or a rare one."""
    tag = node.tag or "-comment"
    return Walk.ACTIONS.get(tag) or Walk.ACTIONS[""], tag


@lru_cache(maxsize=1)
def _known() -> dict[int, tuple[Action, str]]:
    """What to do with elements, by the parser's numbers of their names: those cost less to ask for than names.

    Only names that the parser knows have numbers that are the same in every tree.
    """
    tree: Any = LexborHTMLParser("<!---->")
    numbers = {tag: tree.create_node(tag).tag_id for tag in Walk.ACTIONS if tag and tag[0] != "-"}
    numbers["-comment"] = tree.root.prev.tag_id
    return {number: (Walk.ACTIONS[tag], tag) for tag, number in numbers.items() if number < OWN_NUMBERS}


@lru_cache(maxsize=1)
def _text_id() -> int:
    """The parser's number of text."""
    tree: Any = LexborHTMLParser("x")
    return tree.body.first_child.tag_id


def _holds_elements(node: Any) -> bool:
    inner = node.first_child
    while inner is not None and not inner.is_element_node:
        inner = inner.next
    return inner is not None
