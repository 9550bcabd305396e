"""Render framesets, which have no text, as links to their frames."""

from html import escape
from typing import Any


def render_frameset(tree: Any, title: str) -> str:
    """Return a frameset as HTML: its title, its text for other browsers, and links to its frames.

    Args:
        tree: The parsed page.
        title: The page's title.

    Returns:
        HTML, or "" if the page has a body or no frames.
    """
    max_frames = 50
    if tree.body is not None or not (frames := tree.css("frame[src]")[:max_frames]):
        return ""
    fallback = "".join(node.text() or "" for node in tree.css("noframes"))
    links = []
    for attributes in [node.attributes for node in frames]:
        address = attributes["src"] or ""
        name = attributes.get("title") or attributes.get("name") or address
        links.append(f'<li><a href="{escape(address)}">{escape(name)}</a>')
    return f"<p>{escape(title)}</p>{fallback}<ul>{''.join(links)}</ul>"
