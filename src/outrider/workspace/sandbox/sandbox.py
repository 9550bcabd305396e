"""Run code in the strongest sandbox that this machine has; refuse if it has none."""

import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import NotConfigured, Unavailable
from outrider.workspace.sandbox.settings import CodeSettings

if TYPE_CHECKING:
    from outrider.workspace.sandbox.backend import LaunchPlan, SandboxBackend
    from outrider.workspace.sandbox.interpreters import Interpreter
    from outrider.workspace.sandbox.job import IsolationLevel, Job, ResourceLimits
    from outrider.workspace.sandbox.process import SandboxProcess
    from outrider.workspace.sandbox.web_access import WebAccess


@dataclass(frozen=True)
class IsolationResult:
    """The backend to use, None if none works, and why stronger ones are not used."""

    backend: "SandboxBackend | None"
    reasons: "dict[IsolationLevel, str]"

    @property
    def level(self) -> "IsolationLevel | None":
        return self.backend.level if self.backend else None


class Sandbox:
    """Runs jobs, with a backend that is chosen by trial at the first one.

    Args:
        settings: The operator's settings.
        guard: Decides which addresses code may reach, if it may reach the web.
        backends: Backends to try in turn; by default those that the settings choose.
        package_root: Where packages for sandboxed Python are installed; None for nowhere.

    Attributes:
        package_problem: Why the packages of the settings could not be installed; empty if they were.
    """

    def __init__(
        self,
        settings: CodeSettings,
        guard: EgressGuard | None = None,
        backends: "Sequence[SandboxBackend] | None" = None,
        package_root: Path | None = None,
    ) -> None:
        self.settings = settings
        self._guard = guard or EgressGuard()
        self._backends = backends
        self._isolation: IsolationResult | None = None
        self._lock = anyio.Lock()
        self._python: Interpreter | None = None
        self._web_access: WebAccess | None = None
        self._package_root = package_root
        self._package_lock = anyio.Lock()
        self.package_problem = ""

    def build_limits(self) -> "ResourceLimits":
        """Return the operator's limits."""
        from outrider.workspace.sandbox.job import ResourceLimits

        return ResourceLimits(memory=self.settings.memory_bytes, processes=self.settings.processes)

    async def detect_isolation(self) -> IsolationResult:
        """Return what this machine supports; tried once."""
        async with self._lock:
            if self._isolation is None:
                reasons: dict[IsolationLevel, str] = {}
                backends = _list_backends(self.settings.isolation) if self._backends is None else self._backends
                for backend in backends:
                    problem = backend.describe_missing() or await self._try_backend(backend)
                    if not problem:
                        self._isolation = IsolationResult(backend, reasons)
                        return self._isolation
                    reasons[backend.level] = problem
                self._isolation = IsolationResult(None, reasons)
        return self._isolation

    async def require_backend(self) -> "SandboxBackend":
        """Return the backend in use. Raises NotConfigured if there is none."""
        isolation = await self.detect_isolation()
        if isolation.backend is None:
            reasons = "; ".join(f"{level}: {problem}" for level, problem in isolation.reasons.items())
            raise NotConfigured(
                f"code cannot be isolated on this machine ({reasons or sys.platform})",
                hint=f"the operator must {describe_remedy()}",
                code="no_isolation",
            )
        return isolation.backend

    async def start(self, job: "Job") -> "SandboxProcess":
        """Start a job; the caller then awaits `SandboxProcess.communicate`.

        Raises:
            NotConfigured: This machine has no sandbox, and the operator has not waived it (`no_isolation`).
            Unavailable: The sandbox did not start this time (`sandbox`).
        """
        from outrider.workspace.sandbox.process import SandboxStartError

        backend = await self.require_backend()
        proxy: Path | None = None
        try:
            if job.network and backend.level == "namespaces":
                from outrider.workspace.sandbox.web_access import WebAccess

                python = await self.resolve_python(job.directory)
                async with self._lock:
                    self._web_access = self._web_access or await WebAccess.open(self._guard)
                job, proxy = self._web_access.connect_job(job, python), self._web_access.socket
            return await self._start_job(backend, job, proxy)
        except (SandboxStartError, OSError) as error:
            raise Unavailable(f"the sandbox did not start: {error}", code="sandbox", hint="try again") from error

    async def adopt_files(self, job: "Job") -> None:
        """Give a job's user the files added since the job's start."""
        backend = await self.require_backend()
        await anyio.to_thread.run_sync(_assign_files, backend, job)

    async def check_folder(self, directory: Path) -> None:
        """Raise NotConfigured (`private_folder`) if code could not enter this workspace."""
        from outrider.workspace.sandbox.launcher_backends import check_folder_access

        if await self._find_reader_uid(directory) is not None:
            with suppress(OSError):  # a missing folder is reported elsewhere
                check_folder_access(directory)

    async def resolve_python(self, directory: Path) -> "Interpreter":
        """Return the Python for code in this workspace. Raises NotConfigured."""
        from outrider.workspace.sandbox.interpreters import find_python

        if self._python is None:
            uid = await self._find_reader_uid(directory)
            self._python = await find_python(self.settings.python, uid, directory)
        return self._python

    async def resolve_packages(self, directory: Path) -> Path | None:
        """Return the folder of packages for Python, with those of the settings; None if there is none to read."""
        from outrider.workspace.sandbox.packages import PackageFolders, expand_names
        from outrider.workspace.sandbox.system_paths import is_readable_by

        if self._package_root is None:
            return None
        python, folders = await self.resolve_python(directory), PackageFolders(self._package_root)
        async with self._package_lock:
            installed = folders.list_installed(python)
            missing = [name for name in expand_names(self.settings.packages) if name not in installed]
            if missing and not self.package_problem:
                try:
                    await folders.install_packages(python, missing)
                except (Unavailable, OSError) as error:
                    self.package_problem = str(error)  # until the server is started again
        folder = folders.get_folder(python)
        uid = await self._find_reader_uid(directory)
        return folder if folder.is_dir() and is_readable_by(folder, uid) else None

    async def resolve_deno(self, directory: Path) -> "Interpreter":
        """Return the Deno for code in this workspace. Raises NotConfigured."""
        from outrider.workspace.sandbox.interpreters import find_deno

        return find_deno(self.settings.deno, await self._find_reader_uid(directory))

    async def close(self) -> None:
        """Close the egress proxy."""
        if self._web_access:
            await self._web_access.close()

    async def _find_reader_uid(self, directory: Path) -> int | None:
        """Return the user who must be able to read programs: namespaces can show what only root can enter."""
        from outrider.workspace.sandbox.launcher_backends import find_unused_uid

        return find_unused_uid(directory) if (await self.require_backend()).level == "landlock" else None

    async def _try_backend(self, backend: "SandboxBackend") -> str:
        """Return why the backend does not work here; empty if it does."""
        trial_code = 7  # an exit code that no failure has
        timeout_s = 20.0
        from outrider.workspace.sandbox.job import Job
        from outrider.workspace.sandbox.process import SandboxStartError

        with tempfile.TemporaryDirectory(prefix="outrider-trial-") as folder:
            await anyio.Path(folder).chmod(0o755)
            job = Job(Path(folder), lambda _: ["/bin/sh", "-c", f"exit {trial_code}"])
            try:
                running = await self._start_job(backend, job)
                await running.communicate(timeout_s)
            except (SandboxStartError, OSError) as error:
                return str(error).rpartition("\n")[2]  # the last line of a traceback is the reason
        exit_code = running.exit_code
        return "" if exit_code == trial_code else running.stderr.text.strip() or f"it ended with exit code {exit_code}"

    async def _start_job(self, backend: "SandboxBackend", job: "Job", proxy: Path | None = None) -> "SandboxProcess":
        from outrider.workspace.sandbox.cgroup import find_parent_group
        from outrider.workspace.sandbox.process import SandboxProcess

        def build_plan() -> "tuple[LaunchPlan, Path | None]":
            return backend.build_plan(job, _assign_files(backend, job), proxy), find_parent_group(self.settings.cgroup)

        plan, parent_group = await anyio.to_thread.run_sync(build_plan)
        return await SandboxProcess.start(plan, job, parent_group)


