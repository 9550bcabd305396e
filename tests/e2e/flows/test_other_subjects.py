"""A press stops if the page around the element is about a different thing than when it was recorded."""

from collections.abc import AsyncGenerator
from contextlib import chdir
from pathlib import Path

import pytest

from support.apps import loopback_app
from support.apps.loopback_app import LoopbackApp

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(240)]
SCRIPT = "<script>const say = (text) => { document.querySelector('[role=status]').textContent = text; }</script>"
CALENDAR = """<section aria-label=Day><h2>Choose a day</h2><button>‹</button> <span>March 2027</span> <button>›</button>
<table><tr><th>Mo<th>Tu<tr><td><button onclick="say('Picked 8')">8</button><td><button>9</button></table></section>"""
INVITATION = """<div role=dialog aria-label=Invite><h2>Invite someone</h2><label>Email <input name=email></label>
<button onclick="say('Invited')">Send invitation</button></div>"""
SETTINGS = """<main><ul><li>News <button role=switch aria-checked=true aria-label=News></button>
<li>Digest <button role=switch aria-checked=false aria-label=Digest></button></ul>
<button onclick="say('Saved')">Save</button></main>"""
SHOP = """<article><h3>Oolong</h3><p>12.00 €</p><button onclick="say('Added')">Add to basket</button></article>
<article><h3>Assam</h3><p>9.00 €</p><button>Add to basket</button></article>"""
MAIL = """<ul><li><b>Anna Weber</b> <span>Offer for spring</span> <i>09:12</i> <button>Archive</button>
<li><b>Anna Weber</b> <span>Minutes of Monday</span> <i>yesterday</i> <button onclick="say('Archived')">Archive</button>
<li><b>Ben Vogt</b> <span>Travel costs of May</span> <i>08:05</i> <button>Archive</button></ul>"""
BOARD = """<section aria-label=Open><h2>Open</h2></section>
<section aria-label=Done onclick="say('Chosen')"><h2>Done</h2></section>"""
PRESSES = {
    CALENDAR: "button=8",
    INVITATION: "button=Send invitation",
    SETTINGS: "button=Save",
    SHOP: "article:first-child button",
    MAIL: "li:nth-child(2) button",
    BOARD: "section:nth-child(2)",
}
CHANGES = [
    (CALENDAR, "March 2027", "April 2027", "it is in 'April 2027', not 'March 2027'"),
    (CALENDAR, "<button>‹</button>", "<a href=/0>‹</a>", ""),
    (
        INVITATION,
        "<label>",
        "<label><input type=checkbox name=all checked> All projects</label><label>",
        "'all' is new",
    ),
    (INVITATION, "<label>", "<label><input type=checkbox name=all> All projects</label><label>", ""),
    (INVITATION, "<label>", "<p>A seat costs 9 € a month.</p><label>", "there is a price next to it now, '9 €'"),
    (SETTINGS, "aria-checked=true", "aria-checked=false", "'News' was 'true' and is 'false' now"),
    (SHOP, "12.00 €", "12.00 $", "the price next to it is '12.00 $', not '12.00 €'"),
    (SHOP, "12.00 €", "1.200,00 €", "the price next to it is '1.200,00 €', not '12.00 €'"),
    (SHOP, "12.00 €", "11,50 €", ""),
    (MAIL, "<span>Minutes of Monday", "<span>Terms of sale", "not 'Anna Weber · Minutes of Monday"),
    (MAIL, "<i>yesterday", "<i>12.11.", ""),
    (MAIL, "<b>Ben Vogt</b> <span>Travel", "<b>Anna Weber</b> <span>Travel", ""),
    (BOARD, "<section aria-label=Open>", "<section aria-label=New><h2>New</h2></section><section aria-label=Open>", ""),
]


PEOPLE = """<div id=box style="height:120px;overflow:auto">
<div id=all style="position:relative;height:4000px"></div></div>
<script>
  const draw = () => {
    const first = Math.floor(box.scrollTop / 40);
    all.replaceChildren(...[0, 1, 2, 3].map((place) => {
      const row = document.createElement("article");
      row.style = `position:absolute;top:${(first + place) * 40}px`;
      row.innerHTML = `<b>Person ${first + place}</b> <button onclick="say('Called ${first + place}')">Call</button>`;
      return row;
    }));
  };
  box.onscroll = draw;
  draw();
</script>"""


@pytest.fixture
async def site(tmp_path: Path) -> AsyncGenerator[tuple[LoopbackApp, dict[str, str]]]:
    pages: dict[str, str] = {}
    more = {"toolsets": ["browser", "flows"]}
    with chdir(tmp_path):
        async with loopback_app.open_loopback_app(tmp_path, loopback_app.build_page_site(pages), more=more) as opened:
            yield opened, pages


def show(body: str) -> str:
    return f"<!doctype html><html lang=en><title>Page</title><h1>Page</h1><div>{body}</div><p role=status></p>{SCRIPT}"


async def test_a_press_stops_if_the_page_is_about_something_else(site: tuple[LoopbackApp, dict[str, str]]):
    shop, pages = site
    for number, (body, selector) in enumerate(PRESSES.items()):
        pages[f"/{number}"] = show(body)
        session = (await shop.app.call("createSession", url=f"{shop.site_url}/{number}")).data["sessionId"]
        await shop.app.call("clickElement", sessionId=session, selector=selector)
        await shop.app.call("saveFlow", sessionId=session, name=f"flow-{number}")
        await shop.app.call("closeSession", sessionId=session)
    for body, old, new, complaint in CHANGES:
        number = list(PRESSES).index(body)
        pages[f"/{number}"] = show(body.replace(old, new))
        ended = (await shop.app.call("runFlow", name=f"flow-{number}", waitSeconds=2, keepOpen=False)).text.partition(
            "\n"
        )[0]
        assert (complaint in ended) if complaint else ("succeeded: 2 steps" in ended), (new, ended)


@pytest.mark.nightly
async def test_a_row_is_found_in_a_virtualized_list(site: tuple[LoopbackApp, dict[str, str]]):
    shop, pages = site
    pages["/people"] = show(PEOPLE)
    session = (await shop.app.call("createSession", url=f"{shop.site_url}/people")).data["sessionId"]
    await shop.app.call("scrollPage", sessionId=session, direction="down", amount=2400, selector="#box")
    await shop.app.call("clickElement", sessionId=session, selector="article:nth-child(2) button")
    await shop.app.call("saveFlow", sessionId=session, name="call")
    assert "succeeded: 2 steps" in (await shop.app.call("runFlow", name="call", waitSeconds=5)).text
    pages["/people"] = show(PEOPLE.replace("Person ${first", "Member ${first"))
    assert "not on the page" in (await shop.app.call("runFlow", name="call", waitSeconds=2, keepOpen=False)).text
