"""The frame of the dashboard in a real browser."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from dashboard_desk import Desk, desk
from outrider.browser.browser import Browser

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[Desk]:
    home: Path = tmp_path_factory.mktemp("dashboard")
    async with desk(home, chromium) as found:
        yield found


async def test_an_address_signs_in_and_is_then_free_of_the_token(office: Desk):
    view = await office.open("/calls")
    assert await view.js("location.href") == f"{office.listening.place}calls"
    assert "Calls" in await view.text()
    assert view.complaints == []
