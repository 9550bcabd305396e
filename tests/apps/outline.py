"""Find parts of a page by role and name in a browser server's outline."""

import re
from dataclasses import dataclass, replace

from evals.miniwob.player import CONTROL_PATTERN, View

Name = str | re.Pattern[str]
NAMED_BY_TEXT = frozenset(
    {"button", "link", "listitem", "option", "treeitem", "menuitem", "tab", "row", "gridcell", "combobox"}
)
FIELD_ROLES = frozenset(
    {"textbox", "field", "editor", "searchbox", "combobox", "spinbutton", "textarea", "text", "search", "password"}
)
EDITOR_ROLES = FIELD_ROLES | {"application"}  # Etherpad's text has this role


@dataclass(frozen=True)
class Part:
    """An element of an outline that has a reference.

    Attributes:
        ref: Its reference.
        role: Its role in the outline's words; empty if the outline names none.
        name: Its accessible name, or its text.
        line: The number of its line.
        is_text: Whether it is shown as text only, so that a control of the same name comes first.
    """

    ref: str
    role: str
    name: str
    line: int
    is_text: bool = False


@dataclass(frozen=True)
class Outline:
    """The lines of an outline, and their parts in reading order."""

    lines: list[str]
    parts: list[Part]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def find(self, name: Name, role: str = "", *, after: Name = "", before: Name = "", number: int = 1) -> Part:
        """Return the part of a name and role: the nth from the line with a text on, or the last up to such a line.

        The role `field` is any of `FIELD_ROLES`; `editor` is the element in which that line can be rewritten.

        Raises:
            LookupError: there is none.
        """
        if before:
            end = self._find_line(before)
            above = Outline(self.lines, [part for part in reversed(self.parts) if part.line <= end])
            return above.find(name, role, number=number)
        start = self._find_line(after) if after else 0
        if role == "editor":
            return self._find_editor(start)
        found = [part for part in self.parts if self._follows(part, start) and _matches(part, name, role)]
        controls = [part for part in found if not part.is_text]
        chosen = controls if len(controls) >= number else found
        if len(chosen) < number:
            place = f" after {_describe(after)!r}" if after else ""
            raise LookupError(f"the outline shows no {role or 'part'} {_describe(name)!r}{place}")
        return chosen[number - 1]

    def _find_editor(self, start: int) -> Part:
        """Return the innermost field or application that holds a line, else the innermost part that does."""
        holding = [part for part in self.parts if part.line <= start and self._holds(part, start)]
        fields = [part for part in holding if part.role in EDITOR_ROLES]
        if not holding:
            raise LookupError("the outline shows no part that holds the line")
        return (fields or holding)[-1]

    def _follows(self, part: Part, start: int) -> bool:
        """Return whether a part begins at or after a line, or is a field that holds that line."""
        return part.line >= start or (part.role in FIELD_ROLES and self._holds(part, start))

    def _holds(self, part: Part, start: int) -> bool:
        depth = measure_indent(self.lines[part.line])
        return all(measure_indent(line) > depth for line in self.lines[part.line + 1 : start + 1])

    def _find_line(self, text: Name) -> int:
        for number, line in enumerate(self.lines):
            if text in line if isinstance(text, str) else text.search(line):
                return number
        raise LookupError(f"the outline shows no line with {_describe(text)!r}")


def measure_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _describe(name: Name) -> str:
    return name if isinstance(name, str) else name.pattern


def _matches(part: Part, name: Name, role: str) -> bool:
    if role == "field":
        fits = part.role in FIELD_ROLES
    elif role == "link":
        fits = part.role in ("link", "")
    else:
        fits = not role or part.role == role
    found = " ".join(part.name.split())
    return fits and (found == name if isinstance(name, str) else bool(name.search(found)))


def parse_outrider(text: str) -> Outline:
    """Parse an answer of `snapshotPage`; parts without a name get the text after their reference."""
    view = View(re.sub(r"(</?untrusted-)\d+", r"\1", text).split("\n"))  # its number is not part of the page's text
    parts = [_name_by_text(Part(each.ref, each.role, each.name, each.line), view.lines) for each in view.things]
    return Outline(view.lines, parts)


def _name_by_text(part: Part, lines: list[str]) -> Part:
    """Name a part by the text after its bare reference (`<e7> Jack`), or by the texts inside a control."""
    if part.name and not part.name.startswith("."):
        return part
    if not part.role:
        behind = re.search(rf"<{part.ref}(?: [^<>]*)?> ([^<>\[\]]+)", lines[part.line])
        return replace(part, name=behind[1].strip(), is_text=True) if behind else part
    if part.role not in NAMED_BY_TEXT or CONTROL_PATTERN.search(lines[part.line].split(part.ref, 1)[1]):
        return part
    inside = lines[part.line + 1 : part.line + 6]
    indent = measure_indent(lines[part.line])
    ends = (number for number, line in enumerate(inside) if measure_indent(line) <= indent)
    texts = [CONTROL_PATTERN.sub("", line).strip() for line in inside[: next(ends, len(inside))]]
    return replace(part, name=" ".join(filter(None, texts)) or part.name)
