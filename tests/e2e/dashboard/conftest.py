"""One Chromium for all tests of this folder."""

from collections.abc import AsyncGenerator

import pytest

from outrider.browser.process.browser import Browser
from support.apps.dashboard_browser import launch_chromium as started


@pytest.fixture(scope="session")
async def chromium() -> AsyncGenerator[Browser]:
    async with started() as browser:
        yield browser
