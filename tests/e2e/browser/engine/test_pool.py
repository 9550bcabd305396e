"""Sessions are spread over several attached browsers; a dead one loses only its own."""

import subprocess
import uuid
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import anyio
import pytest
from pydantic import SecretStr

from outrider.browser.process.find import find_browser
from outrider.browser.process.flags import can_sandbox
from outrider.browser.session.browsers import Browsers
from outrider.browser.settings import BrowserSettings
from outrider.core.errors import Unavailable
from support.timeouts import EVENT_TIMEOUT_S


@dataclass
class Stranger:
    """A foreign browser, which is started, killed and started again on its port."""

    profile: Path
    port: int = 0
    _process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        profile = self.profile / uuid.uuid4().hex  # a killed browser leaves its profile locked
        told = profile / "DevToolsActivePort"
        flags = ["--headless=new", f"--remote-debugging-port={self.port}", f"--user-data-dir={profile}"]
        flags += [] if can_sandbox() else ["--no-sandbox"]
        program = str(find_browser().path)
        self._process = subprocess.Popen([program, *flags, "about:blank"], stderr=subprocess.DEVNULL)
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while not self.port and not (told.exists() and told.read_text()):
                await anyio.sleep(0.02)
            self.port = self.port or int(told.read_text().split()[0])
            while not await self._listens():
                await anyio.sleep(0.02)

    async def _listens(self) -> bool:
        try:
            async with await anyio.connect_tcp("127.0.0.1", self.port):
                return True
        except OSError:
            return False

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


@pytest.fixture
def strangers(tmp_path: Path) -> Generator[list[Stranger]]:
    found = [Stranger(tmp_path / f"profile{number}") for number in range(2)]
    yield found
    for each in found:
        each.kill()


async def test_sessions_are_spread_over_browsers_and_a_lost_browser_is_reported(strangers, site, tmp_path):
    for each in strangers:
        await each.start()
    urls = [SecretStr(f"http://127.0.0.1:{each.port}") for each in strangers]
    browsers = Browsers(BrowserSettings(cdp_urls=urls), site.guard, tmp_path)
    try:
        opened = [(await browsers.open_session("test", f"{site.here}/popup"))[0] for _ in range(4)]
        assert [len(each.browser.owners) for each in browsers.running_browsers] == [2, 2]
        strangers[0].kill()
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while len(lost := [each for each in opened if each.status == "crashed"]) < 2:
                await anyio.sleep(0.02)
        with pytest.raises(Unavailable) as told:
            async with lost[0].acquire_page():
                pass
        assert (told.value.code, told.value.details["url"]) == ("browser_gone", f"{site.here}/popup")
        for each in lost:
            await browsers.reopen_session(each)
        assert [len(each.browser.owners) for each in browsers.running_browsers] == [4], "the other browser has them all"
        await strangers[0].start()
        with anyio.fail_after(EVENT_TIMEOUT_S):
            while len(browsers.running_browsers) < 2:
                await anyio.sleep(0.05)
        await browsers.open_session("test", f"{site.here}/popup")
        assert sorted(len(each.browser.owners) for each in browsers.running_browsers) == [1, 4]
    finally:
        await browsers.aclose()


async def test_if_no_browser_is_reachable_the_error_names_addresses_without_secrets(site, tmp_path):
    urls = [SecretStr("ws://127.0.0.1:1/devtools?token=secret"), SecretStr("ws://127.0.0.1:2/x")]
    browsers = Browsers(BrowserSettings(cdp_urls=urls), site.guard, tmp_path)
    try:
        with pytest.raises(Unavailable, match=r"none of the 2 browsers .* 127\.0\.0\.1:1, 127\.0\.0\.1:2") as told:
            await browsers.open_session("test", f"{site.here}/popup")
        assert "secret" not in str(told.value)
    finally:
        await browsers.aclose()
