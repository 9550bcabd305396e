"""Insert documents from `srcdoc` attributes where browsers show them."""

from typing import Any

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from outrider.pages.extraction.parse.source_limits import limit_source
from outrider.pages.extraction.parse.tree_size import limit_tree_size


def has_frame_documents(source: bytes) -> bool:
    """Return whether a source may hold documents of frames."""
    return b"srcdoc" in source


def open_frame_documents(tree: Any, chars: int, tags: int) -> None:
    """Replace each frame by an element with its document.

    A frame that also has an address usually is a player whose document only draws a button.
    """
    max_frames = 50
    for frame in tree.css("iframe[srcdoc]")[:max_frames]:
        attributes = frame.attributes
        source = (attributes.get("srcdoc") or "").encode("utf-8", "replace")
        if not source or attributes.get("src") or attributes.get("data-src"):
            continue
        source, _ = limit_tree_size(limit_source(source, chars, tags))
        document = LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)
        frame.insert_before(tree.create_node("div"))
        _fill_frame_element(frame.prev, document, attributes)
        frame.decompose()


def _fill_frame_element(element: Any, document: Any, attributes: dict[str, str | None]) -> None:
    """Insert a frame's document, and keep what may hide the frame."""
    for name in ("id", "class", "hidden", "aria-hidden", "popover"):
        if name in attributes:
            element.attrs[name] = attributes[name] or ""
    sizes = "".join(f";{name}:{attributes[name]}px" for name in ("width", "height") if attributes.get(name))
    element.attrs["style"] = f"{attributes.get('style') or ''}{sizes};overflow:hidden"
    for node in [*document.css("head style"), *(document.body.iter(include_text=True) if document.body else ())]:
        element.insert_child(node)
