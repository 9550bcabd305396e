"""Parse the outlines that a model is given into roles, names and references."""

import re
from dataclasses import dataclass

from evals.miniwob.player import View

FIELD_ROLES = frozenset(
    {"textbox", "field", "searchbox", "combobox", "spinbutton", "textarea", "text", "search", "password"}
)

LINE = re.compile(
    r"(?P<indent> *)- [\"']?(?P<role>[a-z]+)(?: \"(?P<name>(?:[^\"\\]|\\.)*)\")?"
    r"(?P<states>(?: \[[^\]]*\])*)'?(?:: (?P<text>.*))?"
)
NAMED_BY_TEXT = frozenset(
    {"button", "link", "listitem", "option", "treeitem", "menuitem", "tab", "row", "gridcell", "combobox"}
)
TEXT_ROLES = frozenset({"strong", "emphasis", "code", "paragraph", "heading", "text", "time", "mark", "superscript"})


@dataclass(frozen=True)
class Part:
    """An element of an outline that has a reference.

    Attributes:
        ref: Its reference.
        role: Its role as the outline calls it, empty where it says none.
        name: Its accessible name, or its text.
        line: The number of its line.
    """

    ref: str
    role: str
    name: str
    line: int


@dataclass(frozen=True)
class Outline:
    """The lines of an outline, and their parts in reading order."""

    lines: list[str]
    parts: list[Part]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def find(self, name: str | re.Pattern[str], role: str = "", *, after: str = "", number: int = 1) -> Part:
        """Return the part of a name and role, the nth, or the first one from the line with a text on.

        Raises:
            LookupError: there is none.
        """
        start = self._find_line(after) if after else 0
        found = [part for part in self.parts if self._follows(part, start) and _matches(part, name, role)]
        if len(found) < number:
            raise LookupError(
                f"the outline shows no {role or 'part'} {_name(name)!r}{' after ' + after if after else ''}"
            )
        return found[number - 1]

    def _follows(self, part: Part, start: int) -> bool:
        """Return whether a part stands from a line on, or is a field that holds that line."""
        if part.line >= start or part.role not in FIELD_ROLES:
            return part.line >= start
        depth = _measure_indent(self.lines[part.line])
        return all(_measure_indent(line) > depth for line in self.lines[part.line + 1 : start + 1])

    def _find_line(self, text: str) -> int:
        for number, line in enumerate(self.lines):
            if text in line:
                return number
        raise LookupError(f"the outline shows no line with {text!r}")


def _measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _name(name: str | re.Pattern[str]) -> str:
    return name if isinstance(name, str) else name.pattern


def _matches(part: Part, name: str | re.Pattern[str], role: str) -> bool:
    if role == "field":
        fits = part.role in FIELD_ROLES
    elif role == "link":
        fits = part.role in ("link", "")
    else:
        fits = not role or part.role == role
    found = " ".join(part.name.split())
    return fits and (found == name if isinstance(name, str) else bool(name.search(found)))


def parse_outrider(text: str) -> Outline:
    """Parse an answer of `snapshotPage`."""
    view = View(text.split("\n"))
    return Outline(view.lines, [Part(each.ref, each.role, each.name, each.line) for each in view.things])


def parse_playwright(text: str) -> Outline:
    """Parse a snapshot of Playwright's server; a part without a name is called by the text that stands in it.

    Glyphs of icon fonts, which it keeps in names, are left out.
    """
    lines = re.sub("[\ue000-\uf8ff]", "", text).split("\n")
    return Outline(lines, [part for number in range(len(lines)) if (part := _read_line(lines, number))])


def _read_line(lines: list[str], number: int) -> Part | None:
    found = LINE.match(lines[number])
    ref = found and re.search(r"\[ref=(\w+)\]", found["states"])
    if not found or not ref or (found["role"] in TEXT_ROLES and "cursor=pointer" not in found["states"]):
        return None
    name = (found["name"] or "").replace('\\"', '"') or (found["text"] or "").strip("\"'")
    if not name and (found["role"] in NAMED_BY_TEXT or "cursor=pointer" in found["states"]):
        name = _read_text_inside(lines, number, len(found["indent"]))
    return Part(ref[1], found["role"], name, number)


def _read_text_inside(lines: list[str], number: int, indent: int) -> str:
    """Return the texts of the next lines that are indented more, as one string."""
    texts = []
    for line in lines[number + 1 : number + 6]:
        found = LINE.match(line)
        if not found or len(found["indent"]) <= indent:
            break
        texts.append((found["name"] or found["text"] or "").strip("\"'"))
    return " ".join(filter(None, texts))
