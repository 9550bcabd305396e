"""Lines of a text replaced, all at once, by the numbers that they have before."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import unified_diff

from outrider.core.errors import InvalidInput
from outrider.workspace.encoding import replace_surrogates


@dataclass(frozen=True)
class Replacement:
    """Lines `start` to `end` (from 1, inclusive) become `text`; no text removes them.

    `expected`, where given, is what these lines must hold now.
    """

    start: int
    end: int
    text: str | None = None
    expected: str | None = None


def split_lines(text: str) -> list[str]:
    r"""The lines with their ends: \n, after an \r or not, as grep and git have it; \r in a text without any \n.

    A form feed in a file of code ends no line, nor does the \r with which a log draws over itself.
    """
    mark = "\r" if "\n" not in text and "\r" in text else "\n"
    *whole, rest = text.split(mark)
    return [line + mark for line in whole] + ([rest] if rest else [])


def apply_replacements(text: str, replacements: Sequence[Replacement], newline: str = "\n") -> str:
    """The text with all replacements done; the last line keeps having an end, or none.

    Raises InvalidInput for lines that there are not, that overlap, or that hold something else than expected;
    then nothing is replaced.
    """
    lines = split_lines(text)
    count = len(lines)
    ordered = sorted(replacements, key=lambda each: (each.start, each.end))
    _check_ranges(lines, ordered)
    for each in reversed(ordered):
        lines[each.start - 1 : each.end] = _split_with_line_end(each.text, _end_of(lines[each.end - 1], newline))
    result = "".join(lines)
    last_was_open = not text.endswith(("\n", "\r")) and any(each.end == count and each.text for each in ordered)
    return result.removesuffix(newline) if last_was_open else result


def build_diff(old: str, new: str, path: str) -> str:
    """A unified diff, cut after 400 lines."""
    max_diff_lines = 400
    lines = list(
        unified_diff(old.splitlines(), new.splitlines(), f"a/{path}", f"b/{path}", lineterm="")
    )  # fmt: skip
    more = len(lines) - max_diff_lines
    return "\n".join(lines[:max_diff_lines] + ([f"… {more} more lines of difference"] if more > 0 else []))


def _check_ranges(lines: list[str], ordered: list[Replacement]) -> None:
    before = 0
    for each in ordered:
        if not 1 <= each.start <= each.end <= len(lines):
            raise InvalidInput(
                f"replacements: lines {each.start} to {each.end} of a file of {len(lines)} lines",
                hint="read_file with numbered=true shows the numbers",
            )
        if each.start <= before:
            raise InvalidInput(f"replacements: line {each.start} is replaced twice", hint="join the two")
        before = each.end
        _check_expected(lines, each)


def _check_expected(lines: list[str], each: Replacement) -> None:
    if each.expected is None:
        return
    found = replace_surrogates(_normalize_text("".join(lines[each.start - 1 : each.end])))
    if found != _normalize_text(each.expected):
        raise InvalidInput(
            f"replacements: lines {each.start} to {each.end} hold {found[:300]!r}",
            hint="read the file again: it has changed, or the numbers are wrong",
            code="changed",
        )


def _normalize_text(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n")


def _end_of(line: str, newline: str) -> str:
    """What ends a line; the file's usual line end where the text ends in it."""
    return next((end for end in ("\r\n", "\n") if line.endswith(end)), newline)


def _split_with_line_end(text: str | None, newline: str) -> list[str]:
    """A replacement's lines, each with the line end of those that it replaces."""
    if not text:
        return []
    return [line.rstrip("\r\n") + newline for line in split_lines(replace_surrogates(text))]
