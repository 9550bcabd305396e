"""Render code listings exactly, without line numbers, and detect their language."""

import re

from outrider.pages.extraction.blocks.page_blocks import (
    CELL_TAG_NUMBERS,
    PIECE_BREAK,
    PIECE_CLOSE,
    PIECE_CODE_LINE,
    PIECE_NEXT_CELL,
    PIECE_OPEN,
    TAG_NUMBERS,
    Attributes,
    InlinePiece,
    PageBlocks,
)

PRE_TAG_NUMBER, ROW_TAG_NUMBER = TAG_NUMBERS["pre"], TAG_NUMBERS["tr"]
TABLE_TAG_NUMBERS = frozenset(TAG_NUMBERS[tag] for tag in ("table", "tbody", "tr", "td", "th"))
LINE_TAG_NUMBERS = frozenset(TAG_NUMBERS[tag] for tag in ("div", "p", "li"))  # highlighters use them for lines
LANGUAGE_CLASS_PATTERN = re.compile(
    r"(?:(?<![\w-])(?:language|lang|highlight-source|highlight|hl|mw-highlight-lang|src src)[-:]|brush:\s*"
    r"|sourceCode\s+|ltx_lst_language_)([a-zA-Z][\w+#.]{0,19}(?:-[a-z]{1,10})?)"
)
LANGUAGE_NAMES = frozenset(
    "bash c clojure cmake console cpp cs csharp css dart diff dockerfile elixir erlang fortran go graphql groovy "  # noqa: SIM905
    "haskell html http ini java javascript js json julia kotlin latex lisp lua makefile markdown matlab nginx nix "
    "ocaml perl php powershell proto python py r ruby rust scala scss sh shell sql swift terraform toml ts tsx jsx "
    "clike cfg conf elm fsharp gherkin handlebars jinja jsonc less lean mdx mermaid objectivec objective-c pascal "
    "patch plsql prolog protobuf racket sass scheme solidity svelte tcl tex tsv vb vbnet verilog vhdl vue wasm wat "
    "typescript vim xml yaml yml zig zsh text plaintext".split()
)
LANGUAGE_ALIASES = {
    "c++": "cpp", "c#": "csharp", "cs": "csharp", "js": "javascript", "py": "python", "ts": "typescript", "rb": "ruby",
    "sh": "shell", "bash": "shell", "zsh": "shell", "console": "shell", "terminal": "shell", "yml": "yaml",
    "golang": "go", "rs": "rust", "objective-c": "objectivec", "objc": "objectivec", "text": "plaintext",
    "plain text": "plaintext", "txt": "plaintext", "docker": "dockerfile", "markup": "html", "f#": "fsharp",
    "python": "python", "shell": "shell", "yaml": "yaml", "javascript": "javascript", "typescript": "typescript",
    "go": "go", "rust": "rust", "ruby": "ruby", "cpp": "cpp", "csharp": "csharp", "plaintext": "plaintext",
    "html": "html", "dockerfile": "dockerfile", "objectivec": "objectivec", "fsharp": "fsharp",
}  # fmt: skip
CODE_OPENING = (PIECE_OPEN, "code")
WHITESPACE_PATTERN = re.compile(r"[ \t\r\n\f]+")
LINE_NUMBERS_PATTERN = re.compile(r"\s*(?:\d{1,5}[.:]?\s+)*\d{1,5}[.:]?\s*")
GUTTER_CLASS_PATTERN = re.compile(
    r"(?:^|[\s_-])(?:lineno|linenos|linenumber|linenumbers|line-?nums?|line-numbers?|lines-num|gutter|blob-num|hljs-ln-n\w*"
    r"|crayon-nums|pre-numbering)(?:[\s_-]|$)"
)


def detect_code_language(page: PageBlocks, pre: int) -> str:
    """Return the language that a listing or the elements around it declare, or ""."""
    language = _detect_in_attributes(page.attributes.get(pre) or {})
    if not language and pre + 1 < len(page.elements) and page.elements[pre + 1][:2] == (pre, PRE_TAG_NUMBER):
        # Some books nest a second pre to run the code.
        language = _detect_in_attributes(page.attributes.get(pre + 1) or {})
    ancestor, steps = page.elements[pre][0], 0
    while not language and ancestor >= 0 and steps < 3:
        language = _detect_in_ancestor_classes(page.names[ancestor]) if page.names[ancestor] else ""
        # A table that sets line numbers next to the code is not counted as a step.
        steps += page.elements[ancestor][1] not in TABLE_TAG_NUMBERS
        ancestor = page.elements[ancestor][0]
    return language


def _detect_in_ancestor_classes(names: str) -> str:
    match = LANGUAGE_CLASS_PATTERN.search(names)
    if language := _normalize_language(match[1]) if match else "":
        return language
    classes = names.lower().split()
    if {"highlight", "codehilite", "code", "CodeMirror"}.isdisjoint(classes):
        return ""  # a bare word names a language only next to a highlighter's class
    return next((name for name in classes if name in LANGUAGE_NAMES), "")


def _detect_in_attributes(attributes: Attributes) -> str:
    language_attributes = ("data-lang", "data-language", "data-enlighter-language", "syntax", "language")
    for name in language_attributes:
        if (value := (attributes.get(name) or "").strip()) and re.fullmatch(r"[\w+#.-]{1,20}", value):
            return _normalize_language(value)
    if (value := (attributes.get("lang") or "").lower()) in LANGUAGE_NAMES and value not in {"cs", "ts"}:
        return value  # `lang` usually holds a natural language: cs is Czech there, ts Tsonga
    names = attributes.get("class") or ""
    for match in LANGUAGE_CLASS_PATTERN.finditer(f"{names} {attributes.get('data-syntaxhighlighter-params') or ''}"):
        if language := _normalize_language(match[1]):
            return language
    return next((name for name in names.lower().split() if name in LANGUAGE_NAMES), "")


