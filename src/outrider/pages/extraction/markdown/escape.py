"""Escape accidental markup with as few backslashes as possible."""

import re

MARKUP_CHAR = re.compile(r"[*_`<~\[\]&\\]")
STAR_PAIR = re.compile(r"\*(?=[^\s*])[^*]*[^\s*]\*")
OPENING_UNDERSCORE, CLOSING_UNDERSCORE = re.compile(r"(?<!\w)_{1,2}(?=[^\s_])"), re.compile(r"(?<=[^\s_])_{1,2}(?!\w)")
UNDERSCORE_EDGE = re.compile(r"(?<!\w)__(?=[^\s_])|(?<=[^\s_])__(?!\w)|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)")
BRACKET_PAIR = re.compile(r"\\.|([\[\]])")
TAG_START = re.compile(r"<(?=[A-Za-z/!?])")
ENTITY_START = re.compile(r"&(?=#?\w{1,31};)")
LINK_BRACKET = re.compile(r"(?<=\])\(|\[(?=\^)")  # of links and footnote marks
ESCAPING_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
TEX_FORMULA = re.compile(  # in plain text, where MathJax and KaTeX find it
    r"\$\$?(?=[^\s$])[^$]*[^\s$]\$\$?(?!\d)|\\\((?:[^\\]|\\(?![()]))+\\\)|\\\[(?:[^\\]|\\(?![\[\]]))+\\\]"
)
TABLE_RULE = r"\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$"  # below a table's header
BLOCK_START = re.compile(
    TABLE_RULE + r"|(#{1,6}|[-+*]|>)(?=\s|$)|>(?=\S)|`{3,}[^`]*$|~{3}|([-*_=])(?:[ \t]*\2){2,}[ \t]*$"
)
BLOCK_START_CHARS = frozenset("#|:-+*>`~_=0123456789[")
LINK_DEFINITION = re.compile(r"\[[^\[\]]{1,200}\]:")
CLOSING_HASHES = re.compile(r"(?<=\s)(#+)$")
ORDERED_ITEM = re.compile(r"([0-9]{1,9})([.)])(?=\s|$)")


def escape_text(text: str) -> str:
    """Escape characters that pair up to emphasis, code, links or tags. Formulas stay unchanged."""
    if "\\" not in text and "$" not in text:
        return _escape_inline(text)
    if not MARKUP_CHAR.search(text):
        return text
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return text if "\\begin{" in text else _escape_inline(text)
    parts, at = list[str](), 0
    for formula in TEX_FORMULA.finditer(text):
        parts += (_escape_inline(text[at : formula.start()]), formula[0])
        at = formula.end()
    return "".join([*parts, _escape_inline(text[at:])])


def _escape_inline(text: str) -> str:
    if "\\" in text:
        text = ESCAPING_BACKSLASH.sub(r"\\\\", text)
    if "<" in text:
        text = TAG_START.sub(r"\\<", text)
    if "&" in text:
        text = ENTITY_START.sub(r"\\&", text)
    if "*" in text and STAR_PAIR.search(text):
        text = text.replace("*", "\\*")
    if "_" in text and (opening := OPENING_UNDERSCORE.search(text)) and CLOSING_UNDERSCORE.search(text, opening.end()):
        text = UNDERSCORE_EDGE.sub(lambda match: "\\_" * len(match[0]), text)
    if "`" in text and text.count("`") > 1:
        text = text.replace("`", "\\`")
    if "~" in text and text.count("~~") > 1:
        text = text.replace("~~", "\\~~")
    return LINK_BRACKET.sub(r"\\\g<0>", text) if "](" in text or "[^" in text else text


def escape_line_start(line: str) -> str:
    """Escape a line start that looks like Markdown.

    It may look like a heading, an item, a quote or a fence.
    """
    if line[:1] not in BLOCK_START_CHARS:
        return line
    if item := ORDERED_ITEM.match(line):
        return f"{item[1]}\\{line[item.end(1) :]}"
    return "\\" + line if (LINK_DEFINITION if line[0] == "[" else BLOCK_START).match(line) else line


def escape_heading(line: str) -> str:
    """Escape hashes at the end of a heading, which would close it."""
    return CLOSING_HASHES.sub(r"\\\1", line) if line[-1:] == "#" else line


def escape_link_text(text: str) -> str:
    """Escape brackets without a partner, which would end a link's text."""
    if "[" not in text and "]" not in text:
        return text
    depth = 0
    for match in BRACKET_PAIR.finditer(text):
        depth += (match[1] == "[") - (match[1] == "]")
        if depth < 0:
            break
    return text if not depth else BRACKET_PAIR.sub(lambda match: f"\\{match[0]}" if match[1] else match[0], text)
