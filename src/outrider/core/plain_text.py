"""A piece of Markdown as one line of plain text: the words that a reader sees, without their marks."""

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

READ = 3_000  # characters that are looked at: more than a line of text takes
BETWEEN = " · "  # the cells of a row
# What is no mark to a parser, since its other half was cut off or stands elsewhere.
HALF_LINK = re.compile(r"!?\[([^\[\]\n]*)\](?:\([^()\s]*$|\[[^\[\]\n]*\])")
HALF_EMPHASIS = re.compile(r"(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)")
NOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\]:?")
TASK = re.compile(r"^\[[ xX]\][ \t]+")


def plain_line(markdown: str, limit: int) -> str:
    """The text of a piece of Markdown, on one line.

    Args:
        markdown: The piece; it may begin and end anywhere.
        limit: Characters to return.

    Returns:
        What stands in listings and between backticks as it is; of links and pictures their words, of rows their cells.
    """
    return " ".join("".join(_said(_parser().parse(markdown[:READ]))).split())[:limit].rstrip()


@cache
def _parser() -> "MarkdownIt":
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _said(blocks: "Sequence[Token]") -> Iterator[str]:
    before = " "
    for block in blocks:
        if block.type in ("fence", "code_block"):
            yield " " + block.content
        elif block.type == "inline" and block.content:
            yield before + TASK.sub("", "".join(map(_words, block.children or ())))
            before = " "
        elif block.type in ("th_close", "td_close"):
            before = BETWEEN
        elif block.type == "tr_close":
            before = " "


def _words(token: "Token") -> str:
    if token.type == "text":
        return HALF_EMPHASIS.sub("", NOTE.sub("", HALF_LINK.sub(r"\1", token.content)))
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "".join(map(_words, token.children)) if token.children else token.content
