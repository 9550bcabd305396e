"""Assign sessions to hosts that do not choose one."""

DEFAULT_SESSION = "default"


class SessionNames:
    """Assigns `default`, `default-2`, … so that no two hosts have the same session at the same time.

    A single host always gets `default`, as in a process of its own. A directory gets its previous session again, if
    that is free.
    """

    def __init__(self) -> None:
        self._in_use: set[str] = set()
        self._by_directory: dict[str, list[str]] = {}

    def assign(self, cwd: str, before: str = "") -> str:
        """Return a session for a host in a directory; `before` is its session before its connection was lost."""
        max_directories = 200
        known = self._by_directory.setdefault(cwd, [])
        is_assigned_name = before == DEFAULT_SESSION or before.removeprefix(f"{DEFAULT_SESSION}-").isdecimal()
        preferred = [before, *known] if is_assigned_name else known
        session = next((name for name in preferred if name not in self._in_use), None) or self._find_free_name()
        self._in_use.add(session)
        if session not in known:
            known.append(session)
        if len(self._by_directory) > max_directories:
            del self._by_directory[next(iter(self._by_directory))]
        return session

    def release(self, session: str) -> None:
        """Make a session free again, after its host has disconnected."""
        self._in_use.discard(session)

    def _find_free_name(self) -> str:
        taken = self._in_use | {name for names in self._by_directory.values() for name in names}
        if not self._in_use:
            return DEFAULT_SESSION
        number = 1
        while _format_name(number) in taken:
            number += 1
        return _format_name(number)


def _format_name(number: int) -> str:
    return DEFAULT_SESSION if number == 1 else f"{DEFAULT_SESSION}-{number}"
