"""Parse the accessibility trees that other browser servers return."""

import re

from tests.apps.outline import NAMED_BY_TEXT, Outline, Part, measure_indent

PLAYWRIGHT_LINE = re.compile(
    r"(?P<indent> *)- [\"']?(?P<role>[a-z]+)(?: \"(?P<name>(?:[^\"\\]|\\.)*)\")?"
    r"(?P<states>(?: \[[^\]]*\])*)'?(?:: (?P<text>.*))?"
)
DEVTOOLS_LINE = re.compile(
    r"(?P<indent> *)uid=(?P<ref>\S+)(?: (?P<role>[A-Za-z]+))?(?: \"(?P<name>.*?)\"(?= [a-z]|\s*$))?(?P<states>.*)"
)
AGENT_BROWSER_LINE = re.compile(
    r"(?P<indent> *)- (?P<role>[A-Za-z]+)(?: \"(?P<name>(?:[^\"\\]|\\.)*)\")?(?: \[(?P<states>[^\]]*)\])?(?P<text>.*)"
)
TEXT_ROLES = frozenset(
    {
        *("strong", "emphasis", "code", "paragraph", "heading", "text", "time", "mark", "superscript", "statictext"),
        *("generic", "list", "listitem", "cell", "rowheader", "columnheader", "row", "rowgroup", "table", "group"),
        *("region", "main", "article", "rootwebarea", "labeltext", "iframe", "none"),
    }
)


def parse_playwright(text: str) -> Outline:
    """Parse a snapshot of Playwright's server; a part without a name is named by its text.

    Glyphs of icon fonts, which it keeps in names, are left out.
    """
    lines = re.sub("[\ue000-\uf8ff]", "", text).split("\n")
    return Outline(lines, [part for number in range(len(lines)) if (part := _read_playwright(lines, number))])


def _read_playwright(lines: list[str], number: int) -> Part | None:
    found = PLAYWRIGHT_LINE.match(lines[number])
    ref = found and re.search(r"\[ref=(\w+)\]", found["states"])
    if not found or not ref:
        return None
    name, is_clickable = _unquote(found["name"] or found["text"]), "cursor=pointer" in found["states"]
    if not name and (found["role"] in NAMED_BY_TEXT or is_clickable):
        name = _read_text_inside(PLAYWRIGHT_LINE, lines, number)
    return Part(ref[1], found["role"], name, number, found["role"] in TEXT_ROLES and not is_clickable)


def parse_devtools(text: str) -> Outline:
    """Parse a snapshot of chrome-devtools-mcp, in which texts also have a uid, but no role."""
    lines = re.sub(r"[\ue000-\uf8ff]|\n(?! *uid=)", " ", text).split("\n")
    return Outline(lines, [part for number in range(len(lines)) if (part := _read_devtools(lines, number))])


def _read_devtools(lines: list[str], number: int) -> Part | None:
    found = DEVTOOLS_LINE.match(lines[number])
    if not found:
        return None
    role = (found["role"] or "StaticText").lower()
    if role == "generic" and " value=" in found["states"]:  # an element with `contenteditable` and no role
        role = "field"
    described = re.search(r'description="([^"]*)"', found["states"])
    name = found["name"] or (_read_text_inside(DEVTOOLS_LINE, lines, number) if role in NAMED_BY_TEXT else "")
    name = name if name.strip() or not described else described[1]  # of buttons that show an icon
    return Part(found["ref"], role, name, number, role in TEXT_ROLES)


def parse_agent_browser(text: str) -> Outline:
    """Parse a snapshot of agent-browser, in which controls and cells have references."""
    lines = re.sub(r"[\ue000-\uf8ff]|\\n|\n(?! *- )", " ", text).split("\n")
    return Outline(lines, [part for number in range(len(lines)) if (part := _read_agent_browser(lines, number))])


def _read_agent_browser(lines: list[str], number: int) -> Part | None:
    found = AGENT_BROWSER_LINE.match(lines[number])
    ref = found and re.search(r"\bref=(\w+)", found["states"] or "")
    if not found or not ref:
        return None
    role, is_clickable = found["role"].lower(), " clickable" in found["text"]
    name = _unquote(found["name"])
    if not name and (role in NAMED_BY_TEXT or is_clickable):
        name = _read_text_inside(AGENT_BROWSER_LINE, lines, number)
    if role == "generic" and " editable" in found["text"]:
        role = "field"
    is_label = role == "labeltext"  # clickable too, but its control comes first
    return Part(ref[1], role, name, number, role in TEXT_ROLES and (is_label or not is_clickable))


def _unquote(name: str | None) -> str:
    return (name or "").replace('\\"', '"').strip("\"'")


def _read_text_inside(pattern: re.Pattern[str], lines: list[str], number: int) -> str:
    """Return the texts of the next lines that are indented more, as one string."""
    texts, indent = [], measure_indent(lines[number])
    for line in lines[number + 1 : number + 6]:
        if measure_indent(line) <= indent:
            break
        if found := pattern.match(line):
            texts.append(_unquote(found["name"] or found.groupdict().get("text")))
    return " ".join(filter(None, texts))
