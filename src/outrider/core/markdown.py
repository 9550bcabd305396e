"""Cut Markdown into well-formed pieces: code keeps its fence, table rows keep their heading."""

import re
from dataclasses import dataclass

from outrider.core.text import TextSlice, cut_text

CODE_FENCE = re.compile(r"^([ \t>]{0,40})(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^`\n]{0,100})$", re.MULTILINE)
TABLE_RULE = re.compile(r"^[ \t>]{0,40}\|(?: *:?-{3,}:? *\|)+[ \t]*$", re.MULTILINE)


@dataclass(frozen=True)
class MarkdownFrame:
    """Text before and after a piece that makes it well-formed; each may be empty."""

    before: str = ""
    after: str = ""

    def wrap(self, piece: str) -> str:
        """Return the piece in its frame."""
        return f"{self.before}{piece}{self.after}"


def find_markdown_frame(markdown: str, start: int, end: int) -> MarkdownFrame:
    """Return the frame of `markdown[start:end]`: the code fence or the table heading that it is in."""
    fence_at_start = _find_open_fence(markdown, start)
    fence_at_end = _find_open_fence(markdown, end)
    before = f"{fence_at_start.group(0).strip()}\n" if fence_at_start else _find_table_heading(markdown, start)
    if not fence_at_end:
        return MarkdownFrame(before)
    line_end = "" if markdown[max(start, end - 1) : end] == "\n" else "\n"
    # A repeated opening fence is not indented, so its closing fence is not either.
    indent = fence_at_end[1] if not fence_at_start else ""
    return MarkdownFrame(before, f"{line_end}{indent}{fence_at_end[2]}")


def find_code_blocks(markdown: str) -> list[tuple[int, int]]:
    """Return start and end of each fenced code block, of the first 50,000; an unclosed one extends to the end."""
    max_blocks = 50_000
    blocks: list[tuple[int, int]] = []
    opening: re.Match[str] | None = None
    for line in CODE_FENCE.finditer(markdown):
        if opening is None:
            opening = line
        elif _is_closing_fence(line, opening):
            blocks.append((opening.start(), line.end()))
            opening = None
            if len(blocks) == max_blocks:
                break
    return [*blocks, (opening.start(), len(markdown))] if opening else blocks


def _is_closing_fence(line: re.Match[str], opening: re.Match[str]) -> bool:
    return line[2].startswith(opening[2]) and not line[3].strip()


def cut_markdown(markdown: str, limit: int, offset: int = 0) -> tuple[TextSlice, str]:
    """Cut Markdown, and return the piece plain and in its frame.

    Both have at most `limit` characters; see `cut_text`.

    Pieces join to the whole text; their frames do not count for offsets. A frame that would take more than half of the
    limit is left out.
    """
    piece = cut_text(markdown, limit, offset)
    frame = find_markdown_frame(markdown, piece.offset, piece.offset + len(piece.text))
    piece_limit = limit - len(frame.before) - len(frame.after)
    if piece_limit * 2 < limit:
        return piece, piece.text
    while len(frame.wrap(piece.text)) > limit and piece_limit * 2 >= limit:
        piece = cut_text(markdown, piece_limit, offset)
        frame = find_markdown_frame(markdown, piece.offset, piece.offset + len(piece.text))
        piece_limit -= 8  # the shorter piece may have a longer frame
    framed = frame.wrap(piece.text)
    return (piece, framed) if len(framed) <= limit else (piece, piece.text)


def _find_open_fence(markdown: str, offset: int) -> re.Match[str] | None:
    """Return the line that opened the code block around an offset, if there is one."""
    opening: re.Match[str] | None = None
    if markdown.find("```", 0, offset) < 0 and markdown.find("~~~", 0, offset) < 0:
        return None
    for line in CODE_FENCE.finditer(markdown, 0, offset):
        if line.end() >= offset and offset < len(markdown) and markdown[offset - 1 : offset] != "\n":
            break  # the offset is inside this line
        if opening is None:
            opening = line
        elif _is_closing_fence(line, opening):
            opening = None
    return opening


def _find_table_heading(markdown: str, offset: int, max_heading_chars: int = 600) -> str:
    """Return header and rule of the table that an offset continues.

    It is an empty string outside tables.
    """
    if not 0 < offset < len(markdown) or markdown[offset - 1] != "\n":
        return ""
    if not markdown[offset:].lstrip(" \t>").startswith("|"):
        return ""
    block_start = markdown.rfind("\n\n", 0, offset) + 2 if "\n\n" in markdown[:offset] else 0
    rule = TABLE_RULE.search(markdown, block_start, offset)
    if rule is None:
        return ""
    heading = markdown[markdown.rfind("\n", 0, max(rule.start() - 1, 0)) + 1 : rule.end()].strip("\n")
    return f"{heading}\n" if len(heading) <= max_heading_chars and rule.end() < offset else ""
