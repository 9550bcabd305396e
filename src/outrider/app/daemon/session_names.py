"""Assign sessions to hosts that do not choose one."""

from outrider.app.app import App
from outrider.core.context import Call
from outrider.core.errors import OutriderError

DEFAULT_SESSION = "default"


class SessionNames:
    """Assigns `default`, `default-2`, … so that concurrent hosts have different sessions.

    A single host always gets `default`, as in a separate process. A directory gets its previous session again, if
    that is free.
    """

    def __init__(self) -> None:
        self._in_use: set[str] = set()
        self._by_directory: dict[str, list[str]] = {}
        self._joined: dict[str, str] = {}  # by session the directory whose commands use it

    def assign(self, cwd: str, before: str = "") -> str:
        """Return a session for a host in a directory; `before` is its session before its connection was lost."""
        max_directories = 200
        known = self._by_directory.setdefault(cwd, [])
        is_assigned_name = before == DEFAULT_SESSION or before.removeprefix(f"{DEFAULT_SESSION}-").isdecimal()
        preferred = [before, *known] if is_assigned_name else known
        session = next((name for name in preferred if self._is_free(name, cwd)), None) or self._find_free_name()
        self._in_use.add(session)
        if session not in known:
            known.append(session)
        if len(self._by_directory) > max_directories:
            del self._by_directory[next(iter(self._by_directory))]
        return session

    def join(self, cwd: str) -> str:
        """Return the session of the directory's host, or that of its next host; it is kept for the directory."""
        known = self._by_directory.setdefault(cwd, [])
        candidates = [name for name in known if name in self._in_use]
        candidates += [name for name in known if self._is_free(name, cwd)]
        session = candidates[0] if candidates else self._find_free_name()
        self._joined[session] = cwd
        if session not in known:
            known.append(session)
        return session

    def is_joined(self, session: str) -> bool:
        """Return whether commands of a directory share the session, so that it outlives its host."""
        return session in self._joined

    def release(self, session: str) -> None:
        """Make a session free again, after its host has disconnected."""
        self._in_use.discard(session)

    def _is_free(self, session: str, cwd: str) -> bool:
        return session not in self._in_use and self._joined.get(session, cwd) == cwd

    def _find_free_name(self) -> str:
        used_names = self._in_use | {name for names in self._by_directory.values() for name in names}
        if not self._in_use and DEFAULT_SESSION not in self._joined:
            return DEFAULT_SESSION
        number = 1
        while _format_name(number) in used_names:
            number += 1
        return _format_name(number)


def _format_name(number: int) -> str:
    return DEFAULT_SESSION if number == 1 else f"{DEFAULT_SESSION}-{number}"


async def clean_up_host(app: App, session: str) -> None:
    """End a session's processes, unless another host uses the session.

    These are browser sessions, background processes and interpreters.

    Nothing ends while agents are running, because their runs continue without the host and may use them.
    """
    if app.runs.is_busy:
        return
    workspace = app.workspaces.find_workspace(Call(session=session))
    for each in app.processes.list(workspace):
        each.process.kill("stopped")
    await app.processes.kernels.close_session(workspace.key)
    try:
        await app.browsers.close_owner_sessions(session)
    except OutriderError:
        return  # already closed
