"""Cut, filter and compare the lines of outlines."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from outrider.browser.protocol.refs import REF_PATTERN, unescape_refs

DEFAULT_SNAPSHOT_CHARS = 12_000
REF_MENTION_PATTERN = re.compile(rf"(?<=[ <(\[])({REF_PATTERN.pattern})(?=[ >\])]|$)")
# A control or a cell inside a line: `button "Save" e2`, `<card e3>`, `[link e4]`, `| text`. Matching it as a whole
# keeps parts of a name from being taken for another one.
ITEM_PATTERN = re.compile(rf'(?<= )(?:\|(?= )|[<\[][^<>\[\]]*[>\]]|[a-z]+ (?:"[^"]*" )?{REF_PATTERN.pattern}(?= |$))')

# A line that begins with a control: `checkbox "Paid" e5 checked`, `<Buy milk e6>`.
CONTROL_PATTERN = re.compile(rf'[<\[]|[a-z]+ (?:"[^"]*" |\S+ )?{REF_PATTERN.pattern}(?= |$)')


@dataclass(frozen=True)
class OutlineSlice:
    """Consecutive lines of an outline.

    Attributes:
        text: The lines, joined.
        offset: The index of the first one.
        shown: How many lines there are in the slice.
        total: How many lines the outline has.
    """

    text: str
    offset: int
    shown: int
    total: int

    @property
    def next_offset(self) -> int | None:
        """The index of the next line; None at the end."""
        end = self.offset + self.shown
        return end if end < self.total else None

    def __str__(self) -> str:
        if self.next_offset is None:
            return self.text
        remaining = self.total - self.next_offset
        return f"{self.text}\n… cut here, {remaining} more lines: read on with offset={self.next_offset}"


def limit_lines(lines: list[str], limit: int = DEFAULT_SNAPSHOT_CHARS, offset: int = 0) -> OutlineSlice:
    """Return the whole lines from `offset` that fit into `limit` characters, at least one."""
    max_line_chars = 2_000
    longest = max(limit, max_line_chars)
    if any(len(line) > longest for line in lines):
        lines = [piece for line in lines for piece in split_line(line, longest, max_line_chars)]
    start = min(max(offset, 0), len(lines))
    end, size = start, 0
    while end < len(lines) and (end == start or size + len(lines[end]) + 1 <= limit):
        size += min(len(lines[end]), max_line_chars) + 1
        end += 1
    return OutlineSlice("\n".join(lines[start:end]), start, end - start, len(lines))


def split_line(line: str, longest: int, size: int) -> list[str]:
    """Split a line longer than `longest` characters into pieces of about `size`."""
    pieces, start, prefix = [], 0, ""
    while len(line) > longest and len(line) - start > size:
        end = line.rfind(" ", start + size // 2, start + size)
        is_word_cut = end < 0
        if is_word_cut:
            # The ellipses keep parts of a word at either end from looking like a reference.
            end = start + size
        pieces.append(f"{prefix}{line[start:end]}{'…' if is_word_cut else ''}")
        start, prefix = end + (not is_word_cut), "…" if is_word_cut else "… "
    return [*pieces, prefix + line[start:]]


def cut_line(line: str, limit: int) -> str:
    """Return the beginning of a line, without a partial reference: the beginning of `e12` names another element."""
    return re.sub(r"(?<![A-Za-z0-9_])[ef][a-z]*[0-9]*$", "", line[:limit]) + "…"


def find_refs(line: str) -> list[str]:
    """Return the references in a line, in order."""
    return [match.group(1) for match in REF_MENTION_PATTERN.finditer(line)]


def measure_depth(line: str) -> int:
    """Return the nesting depth of a line."""
    return len(line) - len(line.lstrip(" "))


def filter_interactive(lines: list[str]) -> list[str]:
    """Return the lines of actionable elements, with their headings and landmarks."""
    return _select_with_context(lines, [bool(REF_MENTION_PATTERN.search(line)) for line in lines])


def filter_matching(lines: list[str], text: str) -> list[str]:
    """Return the lines that contain a text in any case, with their headings and landmarks."""
    needle = " ".join(text.casefold().split())
    matches = [needle in line.casefold() or needle in unescape_refs(line).casefold() for line in lines]
    return _select_with_context(lines, matches)


def _select_with_context(lines: list[str], matches: list[bool]) -> list[str]:
    """Return the matching lines, their parents, and the heading before each."""
    selected = list(matches)
    parents: list[int] = []
    heading: int | None = None
    for number, line in enumerate(lines):
        level = measure_depth(line)
        while parents and measure_depth(lines[parents[-1]]) >= level:
            parents.pop()
        if matches[number]:
            for context_line in (*parents, *([] if heading is None else [heading])):
                selected[context_line] = True
        parents.append(number)
        heading = number if line.lstrip().startswith("#") else heading
    return [line for line, is_selected in zip(lines, selected, strict=True) if is_selected]


@dataclass(frozen=True)
class OutlineDiff:
    """Lines that were added (`+`), removed (`-`) or changed (`~`).

    Attributes:
        lines: The lines with their marks.
        whole: Whether so much has changed that the new outline itself is the better answer.
    """

    lines: tuple[str, ...]
    whole: bool = False

    def __bool__(self) -> bool:
        return bool(self.lines) or self.whole

    def __str__(self) -> str:
        return "\n".join(self.lines)


def diff_outlines(before: list[str], after: list[str]) -> OutlineDiff:
    """Compare the lines of two outlines."""
    # Past this share of the new outline, the outline itself is clearer than the difference.
    max_diff_share = 0.6
    if before == after:
        return OutlineDiff(())
    start = _count_common(before, after)
    end = _count_common(before[start:][::-1], after[start:][::-1])
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    lines = _mark_changes(old, new)
    size = sum(len(line) for line in lines)
    total = sum(len(line) + 1 for line in after)
    return OutlineDiff(tuple(lines), whole=total > 400 and size > max_diff_share * total)


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    length = min(len(one), len(other))
    return next((index for index in range(length) if one[index] != other[index]), length)


def _mark_changes(old: list[str], new: list[str]) -> list[str]:
    max_compared_lines = 1_500  # past this many lines their order is ignored, because comparing it is slow
    old, new = [line.strip().removeprefix("- ") for line in old], [line.strip().removeprefix("- ") for line in new]
    if max(len(old), len(new)) > max_compared_lines:
        old_lines, new_lines = set(old), set(new)
        removed = [line for line in old if line not in new_lines]
        blocks = [_pair_changes(removed, [line for line in new if line not in old_lines])]
    else:
        opcodes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        blocks = [_pair_changes(old[a:b], new[c:d]) for kind, a, b, c, d in opcodes if kind != "equal"]
    return _join_blocks(blocks, {ref for line in new for ref in find_refs(line)})


def _pair_changes(removed: list[str], added: list[str]) -> tuple[list[str], list[str]]:
    """Return the removed lines, and the marked others.

    An added line with the reference or the words of a removed one is its changed version.
    """
    line_of_ref = {ref: line for line in removed for ref in find_refs(line)}
    line_of_words, new_words = _index_by_words(removed), _index_by_words(added)
    replaced: set[str] = set()
    changes = []
    for line in added:
        earlier = next((line_of_ref[ref] for ref in find_refs(line) if ref in line_of_ref), None)
        words = _strip_numbers(line)
        if new_words.get(words) == line:
            earlier = line_of_words.get(words)
        if earlier is not None:
            replaced.add(earlier)
        changes.append(f"+ {line}" if earlier is None else f"~ {_shorten_change(earlier, line)}")
    return [line for line in removed if line not in replaced], changes


def _join_blocks(blocks: list[tuple[list[str], list[str]]], known_lines: set[str]) -> list[str]:
    """Mark removed lines; list several controls by their references only, because they were shown before."""
    max_refs = 12
    controls = [line for removed, _ in blocks for line in removed if CONTROL_PATTERN.match(line)]
    refs = [ref for line in controls for ref in find_refs(line) if ref not in known_lines] if len(controls) > 1 else []
    lines = []
    if refs:
        ranges = _join_ranges(refs)
        more = f" … {len(ranges) - max_refs} more" if len(ranges) > max_refs else ""
        lines.append(f"- {' '.join(ranges[:max_refs])}{more}")
    for removed, changes in blocks:
        texts = [line for line in removed if not CONTROL_PATTERN.match(line)] if refs else removed
        lines += _mark_removed(texts) + changes
    return lines


def _index_by_words(lines: list[str]) -> dict[str, str]:
    """Return the lines without references whose words are unique, such as counters."""
    texts = [line for line in lines if not find_refs(line)]
    counts = Counter(map(_strip_numbers, texts))
    return {words: line for line in texts if (words := _strip_numbers(line)) and counts[words] == 1}


def _strip_numbers(line: str) -> str:
    """Return a line's words in the singular: `1 item left` equals `2 items left`."""
    return " ".join(word.removesuffix("s") for word in re.findall(r"[^\W\d_]+", line))


