"""Read the texts of SmartArt diagrams (ISO/IEC 29500-1 section 21.4)."""

from outrider.pages.readers.ooxml.slide_text import render_line
from outrider.pages.readers.parsing.draft import ITEM_INDENT, DocumentDraft
from outrider.pages.readers.parsing.xml import XmlElement


def render_diagram(root: XmlElement, draft: DocumentDraft) -> str:
    """Return the points of a diagram as a Markdown list, nested as they are connected.

    Args:
        root: The data part of the diagram.
        draft: Records links.
    """
    max_depth = 8
    points = {point.get("modelId"): point for point in root.iter_descendants("dgm:pt")}
    children: dict[str, list[tuple[int, str]]] = {}
    for connection in root.iter_descendants("dgm:cxn"):
        order = connection.get("srcOrd")
        if connection.get("type") in ("", "parOf"):
            place = int(order) if order.isascii() and order.isdigit() and len(order) < 6 else 0
            children.setdefault(connection.get("srcId"), []).append((place, connection.get("destId")))
    roots = [(-1, name) for name, point in points.items() if point.get("type") == "doc"]
    pending = [*((0, name) for name in reversed(points)), *roots]  # points that nothing connects come last
    lines: list[str] = []
    while pending:
        level, name = pending.pop()
        point = points.pop(name, None)
        if point is not None:
            text = render_line(point.find("dgm:t"), draft, {})
            lines += [f"{ITEM_INDENT * min(max(level, 0), max_depth)}- {text}"] if text else []
            pending += [(level + 1, child) for _, child in sorted(children.get(name, ()), reverse=True)]
    return "\n".join(lines)
