"""The command explains typing errors, interruptions and full disks."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S

OUTRIDER = [sys.executable, "-m", "outrider"]


def run_command(home: Path, command: list[str], *, stdout: int = subprocess.PIPE) -> tuple[int, str, str]:
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    ended = subprocess.run(
        command, env=environ, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120, check=False
    )
    return ended.returncode, ended.stdout or "", ended.stderr


def test_a_mistyped_command_option_or_number_is_refused_with_what_was_meant(home: Path):
    cases = {
        ("serch", "fox"): "Did you mean 'search'",
        ("browser", "snapshto"): "Did you mean 'snapshot'",
        ("skill", "shwo"): "Did you mean 'show'",
        ("search", "--dept", "wide", "fox"): "--depth",
        ("search", "-n", "99", "fox"): "1<=x<=10",
        ("search", "-n", "0", "fox"): "1<=x<=10",
        ("search", "--page", "0", "fox"): "x>=1",
    }
    for words, meant in cases.items():
        code, _, said = run_command(home, outrider_command.build_command(*words))
        assert (code, meant in said) == (2, True), (words, said)


@pytest.mark.nightly
def test_summaries_of_commands_are_not_cut(home: Path):
    for words in ((), ("browser",), ("agents",), ("content",), ("db",), ("token",), ("workspace",)):
        _, shown, _ = run_command(home, outrider_command.build_command(*words, "--help"))
        assert "..." not in shown.partition("Commands:")[2]


def test_untrusted_names_and_descriptions_cannot_control_the_terminal(home: Path):
    title, clear = "\x1b]0;owned\a", "\x1b[2J\x9b2J"
    file = home / f"notes{title}{clear}.bin"
    file.write_bytes(b"\0\1\2" * 100)
    agent = home / ".outrider" / "agents" / "guest.md"
    agent.parent.mkdir(parents=True)
    agent.write_text('---\nname: guest\ndescription: "Helps \\e]0;owned\\a\\e[2J you"\n---\nHelp.\n')
    _, listed, _ = run_command(home, outrider_command.build_command("agents", "list"))
    _, _, refused = run_command(home, outrider_command.build_command("extract", str(file)))
    assert "Helps ]0;owned[2J you" in listed
    assert "notes]0;owned[2J2J.bin is binary data" in refused


def test_a_full_disk_is_reported_in_one_line(home: Path):
    for words in (("config", "schema"), ("--help",), ("skill", "show")):
        with Path("/dev/full").open("w") as full:
            code, _, said = run_command(home, [*OUTRIDER, *words], stdout=full.fileno())
        assert code == 4
        assert said.splitlines()[0] == "error: the output cannot be written: No space left on device"
        assert "Traceback" not in said


def test_ctrl_c_ends_with_130(home: Path):
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    words = ["browser", "run", "-"]
    with subprocess.Popen(
        [*OUTRIDER, *words], env=environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stderr
        # It reads its input only after its start, so it takes a large piece only then.
        process.stdin.write("# a comment\n" * 100_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130, said
    assert "Traceback" not in said


def test_ctrl_c_ends_extract_while_it_waits_for_its_input(home: Path):
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        [*OUTRIDER, "extract", "-"], env=environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        assert process.stderr
        # More than the pipe's capacity, so that this returns once it is being read.
        process.stdin.write("<p>words</p>" * 100_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        process.wait(PROCESS_TIMEOUT_S)
        said = process.stderr.read()
    assert process.returncode == 130, said
    assert "Traceback" not in said


def test_ctrl_c_ends_a_server_whose_host_keeps_its_input_open(home: Path):
    environ = {"HOME": str(home), "PATH": os.environ["PATH"]}
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "host", "version": "1"}}
    greeting = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}
    with subprocess.Popen(
        [*OUTRIDER, "mcp", "--no-daemon"],
        env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(greeting) + "\n")
            process.stdin.flush()
            assert "serverInfo" in process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
        finally:
            process.kill()
        assert process.stderr
        assert process.stderr.read() == ""
