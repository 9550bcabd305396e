"""One Chromium for all tests of this folder."""

from collections.abc import AsyncGenerator

import pytest

from dashboard_desk import chromium as started
from outrider.browser.browser import Browser


@pytest.fixture(scope="session")
async def chromium() -> AsyncGenerator[Browser]:
    async with started() as browser:
        yield browser
