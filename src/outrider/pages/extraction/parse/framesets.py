"""A page of frames: it has no words of its own but leads to the pages that its frames show."""

from html import escape
from typing import Any


def render_frameset(tree: Any, title: str) -> str:
    """What a page of frames is to who reads it without: its title, what it says to such readers, and its frames.

    Args:
        tree: The parsed page.
        title: What it is called.

    Returns:
        HTML; empty if the page has a body or no frames.
    """
    max_frames = 50  # that are told
    if tree.body is not None or not (frames := tree.css("frame[src]")[:max_frames]):
        return ""
    said = "".join(node.text() or "" for node in tree.css("noframes"))
    links = "".join(
        f'<li><a href="{escape(node.attributes["src"] or "")}">{_format_frame_name(node)}</a>' for node in frames
    )
    return f"<p>{escape(title)}</p>{said}<ul>{links}</ul>"


def _format_frame_name(frame: Any) -> str:
    given = frame.attributes
    return escape(given.get("title") or given.get("name") or given["src"] or "")
