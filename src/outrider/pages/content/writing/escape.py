"""Text that would become markup by accident, kept from it with as few backslashes as will do."""

import re

SIGNS = re.compile(r"[*_`<~\[\]&\\]")
STARS = re.compile(r"\*(?=[^\s*])[^*]*[^\s*]\*")
OPENING, ENDING = re.compile(r"(?<!\w)_{1,2}(?=[^\s_])"), re.compile(r"(?<=[^\s_])_{1,2}(?!\w)")
EDGES = re.compile(r"(?<!\w)__(?=[^\s_])|(?<=[^\s_])__(?!\w)|(?<!\w)_(?=\S)|(?<=\S)_(?!\w)")
PAIRS = re.compile(r"\\.|([\[\]])")
TAG = re.compile(r"<(?=[A-Za-z/!?])")
ENTITY = re.compile(r"&(?=#?\w{1,31};)")
BRACKET = re.compile(r"(?<=\])\(|\[(?=\^)")  # of links and of marks of notes
BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
FORMULA = re.compile(  # in plain text, as scripts of MathJax and KaTeX find it there
    r"\$\$?(?=[^\s$])[^$]*[^\s$]\$\$?(?!\d)|\\\((?:[^\\]|\\(?![()]))+\\\)|\\\[(?:[^\\]|\\(?![\[\]]))+\\\]"
)
RULE = r"\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$"  # below the heading of a table
LEADING = re.compile(RULE + r"|(#{1,6}|[-+*]|>)(?=\s|$)|>(?=\S)|`{3,}[^`]*$|~{3}|([-*_=])(?:[ \t]*\2){2,}[ \t]*$")
BEGINNINGS = frozenset("#|:-+*>`~_=0123456789[")  # of these patterns
DEFINES = re.compile(r"\[[^\[\]]{1,200}\]:")
CLOSING = re.compile(r"(?<=\s)(#+)$")
NUMBERED = re.compile(r"([0-9]{1,9})([.)])(?=\s|$)")


def escaped(text: str) -> str:
    """Running text whose signs pair up to emphasis, code, links or tags; formulas in it are read as they are."""
    if "\\" not in text and "$" not in text:
        return _escaped(text)
    if not SIGNS.search(text):
        return text
    if "$" not in text and "\\(" not in text and "\\[" not in text:
        return text if "\\begin{" in text else _escaped(text)
    parts, at = list[str](), 0
    for formula in FORMULA.finditer(text):
        parts += (_escaped(text[at : formula.start()]), formula[0])
        at = formula.end()
    return "".join([*parts, _escaped(text[at:])])


def _escaped(text: str) -> str:
    if "\\" in text:
        text = BACKSLASH.sub(r"\\\\", text)
    if "<" in text:
        text = TAG.sub(r"\\<", text)
    if "&" in text:
        text = ENTITY.sub(r"\\&", text)
    if "*" in text and STARS.search(text):
        text = text.replace("*", "\\*")
    if "_" in text and (found := OPENING.search(text)) and ENDING.search(text, found.end()):
        text = EDGES.sub(lambda found: "\\_" * len(found[0]), text)
    if "`" in text and text.count("`") > 1:
        text = text.replace("`", "\\`")
    if "~" in text and text.count("~~") > 1:
        text = text.replace("~~", "\\~~")
    return BRACKET.sub(r"\\\g<0>", text) if "](" in text or "[^" in text else text


def begun(line: str) -> str:
    """A line that begins as a heading, an item, a quotation or a fence does."""
    if line[:1] not in BEGINNINGS:
        return line
    if found := NUMBERED.match(line):
        return f"{found[1]}\\{line[found.end(1) :]}"
    return "\\" + line if (DEFINES if line[0] == "[" else LEADING).match(line) else line


def headed(line: str) -> str:
    """The words of a heading: signs at its end that close it otherwise."""
    return CLOSING.sub(r"\\\1", line) if line[-1:] == "#" else line


def bracketed(text: str) -> str:
    """The words of a link: brackets that do not pair up would end it."""
    if "[" not in text and "]" not in text:
        return text
    depth = 0
    for found in PAIRS.finditer(text):
        depth += (found[1] == "[") - (found[1] == "]")
        if depth < 0:
            break
    return text if not depth else PAIRS.sub(lambda found: f"\\{found[0]}" if found[1] else found[0], text)
