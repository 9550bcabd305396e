"""The frame of the dashboard in a real browser: coming in, going about, and what another page cannot do."""

from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import pytest

from outrider.browser.browser import Browser
from outrider.browser.context import open_context
from support.apps import loopback_app
from support.apps.dashboard_browser import Desk, View, desk
from support.fakes import http_servers

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
async def office(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> AsyncGenerator[Desk]:
    home: Path = tmp_path_factory.mktemp("dashboard")
    async with desk(home, chromium) as found:
        yield found


@pytest.fixture(autouse=True)
async def tidy(office: Desk) -> AsyncGenerator[None]:
    yield
    await office.tidy()


async def stranger(office: Desk) -> View:
    """A browser that has never been here."""
    context, page = await open_context(office.browser, None)
    office.contexts.append(context)
    return View(page, office.listening.place)


async def test_an_address_signs_in_and_is_then_free_of_the_token(office: Desk):
    view = await office.open("/calls")
    assert await view.js("location.href") == f"{office.listening.place}calls"
    assert "Calls" in await view.text()
    assert "token" not in await view.js("document.referrer")
    assert view.complaints == []


async def test_who_is_not_signed_in_is_told_how_and_can_give_a_token(office: Desk):
    view = await stranger(office)
    await view.go("/calls?tool=web_fetch")
    assert "outrider dashboard" in await view.text()
    token = office.listening.address.partition("token=")[2]
    await view.page.evaluate_in("", "(token) => { document.getElementById('token').value = token }", token)
    await view.js("document.querySelector('form').requestSubmit()")
    await view.until("location.search === '?tool=web_fetch' && document.title.startsWith('Calls')")
    assert token not in await view.js("document.documentElement.outerHTML")


async def test_the_file_that_the_command_opens_leads_in(office: Desk, tmp_path: Path):
    from outrider.cli.commands.dashboard import doorstep

    (tmp_path / "run").mkdir()
    view = await stranger(office)
    await view.page.send("Page.navigate", {"url": doorstep(office.listening.address, tmp_path)})
    await view.until("location.protocol === 'http:' && document.title.startsWith('Now')")
    assert await view.js("location.href") == office.listening.place


async def test_a_link_on_another_page_leads_in_who_is_signed_in(office: Desk):
    links = {"/": f'<title>Elsewhere</title><a href="{office.listening.place}questions">Answer</a>'}
    async with http_servers.serve(loopback_app.pages(links)) as elsewhere:
        view = await office.open("/")
        # Another host name: for the browser 127.0.0.1 and localhost are different sites.
        await view.go(elsewhere.replace("127.0.0.1", "localhost"))
        await view.js("document.querySelector('a').click()")
        await view.until("document.title.startsWith('Questions')")


HOSTILE = """<title>waiting</title><iframe src="{place}calls"></iframe>
<form method="post" action="{place}questions/answer" target="there">
<input name="decision" value="approved"></form><iframe name="there"></iframe><script>
const done = [];
const note = (what) => (result) => {{ done.push(`${{what}}: ${{result}}`); document.title = done.sort().join(", "); }};
fetch("{place}calls", {{credentials: "include"}}).then(note("read"), () => note("read")("no"));
fetch("{place}questions/answer", {{method: "POST", credentials: "include", mode: "no-cors", body: "x"}})
  .then((answer) => note("post")(answer.type), () => note("post")("no"));
const picture = new Image();
picture.onload = () => note("picture")("yes");
picture.onerror = () => note("picture")("no");
picture.src = "{place}static/icon.svg";
const socket = new WebSocket("{place}live/socket".replace("http", "ws"));
socket.onopen = () => note("socket")("yes");
socket.onerror = () => note("socket")("no");
document.querySelector("form").submit();
</script>"""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["another port", "another site"])
async def test_another_page_in_the_same_browser_gets_nothing(office: Desk, host: str):
    pages = {"/": HOSTILE.format(place=office.listening.place)}
    async with http_servers.serve(loopback_app.pages(pages)) as elsewhere:
        view = await office.open("/")
        await view.go(elsewhere.replace("127.0.0.1", host))
        with anyio.fail_after(30):
            await view.until("document.title.split(', ').length === 4")
        told = await view.js("document.title")
        # An opaque answer to the post says nothing: what counts is that the server refused it (`test_door`).
        assert told in {f"picture: no, post: {post}, read: no, socket: no" for post in ("no", "opaque")}
        inside = "[...document.querySelectorAll('iframe')].map((each) => each.contentDocument?.body.innerText ?? '')"
        assert "Calls" not in str(await view.js(inside))
