r"""A pattern of Python's `re` in two dialects that find the same lines: Python's own, and the Rust engine's of ripgrep.

Carriage returns never match a class or a dot, in either: a line's end may have one, and is no part of the line.
What Rust's engine lacks (looking around, referring back) or spells otherwise has no Rust form; Python's form is then
the pattern as it is. One difference stays: a combining accent is a part of its word for Rust's `\b` alone.
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
    """What to look for: `python` for `re`, `rust` for ripgrep or None where only Python can tell."""

    python: str
    rust: str | None
    ignore_case: bool


def compile_pattern(text: str, *, ignore_case: bool = False) -> GrepPattern:
    """The pattern in both dialects. Raises InvalidInput for one that is wrong, or that spans lines."""
    try:
        with warnings.catch_warnings(action="ignore"):  # Python's own thoughts on `[[`
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise InvalidInput(
            f"pattern: {error}", hint="write a Python regular expression; put a backslash before a literal sign"
        ) from None
    if text.startswith("(?i)"):
        text, ignore_case = text[4:], True
    pairs = _translate_pattern(text, ignore_case=ignore_case)
    if pairs is None:
        return GrepPattern(text, None, ignore_case)
    rust = None if ignore_case and not text.isascii() else "".join(rust for _, rust in pairs)
    return GrepPattern("".join(python for python, _ in pairs), rust, ignore_case)


def _translate_pattern(text: str, *, ignore_case: bool) -> list[tuple[str, str]] | None:
    unrepeatable_kinds = ("", "open", "or", "repeat", "edge")
    found: list[tuple[str, str]] = []
    before, at = "", 0
    for token in _iter_tokens(text):
        kind, at = token.lastgroup or "", token.end()
        if kind == "repeat" and before in unrepeatable_kinds:
            return None
        pair = _translate_token(kind, token[0], ignore_case=ignore_case)
        if pair is None:
            return None
        found.append(pair)
        before = kind
    return found if at == len(text) else None


def _iter_tokens(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while token := REGEX_TOKEN.match(text, at):
        yield token
        at = token.end()


def _translate_token(kind: str, text: str, *, ignore_case: bool) -> tuple[str, str] | None:
    """One token in Python's and in Rust's words; None for what Rust cannot say."""
    any_char = r"[^\r\n]"
    rust_edges = {"$": r"(?:\r?$)", r"\Z": r"(?:\r?$)", r"\A": "^"}
    python_kinds = {r"\s": r"[^\S\r]", r"\D": r"[^\d\r]", r"\W": r"[^\w\r]"}
    if kind in ("escape", "letter"):
        return _translate_letter(text, ignore_case=ignore_case)
    if kind == "set":
        return _translate_set(text)
    if kind == "kind":
        rust = _build_rust_set(RUST_KINDS[text[1].lower()], negated=text[1].isupper())
        return python_kinds.get(text, text), rust
    plain = {".": any_char, **rust_edges}
    return (any_char if text == "." else text), plain.get(text, text.replace("{,", "{0,"))


def _translate_letter(text: str, *, ignore_case: bool) -> tuple[str, str] | None:
    dotless_i = {"i": "[iıİ]", "I": "[Iıİ]"}  # Python's `re` takes these for one letter when case does not matter
    code = _parse_code(text[1:]) if text.startswith("\\") else ord(text)
    if code in (10, 13):
        return None
    return text, (dotless_i.get(text, "") if ignore_case else "") or rf"\x{{{code:x}}}"


def _translate_set(text: str) -> tuple[str, str] | None:
    negated = text.startswith("[^")
    body = text[2:-1] if negated else text[1:-1]
    items: list[int | str] = []
    at = 0
    while item := SET_ITEM.match(body, at):
        items.append(_parse_item(*item.groups()))
        at = item.end()
    if at != len(body):
        return None
    return rf"(?:(?!\r){text})", _build_rust_set("".join(_iter_ranges(items)), negated=negated)


def _parse_item(escape: str | None, letter: str | None) -> int | str:
    """A member of a set: a character by its number, a kind by its letter, or `-` where it may span a range."""
    if escape is None:
        return "-" if letter == "-" else ord(letter or "")
    return escape if escape in "dDwWsS" else _parse_code(escape)


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
    """A character or kind inside a set, as Rust has it."""
    if isinstance(item, int):
        return rf"\x{{{item:x}}}"
    if item == "-":
        return r"\-"
    return RUST_KINDS[item] if item in RUST_KINDS else f"[^{RUST_KINDS[item.lower()]}]"


def _parse_code(text: str) -> int:
    """The character that an escape (without its backslash) or a letter stands for."""
    named_escapes = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "a": 7, "b": 8}
    if text[0] in "xu" and len(text) > 1:
        return int(text[1:], 16)
    return named_escapes.get(text, ord(text)) if len(text) == 1 else ord(text)
