"""Read plain text, Markdown and source code."""

import re
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from outrider.pages.document import Document, DocumentLink, strip_markdown, tidy_text, to_single_line
from outrider.pages.mime.sniff import get_suffix
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.urls import resolve_url

SUFFIX_LANGUAGES = {
    ".bash": "bash", ".bat": "batch", ".c": "c", ".cc": "cpp", ".cfg": "ini", ".clj": "clojure", ".cmake": "cmake",
    ".conf": "ini", ".cpp": "cpp", ".cs": "csharp", ".css": "css", ".cu": "cpp", ".cxx": "cpp", ".dart": "dart",
    ".diff": "diff", ".erl": "erlang", ".ex": "elixir", ".exs": "elixir", ".f90": "fortran", ".fs": "fsharp",
    ".go": "go", ".gradle": "groovy", ".graphql": "graphql", ".groovy": "groovy", ".h": "c", ".hpp": "cpp",
    ".hs": "haskell", ".ini": "ini", ".java": "java", ".jl": "julia", ".js": "javascript", ".jsx": "jsx",
    ".kt": "kotlin", ".kts": "kotlin", ".less": "less", ".lisp": "lisp", ".lua": "lua", ".m": "matlab",
    ".mjs": "javascript", ".ml": "ocaml", ".nim": "nim", ".patch": "diff", ".php": "php", ".pl": "perl",
    ".pm": "perl", ".properties": "properties", ".proto": "protobuf", ".ps1": "powershell", ".py": "python",
    ".pyi": "python", ".r": "r", ".rb": "ruby", ".rs": "rust", ".sass": "sass", ".scala": "scala", ".scss": "scss",
    ".sh": "bash", ".sol": "solidity", ".sql": "sql", ".svelte": "svelte", ".swift": "swift", ".tex": "latex",
    ".tf": "hcl", ".toml": "toml", ".ts": "typescript", ".tsx": "tsx", ".v": "verilog", ".vb": "vb", ".vhdl": "vhdl",
    ".vim": "vim", ".vue": "vue", ".yaml": "yaml", ".yml": "yaml", ".zig": "zig", ".zsh": "bash",
}  # fmt: skip
TYPE_LANGUAGES = {
    "text/css": "css", "text/javascript": "javascript", "application/javascript": "javascript",
    "text/x-tex": "latex", "text/x-latex": "latex", "application/x-tex": "latex", "application/x-latex": "latex",
    "text/x-python": "python", "application/x-sh": "bash", "text/x-c": "c", "application/toml": "toml",
    "application/yaml": "yaml",
    "application/x-yaml": "yaml", "text/yaml": "yaml", "application/sql": "sql", "application/x-httpd-php": "php",
    "application/typescript": "typescript", "application/x-javascript": "javascript",
    "application/ecmascript": "javascript",
}  # fmt: skip
MARKDOWN_TITLE = re.compile(r"^#{1,2} +(.{1,300}?) *#*$|^(\S.{0,300}?) *\n={3,} *$", re.MULTILINE)
FRONT_MATTER = re.compile(r"\A---\n((?:.*\n){0,100}?)(?:---|\.\.\.)\n")
FRONT_MATTER_FACT = re.compile(
    r"""^(title|author|date|description|lang):[ \t]*(?!["']?[|>\[])["']?(.{1,300}?)["']?[ \t]*$""", re.MULTILINE
)
MARKDOWN_LINK = re.compile(
    r"(!?)\[([^\[\]\n]{0,300})\]\(\s*<?([^()\s<>]{1,2000}(?:\([^()\s]{0,200}\)[^()\s<>]{0,500})?)>?[^()\n]{0,300}\)"
)


def read_text(source: ReaderInput) -> Document:
    """Return text unchanged; source code goes into a fence that names its language. Never raises."""
    name_languages = {
        "dockerfile": "dockerfile",
        "makefile": "makefile",
        "cmakelists.txt": "cmake",
        "jenkinsfile": "groovy",
    }
    text = tidy_text(source.text)
    name = PurePosixPath(urlsplit(source.url).path).name.lower()
    language = (
        SUFFIX_LANGUAGES.get(get_suffix(source.url))
        or name_languages.get(name)
        or TYPE_LANGUAGES.get(source.content_type, "")
    )
    return mark_cut(Document(format_code_block(text, language) if language else text, text, kind="text"), source)


def read_markdown(source: ReaderInput) -> Document:
    """Return Markdown unchanged, with the facts of its front matter. Never raises.

    The title is that of the front matter, else the first heading.
    """
    text = tidy_text(source.text)
    front = FRONT_MATTER.match(text[:20_000])
    facts = {name: to_single_line(value) for name, value in FRONT_MATTER_FACT.findall(front[1])} if front else {}
    heading = MARKDOWN_TITLE.search(text[front.end() if front else 0 :][:20_000])
    title = facts.get("title") or (to_single_line(heading[1] or heading[2]) if heading else "")
    document = Document(
        text, strip_markdown(text), title=title, author=facts.get("author", ""), published=facts.get("date", "")[:40],
        description=facts.get("description", ""), language=facts.get("lang", "")[:20], kind="text",
        links=collect_links(text, source.url),
    )  # fmt: skip
    return mark_cut(document, source)


def collect_links(text: str, url: str) -> list[DocumentLink]:
    """Return the links of a Markdown text, each URL once."""
    max_links = 5_000
    links: dict[str, DocumentLink] = {}
    # Bounded attempts too: a hostile text may consist of links that resolve to nothing.
    for match in islice(MARKDOWN_LINK.finditer(text), 4 * max_links):
        is_picture, label, target = match.groups()
        resolved = resolve_url(target, url)
        if resolved and not is_picture and len(links) < max_links:
            links.setdefault(resolved, DocumentLink(to_single_line(label, 300), resolved))
    return list(links.values())


def mark_cut(document: Document, source: ReaderInput) -> Document:
    """Append a notice to the document if its source was read only in part."""
    cut_notice = "(the rest of this document was not read: it is longer than the limit)"
    if not source.is_cut:
        return document
    markdown, text = f"{document.markdown}\n\n{cut_notice}", f"{document.text}\n\n{cut_notice}"
    return replace(document, markdown=markdown, text=text, metadata=document.metadata | {"cut": True})


def format_code_block(text: str, language: str) -> str:
    """Return a fenced code block whose fence is longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`{3,}", text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


markdown_reader = DocumentReader(
    "markdown", ("text/markdown", "text/x-markdown"), read_markdown, suffixes=(".md", ".markdown")
)
text_reader = DocumentReader(
    "text", ("text/plain", *TYPE_LANGUAGES, "text/x-*"), read_text, suffixes=tuple(SUFFIX_LANGUAGES), rank=90
)
