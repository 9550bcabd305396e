"""Which Python and which Deno run the code, and what of the disk they need to see."""

import json
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.core.errors import NotConfigured
from outrider.workspace.sandbox import system_paths


@dataclass(frozen=True)
class Interpreter:
    """An interpreter, and the folders or files besides the system's that it needs to read."""

    executable: Path
    readable_paths: tuple[Path, ...]


async def find_python(chosen: str, uid: int | None, private: Path) -> Interpreter:
    """The operator's choice, else python3 on PATH, else the server's own; the first that can be used.

    Args:
        chosen: The operator's choice; may be empty.
        uid: Who must be able to read it: a user without rights, or None for ourselves.
        private: A folder that must not be shown, whatever an installation contains it.

    Raises:
        NotConfigured: there is none.
    """
    reasons: list[str] = []
    for candidate in [chosen] if chosen else _pythons():
        try:
            found = await _probe_python(candidate)
        except (OSError, TimeoutError, ValueError) as error:
            reasons.append(f"{candidate}: {error}")
            continue
        hidden = [
            path for path in (found.executable, *found.readable_paths) if not system_paths.is_readable_by(path, uid)
        ]
        bare = [path for path in found.readable_paths if private.is_relative_to(path)]
        if not hidden and not bare:
            return found
        reasons.append(f"{candidate}: {hidden[0]} is private" if hidden else f"{candidate}: {bare[0]} holds our data")
    raise NotConfigured(
        f"there is no Python that sandboxed code may use ({'; '.join(reasons) or 'none on PATH'})",
        hint="set `code.python` to an interpreter that all users may read, for instance /usr/bin/python3",
        code="no_python",
    )


def find_deno(chosen: str, uid: int | None) -> Interpreter:
    """The operator's choice, else the one of the extra `code`, else the one on PATH. Raises NotConfigured."""
    beside = Path(sysconfig.get_path("scripts")) / "deno"
    found = Path(chosen) if chosen else beside if beside.exists() else Path(shutil.which("deno") or "")
    if not found.is_file():
        raise NotConfigured(
            "Deno, which runs TypeScript, is not installed",
            hint="pip install 'outrider[code]', or set `code.deno` to a deno program",
            code="no_deno",
        )
    found = found.resolve()
    if not system_paths.is_readable_by(found, uid):
        raise NotConfigured(
            f"sandboxed code may not read {found}",
            hint="install deno where all users may read it, and set `code.deno`",
            code="no_deno",
        )
    return Interpreter(found, () if system_paths.is_system_path(found) else (found,))


def _pythons() -> Iterator[str]:
    yield from filter(None, (shutil.which("python3"), sys.executable, shutil.which("python3", path="/usr/bin")))


async def _probe_python(candidate: str) -> Interpreter:
    """What an interpreter says about itself: a name on PATH may be a script that starts another."""
    probe_timeout_s = 20
    probe_code = (
        "import json, sys; print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, sys.base_exec_prefix]))"
    )
    with anyio.fail_after(probe_timeout_s):
        said = await anyio.run_process([candidate, "-c", probe_code], check=False)
    if said.returncode:
        raise ValueError(said.stderr.decode(errors="replace").strip()[-200:] or "it does not start")
    executable, *prefixes = map(Path, json.loads(said.stdout))
    # Both as they are called and as they are: what one name shows, another may link to.
    folders = dict.fromkeys(path for prefix in prefixes for path in (prefix, prefix.resolve()))
    return Interpreter(executable, tuple(path for path in folders if not system_paths.is_system_path(path)))
