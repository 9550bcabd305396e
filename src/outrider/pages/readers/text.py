"""Plain text, Markdown and source code."""

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


def fenced(text: str, language: str) -> str:
    """A code block, its fence longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


markdown = Reader("markdown", ("text/markdown", "text/x-markdown"), read_markdown, suffixes=(".md", ".markdown"))
text = Reader("text", ("text/plain", *TYPES, "text/x-*"), read_text, suffixes=tuple(LANGUAGES), rank=90)
