"""Tables of LaTeX: `tabular`, `tabularx`, `longtable` and their kin as rows of cells."""

import re
from collections.abc import Callable

from outrider.pages.readers.parsing.draft import render_table

NAMES = "tabular|tabular*|tabularx|tabulary|longtable|longtabu|tabu|xltabular|supertabular|tblr|longtblr"
RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|specialrule|addlinespace|endfirsthead|endhead|endfoot|endlastfoot|noalign|"
    r"tabularnewline|cmidrule|cline|hhline|rowcolor|newpage|kill)(?![a-zA-Z])"
    r"(?:\([^()]{0,20}\))?(?:\[[^\]]{0,40}\])?(?:\{[^{}]{0,60}\})?(?:\([^()]{0,20}\))?"
)
PARTS = re.compile(r"(\\endfirsthead|\\endhead|\\endfoot|\\endlastfoot)(?![a-zA-Z])")
BOX = re.compile(
    r"\\(?:begin|end)\{(?:minipage|center|itemize|enumerate|tabular|flushleft)\}(?:\[[^\]]{0,20}\]){0,3}(?:\{[^{}]{0,60}\})?"
)
ITEM = re.compile(r"\\item(?![a-zA-Z])(?:\[[^\]]{0,100}\])?\s*")
CAPTION = re.compile(r"\\caption\*?(?:\[[^\]]{0,300}\])?\{")
SPANS = re.compile(r"\\multicolumn\{(\d{1,2})\}\{[^{}]{0,80}(?:\{[^{}]{0,60}\}[^{}]{0,40}){0,4}\}\s*\{")
DEEP = re.compile(r"\\multirow(?:\[[^\]]{0,10}\])?\{(-?\d{1,3})\}(?:\[[^\]]{0,10}\])?\{[^{}]{0,60}\}\s*\{")
END = re.compile(r"\\\\(?:\*)?(?:\[[^\]]{0,20}\])?|\\tabularnewline(?![a-zA-Z])")
ROWS, COLUMNS = 5_000, 60


def braced(text: str, start: int) -> int:
    """Where the group ends that begins before a place: behind its closing brace, or the text's end."""
    depth = 1
    at = start
    while at < len(text):
        sign = text[at]
        if sign == "\\":
            at += 1
        elif sign in "{}":
            depth += 1 if sign == "{" else -1
            if not depth:
                return at + 1
        at += 1
    return len(text)


def captioned(text: str) -> tuple[str, str]:
    """A text without its caption, and the caption."""
    found = CAPTION.search(text)
    if not found:
        return text, ""
    end = braced(text, found.end())
    return text[: found.start()] + text[end:], text[found.end() : end - 1]


def tabled(source: str, dressed: Callable[[str], str]) -> str:
    """A table as Markdown; its head is its first row.

    Args:
        source: What stands between the beginning and the end, but for the columns' kinds.
        dressed: Makes Markdown of a cell.
    """
    rows: list[list[str]] = []
    below: dict[int, tuple[int, str]] = {}  # cells that reach down: rows that are left, and the text
    for line in (RULE.sub(" ", each) for each in _split(_once(BOX.sub(" ", source)), END)[:ROWS]):
        if not line.strip():
            continue
        row = _row(line, dressed, below)
        if any(row):
            rows.append(row)
    return render_table(rows)


def _once(source: str) -> str:
    """A long table with one head and one foot: those of its first and its last page."""
    parts = PARTS.split(source)
    named = dict(zip(parts[1::2], parts[::2], strict=False))  # each mark stands behind what it names
    if not named:
        return source
    head = named.get("\\endfirsthead", named.get("\\endhead", ""))
    foot = named.get("\\endlastfoot", named.get("\\endfoot", ""))
    return f"{head}\n{parts[-1]}\n{foot}"


def _row(line: str, dressed: Callable[[str], str], below: dict[int, tuple[int, str]]) -> list[str]:
    row: list[str] = []
    for cell in _split(line, re.compile("&")):
        span, text = 1, cell.strip()
        if found := SPANS.match(text):
            span, text = int(found[1]), text[found.end() : braced(text, found.end()) - 1].strip()
        if found := DEEP.match(text):
            text = text[found.end() : braced(text, found.end()) - 1].strip()
            below[len(row)] = max(0, int(found[1]) - 1), dressed(text)
            row += [dressed(text)] * span
            continue
        left, above = below.get(len(row), (0, ""))
        if left and not text:
            below[len(row)] = left - 1, above
            row.append(above)
        else:
            words = " ".join(dressed(ITEM.sub("• ", text)).split())
            row += [words] * min(span, COLUMNS)
    return row


def _split(text: str, signs: re.Pattern[str]) -> list[str]:
    """The parts of a text between signs that stand in no group, and are not escaped."""
    parts, depth, begin, at = list[str](), 0, 0, 0
    while at < len(text):
        sign = text[at]
        if not depth and (sign in "\\&") and (found := signs.match(text, at)):
            parts.append(text[begin:at])
            begin = at = found.end()
            continue
        if sign == "\\":
            at += 2
            continue
        depth = max(0, depth + (sign == "{") - (sign == "}"))
        at += 1
    return [*parts, text[begin:]]
