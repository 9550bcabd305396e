"""Listings: their exact text, without the numbers of lines, and the language that they are in."""

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
LINE_TAG_NUMBERS = frozenset(
    TAG_NUMBERS[tag] for tag in ("div", "p", "li")
)  # elements of which highlighters make lines
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
NATURAL_LANGUAGE_CODES = frozenset({"cs", "ts"})  # Czech and Tsonga: in an element's `lang` that is what they mean
NON_LANGUAGE_WORDS = frozenset(
    {"none", "wrapper", "container", "code", "block", "auto", "nohighlight", "default", "light", "dark", "numbers"}
)
IPYTHON_LANGUAGES = {"ipython": "python", "ipython2": "python", "ipython3": "python"}
LANGUAGE_ALIASES = {  # as labels and abbreviations have them
    "c++": "cpp", "c#": "csharp", "cs": "csharp", "js": "javascript", "py": "python", "ts": "typescript", "rb": "ruby",
    "sh": "shell", "bash": "shell", "zsh": "shell", "console": "shell", "terminal": "shell", "yml": "yaml",
    "golang": "go", "rs": "rust", "objective-c": "objectivec", "objc": "objectivec", "text": "plaintext",
    "plain text": "plaintext", "txt": "plaintext", "docker": "dockerfile", "markup": "html", "f#": "fsharp",
    "python": "python", "shell": "shell", "yaml": "yaml", "javascript": "javascript", "typescript": "typescript",
    "go": "go", "rust": "rust", "ruby": "ruby", "cpp": "cpp", "csharp": "csharp", "plaintext": "plaintext",
    "html": "html", "dockerfile": "dockerfile", "objectivec": "objectivec", "fsharp": "fsharp",
}  # fmt: skip
HIGHLIGHTER_CLASSES = frozenset(
    {"highlight", "codehilite", "code", "CodeMirror"}
)  # beside which a class names a language
CODE_OPENING = (PIECE_OPEN, "code")
WHITESPACE_PATTERN = re.compile(r"[ \t\r\n\f]+")
LINE_NUMBERS_PATTERN = re.compile(r"\s*(?:\d{1,5}[.:]?\s+)*\d{1,5}[.:]?\s*")
GUTTER_CLASS_PATTERN = re.compile(
    r"(?:^|[\s_-])(?:lineno|linenos|linenumber|linenumbers|line-?nums?|line-numbers?|lines-num|gutter|blob-num|hljs-ln-n\w*"
    r"|crayon-nums|pre-numbering)(?:[\s_-]|$)"
)


def detect_code_language(page: PageBlocks, pre: int) -> str:
    """The language of a listing as its own attributes, or those of the elements around it, name it."""
    found = _detect_in_attributes(page.attributes.get(pre) or {})
    if not found and pre + 1 < len(page.elements) and page.elements[pre + 1][:2] == (pre, PRE_TAG_NUMBER):
        found = _detect_in_attributes(
            page.attributes.get(pre + 1) or {}
        )  # which some books set in another one, to run it
    at, steps = page.elements[pre][0], 0
    while not found and at >= 0 and steps < 3:
        found = _detect_in_ancestor_classes(page.names[at]) if page.names[at] else ""
        steps += page.elements[at][1] not in TABLE_TAG_NUMBERS  # of a table that sets numbers beside lines
        at = page.elements[at][0]
    return found


def _detect_in_ancestor_classes(names: str) -> str:
    """The language that classes of an element around a listing name."""
    match = LANGUAGE_CLASS_PATTERN.search(names)
    if found := _normalize_language(match[1]) if match else "":
        return found
    each = names.lower().split()
    return "" if HIGHLIGHTER_CLASSES.isdisjoint(each) else next((name for name in each if name in LANGUAGE_NAMES), "")


def _detect_in_attributes(given: Attributes) -> str:
    language_attributes = ("data-lang", "data-language", "data-enlighter-language", "syntax", "language")
    for name in language_attributes:
        if (value := (given.get(name) or "").strip()) and re.fullmatch(r"[\w+#.-]{1,20}", value):
            return _normalize_language(value)
    if (value := (given.get("lang") or "").lower()) in LANGUAGE_NAMES and value not in NATURAL_LANGUAGE_CODES:
        return value
    names = given.get("class") or ""
    for match in LANGUAGE_CLASS_PATTERN.finditer(f"{names} {given.get('data-syntaxhighlighter-params') or ''}"):
        if found := _normalize_language(match[1]):
            return found
    return next((name for name in names.lower().split() if name in LANGUAGE_NAMES), "")


