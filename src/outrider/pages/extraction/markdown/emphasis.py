"""Place emphasis where CommonMark parsers find it again.

Spec 0.31, section 6.2.

While a paragraph is written, its marks are single control characters, which are first removed from the page's own text.
This is necessary because whether two stars are emphasis depends on the characters around them, which are known only at
the end. Then adjacent marks of one kind are merged, marks between a letter and punctuation, which a parser would read
as stars, move past the punctuation, and stars of the text itself are escaped where they would pair up with marks.
"""

import re
from itertools import groupby
from typing import Any

from outrider.pages.extraction.markdown.escape import STAR_PAIR

MARK_START, MARK_END = "\x01", "\x02"  # followed by the letter of a kind
ATOM_START, ATOM_END = "\x03", "\x04"  # around what must stay whole: a link, code, a formula
TOUCHING_MARKS = re.compile(r"\x02([bis])\x01\1|`\x04\x03`(?!`)")
# Diacritics and joiners are part of a letter: from U+0300 to U+1DFF and from U+A66F to U+ABFF everything but letters
# and common punctuation is in one group.
LETTER_CHARS = (
    r"\w\u0300-\u0374\u0376-\u037d\u0388-\u0559\u0560-\u0588\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4-\u05f2\u0610-\u061a"
    r"\u0620-\u0669\u066e-\u06d3\u06d5-\u0963\u0966-\u096f\u0971-\u0e3e\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0f03"
    r"\u0f18-\u0f39\u0f3e-\u0f84\u0f86-\u1049\u1050-\u10fa\u10fc-\u135f\u1369-\u16ea\u1700-\u1734\u1737-\u17d3"
    r"\u180b-\u1dff\u200b-\u200f\u20d0-\u20ff\u302a-\u302f\u3099\u309a\ua66f-\uabff\ufe00-\ufe0f\ufe20-\ufe2f"
)
PUNCTUATION_CHAR = rf"[^{LETTER_CHARS}\s\x01-\x04]"
EMPTY_MARK = re.compile(r"\x01([bis])\x02\1")
# Each of these begins with a literal character, which makes the search fast, or is used after such a search.
LEADING_PUNCTUATION = re.compile(
    rf"(\x01[bi](?<=[{LETTER_CHARS}]..)(?<!_..)(?:\x01[bi])*)({PUNCTUATION_CHAR}{{1,9}}\s?)"
)
MARK_BEFORE_LETTER = re.compile(r"\x02[bi](?=[^\W_])")
# A bracket that opens inside the mark moves with its content.
TRAILING_PUNCTUATION = re.compile(
    rf"(\s?(?:[(\uff08\u300c\u300e\u3010][^()\uff08\uff09\u300c-\u3011\x01-\x04]{{1,40}})?{PUNCTUATION_CHAR}{{1,9}})"
    r"((?:\x02[bi])+)(?=[^\W_])"
)
STRIKE_EDGE = re.compile(r"(?<=[^\W_])(?<![\x01\x02][bi])(\x01s)(?![\w\s])|(?<=[^\w\s])(\x02s)(?=[^\W_])")
MARK_AT_ATOM = re.compile(r"(?<![\x01\x02])[^\W_](?:\x01[bi])+\x03|\x04(?:\x02[bi])+[^\W_]")
UNESCAPED_STAR = re.compile(r"(?<!\\)\*(?=\S)|(?<=\S)(?<!\\)\*")
UNESCAPED_BACKTICK = re.compile(r"(?<!\\)`")
ATOM = re.compile(r"\x03[^\x03\x04]*\x04")
CONTROL_MARK = re.compile(r"[\x01\x02][bis]")
STRIP_CONTROLS = str.maketrans("", "", "\x01\x02\x03\x04")


