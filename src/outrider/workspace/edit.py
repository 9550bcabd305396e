"""Replace lines of a text, all at once, by their original numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff

from outrider.core.errors import InvalidInput
from outrider.workspace.encoding import replace_surrogates


@dataclass(frozen=True)
class Replacement:
    """Replaces the lines `start` to `end` (from 1, inclusive) by `text`; without text they are deleted.

    `expected`, if given, is what these lines must contain now.
    """

    start: int
    end: int
    text: str | None = None
    expected: str | None = None


def split_lines(text: str) -> list[str]:
    r"""Return the lines with their line ends: \n or \r\n, as grep and git have it; \r only in a text without any \n.

    A form feed does not end a line, nor does the \r of a log that overwrites its last line.
    """
    newline = "\r" if "\n" not in text and "\r" in text else "\n"
    *complete, rest = text.split(newline)
    return [line + newline for line in complete] + ([rest] if rest else [])


def apply_replacements(text: str, replacements: Sequence[Replacement], newline: str = "\n") -> str:
    """Return the text with all replacements; whether the last line has a line end does not change.

    Raises InvalidInput for lines that do not exist, that overlap, or that differ from `expected`; nothing is replaced
    then.
    """
    lines = split_lines(text)
    count = len(lines)
    ordered = sorted(replacements, key=lambda replacement: (replacement.start, replacement.end))
    _check_replacements(lines, ordered)
    for replacement in reversed(ordered):
        # New lines get the line end of those they replace; if these have none, the file's usual one.
        last_line = lines[replacement.end - 1]
        line_end = next((end for end in ("\r\n", "\n") if last_line.endswith(end)), newline)
        new_lines = split_lines(replace_surrogates(replacement.text or ""))
        lines[replacement.start - 1 : replacement.end] = [line.rstrip("\r\n") + line_end for line in new_lines]
    result = "".join(lines)
    replaces_open_end = not text.endswith(("\n", "\r")) and any(
        replacement.end == count and replacement.text for replacement in ordered
    )
    return result.removesuffix(newline) if replaces_open_end else result


def build_diff(old: str, new: str, path: str) -> str:
    """Return a unified diff, cut after 400 lines."""
    max_diff_lines = 400
    lines = list(
        unified_diff(old.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    )  # fmt: skip
    more = len(lines) - max_diff_lines
    return "\n".join(lines[:max_diff_lines] + ([f"… {more} more lines of difference"] if more > 0 else []))


def _check_replacements(lines: list[str], ordered: list[Replacement]) -> None:
    previous_end = 0
    for replacement in ordered:
        start, end = replacement.start, replacement.end
        if not 1 <= start <= end <= len(lines):
            raise InvalidInput(
                f"replacements: lines {start} to {end} do not exist in a file of {len(lines)} lines",
                hint="read_file with numbered=true shows the numbers",
            )
        if start <= previous_end:
            raise InvalidInput(f"replacements: line {start} is replaced twice", hint="combine the two replacements")
        previous_end = end
        if replacement.expected is None:
            continue
        actual = replace_surrogates(_normalize_text("".join(lines[start - 1 : end])))
        if actual != _normalize_text(replacement.expected):
            raise InvalidInput(
                f"replacements: lines {start} to {end} contain {actual[:300]!r}, not the expected text",
                hint="read the file again: it has changed, or the numbers are wrong",
                code="changed",
            )


def _normalize_text(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")
