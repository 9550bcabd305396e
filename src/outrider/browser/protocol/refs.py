r"""References to elements, and escaping of text that looks like one.

A page can print `button "Close" e1`, which looks like an outline's line for an element. So text of pages is escaped:
`e\1` in a text never names an element, and an unescaped `e1` in an outline is always ours.
"""

import re

# A few letters, so that few words of ordinary text (ec2, es6, fp16) are escaped.
DOCUMENT_LETTERS = "ajkqvwxz"
REF_PATTERN = re.compile(rf"(?:e[{DOCUMENT_LETTERS}]*|f[{DOCUMENT_LETTERS}]+)[1-9][0-9]*")


def _match_letters(letters: str) -> str:
    """Return a character class of the letters in all alphabets that look alike."""
    # Where the letters a to z begin: ASCII, full width, circled, and the mathematical alphabets.
    alphabets = (0x61, 0xFF41, 0x24D0, *range(0x1D41A, 0x1D6A4, 0x34))
    similar = {"e": "\u0435\u212e\u212f\u2147", "f": "\u0192", "a": "\u0430", "j": "\u0458\u2149", "k": "\u043a"}
    similar |= {"q": "\u051b", "v": "\u0475", "w": "\u051d", "x": "\u0445"}
    alike = (chr(start + ord(letter) - ord("a")) for letter in letters for start in alphabets)
    return f"[{''.join(alike)}{''.join(similar.get(letter, '') for letter in letters)}]"


def _build_escape_source() -> str:
    """Return a pattern, also valid in JavaScript, for the letters of texts that look like a reference."""
    digit_alphabets = (0x30, 0xFF10, *range(0x1D7CE, 0x1D800, 10))
    digits = "".join(f"{chr(start)}-{chr(start + 9)}" for start in digit_alphabets)
    more = _match_letters(DOCUMENT_LETTERS)
    prefix = f"{_match_letters('e')}{more}*|{_match_letters('f')}{more}+"
    return f"(?<![A-Za-z0-9_])({prefix})(?=[{digits}]+(?![A-Za-z0-9_]))"


ESCAPE_SOURCE = _build_escape_source()


def escape_refs(text: str) -> str:
    r"""Put a backslash into texts that look like a reference: `e1` becomes `e\1`."""
    return re.sub(ESCAPE_SOURCE, r"\1\\", text)


def unescape_refs(text: str) -> str:
    """Return a line of an outline as the page wrote it."""
    return re.sub(ESCAPE_SOURCE.replace("(?=[", r"\\(?=["), r"\1", text)
