"""Parse the content lines of calendars and contact cards: NAME;PARAMETER=VALUE:VALUE.

RFC 5545 section 3.1, RFC 6350 section 3.2.
"""

import quopri
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

FOLDED_BREAK = re.compile(r"\r?\n[ \t]")
SOFT_BREAK = re.compile(r"(?i)(;ENCODING=QUOTED-PRINTABLE[^\n]{0,5000}?)=\r?\n")  # vCard 2.1
CONTENT_LINE = re.compile(r'((?:[^":]++|"[^"]*+")*+):(.*)')
PROPERTY_NAME = re.compile(r"(?:[\w-]{1,60}\.)?([A-Za-z][\w-]{0,60})(?=;|\Z)")
PARAMETER = re.compile(r';([\w-]{1,60})(?:=("[^"]*"|[^;:]*))?')
TEXT_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")  # as `str.splitlines`
NO_PARAMETERS: dict[str, str] = {}  # shared by all properties without parameters, to save memory
ESCAPED_CHAR = re.compile(r"\\([nN\\,;:])")


@dataclass(slots=True)
class Component:
    """A BEGIN ... END block, with its properties by lower-case name."""

    name: str
    properties: dict[str, list["Property"]] = field(default_factory=dict)

    def add(self, name: str, prop: "Property") -> None:
        """Store a property; only a limited number for each name."""
        max_properties, max_names = 20_000, 500
        if name in self.properties or len(self.properties) < max_names:
            values = self.properties.setdefault(name, [])
            values += [prop] if len(values) < max_properties else []

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


def iter_components(text: str) -> Iterator[tuple[Component, Component]]:
    """Yield each component at its end, with the outermost component that contains it (or itself).

    Lines outside components are ignored, and so are deeper components, such as the alarms of events.
    """
    levels: list[Component] = []
    depth = 0
    for key, prop in _iter_properties(text):
        if key == "begin":
            depth += 1
            if depth <= 2:
                levels = [*levels[: depth - 1], Component(prop.value.strip().upper())]
        elif key == "end" and depth:
            if depth <= 2:
                yield levels[depth - 1], levels[0]
            depth -= 1
        elif 0 < depth <= 2:
            levels[depth - 1].add(key, prop)
    for component in reversed(levels[:depth]):  # their ends are missing
        yield component, levels[0]


def _iter_properties(text: str) -> Iterator[tuple[str, Property]]:
    max_lines = 500_000
    text = SOFT_BREAK.sub(r"\1", text) if "QUOTED-PRINTABLE" in text.upper() else text
    for found in islice(TEXT_LINE.finditer(FOLDED_BREAK.sub("", text)), max_lines):
        match = CONTENT_LINE.fullmatch(found[0])
        name = PROPERTY_NAME.match(match[1]) if match else None
        if match and name:
            parameters, value = parse_parameters(match[1]), match[2]
            if parameters.get("encoding", "").upper() == "QUOTED-PRINTABLE":
                with suppress(LookupError, ValueError):
                    raw = quopri.decodestring(value.encode("latin-1", "replace"))
                    value = raw.decode(parameters.get("charset", "utf-8"))
            yield name[1].lower(), Property(value, parameters)


def parse_parameters(name: str) -> dict[str, str]:
    """Return the parameters after a property's name; several types are joined by commas."""
    max_parameters = 50
    parameters: dict[str, str] = {}
    for found in islice(PARAMETER.finditer(name), max_parameters):
        # vCard 2.1 writes types alone: TEL;HOME;FAX.
        key, value = (found[1].lower(), found[2].strip('"')) if found[2] is not None else ("type", found[1])
        parameters[key] = f"{parameters[key]},{value}" if key == "type" and key in parameters else value
    return parameters or NO_PARAMETERS
