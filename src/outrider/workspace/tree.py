"""A folder as a drawing of lines, for a prompt."""

from collections.abc import Iterator
from contextlib import suppress

from outrider.core.errors import InvalidInput, NotFound, Refused
from outrider.core.untrusted import clean_untrusted
from outrider.workspace.jail import DirectoryEntry, Jail


def render_tree(jail: Jail, *, depth: int = 2, most: int = 10) -> list[str]:
    """One line for each entry, folders first; `most` of each folder, and how many more there are. Blocking."""
    try:
        return list(_iter_lines(jail, ".", depth, most, ""))
    except NotFound:
        return []


def _iter_lines(jail: Jail, path: str, depth: int, most: int, before: str) -> Iterator[str]:
    entries = [entry for entry in jail.list(path) if not entry.name.startswith(".")]
    shown, more = entries[:most], len(entries) - most
    for number, entry in enumerate(shown, 1):
        last = number == len(shown) and more <= 0
        yield f"{before}{'└── ' if last else '├── '}{_format_entry(entry)}"
        if entry.kind == "directory" and depth > 1:
            with suppress(NotFound, Refused, InvalidInput):
                yield from _iter_lines(jail, entry.path, depth - 1, most, before + ("    " if last else "│   "))
    if more > 0:
        yield f"{before}└── … {more} more"


def _format_entry(entry: DirectoryEntry) -> str:
    max_name_chars = 80
    name = " ".join(clean_untrusted(entry.name).split())
    short = name if len(name) <= max_name_chars else f"{name[:max_name_chars]}…"
    return f"{short}/" if entry.kind == "directory" else short
