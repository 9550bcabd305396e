"""What is to be run in a sandbox, and how much of the machine it may take."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Level = Literal["namespaces", "landlock", "none"]


@dataclass(frozen=True)
class Limits:
    """What one execution may take.

    Attributes:
        memory: Bytes of all its processes together.
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
class Inside:
    """Places as the code sees them: its workspace, what we put beside it (read-only), and a folder for the moment."""

    workspace: str
    beside: str
    temporary: str

    def folder(self, job: "Job") -> str:
        """Where the code starts."""
        return self.workspace if job.folder == "." else f"{self.workspace}/{job.folder}"


@dataclass(frozen=True)
class Job:
    """One execution.

    Attributes:
        directory: The workspace: the only thing outside that it may change.
        command: What to run, once it is known how places are called inside.
        folder: Where in the workspace it starts.
        beside: Name to content of files that it may read.
        stdin: What it reads.
        reads: Folders and files, besides the system's, that it may read.
        environ: Added to its environment, which is otherwise empty but for what every program needs.
        path: Folders in which programs are looked for first.
        network: Whether it may reach the web, through the egress guard.
        full: Whether the workspace holds too much; blocking, asked now and then while it runs.
    """

    directory: Path
    command: Callable[[Inside], list[str]]
    folder: str = "."
    beside: Mapping[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    reads: tuple[Path, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    limits: Limits = Limits()
    network: bool = False
    full: Callable[[], bool] = lambda: False


def environment(job: Job, inside: Inside, level: Level) -> dict[str, str]:
    """All that the code finds in its environment: nothing of ours."""
    temporary = inside.temporary
    base = {
        "PATH": ":".join((*job.path, "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")),
        "HOME": inside.workspace,
        "PWD": inside.folder(job),
        "TMPDIR": temporary,
        "PYTHONPATH": f"{inside.workspace}:{inside.beside}",
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