def _assign_files(backend: "SandboxBackend", job: "Job") -> int | None:
    """Give a job's files to its user, and return that user.

    None means the server's own user. Blocking.
    """
    from outrider.workspace.sandbox.launcher_backends import chown_tree, find_owner_uid, find_unused_uid

    uid = None if backend.level == "none" else find_unused_uid(job.directory)
    if uid is None:
        return None
    if job.keeps_owner:
        return find_owner_uid(job.directory, backend.level, uid)
    chown_tree(job.directory, uid)
    return uid


def _list_backends(mode: str) -> "list[SandboxBackend]":
    from outrider.workspace.sandbox.bubblewrap import BubblewrapBackend
    from outrider.workspace.sandbox.launcher_backends import LandlockBackend, NoIsolationBackend

    if mode == "none":
        return [NoIsolationBackend()]
    if sys.platform != "linux":
        return []
    backends: list[SandboxBackend] = [BubblewrapBackend(), LandlockBackend()]
    return backends if mode == "auto" else [each for each in backends if each.level == mode]


def describe_remedy() -> str:
    """Return what an operator can do if no sandbox works."""
    waiver = "set `code.isolation` to none, if code may do everything that Outrider may"
    install = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap)"
    if sys.platform != "linux":
        return f"run Outrider in a Linux container or virtual machine; or {waiver}"
    restricted = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if os.access(restricted, os.R_OK) and restricted.read_text().strip() == "1":
        return (
            f"{install}, and allow it user namespaces (an AppArmor profile, or sysctl {restricted.name}=0); or {waiver}"
        )
    return (
        f"{install}; in a container allow user namespaces (docker run --security-opt seccomp=unconfined); or {waiver}"
    )
