"""Render a folder as a tree of lines, for a prompt."""

from collections.abc import Iterator
from contextlib import suppress

from outrider.core.errors import InvalidInput, NotFound, Refused
from outrider.core.jail import Jail
from outrider.core.untrusted import clean_untrusted


def render_tree(jail: Jail, *, depth: int = 2, max_entries: int = 10) -> list[str]:
    """Return a line per entry, folders first, at most `max_entries` per folder and the number of others. Blocking."""
    try:
        return list(_iter_lines(jail, ".", depth, max_entries, ""))
    except NotFound:
        return []


def _iter_lines(jail: Jail, path: str, depth: int, max_entries: int, indent: str) -> Iterator[str]:
    max_name_chars = 80
    entries = [entry for entry in jail.list(path) if not entry.name.startswith(".")]
    shown_entries, more = entries[:max_entries], len(entries) - max_entries
    for number, entry in enumerate(shown_entries, 1):
        is_folder = entry.kind == "directory"
        is_last = number == len(shown_entries) and more <= 0
        name = " ".join(clean_untrusted(entry.name).split())
        name = name if len(name) <= max_name_chars else f"{name[:max_name_chars]}…"
        yield f"{indent}{'└── ' if is_last else '├── '}{name}{'/' if is_folder else ''}"
        if is_folder and depth > 1:
            with suppress(NotFound, Refused, InvalidInput):
                yield from _iter_lines(
                    jail, entry.path, depth - 1, max_entries, indent + ("    " if is_last else "│   ")
                )
    if more > 0:
        yield f"{indent}└── … {more} more"
