"""Plain text, Markdown, source code, and tables of comma-separated values."""

import csv
import io
import re

from outrider.pages.document import Document, line_of, plain, tidy
from outrider.pages.reader import Reader, Source
from outrider.pages.sniff import suffix_of

LANGUAGES = {
    ".c": "c", ".cc": "cpp", ".cpp": "cpp", ".cs": "csharp", ".css": "css", ".ex": "elixir", ".go": "go", ".h": "c",
    ".hs": "haskell", ".java": "java", ".js": "javascript", ".jsx": "jsx", ".kt": "kotlin", ".lua": "lua",
    ".mjs": "javascript", ".php": "php", ".pl": "perl", ".ps1": "powershell", ".py": "python", ".r": "r", ".rb": "ruby",
    ".rs": "rust", ".scala": "scala", ".sh": "bash", ".sql": "sql", ".swift": "swift", ".toml": "toml",
    ".ts": "typescript",    ".tsx": "tsx", ".yaml": "yaml", ".yml": "yaml", ".zig": "zig",
}  # fmt: skip
TYPES = {
    "text/css": "css", "text/javascript": "javascript", "application/javascript": "javascript",
    "text/x-python": "python", "application/x-sh": "bash", "text/x-c": "c", "application/toml": "toml",
    "application/yaml": "yaml",
    "application/x-yaml": "yaml", "text/yaml": "yaml", "application/sql": "sql", "application/x-httpd-php": "php",
    "application/typescript": "typescript", "application/x-javascript": "javascript",
    "application/ecmascript": "javascript",
}  # fmt: skip
TABLE_ROWS = 5_000
TABLE_COLUMNS = 60
HEADING = re.compile(r"^#{1,2} +(.{1,300}?) *#*$", re.MULTILINE)
FRONT = re.compile(r"\A---\n(?:.*\n){0,100}?---\n")


def read_text(source: Source) -> Document:
    """Text as it is; source code in a fence that names its language."""
    text = tidy(source.text)
    language = LANGUAGES.get(suffix_of(source.url)) or TYPES.get(source.content_type, "")
    return Document(fenced(text, language) if language else text, text, kind="text")


def read_markdown(source: Source) -> Document:
    """Markdown as it is, titled by its first heading."""
    text = tidy(source.text)
    found = HEADING.search(FRONT.sub("", text[:20_000]))
    return Document(text, plain(text), title=line_of(found[1]) if found else "", kind="text")


def read_table(source: Source) -> Document:
    """Separated values as a Markdown table; as they are, where they make none."""
    text = tidy(source.text)
    rows = _rows(text, "\t" if "tab" in source.content_type else None)
    if not rows:
        return Document(text, text, kind="text")
    cells = [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in cells]
    markdown = "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
    return Document(markdown, text, kind="text", tables=[rows], metadata={"rows": len(rows) - 1})


def fenced(text: str, language: str) -> str:
    """A code block, its fence longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def _rows(text: str, delimiter: str | None) -> list[list[str]]:
    """The rows, all as long as the first; none if there are too many or they do not fit together."""
    first = text.split("\n", 1)[0]
    delimiter = delimiter or max(",;\t|", key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text), delimiter=delimiter) if row]
    except csv.Error:
        return []
    width = len(rows[0]) if rows else 0
    fits = 2 <= width <= TABLE_COLUMNS and 2 <= len(rows) <= TABLE_ROWS and all(len(row) <= width for row in rows)
    return [row + [""] * (width - len(row)) for row in rows] if fits else []


markdown = Reader("markdown", ("text/markdown", "text/x-markdown"), read_markdown, suffixes=(".md", ".markdown"))
table = Reader("table", ("text/csv", "text/tab-separated-values"), read_table, suffixes=(".csv", ".tsv"))
text = Reader("text", ("text/plain", *TYPES, "text/x-*"), read_text, suffixes=tuple(LANGUAGES), rank=90)
