"""`outrider browser` saves, lists and imports sign-ins."""

import json
import os
import subprocess
from pathlib import Path

import anyio
import pytest

import browser_site
from support.fakes import http_servers
from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
COOKIE_VALUE = "s3cr3t-token"
STATE = {
    "cookies": [{"name": "who", "value": COOKIE_VALUE, "domain": "shop.example", "path": "/", "expires": -1}],
    "origins": [{"origin": "https://shop.example", "localStorage": [{"name": "token", "value": COOKIE_VALUE}]}],
}


async def run_outrider(home: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in that home, without the outer environment."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]} | environ
    command = outrider_command.build_command("browser", *arguments)
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        return await anyio.run_process(command, env=environment, cwd=home, check=False)


async def import_state(home: Path, **environ: str) -> Path:
    """Write a state as from another program, import it as `shop`, and return its file."""
    file = home / "elsewhere.json"
    file.write_text(json.dumps(STATE))
    done = await run_outrider(home, "state", "import", str(file), "--state", "Shop", "--json", **environ)
    assert done.returncode == 0, done.stderr
    return Path(json.loads(done.stdout)["path"])


async def test_states_are_imported_listed_and_deleted_without_their_values(home: Path):
    kept = await import_state(home)
    listed = await run_outrider(home, "state", "list")
    rows = await run_outrider(home, "state", "list", "--json")
    deleted = await run_outrider(home, "state", "delete", "shop")
    again = await run_outrider(home, "state", "delete", "shop")
    assert "shop" in listed.stdout.decode()
    assert "1 cookies" in listed.stdout.decode()
    assert json.loads(rows.stdout)[0]["origins"] == ["https://shop.example"]
    assert "deleted shop" in deleted.stdout.decode()
    assert (again.returncode, kept.exists()) == (2, False)
    for each in (listed, rows, deleted, again):
        assert COOKIE_VALUE.encode() not in each.stdout + each.stderr


async def test_with_a_key_in_the_environment_the_file_is_unreadable(home: Path):
    kept = await import_state(home, OUTRIDER_BROWSER__STATE_KEY="a passphrase")
    assert COOKIE_VALUE not in kept.read_text()
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    rows = json.loads((await run_outrider(home, "state", "list", "--json")).stdout)
    assert (rows[0]["encrypted"], rows[0]["cookies"]) == (True, None)
    moved = await run_outrider(
        home, "state", "import", str(kept), "--state", "b", OUTRIDER_BROWSER__STATE_KEY="another"
    )
    assert moved.returncode == 3
    assert b"OUTRIDER_BROWSER__STATE_KEY" in moved.stderr


@pytest.mark.parametrize("text", ["{}", "[]", '{"cookies": 3}', "no JSON"])
async def test_a_file_that_is_not_a_state_is_refused(home: Path, text: str):
    (home / "wrong.json").write_text(text)
    done = await run_outrider(home, "state", "import", "wrong.json", "--json")
    assert done.returncode in (2, 4)
    assert json.loads(done.stdout)["error"]["hint"]
    assert json.loads((await run_outrider(home, "state", "list", "--json")).stdout) == []


async def test_a_damaged_state_is_listed_and_can_be_deleted(home: Path):
    kept = await import_state(home)
    kept.write_text("half of a fi")
    listed = await run_outrider(home, "state", "list")
    deleted = await run_outrider(home, "state", "delete", "shop")
    assert "damaged" in listed.stdout.decode()
    assert deleted.returncode == 0
    assert not kept.exists()


async def test_signing_in_without_a_display_names_the_remedy(home: Path):
    done = await run_outrider(home, "login", "https://shop.example")
    assert done.returncode == 3
    assert b"no display" in done.stderr
    assert b"outrider browser state import FILE --state NAME" in done.stderr


async def test_signing_in_keeps_what_the_site_has_stored(home: Path):
    windows = '["--ozone-platform=headless"]'
    async with http_servers.serve_app(browser_site.build_site()) as url:
        environ = {"DISPLAY": ":none", "OUTRIDER_BROWSER__FLAGS": windows, "OUTRIDER_EGRESS__ALLOW": f'["{url[7:]}"]'}
        done = await run_outrider(
            home, "login", f"{url}/remembering", "--state", "site", "--seconds", "3", "--json", **environ
        )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told | {"path": ""} == {
        "state_id": "site",
        "saved": True,
        "cookies": 1,
        "origins": [url],
        "closed": False,
        "path": "",
    }
    assert b"then close it" in done.stderr
