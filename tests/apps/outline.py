"""Parse the outlines that a model is given into roles, names and references."""

import re
from dataclasses import dataclass

from evals.miniwob.player import View

FIELD_ROLES = frozenset(
    {"textbox", "field", "searchbox", "combobox", "spinbutton", "textarea", "text", "search", "password"}
)


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
        found = [part for part in self.parts if part.line >= start and _matches(part, name, role)]
        if len(found) < number:
            raise LookupError(
                f"the outline shows no {role or 'part'} {_name(name)!r}{' after ' + after if after else ''}"
            )
        return found[number - 1]

    def _find_line(self, text: str) -> int:
        for number, line in enumerate(self.lines):
            if text in line:
                return number
        raise LookupError(f"the outline shows no line with {text!r}")


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
