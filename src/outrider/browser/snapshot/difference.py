"""What has changed between two outlines of a page, in the fewest lines."""

from dataclasses import dataclass
from difflib import SequenceMatcher

from outrider.browser.snapshot.outline import find_refs


@dataclass(frozen=True)
class OutlineDiff:
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


def diff_outlines(before: list[str], after: list[str]) -> OutlineDiff:
    """From one outline to the next."""
    whole_share = 0.6  # of the new outline: then the whole is clearer than the difference
    if before == after:
        return OutlineDiff(())
    start = _count_common(before, after)
    end = _count_common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    lines = _mark_changes(old, new)
    size = sum(len(line) for line in lines)
    total = sum(len(line) + 1 for line in after)
    return OutlineDiff(tuple(lines), whole=total > 400 and size > whole_share * total)


def _count_common(one: list[str], other: list[str]) -> int:
    length = min(len(one), len(other))
    return next((at for at in range(length) if one[at] != other[at]), length)


def _mark_changes(old: list[str], new: list[str]) -> list[str]:
    max_exact_lines = 1_500  # beyond this many lines on either side order is not compared, only presence
    plain_old, plain_new = [line.strip() for line in old], [line.strip() for line in new]
    if max(len(old), len(new)) > max_exact_lines:
        return _by_presence(plain_old, plain_new)
    lines: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, plain_old, plain_new, autojunk=False).get_opcodes():
        if kind != "equal":
            lines += _pair_changes(plain_old[a:b], plain_new[c:d])
    return lines


def _by_presence(old: list[str], new: list[str]) -> list[str]:
    were, are = set(old), set(new)
    return _pair_changes([line for line in old if line not in are], [line for line in new if line not in were])


def _pair_changes(gone: list[str], come: list[str]) -> list[str]:
    """A new line that speaks of the same element as an old one stands for both."""
    spoken = {ref: line for line in gone for ref in find_refs(line)}
    replaced: set[str] = set()
    lines = []
    for line in come:
        same = next((spoken[ref] for ref in find_refs(line) if ref in spoken), None)
        if same is not None:
            replaced.add(same)
        lines.append(f"{'+' if same is None else '~'} {line}")
    return _format_removed([line for line in gone if line not in replaced]) + lines


def _format_removed(lines: list[str]) -> list[str]:
    max_line_chars = 80
    max_removed = 3  # removed lines that are told one by one
    told = [
        f"- {line if len(line) <= max_line_chars else line[: max_line_chars - 1] + '…'}" for line in lines[:max_removed]
    ]
    more = len(lines) - len(told)
    return told + ([f"- … {more} more lines"] if more else [])
