"""The one door to running code: the strongest sandbox that this machine has, or none at all if it has none."""

import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from outrider.core.egress.guard import Guard
from outrider.core.errors import NotConfigured, Unavailable
from outrider.workspace.sandbox.settings import CodeSettings

if TYPE_CHECKING:
    from outrider.workspace.sandbox.backend import Backend, Plan
    from outrider.workspace.sandbox.interpreters import Program
    from outrider.workspace.sandbox.job import Job, Level, Limits
    from outrider.workspace.sandbox.running import Running
    from outrider.workspace.sandbox.web import Web

INSTALL = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"
WAIVER = "set `code.isolation` to none, if code may do all that Outrider may"
TRIAL_SECONDS = 20.0
TRIAL_CODE = 7  # an exit code that nothing else has


@dataclass(frozen=True)
class Isolation:
    """What was found: the backend to use, None if none works; and why stronger ones are not used."""

    backend: "Backend | None"
    reasons: "dict[Level, str]"

    @property
    def level(self) -> "Level | None":
        return self.backend.level if self.backend else None


class Sandbox:
    """Runs jobs. Which backend does is found out at the first, by trying.

    Args:
        settings: What the operator chose.
        guard: Decides where code may go that may reach the web.
        backends: Tried in turn; by default those that the settings choose.
    """

    def __init__(
        self, settings: CodeSettings, guard: Guard | None = None, backends: "Sequence[Backend] | None" = None
    ) -> None:
        self.settings = settings
        self._guard = guard or Guard()
        self._backends = backends
        self._found: Isolation | None = None
        self._once = anyio.Lock()
        self._python: Program | None = None
        self._web: Web | None = None

    def limits(self) -> "Limits":
        """The operator's limits."""
        from outrider.workspace.sandbox.job import Limits

        chosen = self.settings
        return Limits(
            memory=chosen.memory_mb * 1_000_000,
            processes=chosen.processes,
            cpu_seconds=chosen.cpu_seconds,
            file_bytes=chosen.file_mb * 1_000_000,
            output_bytes=chosen.output_kb * 1_000,
        )

    async def isolation(self) -> Isolation:
        """What this machine has; tried once."""
        async with self._once:
            if self._found is None:
                self._found = await self._find()
        return self._found

    async def backend(self) -> "Backend":
        """The backend in use. Raises NotConfigured where there is none."""
        found = await self.isolation()
        if found.backend is None:
            reasons = "; ".join(f"{level}: {why}" for level, why in found.reasons.items())
            raise NotConfigured(
                f"code cannot be isolated on this machine ({reasons or sys.platform})",
                hint=f"the operator must {remedy()}",
                code="no_isolation",
            )
        return found.backend

    async def start(self, job: "Job") -> "Running":
        """Starts a job; the caller awaits `Running.run`.

        Raises:
            NotConfigured: code `no_isolation`; this machine has no sandbox, and the operator has not waived it.
            Unavailable: code `sandbox`; it did not start this time.
        """
        from outrider.workspace.sandbox.running import NotStarted

        backend = await self.backend()
        try:
            if job.network and backend.level == "namespaces":
                return await self._start(backend, *await self._connected(job))
            return await self._start(backend, job)
        except (NotStarted, OSError) as error:
            raise Unavailable(f"the sandbox did not start: {error}", code="sandbox", hint="try once more") from error

    async def check(self, directory: Path) -> None:
        """Raises NotConfigured (`private_folder`) where code in this workspace could not begin."""
        from outrider.workspace.sandbox.supervised import check_entry

        if await self._reader(directory) is not None:
            with suppress(OSError):  # a folder that cannot be made is another trouble
                check_entry(directory)

    async def python(self, directory: Path) -> "Program":
        """The Python for code in this workspace. Raises NotConfigured."""
        from outrider.workspace.sandbox.interpreters import find_python

        if self._python is None:
            uid = await self._reader(directory)
            self._python = await find_python(self.settings.python, uid, directory)
        return self._python

    async def deno(self, directory: Path) -> "Program":
        """The Deno for code in this workspace. Raises NotConfigured."""
        from outrider.workspace.sandbox.interpreters import find_deno

        return find_deno(self.settings.deno, await self._reader(directory))

    async def close(self) -> None:
        """Closes the way to the web."""
        if self._web:
            await self._web.close()

    async def _reader(self, directory: Path) -> int | None:
        """Who must be able to read programs: namespaces show even what only root can enter."""
        from outrider.workspace.sandbox.identity import unused_uid

        return unused_uid(directory) if (await self.backend()).level == "landlock" else None

    async def _connected(self, job: "Job") -> "tuple[Job, Path]":
        """The job with a way to the egress proxy, and the proxy's socket."""
        from outrider.workspace.sandbox.web import Web

        python = await self.python(job.directory)
        async with self._once:
            self._web = self._web or await Web.open(self._guard)
        return self._web.connected(job, python), self._web.socket

    async def _find(self) -> Isolation:
        reasons: dict[Level, str] = {}
        for backend in _candidates(self.settings.isolation) if self._backends is None else self._backends:
            why = backend.missing() or await self._trial(backend)
            if not why:
                return Isolation(backend, reasons)
            reasons[backend.level] = why
        return Isolation(None, reasons)

    async def _trial(self, backend: "Backend") -> str:
        """Why the backend does not work here; empty if it does."""
        from outrider.workspace.sandbox.job import Job
        from outrider.workspace.sandbox.running import NotStarted

        with tempfile.TemporaryDirectory(prefix="outrider-trial-") as folder:
            await anyio.Path(folder).chmod(0o755)
            job = Job(Path(folder), lambda _: ["/bin/sh", "-c", f"exit {TRIAL_CODE}"])
            try:
                running = await self._start(backend, job)
                await running.run(TRIAL_SECONDS)
            except (NotStarted, OSError) as error:
                return str(error)
        ended = running.exit_code
        return "" if ended == TRIAL_CODE else running.stderr.text.strip() or f"it ended with exit code {ended}"

    async def _start(self, backend: "Backend", job: "Job", proxy: Path | None = None) -> "Running":
        from outrider.workspace.sandbox.cgroup import parent_group
        from outrider.workspace.sandbox.running import Running

        def planned() -> "tuple[Plan, Path | None]":
            from outrider.workspace.sandbox.identity import hand_over, unused_uid

            uid = None if backend.level == "none" else unused_uid(job.directory)
            if uid is not None:
                hand_over(job.directory, uid)
            return backend.plan(job, uid, proxy), parent_group(self.settings.cgroup)

        plan, groups = await anyio.to_thread.run_sync(planned)
        return await Running.start(plan, job, groups)


def _candidates(wanted: str) -> "list[Backend]":
    from outrider.workspace.sandbox.bubblewrap import Bubblewrap
    from outrider.workspace.sandbox.supervised import Landlock, Plain

    if wanted == "none":
        return [Plain()]
    if sys.platform != "linux":
        return []
    backends: list[Backend] = [Bubblewrap(), Landlock()]
    return backends if wanted == "auto" else [each for each in backends if each.level == wanted]


def remedy() -> str:
    """What an operator can do where nothing works."""
    if sys.platform != "linux":
        return f"run Outrider in a Linux container or virtual machine; or {WAIVER}"
    restricted = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if os.access(restricted, os.R_OK) and restricted.read_text().strip() == "1":
        return (
            f"{INSTALL}, and allow it user namespaces (an AppArmor profile, or sysctl {restricted.name}=0); or {WAIVER}"
        )
    return (
        f"{INSTALL}; in a container allow user namespaces (docker run --security-opt seccomp=unconfined); or {WAIVER}"
    )