def strip_control_chars(texts: list[str], pieces: list[list[Any]]) -> None:
    """Remove this module's control characters from a page.

    Hardly any page has them.
    """
    joined = "".join(texts)
    if MARK_START not in joined and MARK_END not in joined and ATOM_START not in joined and ATOM_END not in joined:
        return
    for number, text in enumerate(texts):
        if (cleaned := text.translate(STRIP_CONTROLS)) != text:
            texts[number] = " ".join(cleaned.split())
            pieces[number] = [
                type(piece)(piece.translate(STRIP_CONTROLS)) if isinstance(piece, str) else piece
                for piece in pieces[number]
            ]


def add_mark(core: str, kind: str) -> str:
    """Put a mark around a text.

    It replaces all marks of that kind in the text.
    """
    if MARK_START + kind in core:
        core = core.replace(MARK_START + kind, "").replace(MARK_END + kind, "")
    return f"{MARK_START}{kind}{core}{MARK_END}{kind}"


def protect_atom(text: str) -> str:
    """Mark a text as markup that must stay whole."""
    return f"{ATOM_START}{text}{ATOM_END}"


def strip_marks(text: str) -> str:
    """Remove this module's control characters from a text."""
    return CONTROL_MARK.sub("", text).translate(STRIP_CONTROLS)


def render_marks(text: str) -> str:
    """Return a text with single spaces and its marks as Markdown."""
    delimiters = {"b": "**", "i": "*", "s": "~~"}
    if MARK_START in text:
        text = " ".join(_place_marks(TOUCHING_MARKS.sub("", text)).split())
    elif "`\x04\x03`" in text:
        text = TOUCHING_MARKS.sub("", text)
    if ATOM_START in text:
        # The text's own backticks and stars must not pair up around, or with, an atom.
        outside = ATOM.sub("x", ATOM.sub("x", text)) if "`" in text or "*" in text else ""
        if "`" in outside and (f"{ATOM_START}`" in text or outside.count("`") > 1):
            text = _escape_outside_atoms(text, UNESCAPED_BACKTICK)
        if "*" in outside and STAR_PAIR.search(outside):
            text = _escape_outside_atoms(text, UNESCAPED_STAR)
        has_loose_atom = "\x03 " in text or " \x04" in text  # displayed formulas
        text = (
            text.replace("$\x04\x03$", "$ $")
            .replace("!\x03[", "\\!\x03[")
            .replace(ATOM_START, "")
            .replace(ATOM_END, "")
        )
        text = " ".join(text.split()) if has_loose_atom else text
    if MARK_START in text or MARK_END in text:
        for kind, sign in delimiters.items():
            text = text.replace(MARK_START + kind, sign).replace(MARK_END + kind, sign)
    return text


def _place_marks(text: str) -> str:
    """Move marks to where a parser recognizes them, and escape the text's own stars."""
    if "\x01s" in text or "\x02s" in text:
        text = STRIKE_EDGE.sub(lambda match: f" {match[1]}" if match[1] else f"{match[2]} ", text)
    text = LEADING_PUNCTUATION.sub(r"\2\1", text)
    text = TRAILING_PUNCTUATION.sub(r"\2\1", text) if MARK_BEFORE_LETTER.search(text) else text
    if "\x01b\x02" in text or "\x01i\x02" in text or "\x01s\x02" in text:
        text = EMPTY_MARK.sub("", EMPTY_MARK.sub("", text))
    if ("b\x03" in text or "i\x03" in text or "\x04\x02" in text) and MARK_AT_ATOM.search(text):
        text = re.sub(r"[\x01\x02][bi]", "", text)
    return _escape_outside_atoms(text, UNESCAPED_STAR) if "*" in text else text


def _escape_outside_atoms(text: str, sign: re.Pattern[str]) -> str:
    """Escape a character of the text, but not inside atoms."""
    parts, depth = [], 0
    for is_border, letters in groupby(text, lambda letter: letter in (ATOM_START, ATOM_END)):
        part = "".join(letters)
        parts.append(part if is_border or depth else sign.sub(r"\\\g<0>", part))
        depth += part.count(ATOM_START) - part.count(ATOM_END) if is_border else 0
    return "".join(parts)