def _mark_removed(lines: list[str]) -> list[str]:
    """Mark removed lines, the first three of many."""
    max_lines, max_line_chars = 3, 80
    marked = [f"- {line if len(line) <= max_line_chars else cut_line(line, max_line_chars - 1)}" for line in lines]
    return marked if len(lines) <= max_lines else [*marked[:max_lines], f"- … {len(lines) - max_lines} more lines"]


def _join_ranges(refs: list[str]) -> list[str]:
    """Return references in the order of their numbers, three or more consecutive ones as `e5–e9`."""
    split = sorted((ref.rstrip("0123456789"), int(re.sub(r"\D", "", ref))) for ref in {*refs})
    runs: list[list[tuple[str, int]]] = []
    for prefix, number in split:
        if runs and runs[-1][-1] == (prefix, number - 1):
            runs[-1].append((prefix, number))
        else:
            runs.append([(prefix, number)])
    texts = []
    for run in runs:
        names = [f"{prefix}{number}" for prefix, number in run]
        texts += [f"{names[0]}–{names[-1]}"] if len(names) > 2 else names
    return texts


def _shorten_change(earlier: str, line: str) -> str:
    """Return the change in a long line.

    A row keeps its first cell.
    """
    min_chars, max_share, max_row_chars = 100, 0.7, 60
    if controls := _join_changed_controls(earlier, line):
        return controls
    if len(line) < min_chars:
        return line
    same_start = _count_common(earlier, line)
    same_end = _count_common(earlier[same_start:][::-1], line[same_start:][::-1])
    starts = [0, *(match.start() for match in ITEM_PATTERN.finditer(line)), len(line)]
    # The previous part is shown too, because a state that it has lost only changes the text after it.
    begin = max((start for start in starts if start < same_start), default=0)
    end = min(start for start in starts if start >= len(line) - same_end)
    part = line[begin:end].strip()
    column = line[:begin].count(" | ") + part.startswith("| ")
    if column:  # the number of omitted cells identifies it
        first_cell = line.partition(" | ")[0]
        first_cell = first_cell if len(first_cell) <= max_row_chars else cut_line(first_cell, max_row_chars)
        left_out = f"… {column - 1} cells | " if column > 1 else ""
        part = f"{first_cell} | {left_out}{part.removeprefix('| ')}"
    elif begin:
        part = f"… {part}"
    part += " …" if end < len(line) else ""
    return part if len(part) <= max_share * len(line) else line


