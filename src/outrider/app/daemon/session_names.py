"""A session of its own for each host that names none, the same when the host comes back."""

DEFAULT_SESSION = "default"


class SessionNames:
    """Lends `default`, `default-2`, … so that no two hosts have the same at the same time.

    With one host at a time it is always `default`, as where a process serves alone. A directory gets the one again that
    it had before, if that is free.
    """

    def __init__(self) -> None:
        self._in_use: set[str] = set()
        self._by_directory: dict[str, list[str]] = {}

    def assign(self, cwd: str, before: str = "") -> str:
        """A session for a host in that directory; `before` is the one that it had when its connection was lost."""
        max_directories = 200  # directories whose sessions are kept in mind
        had = self._by_directory.setdefault(cwd, [])
        wishes = [before, *had] if _is_ours(before) else had
        session = next((each for each in wishes if each not in self._in_use), None) or self._find_free_name()
        self._in_use.add(session)
        if session not in had:
            had.append(session)
        if len(self._by_directory) > max_directories:
            del self._by_directory[next(iter(self._by_directory))]
        return session

    def release(self, session: str) -> None:
        """The host is gone."""
        self._in_use.discard(session)

    def _find_free_name(self) -> str:
        taken = self._in_use | {each for had in self._by_directory.values() for each in had}
        if not self._in_use:
            return DEFAULT_SESSION
        number = 1
        while _format_name(number) in taken:
            number += 1
        return _format_name(number)


def _format_name(number: int) -> str:
    return DEFAULT_SESSION if number == 1 else f"{DEFAULT_SESSION}-{number}"


def _is_ours(session: str) -> bool:
    return session == DEFAULT_SESSION or session.removeprefix(f"{DEFAULT_SESSION}-").isdecimal()
