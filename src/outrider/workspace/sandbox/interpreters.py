"""Find the Python and Deno for sandboxed code.

The files that they need to read are found, too.
"""

import json
import os
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.core.errors import NotConfigured
from outrider.core.installation import suggest_extra
from outrider.relay.child_environment import select_child_environment
from outrider.workspace.sandbox import system_paths


@dataclass(frozen=True)
class Interpreter:
    """An interpreter, and the files or folders besides the system's that it needs to read.

    `tag` names its version and platform, which compiled packages depend on.
    """

    executable: Path
    readable_paths: tuple[Path, ...]
    tag: str = ""


async def find_python(chosen: str, uid: int | None, private: Path) -> Interpreter:
    """Return the operator's choice, else the first usable of python3 on PATH, the server's own, and /usr/bin/python3.

    Args:
        chosen: The operator's choice; may be empty.
        uid: An unprivileged user who must be able to read it, or None for our own user.
        private: A folder that must stay hidden, even if an installation contains it.

    Raises:
        NotConfigured: No Python is usable.
    """
    reasons: list[str] = []
    installed = (shutil.which("python3"), sys.executable, shutil.which("python3", path="/usr/bin"))
    for candidate in [chosen] if chosen else filter(None, installed):
        try:
            interpreter = await _probe_python(candidate)
        except (OSError, TimeoutError, ValueError) as error:
            reasons.append(f"{candidate}: {error}")
            continue
        paths = (interpreter.executable, *interpreter.readable_paths)
        unreadable = [path for path in paths if not system_paths.is_readable_by(path, uid)]
        exposing = [path for path in interpreter.readable_paths if private.is_relative_to(path)]
        if not unreadable and not exposing:
            return interpreter
        problem = f"{unreadable[0]} is private" if unreadable else f"{exposing[0]} contains Outrider's data"
        reasons.append(f"{candidate}: {problem}")
    raise NotConfigured(
        f"no Python is usable by sandboxed code ({'; '.join(reasons) or 'none on PATH'})",
        hint="set `code.python` to an interpreter that all users can read, for instance /usr/bin/python3",
        code="no_python",
    )


def find_deno(chosen: str, uid: int | None) -> Interpreter:
    """Return the operator's Deno, the extra's, or the one on PATH."""
    installed = Path(sysconfig.get_path("scripts")) / "deno"
    executable = Path(chosen) if chosen else installed if installed.exists() else Path(shutil.which("deno") or "")
    if not executable.is_file():
        raise NotConfigured(
            "Deno, which runs TypeScript, is not installed",
            hint=f"{suggest_extra('code')}, or set `code.deno` to a deno program",
            code="no_deno",
        )
    executable = executable.resolve()
    if not system_paths.is_readable_by(executable, uid):
        raise NotConfigured(
            f"sandboxed code cannot read {executable}",
            hint="install deno where all users can read it, and set `code.deno`",
            code="no_deno",
        )
    return Interpreter(executable, () if system_paths.is_system_path(executable) else (executable,))


async def _probe_python(candidate: str) -> Interpreter:
    """Ask an interpreter for its paths: a name on PATH may be a script that starts another one."""
    probe_timeout_s = 20
    probe_code = (
        "import json, sys, sysconfig; print(json.dumps([f'{sys.implementation.cache_tag}-{sysconfig.get_platform()}', "
        "sys.executable, sys.prefix, sys.base_prefix, sys.base_exec_prefix]))"
    )
    with anyio.fail_after(probe_timeout_s):
        result = await anyio.run_process(
            [candidate, "-c", probe_code], check=False, env=select_child_environment(dict(os.environ))
        )
    if result.returncode:
        raise ValueError(result.stderr.decode(errors="replace").strip()[-200:] or "it does not start")
    tag, *paths = json.loads(result.stdout)
    executable, *prefixes = map(Path, paths)
    # Allow both unresolved and resolved paths: links inside an installation may use either.
    folders = dict.fromkeys(path for prefix in prefixes for path in (prefix, prefix.resolve()))
    readable_paths = tuple(path for path in folders if not system_paths.is_system_path(path))
    return Interpreter(executable, readable_paths, str(tag))