def _normalize_language(name: str) -> str:
    name = name.strip("-.").lower()
    return "" if name in NON_LANGUAGE_WORDS or name.startswith("source-") else IPYTHON_LANGUAGES.get(name, name)


def is_language_label(label: str, language: str) -> bool:
    """Whether the words above or below a listing are no more than the language that it is in."""
    label = label.lower().strip(" :")
    return bool(language) and (
        label == language or LANGUAGE_ALIASES.get(label) == LANGUAGE_ALIASES.get(language, language)
    )


def render_listing(page: PageBlocks, pre: int, blocks: list[int]) -> str:
    """The text of a listing's blocks: each a line or more, with the empty lines that elements of their own make."""
    lines: list[str] = []
    empty = _count_empty_lines(page, pre, blocks)
    for number in blocks:
        lines += [""] * (empty.get(number, 0) if lines else 0)
        lines.append(_join_code_pieces(page, page.pieces[number]).strip("\n"))
    return "\n".join(lines).rstrip()


def _join_code_pieces(page: PageBlocks, pieces: list[InlinePiece]) -> str:
    """The text of a block; elements that are lines stand in lines of their own, whether the source breaks or not.

    Of the row of a table, the text of its cells but those that number lines.
    """
    out: list[str] = []
    due, cell = False, 0
    for piece in pieces:
        if isinstance(piece, str):
            out += ("\n", piece) if due and piece[0] != "\n" else (piece,)
            due = False
        elif piece[0] == PIECE_CODE_LINE:
            due = bool(out) and out[-1][-1:] != "\n"
        elif piece[0] == PIECE_NEXT_CELL and piece[1] >= 0:
            if GUTTER_CLASS_PATTERN.search(page.names[piece[1]]):
                del out[cell:]
            elif "".join(out[cell:]):
                out.append("\t")
            cell = len(out)
    return "".join(out).removesuffix("\t").replace("\xa0", " ")


def render_code_paragraph(pieces: list[InlinePiece]) -> str:
    """The source of a paragraph that is one piece of code with line breaks; empty for any other."""
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
    """How many elements without text stand right before each block."""
    found: dict[int, int] = {}
    if len(blocks) < 2:
        return found
    elements = page.elements
    parents = {row[0] for row in elements[pre + 1 : pre + 20_000]}
    for at in range(pre + 1, len(elements)):
        parent, tag, first = elements[at][0], elements[at][1], elements[at][5]
        if parent < pre:
            break
        is_line = tag == ROW_TAG_NUMBER or (tag in LINE_TAG_NUMBERS and at not in parents)
        if is_line and first == page.last[at] and not GUTTER_CLASS_PATTERN.search(page.names[at]):
            found[first] = found.get(first, 0) + 1
    return found


def find_line_number_blocks(page: PageBlocks, chosen: list[int]) -> frozenset[int]:
    """The blocks that hold nothing but the numbers of a listing's lines."""
    return frozenset(number for number in chosen if _is_line_number_block(page, number))


def _is_line_number_block(page: PageBlocks, number: int) -> bool:
    text = page.texts[number]
    if len(text) > 60_000 or not LINE_NUMBERS_PATTERN.fullmatch(text[:200]) or not LINE_NUMBERS_PATTERN.fullmatch(text):
        return False
    at, inside = page.rows[number][0], False
    for _ in range(4):
        if at < 0:
            return False
        tag = page.elements[at][1]
        if GUTTER_CLASS_PATTERN.search(page.names[at]):
            return True
        inside = inside or tag == PRE_TAG_NUMBER
        if tag in CELL_TAG_NUMBERS:
            return inside and _has_listing_in_row(page, at)
        at = page.elements[at][0]
    return False


def _has_listing_in_row(page: PageBlocks, cell: int) -> bool:
    """Whether another cell of the row holds a listing."""
    row, elements = page.elements[cell][0], page.elements
    at = cell + 1
    while at < len(elements) and elements[at][0] >= row:
        if elements[at][1] == PRE_TAG_NUMBER and not _is_descendant(page, at, cell):
            return True
        at += 1
    return False


def _is_descendant(page: PageBlocks, element: int, above: int) -> bool:
    while element > above:
        element = page.elements[element][0]
    return element == above
