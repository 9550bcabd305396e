"""Build sandbox jobs from a model's code, which is never altered."""

import sys
from dataclasses import replace
from pathlib import Path

from outrider.core.errors import InvalidInput
from outrider.core.jail import Jail, rename_error_field
from outrider.workspace.sandbox.job import Job, SandboxPaths
from outrider.workspace.sandbox.sandbox import Sandbox

BASH = Path("/bin/bash")


async def build_python_job(sandbox: Sandbox, directory: Path, code: str) -> Job:
    """Build a job that runs Python from a read-only file outside the workspace. Raises NotConfigured."""
    main_file = "main.py"
    python = await sandbox.resolve_python(directory)
    job = Job(
        directory,
        lambda inside: [str(python.executable), f"{inside.support}/{main_file}"],
        support_files={main_file: code.encode("utf-8", "surrogatepass")},
        limits=sandbox.build_limits(),
        network=sandbox.settings.network,
    )
    return await _add_python(sandbox, job)


async def build_python_kernel_job(sandbox: Sandbox, directory: Path) -> Job:
    """Build a job that runs cells of Python from its standard input. Raises NotConfigured."""
    job = await build_python_job(sandbox, directory, "")
    support_files = {**job.support_files, "main.py": _read_program("python_cells.py")}
    return replace(job, support_files=support_files, keeps_stdin=True)


async def build_typescript_job(sandbox: Sandbox, directory: Path, code: str) -> Job:
    """Build a job that runs TypeScript with Deno.

    The code is on standard input, so imports are relative to the workspace.

    Raises NotConfigured.
    """
    job = await _build_deno_job(sandbox, directory, ["--ext=ts"], "-")
    return replace(job, stdin=code.encode("utf-8", "surrogatepass"))


async def build_typescript_kernel_job(sandbox: Sandbox, directory: Path) -> Job:
    """Build a job that runs cells of TypeScript from its standard input. Raises NotConfigured."""
    main_file = "typescript_cells.mjs"
    job = await _build_deno_job(sandbox, directory, [], main_file)
    return replace(job, support_files={main_file: _read_program(main_file)}, keeps_stdin=True)


async def _build_deno_job(sandbox: Sandbox, directory: Path, options: list[str], program: str) -> Job:
    """Build a job that runs a support file, or standard input for `-`.

    Deno gets all of its permissions, because the sandbox confines the code.
    """
    deno = await sandbox.resolve_deno(directory)
    limits = sandbox.build_limits()
    heap_mb = limits.memory // 1_000_000 * 3 // 4  # leaves the rest to Deno itself
    command = [
        str(deno.executable),
        "run",
        "--quiet",
        "--allow-all",
        *options,
        f"--v8-flags=--max-old-space-size={heap_mb}",
    ]
    return Job(
        directory,
        lambda inside: [*command, program if program == "-" else f"{inside.support}/{program}"],
        readable_paths=deno.readable_paths,
        limits=limits,
        network=sandbox.settings.network,
    )


async def build_shell_job(sandbox: Sandbox, directory: Path, command: str, folder: str = ".") -> Job:
    """Build a job that runs a shell command in a folder.

    On Windows, the shell is cmd.exe.

    Raises InvalidInput or NotFound for the folder.
    """
    check_working_folder(directory, folder)

    def build_command(_: SandboxPaths) -> list[str]:
        if sys.platform == "win32":
            return ["cmd.exe", "/d", "/s", "/c", command]
        return [str(BASH) if BASH.exists() else "/bin/sh", "-c", command]

    limits, network = sandbox.build_limits(), sandbox.settings.network
    return await _add_python(sandbox, Job(directory, build_command, folder=folder, limits=limits, network=network))


async def build_shell_kernel_job(sandbox: Sandbox, directory: Path) -> Job:
    """Build a job that runs commands from its standard input in one bash. Raises NotConfigured."""
    job = await build_shell_job(sandbox, directory, "")
    program = _read_program("shell_cells.sh").decode()

    def build_command(paths: SandboxPaths) -> list[str]:
        return [str(BASH), "-c", program, "bash", f"{paths.temporary}/shell-state"]

    return replace(job, command=build_command, keeps_stdin=True)


def check_working_folder(directory: Path, folder: str) -> None:
    """Raise InvalidInput or NotFound unless it is a folder of the workspace."""
    with rename_error_field("working_dir"):
        if folder != "." and Jail(directory).get_entry(folder).kind != "directory":
            raise InvalidInput(f"path: {folder!r} is not a folder", hint="use list_directory to find one")


def _read_program(name: str) -> bytes:
    """Return a program that runs cells."""
    return Path(__file__).parent.joinpath("kernels", name).read_bytes()


async def _add_python(sandbox: Sandbox, job: Job) -> Job:
    """Return the job with Python on its path, and packages.

    It has the matplotlib backend that saves figures.
    """
    python = await sandbox.resolve_python(job.directory)
    packages = await sandbox.resolve_packages(job.directory)
    backend = Path(__file__).parent.joinpath("sandbox", "plots.py").read_bytes()
    return replace(
        job,
        support_files={**job.support_files, "outrider_plots.py": backend},
        readable_paths=(*python.readable_paths, *([packages] if packages else [])),
        path=(str(python.executable.parent),),
        python_path=(str(packages),) if packages else (),
    )
