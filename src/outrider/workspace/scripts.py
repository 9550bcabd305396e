"""Code and commands of a model as jobs for the sandbox; never changed, not by a letter."""

import sys
from pathlib import Path

from outrider.core.errors import InvalidInput
from outrider.workspace.jail import Jail, named
from outrider.workspace.sandbox.job import Job
from outrider.workspace.sandbox.sandbox import Sandbox

MAIN = "main.py"
PLOTS = "outrider_plots.py"
OF_CODE = 4  # the share of the memory that Deno's heap may take is 3 of so many parts; the rest is its own


async def python_job(sandbox: Sandbox, directory: Path, code: str) -> Job:
    """Python, as a file beside the workspace, which is its working directory. Raises NotConfigured."""
    python = await sandbox.python(directory)
    return Job(
        directory,
        lambda inside: [str(python.executable), f"{inside.beside}/{MAIN}"],
        beside={MAIN: code.encode("utf-8", "surrogatepass")} | _plots(),
        reads=python.reads,
        path=(str(python.executable.parent),),
        limits=sandbox.limits(),
        network=sandbox.settings.network,
    )


async def typescript_job(sandbox: Sandbox, directory: Path, code: str) -> Job:
    """TypeScript by Deno, which reads it from standard input, so that imports are relative to the workspace.

    Deno's own permissions are all given: the sandbox decides. Raises NotConfigured.
    """
    deno = await sandbox.deno(directory)
    limits = sandbox.limits()
    heap = limits.memory // 1_000_000 * (OF_CODE - 1) // OF_CODE
    words = [
        str(deno.executable),
        "run",
        "--quiet",
        "--allow-all",
        "--ext=ts",
        f"--v8-flags=--max-old-space-size={heap}",
    ]
    return Job(
        directory,
        lambda _: [*words, "-"],
        stdin=code.encode("utf-8", "surrogatepass"),
        reads=deno.reads,
        limits=limits,
        network=sandbox.settings.network,
    )


async def shell_job(sandbox: Sandbox, directory: Path, command: str, folder: str = ".") -> Job:
    """A command line for the shell (cmd.exe on Windows), in a folder of the workspace.

    Raises InvalidInput or NotFound for the folder.
    """
    _check_folder(directory, folder)
    python = await sandbox.python(directory)
    return Job(
        directory,
        lambda _: [*_shell(), command],
        folder=folder,
        beside=_plots(),
        reads=python.reads,
        path=(str(python.executable.parent),),
        limits=sandbox.limits(),
        network=sandbox.settings.network,
    )


def _shell() -> list[str]:
    if sys.platform == "win32":
        return ["cmd.exe", "/d", "/s", "/c"]
    return ["/bin/bash" if Path("/bin/bash").exists() else "/bin/sh", "-c"]


def _check_folder(directory: Path, folder: str) -> None:
    with named("working_dir"):
        if folder != "." and Jail(directory).entry(folder).kind != "directory":
            raise InvalidInput(f"path: {folder!r} is no folder", hint="list_directory shows what there is")


def _plots() -> dict[str, bytes]:
    return {PLOTS: Path(__file__).parent.joinpath("sandbox", "plots.py").read_bytes()}
