"""`outrider config` sets, extends and removes settings, and keeps the rest of the file."""

import json
import os
import stat
import subprocess
from pathlib import Path

import anyio
import pytest

from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio


async def run_outrider(
    home: Path, *arguments: str, stdin: bytes = b"", **environ: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in that home, without the outer environment."""
    command = outrider_command.build_command(*arguments)
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]} | environ
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        return await anyio.run_process(command, input=stdin, env=environment, cwd=home, check=False)


def read_settings_text(home: Path) -> str:
    return (home / ".outrider" / "settings.json").read_text()


async def test_setting_a_value_takes_effect_and_keeps_the_rest_of_the_file(home: Path):
    (home / ".outrider").mkdir()
    before = '{\r\n    "egress": {"deny": ["evil.example"]},\r\n    "names": "builtin"\r\n}\r\n'
    (home / ".outrider" / "settings.json").write_bytes(before.encode())
    done = await run_outrider(home, "config", "set", "serve.port", "9000")
    assert done.returncode == 0, done.stderr
    text = (home / ".outrider" / "settings.json").read_bytes().decode()
    assert text.startswith(before.rstrip("}\r\n"))
    assert text.count("\n") == text.count("\r\n"), "line ends stay those of Windows"
    assert json.loads(read_settings_text(home))["serve"]["port"] == 9000
    shown = (await run_outrider(home, "config", "show", "serve.port")).stdout.decode()
    assert "9000" in shown
    assert "settings.json" in shown
    assert len(shown.splitlines()) == 1


async def test_lists_are_replaced_by_set_and_extended_by_add(home: Path):
    await run_outrider(home, "config", "set", "egress.allow", "a.example,b.example")
    await run_outrider(home, "config", "add", "egress.allow", "b.example", "c.example")
    assert json.loads(read_settings_text(home)) == {"egress": {"allow": ["a.example", "b.example", "c.example"]}}
    await run_outrider(home, "config", "set", "egress.allow", "d.example")
    assert json.loads(read_settings_text(home)) == {"egress": {"allow": ["d.example"]}}


async def test_a_removed_setting_has_its_default_again(home: Path):
    await run_outrider(home, "config", "set", "boundary", "false")
    assert json.loads(read_settings_text(home)) == {"boundary": False}
    assert (await run_outrider(home, "config", "unset", "boundary")).returncode == 0
    shown = await run_outrider(home, "config", "show", "boundary")
    assert shown.stdout.decode().split() == ["boundary", "true", "(default)"]
    again = await run_outrider(home, "config", "unset", "boundary")
    assert again.returncode == 2
    assert b"boundary is not set" in again.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("set", "serve.prot", "9000"), b"did you mean 'port'"),
        (("set", "serve.port", "many"), b"serve.port: "),
        (("set", "browser.warm", "true"), b"'browser.warm' no longer exists"),
        (("add", "serve.port", "9000"), b"'serve.port' is not a list"),
        (("add", "egress.alow", "a.example"), b"did you mean 'allow'"),
        (("show", "serve.prot"), b"no setting 'serve.prot'"),
    ],
)
async def test_a_wrong_name_or_value_changes_nothing(home: Path, arguments: tuple[str, ...], reason: bytes):
    done = await run_outrider(home, "config", *arguments)
    assert done.returncode == 2
    assert reason in done.stderr
    assert not (home / ".outrider" / "settings.json").exists()


async def test_a_key_is_read_from_standard_input_into_a_private_file(home: Path):
    done = await run_outrider(home, "config", "set", "search.providers.brave.api_key", "-", stdin=b"hush\n")
    assert done.returncode == 0, done.stderr
    assert b"hush" not in done.stdout + done.stderr
    path = home / ".outrider" / "settings.json"
    assert json.loads(path.read_text())["search"]["providers"]["brave"]["api_key"] == "hush"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_setting_a_value_overridden_by_the_environment_is_announced(home: Path):
    done = await run_outrider(home, "config", "set", "names", "builtin", OUTRIDER_NAMES="bare")
    assert b"the value from the environment is used instead" in done.stderr


@pytest.mark.nightly
async def test_commands_at_the_same_time_do_not_undo_one_another(home: Path):
    hosts = [f"place{number}.example" for number in range(6)]
    async with anyio.create_task_group() as tasks:
        for host in hosts:
            tasks.start_soon(run_outrider, home, "config", "add", "egress.allow", host)
    assert set(json.loads(read_settings_text(home))["egress"]["allow"]) == set(hosts)


async def test_a_link_is_followed_and_a_dangling_one_is_an_error(home: Path):
    (home / ".outrider").mkdir()
    (home / "dotfiles.json").write_text("{}")
    (home / ".outrider" / "settings.json").symlink_to("../dotfiles.json")
    done = await run_outrider(home, "config", "set", "serve.port", "9000")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads((home / "dotfiles.json").read_text()) == {"serve": {"port": 9000}}
    (home / "dotfiles.json").unlink()
    for command in (("config", "set", "serve.port", "9001"), ("tools",)):
        lost = await run_outrider(home, *command)
        assert lost.returncode
        assert b"settings.json: it links to a file that is missing" in lost.stderr


async def test_a_file_that_is_not_json_is_left_as_it_is(home: Path):
    path = home / ".outrider" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"names": "bare",}')
    for arguments in (("set", "names", "builtin"), ("unset", "names"), ("add", "egress.deny", "evil.example")):
        done = await run_outrider(home, "config", *arguments)
        assert done.returncode == 2
        assert f"{path}, line 1, column ".encode() in done.stderr
    assert path.read_text() == '{"names": "bare",}'
