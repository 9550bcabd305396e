"""What the browser shows is kept, too, where content stores are served."""

from pathlib import Path

import anyio
import pytest

from outrider.core.context import Call
from support.apps import loopback_app

pytestmark = pytest.mark.anyio
MINE = Call(session="mine")


async def test_a_page_that_is_extracted_in_the_browser_can_be_searched(home: Path):
    site = loopback_app.pages({"/tea": loopback_app.article("All about tea", "Green tea is steeped. " * 20)})
    more = {"toolsets": ["browser", "content_store"]}
    with anyio.fail_after(120):
        async with loopback_app.opened(home, site, more=more) as house:
            opened = await house.app.call("createSession", MINE, url=f"{house.site}/tea")
            session = opened.data["sessionId"]
            read = await house.app.call("extractPageContent", MINE, sessionId=session)
            part = await house.app.call("extractPageContent", MINE, sessionId=session, selector="h1")
            await house.app.call("closeSession", MINE, sessionId=session)
            [hit] = (await house.app.call("keywordSimilaritySearch", MINE, query="steeped")).data["results"]
    assert hit["contentId"] == read.meta["outrider/content_id"]
    assert (hit["title"], hit["source"]) == ("All about tea", f"{house.site}/tea")
    assert "outrider/content_id" not in part.meta
