"""Measure, wrap and style text for the cells of a terminal."""

import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

Span = tuple[str, str]  # a text, and the parameters of its style ("1;34": bold and blue)
WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\U0001f300-\U0001faff"
)
PIECE = re.compile(rf"\n|[^\S\n]+|[{WIDE}]|[^\s{WIDE}]+")  # lines break before and after each wide letter
CONTROL_CHAR = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BOLD, DIM, CODE, ADDRESS = "1", "2", "36", "34"
INLINE_STYLES = {"strong": BOLD, "em": "3", "s": "9", "code_inline": CODE, "image": DIM}
MIN_WIDTH = 20


def get_line_width() -> int:
    """Return the number of cells of a line of standard output; a large one if it is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000


def measure_cells(text: str) -> int:
    """Return how many cells a text takes: two for a wide letter, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(each) in ("Mn", "Me", "Cf") else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def measure_spans(spans: Iterable[Span]) -> int:
    """Return how many cells styled texts take."""
    return sum(measure_cells(text) for text, _ in spans)


def wrap_spans(spans: Iterable[Span], width: int) -> list[list[Span]]:
    """Return the lines of styled texts. A word that is longer than a line stays whole."""
    lines: list[list[Span]] = [[]]
    used = 0
    for word in _split_words(spans):
        cells, is_blank = measure_spans(word), word[0][0].isspace()
        if word[0][0] == "\n" or (used + cells > width and used and not is_blank):
            lines.append([])
            used = 0
        if not is_blank or (used and used + cells < width):
            lines[-1].extend(word)
            used += cells
    return lines


def style_line(spans: Iterable[Span]) -> str:
    """Return styled texts with terminal escape codes."""
    line = ""
    for style, group in groupby(spans, key=lambda span: span[1]):
        text = "".join(text for text, _ in group)
        line += f"\x1b[{style}m{text}\x1b[0m" if style else text
    return line.rstrip()


def format_rows(rows: Sequence[Sequence[list[Span]]], width: int, right: Sequence[bool] = ()) -> list[list[list[Span]]]:
    """Return the lines of each row of a table; cells wrap if it is too wide.

    Args:
        rows: Each row's cells. Shorter rows end early.
        width: The cells of a line.
        right: Whether the text of a column is aligned to the right.
    """
    min_cells, gap = 4, 2
    count = max(map(len, rows), default=0)
    widths = [max(min(width, measure_spans(row[at])) if at < len(row) else 0 for row in rows) for at in range(count)]
    caps = range(max(widths, default=0), min_cells, -1)
    cap = next((cap for cap in caps if sum(min(cap, each) for each in widths) + gap * (count - 1) <= width), min_cells)
    widths = [min(cap, each) for each in widths]
    formatted: list[list[list[Span]]] = []
    for row in rows:
        lines: list[list[Span]] = []
        wrapped = [wrap_spans(cell, widths[at]) for at, cell in enumerate(row)]
        for number in range(max(map(len, wrapped), default=0)):
            line: list[Span] = []
            for at, cell in enumerate(wrapped):
                spans = cell[number] if number < len(cell) else []
                padding = (" " * (widths[at] - measure_spans(spans)), "")
                line += [(" " * gap, "")] if at else []
                line += [padding, *spans] if at < len(right) and right[at] else [*spans, padding]
            lines.append(line)
        formatted.append(lines)
    return formatted


def _split_words(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Yield words, which may consist of several spans, blanks, wide letters and line breaks."""
    word: list[Span] = []
    for text, style in spans:
        for piece in PIECE.findall(text):
            if not piece[0].isspace() and measure_cells(piece[0]) < 2:
                word.append((piece, style))
                continue
            if word:
                yield word
                word = []
            yield [(piece, style)]
    if word:
        yield word


def format_markdown(text: str, width: int) -> str:
    """Return Markdown as styled lines without control characters of its own."""
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable(["table", "strikethrough"])
    root = SyntaxTreeNode(parser.parse(CONTROL_CHAR.sub("", text)))
    return "\n".join(map(style_line, _format_blocks(root.children, max(width, MIN_WIDTH))))


def _format_blocks(nodes: list[SyntaxTreeNode], width: int, *, tight: bool = False) -> list[list[Span]]:
    lines: list[list[Span]] = []
    for node in nodes:
        if lines and not tight:
            lines.append([])
        lines += _format_block(node, max(width, MIN_WIDTH))
    return lines


def _format_block(node: SyntaxTreeNode, width: int) -> list[list[Span]]:
    if node.type in ("bullet_list", "ordered_list"):
        return _format_list(node, width)
    if node.type == "table":
        return _format_table(node, width)
    if node.type == "blockquote":
        return [[("▌ ", DIM), *line] for line in _format_blocks(node.children, width - 2)]
    if node.type in ("fence", "code_block"):
        return [[("    ", ""), (line, CODE)] for line in node.content.rstrip("\n").expandtabs(4).split("\n")]
    if node.type == "hr":
        spans = [("─" * width, DIM)]
    elif node.type == "html_block":
        spans = [(node.content.strip(), "")]
    else:
        heading_styles = {"h1": f"{BOLD};4", "h2": f"{BOLD};4"}
        spans = _collect_spans(node, heading_styles.get(node.tag, BOLD if node.type == "heading" else ""))
    return wrap_spans(spans, width)


def _format_list(node: SyntaxTreeNode, width: int) -> list[list[Span]]:
    lines: list[list[Span]] = []
    first = int(node.attrs.get("start", 1))
    tight = all(child.hidden for item in node.children for child in item.children if child.type == "paragraph")
    for number, item in enumerate(node.children, first):
        marker = f"{number}. " if node.type == "ordered_list" else "• "
        blocks = _format_blocks(item.children, width - len(marker), tight=tight) or [[]]
        if lines and not tight:
            lines.append([])
        for at, line in enumerate(blocks):
            lines.append([(" " * len(marker) if at else marker, BOLD if not at else ""), *line])
    return lines


def _format_table(node: SyntaxTreeNode, width: int) -> list[list[Span]]:
    rows = [row for part in node.children for row in part.children]
    cells = [[_collect_spans(cell, BOLD if cell.type == "th" else "") for cell in row.children] for row in rows]
    right = ["right" in str(cell.attrs.get("style", "")) for cell in rows[0].children]
    head, *body = format_rows(cells, width, right)
    rule = [("─" * max(map(measure_spans, head)), DIM)]
    return [*head, rule, *(line for lines in body for line in lines)]


def _collect_spans(node: SyntaxTreeNode, style: str = "") -> list[Span]:
    """Return the texts below a node with their styles."""
    spans: list[Span] = []
    for child in node.children:
        combined = ";".join(filter(None, (style, INLINE_STYLES.get(child.type, ""))))
        if child.type in ("text", "code_inline", "html_inline"):
            spans.append((child.content, combined))
        elif child.type in ("softbreak", "hardbreak"):
            spans.append((" " if child.type == "softbreak" else "\n", ""))
        else:
            spans += _collect_spans(child, combined)
        href = str(child.attrs.get("href", "")) if child.type == "link" else ""
        if href and not any(text == href for text, _ in spans[-1:]):
            spans += [(" (", style), (href, ADDRESS), (")", style)]
    return spans
