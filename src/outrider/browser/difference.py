"""What has changed between two outlines of a page, in the fewest lines."""

from dataclasses import dataclass
from difflib import SequenceMatcher

from outrider.browser.outline import mentioned

WHOLE_ABOVE = 0.6  # of the new outline: then the whole is clearer than the difference
EXACT_LINES = 1_500  # beyond this many lines on either side order is not compared, only presence
TOLD_GONE = 3  # removed lines that are told one by one
GONE_CHARS = 80


@dataclass(frozen=True)
class Difference:
    """The lines that came (`+`), went (`-`) or changed (`~`).

    Attributes:
        lines: Them, marked.
        whole: So much has changed that the new outline itself is the better answer.
    """

    lines: tuple[str, ...]
    whole: bool = False

    def __bool__(self) -> bool:
        return bool(self.lines) or self.whole

    def __str__(self) -> str:
        return "\n".join(self.lines)


def difference(before: list[str], after: list[str]) -> Difference:
    """From one outline to the next."""
    if before == after:
        return Difference(())
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    lines = _marked(old, new)
    size = sum(len(line) for line in lines)
    total = sum(len(line) + 1 for line in after)
    return Difference(tuple(lines), whole=total > 400 and size > WHOLE_ABOVE * total)


def _common(one: list[str], other: list[str]) -> int:
    length = min(len(one), len(other))
    return next((at for at in range(length) if one[at] != other[at]), length)


def _marked(old: list[str], new: list[str]) -> list[str]:
    plain_old, plain_new = [line.strip() for line in old], [line.strip() for line in new]
    if max(len(old), len(new)) > EXACT_LINES:
        return _by_presence(plain_old, plain_new)
    lines: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, plain_old, plain_new, autojunk=False).get_opcodes():
        if kind != "equal":
            lines += _changed(plain_old[a:b], plain_new[c:d])
    return lines


def _by_presence(old: list[str], new: list[str]) -> list[str]:
    were, are = set(old), set(new)
    return _changed([line for line in old if line not in are], [line for line in new if line not in were])


def _changed(gone: list[str], come: list[str]) -> list[str]:
    """A new line that speaks of the same element as an old one stands for both."""
    spoken = {ref: line for line in gone for ref in mentioned(line)}
    replaced: set[str] = set()
    lines = []
    for line in come:
        same = next((spoken[ref] for ref in mentioned(line) if ref in spoken), None)
        if same is not None:
            replaced.add(same)
        lines.append(f"{'+' if same is None else '~'} {line}")
    return _gone([line for line in gone if line not in replaced]) + lines


def _gone(lines: list[str]) -> list[str]:
    told = [f"- {line if len(line) <= GONE_CHARS else line[: GONE_CHARS - 1] + '…'}" for line in lines[:TOLD_GONE]]
    more = len(lines) - len(told)
    return told + ([f"- … {more} more lines"] if more else [])
