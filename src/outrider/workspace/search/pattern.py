r"""Translate Python patterns into two dialects that match equally.

They are `re` and ripgrep's Rust engine.

In both, carriage returns never match a class or a dot: a line end may contain one, which is not part of the line. A
pattern that the Rust engine lacks (lookaround, backreferences) or spells differently has no Rust form, and its Python
form is the pattern itself. One difference remains: for Rust's `\b` alone, a combining accent is part of its word.
"""

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from outrider.core.errors import InvalidInput

REGEX_TOKEN = re.compile(
    r"""
    (?P<set>\[\^?\]?(?:\\.|[^\]\\])*\])
  | (?P<kind>\\[dDwWsS])
  | (?P<edge>\\[bBAZ]|[$^])
  | (?P<escape>\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[tvfa]|[^A-Za-z0-9\s]|\x20))
  | (?P<open>\((?:\?:|\?P<[A-Za-z_]\w*>|(?!\?)))
  | (?P<close>\))
  | (?P<repeat>(?:[*+?]|\{(?:\d+(?:,\d*)?|,\d+)\})\??)
  | (?P<any>\.)
  | (?P<or>\|)
  | (?P<letter>(?!\{,\})[^\\\[()*+?.^$|\r\n])
    """,
    re.VERBOSE | re.DOTALL,
)
SET_ITEM = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[dDwWsSbtnvfra]|[^A-Za-z0-9])|([^\\])", re.DOTALL)
RUST_SPACE = r"\t\n\x0b\x0c\r\x1c-\x20\x{85}\p{Z}"
RUST_KINDS = {"d": r"\p{Nd}", "w": r"\p{L}\p{N}_", "s": RUST_SPACE}


@dataclass(frozen=True)
class GrepPattern:
    """A pattern: `python` for `re`, `rust` for ripgrep, or None if only Python can match it."""

    python: str
    rust: str | None
    ignore_case: bool


def compile_pattern(text: str, *, ignore_case: bool = False) -> GrepPattern:
    """Translate a pattern into both dialects. Raises InvalidInput if it is malformed."""
    try:
        with warnings.catch_warnings(action="ignore"):  # for instance FutureWarning about `[[`
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidInput(
            f"pattern: {error}", hint="use a Python regular expression; escape special characters with a backslash"
        ) from None
    if text.startswith("(?i)"):
        text, ignore_case = text[4:], True
    pairs = _translate_pattern(text, ignore_case=ignore_case)
    if pairs is None:
        return GrepPattern(text, None, ignore_case)
    rust = None if ignore_case and not text.isascii() else "".join(rust for _, rust in pairs)
    return GrepPattern("".join(python for python, _ in pairs), rust, ignore_case)


def _translate_pattern(text: str, *, ignore_case: bool) -> list[tuple[str, str]] | None:
    """Return each token in both dialects; None if a part has no equivalent in Rust."""
    unrepeatable_kinds = ("", "open", "or", "repeat", "edge")
    pairs: list[tuple[str, str]] = []
    previous_kind, position = "", 0
    while token := REGEX_TOKEN.match(text, position):
        kind, position = token.lastgroup or "", token.end()
        if kind == "repeat" and previous_kind in unrepeatable_kinds:
            return None
        pair = _translate_token(kind, token[0], ignore_case=ignore_case)
        if pair is None:
            return None
        pairs.append(pair)
        previous_kind = kind
    return pairs if position == len(text) else None


def _translate_token(kind: str, text: str, *, ignore_case: bool) -> tuple[str, str] | None:
    """Return a token in Python's and in Rust's dialect; None for what Rust cannot express."""
    any_char = r"[^\r\n]"
    rust_edges = {"$": r"(?:\r?$)", r"\Z": r"(?:\r?$)", r"\A": "^"}
    python_kinds = {r"\s": r"[^\S\r]", r"\D": r"[^\d\r]", r"\W": r"[^\w\r]"}
    dotless_i = {"i": "[iıİ]", "I": "[Iıİ]"}  # Python's `re` equates these when it ignores case
    if kind in ("escape", "letter"):
        code = _parse_code(text[1:]) if text.startswith("\\") else ord(text)
        if code in (10, 13):
            return None
        return text, (dotless_i.get(text, "") if ignore_case else "") or rf"\x{{{code:x}}}"
    if kind == "set":
        negated = text.startswith("[^")
        body = text[2:-1] if negated else text[1:-1]
        items: list[int | str] = []  # characters as code points, kinds by their letter, `-` where it may span a range
        position = 0
        while item := SET_ITEM.match(body, position):
            escape, letter = item.groups()
            if escape is None:
                items.append("-" if letter == "-" else ord(letter))
            else:
                items.append(escape if escape in "dDwWsS" else _parse_code(escape))
            position = item.end()
        if position != len(body):
            return None
        return rf"(?:(?!\r){text})", _build_rust_set("".join(_iter_ranges(items)), negated=negated)
    if kind == "kind":
        rust = _build_rust_set(RUST_KINDS[text[1].lower()], negated=text[1].isupper())
        return python_kinds.get(text, text), rust
    rust_forms = {".": any_char, **rust_edges}
    return (any_char if text == "." else text), rust_forms.get(text, text.replace("{,", "{0,"))


def _iter_ranges(items: list[int | str]) -> Iterator[str]:
    items = list(items)
    while items:
        first = items.pop(0)
        if isinstance(first, int) and len(items) > 1 and items[0] == "-":
            items.pop(0)
            yield f"{_format_item(first)}-{_format_item(items.pop(0))}"
        else:
            yield _format_item(first)


def _build_rust_set(items: str, *, negated: bool) -> str:
    return rf"[^{items}\r\n]" if negated else rf"[[{items}]--[\r\n]]"


def _format_item(item: int | str) -> str:
    """Return a character or kind inside a set in Rust's dialect."""
    if isinstance(item, int):
        return rf"\x{{{item:x}}}"
    if item == "-":
        return r"\-"
    return RUST_KINDS[item] if item in RUST_KINDS else f"[^{RUST_KINDS[item.lower()]}]"


def _parse_code(text: str) -> int:
    """Return the code point of an escape (without its backslash) or a letter."""
    named_escapes = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7, "b": 8}
    if text[0] in "xu" and len(text) > 1:
        return int(text[1:], 16)
    return named_escapes.get(text, ord(text)) if len(text) == 1 else ord(text)