def _join_changed_controls(earlier: str, line: str) -> str:
    """Return the changed controls of a line, such as two of a toolbar; empty for a row, or if a control is gone."""
    if " | " in line or not {*find_refs(earlier)} <= {*find_refs(line)}:
        return ""
    before, after = _split_controls(earlier), _split_controls(line)
    changed = [control for control in after if control not in before]
    # Text has no reference to show its position, neither now nor before.
    if not changed or not all(map(find_refs, changed + [control for control in before if control not in after])):
        return ""
    tails = dict(filter(None, map(_split_tail, before)))
    return " ".join(_strip_known_name(control, tails) for control in changed)


def _split_tail(control: str) -> tuple[str, str] | None:
    """Cut a control, such as `slider "Size" e5 = "30" (0–100)`, after its reference; None for other text."""
    head = re.match(rf'[a-z]+ (?:"[^"]*" |[.#]\S+ ){REF_PATTERN.pattern}(?= |$)', control)
    return (head[0], control[head.end() :]) if head else None


def _strip_known_name(control: str, tails: dict[str, str]) -> str:
    """Return a control without its name, and without an unchanged range or unchanged options."""
    parts = _split_tail(control)
    if parts is None or parts[0] not in tails:
        return control
    head, tail = parts
    before = tails[head]
    known = re.fullmatch(r' = "[^"]*"( \([^()]*\)).*', before)
    if known and (valued := re.match(r' = "[^"]*"', tail)) and tail[valued.end() :].startswith(known[1]):
        tail = valued[0] + tail[valued.end() + len(known[1]) :]
    return f"{head.partition(' ')[0]} {head.rpartition(' ')[2]}{tail}"


def _split_controls(line: str) -> list[str]:
    """Cut a line before each control; its states, and the text up to the next one, stay with it."""
    starts = [0, *(match.start() for match in ITEM_PATTERN.finditer(line)), len(line)]
    return [line[start:end].strip() for start, end in pairwise(starts)]
