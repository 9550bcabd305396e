"""Parse the content lines of calendars and contact cards: NAME;PARAMETER=VALUE:VALUE.

RFC 5545 section 3.1, RFC 6350 section 3.2.
"""

import quopri
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field

FOLDED_BREAK = re.compile(r"\r?\n[ \t]")
SOFT_BREAK = re.compile(r"(?i)(;ENCODING=QUOTED-PRINTABLE[^\n]{0,5000}?)=\r?\n")  # vCard 2.1
CONTENT_LINE = re.compile(r'((?:[^":]|"[^"]*")*):(.*)')
PROPERTY_NAME = re.compile(r"(?:[\w-]{1,60}\.)?([A-Za-z][\w-]{0,60})(?=;|\Z)")
PARAMETER = re.compile(r';([\w-]{1,60})=("[^"]*"|[^;:]*)')
ESCAPED_CHAR = re.compile(r"\\([nN\\,;:])")


@dataclass(slots=True)
class Component:
    """A BEGIN ... END block: properties by lower-case name, and the components inside it."""

    name: str
    properties: dict[str, list["Property"]] = field(default_factory=dict)
    children: list["Component"] = field(default_factory=list)

    def get_first(self, name: str) -> "Property":
        """Return the first property of that name; an empty one if there is none."""
        return next(iter(self.properties.get(name, ())), Property("", {}))

    def get_all(self, name: str) -> list["Property"]:
        return self.properties.get(name, [])


@dataclass(frozen=True, slots=True)
class Property:
    """A raw value, and its parameters by lower-case name."""

    value: str
    parameters: dict[str, str]

    @property
    def text(self) -> str:
        """Return the value with its escapes resolved."""
        return ESCAPED_CHAR.sub(lambda escape: "\n" if escape[1] in "nN" else escape[1], self.value).strip()

    @property
    def fields(self) -> list[str]:
        """Return the non-empty parts of a value that is separated by semicolons."""
        parts = (Property(part, {}).text for part in re.split(r"(?<!\\);", self.value))
        return [part for part in parts if part]


def parse_components(text: str, name: str) -> list[Component]:
    """Return the outermost components of a name; lines outside of components are ignored."""
    outermost: list[Component] = []
    open_components: list[Component] = []
    for key, prop in _iter_properties(text):
        if key == "begin":
            component = Component(prop.value.strip().upper())
            if open_components:
                open_components[-1].children.append(component)
            elif component.name == name:
                outermost.append(component)
            open_components.append(component)
        elif key == "end" and open_components:
            open_components.pop()
        elif open_components:
            open_components[-1].properties.setdefault(key, []).append(prop)
    return outermost


def _iter_properties(text: str) -> Iterator[tuple[str, Property]]:
    max_lines = 500_000
    text = SOFT_BREAK.sub(r"\1", text) if "QUOTED-PRINTABLE" in text.upper() else text
    for number, line in enumerate(FOLDED_BREAK.sub("", text).splitlines()):
        if number >= max_lines:
            return
        match = CONTENT_LINE.fullmatch(line)
        name = PROPERTY_NAME.match(match[1]) if match else None
        if match and name:
            parameters = {key.lower(): value.strip('"') for key, value in PARAMETER.findall(match[1])}
            value = match[2]
            if parameters.get("encoding", "").upper() == "QUOTED-PRINTABLE":
                with suppress(LookupError, ValueError):
                    raw = quopri.decodestring(value.encode("latin-1", "replace"))
                    value = raw.decode(parameters.get("charset", "utf-8"))
            yield name[1].lower(), Property(value, parameters)
