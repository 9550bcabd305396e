"""Show the content of declarative shadow roots, which browsers show without scripts.

The parser keeps a template's content out of the tree. Therefore such a template becomes an element, and then what its
host holds moves to the slots, as in "Finding flattened slottables" of the DOM standard. What has no slot is not shown.
"""

import re
from typing import Any

ROOT_TAG = "shadow-root"
TEMPLATE_PATTERN = re.compile(rb"""<(/?)template\b((?:[^>"']++|"[^"]*+"|'[^']*+')*+)>""", re.IGNORECASE)


def has_shadow_roots(source: bytes) -> bool:
    """Return whether a source may declare shadow roots."""
    return b"shadowrootmode" in source


def open_shadow_roots(source: bytes) -> bytes:
    """Return the source with an element in place of each template that declares a shadow root."""
    open_templates: list[bool] = []  # whether each is a shadow root

    def replace_tag(tag: re.Match[bytes]) -> bytes:
        if tag[1]:
            is_root = bool(open_templates) and open_templates.pop()
        else:
            is_root = b"shadowrootmode" in tag[2] and all(open_templates)  # other templates show nothing inside of them
            open_templates.append(is_root)
        return b"<%s%s>" % (tag[1], ROOT_TAG.encode()) if is_root else tag[0]

    return TEMPLATE_PATTERN.sub(replace_tag, source)


def fill_slots(tree: Any) -> None:
    """Move the content of hosts to the slots of their shadow roots, the inner ones first."""
    chars_left = 20_000_000  # of hosts, each of which also holds those inside of it
    for root in reversed(tree.css(ROOT_TAG)):
        slotted = [node for node in root.parent.iter(include_text=True) if node != root]
        chars_left -= len(root.parent.html or "")
        if chars_left < 0:
            return
        for slot in root.css("slot"):
            _fill_slot(slot, slotted)
        for node in slotted:
            node.decompose()


def _fill_slot(slot: Any, slotted: list[Any]) -> None:
    """Replace a slot with copies of the nodes that name it, or else with its own content."""
    name = slot.attributes.get("name") or ""
    nodes = [node for node in slotted if ((node.attributes or {}).get("slot") or "") == name]
    for node in nodes:
        slot.insert_before(node)
    if any((node.html or "").strip() for node in nodes):
        slot.decompose()
    else:
        slot.unwrap()
