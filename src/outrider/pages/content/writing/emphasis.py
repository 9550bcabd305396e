"""Marks around words, written so that a parser of CommonMark finds them again (spec 0.31, section 6.2).

While a paragraph is written its marks are single signs of control, taken out of a page's texts before: whether two
stars are a mark depends on what stands around them, which is known only at the end. There marks of one kind that
touch become one, marks between a letter and a sign of punctuation, which would be read as stars, move behind that sign,
and stars of the text itself are kept from pairing up with marks.
"""

import re
from itertools import groupby
from typing import Any

from outrider.pages.content.writing.escape import STARS

BEGIN, END = "\x01", "\x02"  # before the letter of a kind: here a mark begins or ends
HELD, LET = "\x03", "\x04"  # between these stands what must not be taken apart: a link, code, a formula
SIGNS = {"b": "**", "i": "*", "s": "~~"}
TWICE = re.compile(r"\x02([bis])\x01\1|`\x04\x03`(?!`)")
# Signs that stand above, below or around a letter are part of it, and so are those that join or part letters: what is
# no letter from U+0300 to U+1DFF and from U+A66F to U+ABFF is such a sign, but for common punctuation.
LETTER = (
    r"\w\u0300-\u0374\u0376-\u037d\u0388-\u0559\u0560-\u0588\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4-\u05f2\u0610-\u061a"
    r"\u0620-\u0669\u066e-\u06d3\u06d5-\u0963\u0966-\u096f\u0971-\u0e3e\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0f03"
    r"\u0f18-\u0f39\u0f3e-\u0f84\u0f86-\u1049\u1050-\u10fa\u10fc-\u135f\u1369-\u16ea\u1700-\u1734\u1737-\u17d3"
    r"\u180b-\u1dff\u200b-\u200f\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ua66f-\uabff\ufe00-\ufe0f\ufe20-\ufe2f"
)
PUNCTUATION = rf"[^{LETTER}\s\x01-\x04]"
NOTHING = re.compile(r"\x01([bis])\x02\1")
# Each of these begins with a sign, for which a search is quick, or is looked for where such a one finds anything.
FIRST = re.compile(rf"(\x01[bi](?<=[{LETTER}]..)(?<!_..)(?:\x01[bi])*)({PUNCTUATION}{{1,9}}\s?)")
TIGHT = re.compile(r"\x02[bi](?=[^\W_])")
# What closes a bracket that was opened behind the mark's beginning moves with all that the bracket holds.
LAST = re.compile(
    rf"(\s?(?:[(\uff08\u300c\u300e\u3010][^()\uff08\uff09\u300c-\u3011\x01-\x04]{{1,40}})?{PUNCTUATION}{{1,9}})"
    r"((?:\x02[bi])+)(?=[^\W_])"
)
STRUCK = re.compile(r"(?<=[^\W_])(?<![\x01\x02][bi])(\x01s)(?![\w\s])|(?<=[^\w\s])(\x02s)(?=[^\W_])")
STUCK = re.compile(r"(?<![\x01\x02])[^\W_](?:\x01[bi])+\x03|\x04(?:\x02[bi])+[^\W_]")
STAR = re.compile(r"(?<!\\)\*(?=\S)|(?<=\S)(?<!\\)\*")
TICK = re.compile(r"(?<!\\)`")
WHOLE = re.compile(r"\x03[^\x03\x04]*\x04")
MARK = re.compile(r"[\x01\x02][bis]")
CONTROL = str.maketrans("", "", "\x01\x02\x03\x04")


def clear(texts: list[str], pieces: list[list[Any]]) -> None:
    """Takes the signs of this module, which next to no page holds, out of a page's texts and their pieces."""
    whole = "".join(texts)
    if BEGIN not in whole and END not in whole and HELD not in whole and LET not in whole:
        return
    for number, text in enumerate(texts):
        if (cleared := text.translate(CONTROL)) != text:
            texts[number] = " ".join(cleared.split())
            pieces[number] = [
                type(piece)(piece.translate(CONTROL)) if isinstance(piece, str) else piece for piece in pieces[number]
            ]


def marked(core: str, kind: str) -> str:
    """A text with a mark of a kind around it, in place of all of that kind in it."""
    if BEGIN + kind in core:
        core = core.replace(BEGIN + kind, "").replace(END + kind, "")
    return f"{BEGIN}{kind}{core}{END}{kind}"


def held(text: str) -> str:
    """What is markup by itself, and stays whole."""
    return f"{HELD}{text}{LET}"


def bare(text: str) -> str:
    """A text without what only this module knows."""
    return MARK.sub("", text).translate(CONTROL)


def settled(text: str) -> str:
    """A text with single spaces, its marks as signs of Markdown."""
    if BEGIN in text:
        text = " ".join(_placed(TWICE.sub("", text)).split())
    elif "`\x04\x03`" in text:
        text = TWICE.sub("", text)
    if HELD in text:
        text = _guarded(text) if "`" in text or "*" in text else text
        loose = "\x03 " in text or " \x04" in text  # as formulas are that stand apart
        text = text.replace("$\x04\x03$", "$ $").replace("!\x03[", "\\!\x03[").replace(HELD, "").replace(LET, "")
        text = " ".join(text.split()) if loose else text
    if BEGIN in text or END in text:
        for kind, sign in SIGNS.items():
            if BEGIN + kind in text or END + kind in text:
                text = text.replace(BEGIN + kind, sign).replace(END + kind, sign)
    return text


def _placed(text: str) -> str:
    """The text with its marks where they hold, and its own stars out of their way."""
    if "\x01s" in text or "\x02s" in text:
        text = STRUCK.sub(lambda found: f" {found[1]}" if found[1] else f"{found[2]} ", text)
    text = FIRST.sub(r"\2\1", text)
    text = LAST.sub(r"\2\1", text) if TIGHT.search(text) else text
    if "\x01b\x02" in text or "\x01i\x02" in text or "\x01s\x02" in text:
        text = NOTHING.sub("", NOTHING.sub("", text))
    if ("b\x03" in text or "i\x03" in text or "\x04\x02" in text) and STUCK.search(text):
        text = re.sub(r"[\x01\x02][bi]", "", text)
    return _escaped(text, STAR) if "*" in text else text


def _guarded(text: str) -> str:
    """The text with what would pair up around, or with, what is held escaped: its own backticks, and its stars."""
    outside = WHOLE.sub("x", WHOLE.sub("x", text))
    if "`" in outside and (f"{HELD}`" in text or outside.count("`") > 1):
        text = _escaped(text, TICK)
    return _escaped(text, STAR) if "*" in outside and STARS.search(outside) else text


def _escaped(text: str, sign: re.Pattern[str]) -> str:
    """The text with a sign of its own escaped, but not in what is held."""
    parts, depth = [], 0
    for is_border, letters in groupby(text, lambda letter: letter in (HELD, LET)):
        part = "".join(letters)
        parts.append(part if is_border or depth else sign.sub(r"\\\g<0>", part))
        depth += part.count(HELD) - part.count(LET) if is_border else 0
    return "".join(parts)
