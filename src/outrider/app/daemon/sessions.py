"""A session of its own for each host that names none, the same when the host comes back."""

FIRST = "default"
REMEMBERED = 200  # directories whose sessions are kept in mind


class Sessions:
    """Lends `default`, `default-2`, … so that no two hosts have the same at the same time.

    With one host at a time it is always `default`, as where a process serves alone. A directory gets the one again that
    it had before, if that is free.
    """

    def __init__(self) -> None:
        self._lent: set[str] = set()
        self._had: dict[str, list[str]] = {}

    def lend(self, cwd: str, before: str = "") -> str:
        """A session for a host in that directory; `before` is the one that it had when its connection was lost."""
        had = self._had.setdefault(cwd, [])
        wishes = [before, *had] if _is_ours(before) else had
        session = next((each for each in wishes if each not in self._lent), None) or self._free()
        self._lent.add(session)
        if session not in had:
            had.append(session)
        if len(self._had) > REMEMBERED:
            del self._had[next(iter(self._had))]
        return session

    def give_back(self, session: str) -> None:
        """The host is gone."""
        self._lent.discard(session)

    def _free(self) -> str:
        taken = self._lent | {each for had in self._had.values() for each in had}
        if not self._lent:
            return FIRST
        number = 1
        while _name(number) in taken:
            number += 1
        return _name(number)


def _name(number: int) -> str:
    return FIRST if number == 1 else f"{FIRST}-{number}"


def _is_ours(session: str) -> bool:
    return session == FIRST or session.removeprefix(f"{FIRST}-").isdecimal()
