"""Render a piece of Markdown as one line of plain text."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

# Marks that a parser does not recognize, because their counterpart was cut off or is elsewhere.
BROKEN_LINK = re.compile(r"!?\[([^\[\]\n]*)\](?:\([^()\s]*$|\[[^\[\]\n]*\])")
BROKEN_EMPHASIS = re.compile(r"(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)")
FOOTNOTE_MARK = re.compile(r"\[\^[^\[\]\s]{1,40}\]:?")
TASK_BOX = re.compile(r"^\[[ xX]\][ \t]+")


def render_plain_line(markdown: str, limit: int) -> str:
    """Return the text of a piece of Markdown on one line.

    Args:
        markdown: The piece; it may begin and end anywhere.
        limit: Maximum number of characters.

    Returns:
        Code unchanged, the words of links and pictures, and the cells of table rows.
    """
    blocks = _build_parser().parse(markdown[:3_000])  # enough for a line of text
    return " ".join("".join(_iter_block_texts(blocks)).split())[:limit].rstrip()


@cache
def _build_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _iter_block_texts(blocks: Sequence[Token]) -> Iterator[str]:
    separator = " "
    for block in blocks:
        if block.type in ("fence", "code_block"):
            yield " " + block.content
        elif block.type == "inline" and block.content:
            yield separator + TASK_BOX.sub("", "".join(map(_extract_text, block.children or ())))
            separator = " "
        elif block.type in ("th_close", "td_close"):
            separator = " · "
        elif block.type == "tr_close":
            separator = " "


def _extract_text(token: Token) -> str:
    if token.type == "text":
        return BROKEN_EMPHASIS.sub("", FOOTNOTE_MARK.sub("", BROKEN_LINK.sub(r"\1", token.content)))
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "".join(map(_extract_text, token.children)) if token.children else token.content