def _normalize_language(name: str) -> str:
    name = name.strip("-.").lower()
    if name.startswith("source-") or name in {
        "none", "wrapper", "container", "code", "block", "auto", "nohighlight", "default", "light", "dark", "numbers",
    }:  # fmt: skip
        return ""
    return "python" if name in {"ipython", "ipython2", "ipython3"} else name


def is_language_label(label: str, language: str) -> bool:
    """Return whether the text next to a listing only names its language."""
    label = label.lower().strip(" :")
    return bool(language) and (
        label == language or LANGUAGE_ALIASES.get(label) == LANGUAGE_ALIASES.get(language, language)
    )


def render_listing(page: PageBlocks, pre: int, blocks: list[int]) -> str:
    """Return the text of a listing, with an empty line for each element without text."""
    lines: list[str] = []
    empty_lines = _count_empty_lines(page, pre, blocks)
    for number in blocks:
        parts: list[str] = []
        needs_newline, cell = False, 0
        for piece in page.pieces[number]:
            if isinstance(piece, str):
                parts += ("\n", piece) if needs_newline and piece[0] != "\n" else (piece,)
                needs_newline = False
            elif piece[0] == PIECE_CODE_LINE:  # a new line, even where the source has none
                needs_newline = bool(parts) and parts[-1][-1:] != "\n"
            elif piece[0] == PIECE_NEXT_CELL and piece[1] >= 0:
                if GUTTER_CLASS_PATTERN.search(page.names[piece[1]]):
                    del parts[cell:]
                elif "".join(parts[cell:]):
                    parts.append("\t")
                cell = len(parts)
        lines += [""] * (empty_lines.get(number, 0) if lines else 0)
        lines.append("".join(parts).removesuffix("\t").replace("\xa0", " ").strip("\n"))
    return "\n".join(lines).rstrip()


def render_code_paragraph(pieces: list[InlinePiece]) -> str:
    """Return the source of a paragraph that is one code element with line breaks, else ""."""
    if not pieces or pieces[0] != CODE_OPENING or pieces[-1] != (PIECE_CLOSE, None):
        return ""
    lines, depth = [""], 0
    for piece in pieces[:-1]:
        if isinstance(piece, str):
            lines[-1] += (
                WHITESPACE_PATTERN.sub(" ", piece) if lines[-1] else WHITESPACE_PATTERN.sub(" ", piece).lstrip(" ")
            )
        elif piece[0] == PIECE_BREAK:
            lines.append("")
        depth += (piece[0] == PIECE_OPEN) - (piece[0] == PIECE_CLOSE)
        if not depth:
            return ""
    return "\n".join([line.replace("\xa0", " ").rstrip() for line in lines]).strip("\n") if len(lines) > 1 else ""


def _count_empty_lines(page: PageBlocks, pre: int, blocks: list[int]) -> dict[int, int]:
    """Count the elements without text right before each block."""
    counts: dict[int, int] = {}
    if len(blocks) < 2:
        return counts
    elements = page.elements
    parents = {row[0] for row in elements[pre + 1 : pre + 20_000]}
    for element in range(pre + 1, len(elements)):
        parent, tag, first = elements[element][0], elements[element][1], elements[element][5]
        if parent < pre:
            break
        is_line = tag == ROW_TAG_NUMBER or (tag in LINE_TAG_NUMBERS and element not in parents)
        if is_line and first == page.last[element] and not GUTTER_CLASS_PATTERN.search(page.names[element]):
            counts[first] = counts.get(first, 0) + 1
    return counts


def find_line_number_blocks(page: PageBlocks, chosen: list[int]) -> frozenset[int]:
    """Return the blocks that only hold the line numbers of a listing."""
    return frozenset(number for number in chosen if _is_line_number_block(page, number))


def _is_line_number_block(page: PageBlocks, number: int) -> bool:
    text = page.texts[number]
    # The short match comes first because the long one is slow on a text that only begins with numbers.
    if len(text) > 60_000 or not LINE_NUMBERS_PATTERN.fullmatch(text[:200]) or not LINE_NUMBERS_PATTERN.fullmatch(text):
        return False
    element, is_in_listing = page.rows[number][0], False
    for _ in range(4):
        if element < 0:
            return False
        tag = page.elements[element][1]
        if GUTTER_CLASS_PATTERN.search(page.names[element]):
            return True
        is_in_listing = is_in_listing or tag == PRE_TAG_NUMBER
        if tag in CELL_TAG_NUMBERS:
            return is_in_listing and _has_listing_in_row(page, element)
        element = page.elements[element][0]
    return False


def _has_listing_in_row(page: PageBlocks, cell: int) -> bool:
    """Return whether another cell of the row holds a listing."""
    row, elements = page.elements[cell][0], page.elements
    other = cell + 1
    while other < len(elements) and elements[other][0] >= row:
        if elements[other][1] == PRE_TAG_NUMBER:
            ancestor = other
            while ancestor > cell:
                ancestor = elements[ancestor][0]
            if ancestor != cell:
                return True
        other += 1
    return False
