"""Kept blocks as text and as Markdown."""

from typing import Any

from outrider.pages.content.blocks import Blocks


def text_of(page: Blocks, chosen: list[int]) -> str:
    """The words, blocks an empty line apart."""
    return "\n\n".join([page.texts[number] for number in chosen])


def markdown_of(page: Blocks, chosen: list[int], tree: Any, url: str, *, images: bool) -> str:
    """The blocks with their structure."""
    return text_of(page, chosen)
