"""Marks around words, written so that a parser of CommonMark finds them again (spec 0.31, section 6.2).

While a paragraph is written its marks are single signs of control, which no text of a page holds: whether two stars are
a mark depends on what stands around them, which is known only at the end. There marks of one kind that touch become
one, marks between a letter and a sign of punctuation, which would be read as stars, move behind that sign, and stars of
the text itself are kept from pairing up with marks.
"""

import re
from itertools import groupby

BEGIN, END = "\x01", "\x02"  # before the letter of a kind: here a mark begins or ends
HELD, LET = "\x03", "\x04"  # between these stands what must not be taken apart: a link, code, a formula
SIGNS = {"b": "**", "i": "*", "s": "~~"}
TWICE = re.compile(r"\x02([bis])\x01\1|`\x04\x03`(?!`)")
NOTHING = re.compile(r"\x01([bis])\x02\1")
FIRST = re.compile(r"(?<=[^\W_])((?:\x01[bi])+)([^\w\s\x01-\x04]+\s*)")
LAST = re.compile(r"(\s*[^\w\s\x01-\x04]+)((?:\x02[bi])+)(?=[^\W_])")
STRUCK = re.compile(r"(?<=[^\W_])(\x01s)(?![\w\s])|(?<=[^\w\s])(\x02s)(?=[^\W_])")
STUCK = re.compile(r"[^\W_](?:\x01[bi])+\x03|\x04(?:\x02[bi])+[^\W_]")
TOUCHING = re.compile(r"\$\x04\x03\$")
STAR = re.compile(r"(?<!\\)\*(?=\S)|(?<=\S)(?<!\\)\*")
MARK = re.compile(r"[\x01\x02][bis]")
CONTROL = re.compile(r"[\x01-\x04]")


def marked(core: str, kind: str) -> str:
    """A text with a mark of a kind around it; without where it bears one already."""
    return core if BEGIN + kind in core else f"{BEGIN}{kind}{core}{END}{kind}"


def held(text: str) -> str:
    """What is markup by itself, and stays whole."""
    return f"{HELD}{text}{LET}"


def bare(text: str) -> str:
    """A text without what only this module knows."""
    return CONTROL.sub("", MARK.sub("", text))


def settled(text: str) -> str:
    """The text with its marks as signs of Markdown."""
    if BEGIN in text:
        text = _placed(TWICE.sub("", text))
    elif "`\x04\x03`" in text:
        text = TWICE.sub("", text)
    text = TOUCHING.sub("$ $", text).replace("!\x03[", "\\!\x03[")
    return CONTROL.sub("", MARK.sub(lambda found: SIGNS[found[0][1]], text))


def _placed(text: str) -> str:
    """The text with its marks where they hold, and its own stars out of their way."""
    text = STRUCK.sub(lambda found: f" {found[1]}" if found[1] else f"{found[2]} ", text)
    text = LAST.sub(r"\2\1", FIRST.sub(r"\2\1", text))
    text = NOTHING.sub("", NOTHING.sub("", text))
    if STUCK.search(text):
        text = re.sub(r"[\x01\x02][bi]", "", text)
    return _escaped(text) if "*" in text else text


def _escaped(text: str) -> str:
    """The text with its stars escaped, but for those in what is held."""
    parts, depth = [], 0
    for is_border, letters in groupby(text, lambda letter: letter in (HELD, LET)):
        part = "".join(letters)
        parts.append(part if is_border or depth else STAR.sub(r"\\*", part))
        depth += part.count(HELD) - part.count(LET) if is_border else 0
    return "".join(parts)
