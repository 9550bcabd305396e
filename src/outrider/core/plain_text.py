"""A piece of Markdown as one line of plain text: the words that a reader sees, without their marks.

The marks are those of CommonMark 0.31 and of its tables (GitHub Flavored Markdown, section 4.10).
"""

import re

READ = 3_000  # characters that are looked at: more than a line of text takes
FENCE = re.compile(r"^[ \t>]*(?:[-*+][ \t]+)?(?:`{3,}|~{3,})")
RULED = re.compile(
    r"^[ \t>]*(?:\|?(?:[ \t]*:?-{2,}:?[ \t]*\|)+(?:[ \t]*:?-{2,}:?)?|[-*_=]{3,}|(?:[-*_][ \t]+){2,}[-*_])[ \t]*$"
)
OPENING = re.compile(r"^(?:[ \t]*>)*[ \t]*(?:[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)?(?:#{1,6}[ \t]+)?")
CLOSING = re.compile(r"[ \t]+#+[ \t]*$")
ROW = re.compile(r"^\|(.*?)\|?$")
ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^\n]*?[^`\n])\1(?!`)")
ADDRESS = r"\((?:<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:[ \t]+(?:\"[^\"\n]*\"|'[^'\n]*'))?[ \t]*\)"
PICTURE = re.compile(rf"!\[([^\[\]\n]*)\](?:{ADDRESS}|\[[^\[\]\n]*\])")
LINK = re.compile(rf"\[([^\[\]\n]*)\](?:{ADDRESS}|\[[^\[\]\n]*\])")
CUT_OFF = re.compile(r"!?\[([^\[\]\n]*)\]\([^()\s]*$")
DEFINED = re.compile(r"^[ \t]*\[[^\[\]\n]+\]:[ \t]*\S+.*$")
NOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\]:?")
BARE = re.compile(r"<((?:https?://|mailto:)[^<>\s]*)>")
STARS = re.compile(r"(\*{1,3}|~~)(?=[^\s*~])([^*~\n]*[^\s*~])\1")
LINES = re.compile(r"(?<!\w)(_{1,3})(?=[^\s_])([^_\n]*[^\s_])\1(?!\w|\.\w)")
LEFT_OVER = re.compile(r"(?<!\w)\*\*(?=\S)|(?<=\S)\*\*(?!\w)")
HIDE = {code: 0xE000 + code for code in range(0x21, 0x7F) if not chr(code).isalnum()}
SHOW = {there: code for code, there in HIDE.items()}
BETWEEN = " · "  # the cells of a row


def plain_line(markdown: str, limit: int) -> str:
    """The text of a piece of Markdown, on one line.

    Args:
        markdown: The piece; it may begin and end anywhere.
        limit: Characters to return.

    Returns:
        What stands in listings and between backticks as it is; of links and pictures their words, of rows their cells.
    """
    said, listing = [], False
    for line in markdown[:READ].splitlines():
        if FENCE.match(line):
            listing = not listing
        elif listing:
            said.append(line)
        elif not RULED.match(line) and not DEFINED.match(line):
            said.append(_unmarked(line))
    return " ".join(" ".join(said).split())[:limit].rstrip()


def _unmarked(line: str) -> str:
    """A line of running text, a heading, an item or a row of a table without its marks."""
    line = CODE.sub(lambda code: _hidden(code[2]), ESCAPED.sub(lambda escape: _hidden(escape[1]), line))
    line = CLOSING.sub("", OPENING.sub("", line, count=1).rstrip())
    if row := ROW.match(line):
        line = BETWEEN.join(cell.strip() for cell in row[1].split("|") if cell.strip())
    line = CUT_OFF.sub(r"\1", LINK.sub(r"\1", PICTURE.sub(r"\1", line)))
    line = LINK.sub(r"\1", line)  # that was around a picture
    line = BARE.sub(r"\1", NOTE.sub("", line))
    for _ in range(2):  # one within another
        line = LINES.sub(r"\2", STARS.sub(r"\2", line))
    return LEFT_OVER.sub("", line).translate(SHOW)


def _hidden(text: str) -> str:
    return text.translate(HIDE)
