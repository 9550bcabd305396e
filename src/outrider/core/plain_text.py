"""A piece of Markdown as one line of plain text: the words that a reader sees, without their marks."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

# What is no mark to a parser, since its other half was cut off or stands elsewhere.
BROKEN_LINK = re.compile(r"!?\[([^\[\]\n]*)\](?:\([^()\s]*$|\[[^\[\]\n]*\])")
BROKEN_EMPHASIS = re.compile(r"(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)")
FOOTNOTE_MARK = re.compile(r"\[\^[^\[\]\s]{1,40}\]:?")
TASK_BOX = re.compile(r"^\[[ xX]\][ \t]+")


def render_plain_line(markdown: str, limit: int) -> str:
    """The text of a piece of Markdown, on one line.

    Args:
        markdown: The piece; it may begin and end anywhere.
        limit: Characters to return.

    Returns:
        What stands in listings and between backticks as it is; of links and pictures their words, of rows their cells.
    """
    max_source_chars = 3_000  # characters that are looked at: more than a line of text takes
    return " ".join("".join(_iter_block_texts(_build_parser().parse(markdown[:max_source_chars]))).split())[
        :limit
    ].rstrip()


@cache
def _build_parser() -> "MarkdownIt":
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _iter_block_texts(blocks: "Sequence[Token]") -> Iterator[str]:
    cell_separator = " · "  # the cells of a row
    before = " "
    for block in blocks:
        if block.type in ("fence", "code_block"):
            yield " " + block.content
        elif block.type == "inline" and block.content:
            yield before + TASK_BOX.sub("", "".join(map(_extract_text, block.children or ())))
            before = " "
        elif block.type in ("th_close", "td_close"):
            before = cell_separator
        elif block.type == "tr_close":
            before = " "


def _extract_text(token: "Token") -> str:
    if token.type == "text":
        return BROKEN_EMPHASIS.sub("", FOOTNOTE_MARK.sub("", BROKEN_LINK.sub(r"\1", token.content)))
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "".join(map(_extract_text, token.children)) if token.children else token.content
