"""Code and commands of a model as jobs for the sandbox; never changed, not by a letter."""

import sys
from pathlib import Path

from outrider.core.errors import InvalidInput
from outrider.workspace.jail import Jail, rename_error_field
from outrider.workspace.sandbox.job import Job
from outrider.workspace.sandbox.sandbox import Sandbox


async def build_python_job(sandbox: Sandbox, directory: Path, code: str) -> Job:
    """Python, as a file beside the workspace, which is its working directory. Raises NotConfigured."""
    main_file = "main.py"
    python = await sandbox.resolve_python(directory)
    return Job(
        directory,
        lambda inside: [str(python.executable), f"{inside.support}/{main_file}"],
        support_files={main_file: code.encode("utf-8", "surrogatepass")} | _load_plots_backend(),
        readable_paths=python.readable_paths,
        path=(str(python.executable.parent),),
        limits=sandbox.build_limits(),
        network=sandbox.settings.network,
    )


async def build_typescript_job(sandbox: Sandbox, directory: Path, code: str) -> Job:
    """TypeScript by Deno, which reads it from standard input, so that imports are relative to the workspace.

    Deno's own permissions are all given: the sandbox decides. Raises NotConfigured.
    """
    heap_parts = 4  # the share of the memory that Deno's heap may take is 3 of so many parts; the rest is its own
    deno = await sandbox.resolve_deno(directory)
    limits = sandbox.build_limits()
    heap = limits.memory // 1_000_000 * (heap_parts - 1) // heap_parts
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
        readable_paths=deno.readable_paths,
        limits=limits,
        network=sandbox.settings.network,
    )


async def build_shell_job(sandbox: Sandbox, directory: Path, command: str, folder: str = ".") -> Job:
    """A command line for the shell (cmd.exe on Windows), in a folder of the workspace.

    Raises InvalidInput or NotFound for the folder.
    """
    _check_folder(directory, folder)
    python = await sandbox.resolve_python(directory)
    return Job(
        directory,
        lambda _: [*_find_shell(), command],
        folder=folder,
        support_files=_load_plots_backend(),
        readable_paths=python.readable_paths,
        path=(str(python.executable.parent),),
        limits=sandbox.build_limits(),
        network=sandbox.settings.network,
    )


def _find_shell() -> list[str]:
    if sys.platform == "win32":
        return ["cmd.exe", "/d", "/s", "/c"]
    return ["/bin/bash" if Path("/bin/bash").exists() else "/bin/sh", "-c"]


def _check_folder(directory: Path, folder: str) -> None:
    with rename_error_field("working_dir"):
        if folder != "." and Jail(directory).get_entry(folder).kind != "directory":
            raise InvalidInput(f"path: {folder!r} is no folder", hint="list_directory shows what there is")


def _load_plots_backend() -> dict[str, bytes]:
    plots_file = "outrider_plots.py"
    return {plots_file: Path(__file__).parent.joinpath("sandbox", "plots.py").read_bytes()}
