"""Pages of the browser are also stored if content stores are served."""

from pathlib import Path

import anyio
import pytest

from outrider.core.context import Call
from support.apps import loopback_app
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
MINE = Call(session="mine")


@pytest.mark.nightly
async def test_a_page_that_is_extracted_in_the_browser_can_be_searched(home: Path):
    site = loopback_app.build_page_site(
        {"/tea": loopback_app.build_article_html("All about tea", "Green tea is steeped. " * 20)}
    )
    more = {"toolsets": ["browser", "content_store"]}
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with loopback_app.open_loopback_app(home, site, more=more) as loopback:
            opened = await loopback.app.call("createSession", MINE, url=f"{loopback.site_url}/tea")
            session = opened.data["sessionId"]
            read = await loopback.app.call("extractPageContent", MINE, sessionId=session)
            part = await loopback.app.call("extractPageContent", MINE, sessionId=session, selector="h1")
            await loopback.app.call("closeSession", MINE, sessionId=session)
            [hit] = (await loopback.app.call("keywordSimilaritySearch", MINE, query="steeped")).data["results"]
    assert hit["contentId"] == read.meta["outrider/content_id"]
    assert (hit["title"], hit["source"]) == ("All about tea", f"{loopback.site_url}/tea")
    assert "outrider/content_id" not in part.meta
