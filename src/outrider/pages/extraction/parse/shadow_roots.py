"""Show the content of declarative shadow roots, which browsers show without scripts.

The parser keeps a template's content out of the tree. Therefore such a template becomes an element, and then its host's
content moves to the slots, as in "Finding flattened slottables" of the DOM standard. Content without a slot is not
shown.

An element can end where a template would not: at the end tag of an element around it, or before a table. That could
reveal text that browsers hide. So marks with a random name begin and end each root, and a root whose marks have moved
stays closed.
"""

import re
import secrets
from collections.abc import Iterator
from typing import Any

ROOT_TAG = "shadow-root"
MARK_BYTES = 8  # a page cannot guess the name of marks
TEMPLATE_PATTERN = re.compile(
    rb"""<!--.*?(?:-->|\Z)|<(script|style|textarea|title)\b.*?(?:</\1\b|\Z)"""
    rb"""|<(?P<end>/?)template\b(?P<attributes>(?:[^>"']++|"[^"]*+"|'[^']*+')*+)>""",
    re.IGNORECASE | re.DOTALL,
)
ATTRIBUTE_PATTERN = re.compile(rb"""([^\s"'>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']*)))?""")
# The rules of a root's own style sheets that hide the host or its slotted content.
HIDDEN_HOST_PATTERN = re.compile(r":host(?:\([\w-]+\))?\s*\{[^{}]{0,300}(?:display\s*:\s*none|visibility\s*:\s*hidden)")
SHOWN_HOST_PATTERN = re.compile(
    r":host\([^{}]{0,100}\{[^{}]{0,300}(?:display\s*:\s*(?!none|\s)|visibility\s*:\s*visible)"
)
HIDDEN_SLOT_PATTERN = re.compile(
    r"(?:^|[\s},])(?:slot|::slotted\([^(){}]{0,100}\))\s*\{[^{}]{0,300}(?:display\s*:\s*none|visibility\s*:\s*hidden)"
)
# The elements that may have a shadow root, besides those whose name has a dash: "attachShadow" of the DOM standard.
HOST_TAGS = frozenset(
    {
        "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "main",
        "nav", "p", "section", "span",
    }
)  # fmt: skip


def has_shadow_roots(source: bytes) -> bool:
    """Return whether a source may declare shadow roots."""
    return b"shadowrootmode" in source.lower()


def open_shadow_roots(source: bytes) -> tuple[bytes, str]:
    """Replace templates of shadow roots by elements.

    Also return the name of the marks.
    """
    mark = secrets.token_hex(MARK_BYTES)
    open_templates: list[int | None] = []  # the number of each shadow root
    roots = 0

    def replace_tag(tag: re.Match[bytes]) -> bytes:
        nonlocal roots
        if tag["end"] is None:
            return tag[0]
        if tag["end"]:
            number = open_templates.pop() if open_templates else None
            end = f"<script type={mark}-{number}-end></script></{ROOT_TAG}>".encode()
            return tag[0] if number is None else end
        attributes = ATTRIBUTE_PATTERN.findall(tag["attributes"])
        modes = [b"".join(values).lower() for name, *values in attributes if name.lower() == b"shadowrootmode"]
        # Other templates show nothing inside them.
        is_root = None not in open_templates and modes[:1] in ([b"open"], [b"closed"])
        open_templates.append(roots if is_root else None)
        if not is_root:
            return tag[0]
        roots += 1
        return f"<script type={mark}-{roots - 1}></script><{ROOT_TAG}>".encode()

    return TEMPLATE_PATTERN.sub(replace_tag, source), mark


def fill_slots(tree: Any, mark: str) -> bool:
    """Move the content of hosts to their shadow roots' slots.

    Inner ones come first.

    Returns whether all roots are where the source has them; otherwise the tree cannot be used.
    """
    scripts = tree.css(f'script[type^="{mark}"]')
    marks = {str(node.attributes["type"]): node for node in scripts}
    starts = [name for name in marks if not name.endswith("-end")]
    roots = [_find_root(marks, name) for name in starts]
    if not all(roots):
        return False
    chars_left = 20_000_000  # of hosts, each of which also holds those inside it
    is_fillable = True
    first_roots: dict[int, Any] = {}  # by host
    for root in roots:
        first_roots.setdefault(root.parent.mem_id, root)
    for root in reversed(roots):
        host = root.parent
        if first_roots[host.mem_id] != root or not ("-" in host.tag or host.tag in HOST_TAGS):
            root.decompose()  # a template that shows nothing
            continue
        chars_left -= len(host.html or "")
        is_fillable = is_fillable and chars_left >= 0
        if is_fillable:
            _fill_root(root, host)
    return True


def _find_root(marks: dict[str, Any], name: str) -> Any:
    """Return the root that begins after a mark and has its end inside; None if one of them moved.

    A root without an end holds the rest of the page, which nothing around it may hide.
    """
    root, end = marks[name].next, marks.get(f"{name}-end")
    if root is None or root.tag != ROOT_TAG:
        return None
    if end is None:
        return None if any(node.attributes for node in _iter_ancestors(root)) else root
    return root if next((node for node in _iter_ancestors(end) if node.tag == ROOT_TAG), None) == root else None


def _iter_ancestors(node: Any) -> Iterator[Any]:
    while (node := node.parent) is not None:
        yield node


def _fill_root(root: Any, host: Any) -> None:
    max_rule_chars = 50_000
    slotted = [node for node in host.iter(include_text=True) if node != root]
    rules = "".join(style.text() for style in root.css("style"))[:max_rule_chars]
    nodes_by_slot: dict[str, list[Any]] = {}
    for node in slotted:
        nodes_by_slot.setdefault((node.attributes or {}).get("slot") or "", []).append(node)
    for slot in () if HIDDEN_SLOT_PATTERN.search(rules) else root.css("slot"):
        # The first slot of a name takes all.
        _fill_slot(slot, nodes_by_slot.pop((slot.attributes or {}).get("name") or "", []))
    for node in slotted:
        node.decompose()
    if HIDDEN_HOST_PATTERN.search(rules) and not SHOWN_HOST_PATTERN.search(rules):
        root.decompose()


def _fill_slot(slot: Any, nodes: list[Any]) -> None:
    """Replace a slot with copies of the nodes that it takes, or else with its own content."""
    is_filled = any((node.html or "").strip() for node in nodes)
    if (slot.attributes or {}).keys() - {"name"}:  # it may hide what it holds
        for child in list(slot.iter(include_text=True)) if is_filled else ():
            child.decompose()
        for node in nodes:
            slot.insert_child(node)
        return
    for node in nodes:
        slot.insert_before(node)
    if is_filled:
        slot.decompose()
    else:
        slot.unwrap()
