"""Lay out Markdown for a terminal."""

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from outrider.cli.terminal_text import CONTROL_CHAR, Span, format_rows, measure_spans, style_line, wrap_spans

BOLD, DIM, CODE, ADDRESS = "1", "2", "36", "34"
INLINE_STYLES = {"strong": BOLD, "em": "3", "s": "9", "code_inline": CODE, "image": DIM}
MIN_WIDTH = 20


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
