"""A fake of the program `agent-browser`: its command line, its answers, its background process.

    program = fake_agent_browser.put(folder, way="hang")

`behaviour.json` next to the program has the behaviour, and `calls.jsonl` the received calls.
Ways: `ok`, `hang`, `flood`, `not_started` (once), and those in `WAYS`; `at` names the command that fails.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SLEEP_COMMAND = [sys.executable, "-c", "import time; time.sleep(600)"]

CRASH_EXIT_CODE = 101
# Its output and exit code; None continues.
FAILURE_MODES = {
    "no_json": ("something else", 0),
    "notice": ("A new version is there: 99.0.0", None),
    "failing": ('{"success": false, "data": null, "error": "Navigation failed: net::ERR_NAME_NOT_RESOLVED"}', 1),
    "crash": ("panicked at main.rs", CRASH_EXIT_CODE),
}


def install_program(folder: Path, **behaviour: Any) -> Path:
    """Install the program in a folder; `pages` maps a part of an address to (snapshot, HTML)."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "agent-browser"
    program.write_text(f"#!{sys.executable}\n{Path(__file__).read_text()}\nmain()\n")
    program.chmod(0o755)
    (folder / "behaviour.json").write_text(json.dumps(behaviour))
    return program


def read_calls(program: Path) -> list[dict[str, Any]]:
    """Read the received calls: `{argv, environ, folder}` each, oldest first."""
    file = program.parent / "calls.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def read_started_pids(program: Path) -> list[int]:
    """Read the ids of processes that it started and did not wait for."""
    file = program.parent / "started"
    return [int(line) for line in file.read_text().split()] if file.exists() else []


def main() -> None:
    here = Path(sys.argv[0]).parent
    behaviour = json.loads((here / "behaviour.json").read_text())
    with (here / "calls.jsonl").open("a") as file:
        call = {"argv": sys.argv[1:], "environ": dict(os.environ), "folder": str(Path.cwd())}
        file.write(json.dumps(call) + "\n")
    if sys.argv[1:] == ["--version"]:
        print("agent-browser " + behaviour.get("version", "0.41.2"))
    else:
        _run_command(here, behaviour, sys.argv[1:])


def _run_command(here: Path, behaviour: dict[str, Any], argv: list[str]) -> None:
    way, command = behaviour.get("way", "ok"), argv[0]
    if command == "close":
        return _print_result({"closed": True})
    if command == behaviour.get("at", "open"):
        _apply_failure(here, way)
    state = Path(os.environ["AGENT_BROWSER_SOCKET_DIR"])
    name = argv[argv.index("--session") + 1]
    if command == "open":
        _start_daemon(here, state / f"{name}.pid")
        (state / "at").write_text(argv[1])
        return _print_result({"title": "", "url": argv[1]})
    at = (state / "at").read_text()
    seen, html = next((each for piece, each in behaviour["pages"].items() if piece in at), ("(empty page)", ""))
    if command == "get":
        return _print_result({"html": html})
    return _print_result({"origin": at, "snapshot": seen, "refs": {}} if command == "snapshot" else {})


def _apply_failure(here: Path, way: str) -> None:
    if way == "hang":
        _start_process(here, SLEEP_COMMAND)
        time.sleep(600)
    elif way == "flood":
        while True:
            sys.stdout.write("x" * 1_000_000)
            sys.stdout.flush()
    elif way == "not_started" and not (here / "once").exists():
        (here / "once").write_text("")
        _start_process(here, SLEEP_COMMAND, start_new_session=True)  # it starts anyway, without anyone knowing
        _print_and_exit('{"success": false, "error": "Daemon failed to start (socket: x.sock)"}', 1)
    elif way in FAILURE_MODES:
        _print_and_exit(*FAILURE_MODES[way])


def _print_and_exit(said: str, code: int | None) -> None:
    print(said, file=sys.stderr if code == CRASH_EXIT_CODE else sys.stdout)
    if code is not None:
        sys.exit(code)


def _start_daemon(here: Path, pid_file: Path) -> None:
    """Start a background process with a browser; both outlive the command."""
    if pid_file.exists():
        return
    source = f"import subprocess, time; p = subprocess.Popen({SLEEP_COMMAND!r}, process_group=0);"
    source += f"open({str(here / 'started')!r}, 'a').write(f'{{p.pid}}\\n'); time.sleep(600)"
    pid_file.write_text(str(_start_process(here, [sys.executable, "-c", source], start_new_session=True)))


def _start_process(here: Path, program: list[str], **options: Any) -> int:
    quiet: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(program, **quiet, **options)
    with (here / "started").open("a") as file:
        file.write(f"{process.pid}\n")
    return process.pid


def _print_result(data: dict[str, Any]) -> None:
    print(json.dumps({"success": True, "data": data, "error": None}))
