"""Packages for sandboxed Python: installed outside the sandbox, into a folder that code can only read."""

import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import anyio

from outrider.core.errors import InvalidInput, Unavailable
from outrider.relay.child_environment import select_child_environment
from outrider.workspace.sandbox.interpreters import Interpreter

PACKAGE_SETS = {"data": ("numpy", "pandas", "matplotlib", "openpyxl")}
# Import names that differ from the package's.
PACKAGES_BY_IMPORT = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "docx": "python-docx",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
REQUIREMENT = re.compile(r"[A-Za-z0-9][\w.-]*(\[[\w,.-]+\])?([=<>!~]=?[\w.*,=<>!~+-]+)?")


class PackageFolders:
    """One folder below `root` for each Python version and platform."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get_folder(self, python: Interpreter) -> Path:
        """Return the folder for an interpreter, which may not exist yet."""
        return self._root / python.tag

    def list_installed(self, python: Interpreter) -> list[str]:
        """Return the requirements that have been installed."""
        try:
            return (self.get_folder(python) / "installed.txt").read_text().split()
        except OSError:
            return []

    async def install_packages(self, python: Interpreter, names: Iterable[str]) -> list[str]:
        """Install packages with their dependencies; return all installed requirements.

        Raises:
            InvalidInput: A name is not a requirement.
            Unavailable: They could not be installed (`packages`).
        """
        packages = expand_names(names)
        folder = self.get_folder(python)
        await anyio.to_thread.run_sync(lambda: folder.mkdir(parents=True, exist_ok=True))
        command = [*await _find_installer(python), "--quiet", "--upgrade", "--target", str(folder), *packages]
        environ = select_child_environment(dict(os.environ), "PIP_", "UV_", "HTTP", "http", "NO_PROXY", "no_proxy")
        result = await anyio.run_process(command, check=False, env=environ, cwd="/")
        if result.returncode:
            problem = (result.stderr or result.stdout).decode(errors="replace").strip()
            raise Unavailable(
                f"{', '.join(packages)} could not be installed: {problem[-500:]}",
                code="packages",
                hint="check the names and the network, then run `outrider code install` again",
            )
        installed = sorted({*self.list_installed(python), *packages})
        await anyio.Path(folder / "installed.txt").write_text("\n".join(installed) + "\n")
        return installed


def expand_names(names: Iterable[str]) -> list[str]:
    """Return requirements, with the names of package sets replaced by their packages. Raises InvalidInput."""
    expanded = dict.fromkeys(package for name in names for package in PACKAGE_SETS.get(name, (name,)))
    for name in expanded:
        if not REQUIREMENT.fullmatch(name):
            raise InvalidInput(f"packages: {name!r} is not a package's name", hint="for instance pandas, or pandas>=2")
    return list(expanded)


def describe_missing_package(stderr: str, problem: str) -> str:
    """Return how to install the package whose import failed; empty if none did.

    Args:
        stderr: What the code has written.
        problem: Why the packages of the settings could not be installed; empty if they were.
    """
    imports = re.findall(r"^ModuleNotFoundError: No module named '([\w.]+)'", stderr, re.MULTILINE)
    if not imports:
        return ""
    module = imports[-1].partition(".")[0]
    name = PACKAGES_BY_IMPORT.get(module, module)
    data = PACKAGE_SETS["data"]
    command = "outrider code install" if name in data else f"outrider code install {name}"
    contents = f" ({', '.join(data)})" if name in data else ""
    setting = "data" if name in data else name
    message = f"package {name} is not installed where code runs; the operator can run `{command}`{contents}"
    return f"{message} or add {setting} to `code.packages`" + (f"; {problem}" if problem else "")


async def _find_installer(python: Interpreter) -> list[str]:
    """Return the command that installs packages for an interpreter. Raises Unavailable."""
    executable = str(python.executable)
    environ = select_child_environment(dict(os.environ))
    if (await anyio.run_process([executable, "-m", "pip", "--version"], check=False, env=environ)).returncode == 0:
        return [executable, "-m", "pip", "install", "--disable-pip-version-check"]
    if uv := shutil.which("uv"):
        return [uv, "pip", "install", "--python", executable]
    if pip := shutil.which("pip3") or shutil.which("pip"):
        return [pip, "--python", executable, "install", "--disable-pip-version-check"]
    raise Unavailable(
        f"neither pip nor uv is installed for {executable}",
        code="packages",
        hint="install one (apt install python3-pip), or set `code.python` to a Python that has pip",
    )
