"""The first steps of the flows guide, typed as by a newcomer on a separate machine."""

import re
from collections.abc import Generator
from pathlib import Path

import anyio
import pytest

from support.apps import shared_process
from support.apps.terminal import Terminal

pytestmark = pytest.mark.anyio
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "flows.md"
GUIDE_TIMEOUT_S = 300


@pytest.fixture
def terminal(tmp_path: Path, free_tcp_port: int) -> Generator[Terminal]:
    home = tmp_path / "user"
    home.mkdir()
    with shared_process.start_host_user(home) as user:
        yield Terminal(user, f"http://127.0.0.1:{free_tcp_port}")


@pytest.mark.nightly
async def test_the_first_ten_minutes_of_the_guide_work_as_printed(terminal: Terminal):
    chapter = GUIDE.read_text().partition("## From recording")[2].partition("\n## ")[0]
    port = terminal.site_url.rpartition(":")[2]
    script = "\n".join(re.findall(r"```sh\n(.*?)```", chapter, re.DOTALL)).replace("8000", port)
    printed = " ".join(re.findall(r"```text\n(.*?)```", chapter, re.DOTALL))
    folder = terminal.user.home / "empty"
    folder.mkdir()
    environ = terminal.install_program(folder.parent / "bin")
    with anyio.fail_after(GUIDE_TIMEOUT_S):
        ended = await anyio.run_process(["bash", "-emc", script], env=environ, cwd=folder, check=False)
    told = ended.stdout.decode() + ended.stderr.decode()
    assert ended.returncode == 0, told
    lines = [re.sub(r"\d+\.\d s", "… s", line) for line in told.splitlines()]
    for line in printed.splitlines():
        assert re.sub(r"\d+\.\d s", "… s", line.strip()) in lines
    assert "@playwright/test" in (folder / "order.spec.ts").read_text()
