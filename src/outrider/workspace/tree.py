"""A folder as a drawing of lines, for a prompt."""

from collections.abc import Iterator
from contextlib import suppress

from outrider.core.errors import InvalidInput, NotFound, Refused
from outrider.core.untrusted import clean
from outrider.workspace.jail import Entry, Jail

NAME_CHARS = 80


def tree(jail: Jail, *, depth: int = 2, most: int = 10) -> list[str]:
    """One line for each entry, folders first; `most` of each folder, and how many more there are. Blocking."""
    try:
        return list(_below(jail, ".", depth, most, ""))
    except NotFound:
        return []


def _below(jail: Jail, path: str, depth: int, most: int, before: str) -> Iterator[str]:
    entries = [entry for entry in jail.list(path) if not entry.name.startswith(".")]
    shown, more = entries[:most], len(entries) - most
    for number, entry in enumerate(shown, 1):
        last = number == len(shown) and more <= 0
        yield f"{before}{'└── ' if last else '├── '}{_named(entry)}"
        if entry.kind == "directory" and depth > 1:
            with suppress(NotFound, Refused, InvalidInput):
                yield from _below(jail, entry.path, depth - 1, most, before + ("    " if last else "│   "))
    if more > 0:
        yield f"{before}└── … {more} more"


def _named(entry: Entry) -> str:
    name = " ".join(clean(entry.name).split())
    short = name if len(name) <= NAME_CHARS else f"{name[:NAME_CHARS]}…"
    return f"{short}/" if entry.kind == "directory" else short
