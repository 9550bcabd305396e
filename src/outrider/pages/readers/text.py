"""Plain text, Markdown and source code."""

import re
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from outrider.pages.address import absolute
from outrider.pages.document import Document, Link, line_of, plain, tidy
from outrider.pages.reader import Reader, Source
from outrider.pages.sniffing.sniff import suffix_of

LANGUAGES = {
    ".bash": "bash", ".bat": "batch", ".c": "c", ".cc": "cpp", ".cfg": "ini", ".clj": "clojure", ".cmake": "cmake",
    ".conf": "ini", ".cpp": "cpp", ".cs": "csharp", ".css": "css", ".cu": "cpp", ".cxx": "cpp", ".dart": "dart",
    ".diff": "diff", ".erl": "erlang", ".ex": "elixir", ".exs": "elixir", ".f90": "fortran", ".fs": "fsharp",
    ".go": "go", ".gradle": "groovy", ".graphql": "graphql", ".groovy": "groovy", ".h": "c", ".hpp": "cpp",
    ".hs": "haskell", ".ini": "ini", ".java": "java", ".jl": "julia", ".js": "javascript", ".jsx": "jsx",
    ".kt": "kotlin", ".kts": "kotlin", ".less": "less", ".lisp": "lisp", ".lua": "lua", ".m": "matlab",
    ".mjs": "javascript", ".ml": "ocaml", ".nim": "nim", ".patch": "diff", ".php": "php", ".pl": "perl",
    ".pm": "perl", ".properties": "properties", ".proto": "protobuf", ".ps1": "powershell", ".py": "python",
    ".pyi": "python", ".r": "r", ".rb": "ruby", ".rs": "rust", ".sass": "sass", ".scala": "scala", ".scss": "scss",
    ".sh": "bash", ".sol": "solidity", ".sql": "sql", ".svelte": "svelte", ".swift": "swift", ".tf": "hcl",
    ".toml": "toml", ".ts": "typescript", ".tsx": "tsx", ".v": "verilog", ".vb": "vb", ".vhdl": "vhdl", ".vim": "vim",
    ".vue": "vue", ".yaml": "yaml", ".yml": "yaml", ".zig": "zig", ".zsh": "bash",
}  # fmt: skip
NAMES = {"dockerfile": "dockerfile", "makefile": "makefile", "cmakelists.txt": "cmake", "jenkinsfile": "groovy"}
TYPES = {
    "text/css": "css", "text/javascript": "javascript", "application/javascript": "javascript",
    "text/x-python": "python", "application/x-sh": "bash", "text/x-c": "c", "application/toml": "toml",
    "application/yaml": "yaml",
    "application/x-yaml": "yaml", "text/yaml": "yaml", "application/sql": "sql", "application/x-httpd-php": "php",
    "application/typescript": "typescript", "application/x-javascript": "javascript",
    "application/ecmascript": "javascript",
}  # fmt: skip
HEADING = re.compile(r"^#{1,2} +(.{1,300}?) *#*$|^(\S.{0,300}?) *\n={3,} *$", re.MULTILINE)
FRONT = re.compile(r"\A---\n((?:.*\n){0,100}?)(?:---|\.\.\.)\n")
FACT = re.compile(
    r"""^(title|author|date|description|lang):[ \t]*(?!["']?[|>\[])["']?(.{1,300}?)["']?[ \t]*$""", re.MULTILINE
)
LINK = re.compile(
    r"(!?)\[([^\[\]\n]{0,300})\]\(\s*<?([^()\s<>]{1,2000}(?:\([^()\s]{0,200}\)[^()\s<>]{0,500})?)>?[^()\n]{0,300}\)"
)
LINKS = 5_000
REST = "(the rest of this document was not read: it is longer than the limit)"


def read_text(source: Source) -> Document:
    """Text as it is; source code in a fence that names its language."""
    text = tidy(source.text)
    name = PurePosixPath(urlsplit(source.url).path).name.lower()
    language = LANGUAGES.get(suffix_of(source.url)) or NAMES.get(name) or TYPES.get(source.content_type, "")
    return ended(Document(fenced(text, language) if language else text, text, kind="text"), source)


def read_markdown(source: Source) -> Document:
    """Markdown as it is, with what its front matter says; titled by that or by its first heading."""
    text = tidy(source.text)
    front = FRONT.match(text[:20_000])
    facts = {name: line_of(value) for name, value in FACT.findall(front[1])} if front else {}
    found = HEADING.search(text[front.end() if front else 0 :][:20_000])
    title = facts.get("title") or (line_of(found[1] or found[2]) if found else "")
    document = Document(
        text, plain(text), title=title, author=facts.get("author", ""), published=facts.get("date", "")[:40],
        description=facts.get("description", ""), language=facts.get("lang", "")[:20], kind="text",
        links=linked(text, source.url),
    )  # fmt: skip
    return ended(document, source)


def linked(text: str, url: str) -> list[Link]:
    """Where the text leads, each address once."""
    found: dict[str, Link] = {}
    for each in islice(LINK.finditer(text), 4 * LINKS):
        picture, words, target = each.groups()
        address = absolute(target, url)
        if address and not picture and len(found) < LINKS:
            found.setdefault(address, Link(line_of(words, 300), address))
    return list(found.values())


def ended(document: Document, source: Source) -> Document:
    """The document; it says so where the source is longer than what was read of it."""
    if not source.cut:
        return document
    markdown, text = f"{document.markdown}\n\n{REST}", f"{document.text}\n\n{REST}"
    return replace(document, markdown=markdown, text=text, metadata=document.metadata | {"cut": True})


def fenced(text: str, language: str) -> str:
    """A code block, its fence longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


markdown = Reader("markdown", ("text/markdown", "text/x-markdown"), read_markdown, suffixes=(".md", ".markdown"))
text = Reader("text", ("text/plain", *TYPES, "text/x-*"), read_text, suffixes=tuple(LANGUAGES), rank=90)
