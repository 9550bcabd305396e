"""`outrider map` and `outrider extract-data` as processes."""

import json
import os
from pathlib import Path

import anyio
import pytest

from support.apps import loopback_app
from support.fakes import http_servers
from support.processes import outrider_command
from support.timeouts import PROCESS_TIMEOUT_S

pytestmark = pytest.mark.anyio
KETTLE_HTML = (
    "<title>Kettle</title><h1>Kettle</h1><p>Price: 49,90 \u20ac</p><p>Weight: 2 kg</p>"
    "<a href=/tea>Tea</a> <a href=/cup>Cup</a>"
)


async def run_command(home: Path, url: str, *arguments: str) -> tuple[int, str]:
    """Run a command that may read this site; return its exit code and output."""
    allowed = {"OUTRIDER_EGRESS__ALLOW": f"127.0.0.1:{url.rsplit(':', 1)[1]}"}
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]} | allowed
    with anyio.fail_after(PROCESS_TIMEOUT_S):
        line = outrider_command.build_command(*arguments)
        done = await anyio.run_process(line, env=environment, cwd=home, check=False)
    return done.returncode, done.stdout.decode()


async def test_values_are_printed_as_json_as_a_table_and_with_their_sources(home: Path):
    (home / "schema.json").write_text('{"title": "string", "price": "number", "colour": "string"}')
    async with http_servers.serve_app(loopback_app.build_page_site({"/": KETTLE_HTML})) as url:
        plain = await run_command(home, url, "extract-data", url, "--schema", '{"price": "number"}')
        table = await run_command(home, url, "extract-data", url, "--schema", "schema.json", "--csv")
        whole = await run_command(home, url, "extract-data", url, "--schema", "schema.json", "--evidence")
        wrong = await run_command(home, url, "extract-data", url, "--schema", "nowhere.json")
    assert (plain[0], json.loads(plain[1])) == (0, [{"price": 49.9}])
    assert (table[0], table[1].split()) == (1, ["title,price,colour", "Kettle,49.9,"])
    assert json.loads(whole[1])["items"][0]["evidence"]["price"]["quote"] == "49,90 \u20ac"
    assert wrong[0] not in (0, 1)


async def test_the_addresses_of_a_site_are_printed_one_a_line(home: Path):
    async with http_servers.serve_app(loopback_app.build_page_site({"/": KETTLE_HTML})) as url:
        listed = await run_command(home, url, "map", url)
        found = await run_command(home, url, "map", url, "--search", "tea", "--json")
    assert (listed[0], listed[1].split()) == (0, [f"{url}/", f"{url}/tea", f"{url}/cup"])
    assert [page["url"] for page in json.loads(found[1])["pages"]] == [f"{url}/tea"]
