"""The job to run in a sandbox, and its resource limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

IsolationLevel = Literal["namespaces", "landlock", "none"]


@dataclass(frozen=True)
class ResourceLimits:
    """Limits of one execution.

    Attributes:
        memory: Bytes, of all its processes together.
        processes: Processes and threads at the same time.
        cpu_seconds: Of one process.
        file_bytes: Of one file.
        output_bytes: Kept of each stream.
        open_files: Descriptors of one process.
    """

    memory: int = 1_024_000_000
    processes: int = 128
    cpu_seconds: int = 600
    file_bytes: int = 200_000_000
    output_bytes: int = 2_000_000
    open_files: int = 1_024


@dataclass(frozen=True)
class SandboxPaths:
    """Paths as the code sees them: its workspace, our support files (read-only), and a temporary folder."""

    workspace: str
    support: str
    temporary: str

    def resolve_folder(self, job: "Job") -> str:
        """Return the folder in which the code starts."""
        return self.workspace if job.folder == "." else f"{self.workspace}/{job.folder}"


@dataclass(frozen=True)
class Job:
    """One execution.

    Attributes:
        directory: The workspace: the only files outside the sandbox that the code can change.
        command: Returns the command, given the paths inside the sandbox.
        folder: Folder of the workspace in which it starts.
        support_files: Name to content of files that it can read.
        stdin: Its standard input.
        keeps_stdin: Whether its standard input stays open for more.
        readable_paths: Files and folders, besides the system's, that it can read.
        environ: Added to its environment, which otherwise holds only what every program needs.
        path: Folders in which programs are looked up first.
        python_path: Folders in which Python looks up packages, after the workspace.
        network: Whether it can reach the web, through the egress guard.
        is_over_quota: Returns whether the workspace is too large; blocking, called regularly while the job runs.
        keeps_owner: Whether the files of the workspace belong to a user and must stay theirs.
    """

    directory: Path
    command: Callable[[SandboxPaths], list[str]]
    folder: str = "."
    support_files: Mapping[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    keeps_stdin: bool = False
    readable_paths: tuple[Path, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    python_path: tuple[str, ...] = ()
    limits: ResourceLimits = ResourceLimits()
    network: bool = False
    is_over_quota: Callable[[], bool] = lambda: False
    keeps_owner: bool = False


def build_environment(job: Job, paths: SandboxPaths, level: IsolationLevel) -> dict[str, str]:
    """Return the whole environment of the code; nothing of the server's environment is in it."""
    temporary = paths.temporary
    base = {
        "PATH": ":".join((*job.path, "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")),
        "HOME": paths.workspace,
        "PWD": paths.resolve_folder(job),
        "TMPDIR": temporary,
        "PYTHONPATH": ":".join((paths.workspace, paths.support, *job.python_path)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUNBUFFERED": "1",
        "PYTHONUTF8": "1",
        "MPLBACKEND": "module://outrider_plots",
        "MPLCONFIGDIR": f"{temporary}/matplotlib",
        "DENO_DIR": f"{temporary}/deno",
        "DENO_NO_UPDATE_CHECK": "1",
        "XDG_CACHE_HOME": f"{temporary}/cache",
        "XDG_CONFIG_HOME": f"{temporary}/config",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "OUTRIDER_SANDBOX": level,
    }
    return base | dict(job.environ)
