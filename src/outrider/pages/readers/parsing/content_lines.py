"""The lines of calendars and contact cards: NAME;PARAMETER=VALUE:VALUE (RFC 5545 section 3.1, RFC 6350 section 3.2)."""

import quopri
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

FOLDED_BREAK = re.compile(r"\r?\n[ \t]")
SOFT_BREAK = re.compile(r"(?i)(;ENCODING=QUOTED-PRINTABLE[^\n]{0,5000}?)=\r?\n")  # a line of vCard 2.1 that goes on
CONTENT_LINE = re.compile(r'((?:[^":]|"[^"]*")*):(.*)')
PROPERTY_NAME = re.compile(r"(?:[\w-]{1,60}\.)?([A-Za-z][\w-]{0,60})(?=;|\Z)")
PARAMETER = re.compile(r';([\w-]{1,60})=("[^"]*"|[^;:]*)')
ESCAPED_CHAR = re.compile(r"\\([nN\\,;:])")


@dataclass
class Component:
    """What stands between BEGIN and END: properties by name in small letters, and the components within it."""

    name: str
    properties: dict[str, list["Property"]] = field(default_factory=dict)
    children: list["Component"] = field(default_factory=list)

    def get_first(self, name: str) -> "Property":
        """The first property of that name; an empty one if there is none."""
        return next(iter(self.properties.get(name, ())), Property("", {}))

    def get_all(self, name: str) -> list["Property"]:
        """All properties of that name."""
        return self.properties.get(name, [])


@dataclass(frozen=True)
class Property:
    """A value as it is written, and its parameters by name in small letters."""

    value: str
    parameters: dict[str, str]

    @property
    def text(self) -> str:
        """The value as text, its escapes undone."""
        return ESCAPED_CHAR.sub(lambda found: "\n" if found[1] in "nN" else found[1], self.value).strip()

    @property
    def fields(self) -> list[str]:
        """The parts of a value that semicolons part, those that are empty left out."""
        parts = (Property(each, {}).text for each in re.split(r"(?<!\\);", self.value))
        return [part for part in parts if part]


def parse_components(text: str, name: str) -> list[Component]:
    """The outermost components of a name; what follows no BEGIN, and lines that make no sense, are left out."""
    found: list[Component] = []
    opened: list[Component] = []
    for key, prop in _iter_properties(text):
        if key == "begin":
            made = Component(prop.value.strip().upper())
            if opened:
                opened[-1].children.append(made)
            elif made.name == name:
                found.append(made)
            opened.append(made)
        elif key == "end" and opened:
            opened.pop()
        elif opened:
            opened[-1].properties.setdefault(key, []).append(prop)
    return found


def _iter_properties(text: str) -> Iterator[tuple[str, Property]]:
    max_lines = 500_000
    text = SOFT_BREAK.sub(r"\1", text) if "QUOTED-PRINTABLE" in text.upper() else text
    for number, line in enumerate(FOLDED_BREAK.sub("", text).splitlines()):
        if number >= max_lines:
            return
        match = CONTENT_LINE.fullmatch(line)
        name = PROPERTY_NAME.match(match[1]) if match else None
        if match and name:
            given = {each.lower(): value.strip('"') for each, value in PARAMETER.findall(match[1])}
            yield name[1].lower(), Property(_decode_value(match[2], given), given)


def _decode_value(value: str, parameters: dict[str, str]) -> str:
    if parameters.get("encoding", "").upper() != "QUOTED-PRINTABLE":
        return value
    try:
        return quopri.decodestring(value.encode("latin-1", "replace")).decode(parameters.get("charset", "utf-8"))
    except (LookupError, ValueError):
        return value
