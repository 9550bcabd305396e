"""Choices next to a button belong to its press, and a dialog's name is part of the page's text."""

from collections.abc import AsyncGenerator
from contextlib import chdir
from pathlib import Path

import pytest

from support.apps import loopback_app
from support.apps.loopback_app import LoopbackApp
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = [pytest.mark.anyio, pytest.mark.time_limit(SCENARIO_TIMEOUT_S)]
PAYMENT = """<!doctype html><html lang=en><title>Pay</title><h1>Pay</h1>
<button id=open onclick="box.show()">New payment</button>
<dialog id=box aria-label="Your payment"><form onsubmit="event.preventDefault(); box.close();
  said.textContent = `Paid ${sum.value} ${money.value} ${fast.checked} ${news.ariaChecked}`">
<label>Sum <input id=sum name=sum></label>
<label>Currency <select id=money name=money><option>EUR<option>USD</select></label>
<label>Speed <select name=speed><option>slow<option>fast</select></label>
<label><input type=checkbox id=fast name=fast> Fast</label>
<input type=hidden name=querySelectorAll><input type=hidden name=form>
<button>Pay now</button></form></dialog>
<button id=news role=switch aria-checked=false aria-label=News
  onclick="this.ariaChecked = String(this.ariaChecked === 'false')"></button>
<p id=said role=status></p>"""


@pytest.fixture
async def bank(tmp_path: Path) -> AsyncGenerator[tuple[LoopbackApp, dict[str, str]]]:
    pages = {"/pay": PAYMENT}
    more = {"toolsets": ["browser", "flows"]}
    with chdir(tmp_path):
        async with loopback_app.open_loopback_app(tmp_path, loopback_app.build_page_site(pages), more=more) as opened:
            yield opened, pages


@pytest.mark.nightly
async def test_a_press_stops_if_other_options_are_selected_beside_it(bank: tuple[LoopbackApp, dict[str, str]]):
    shop, pages = bank
    session = (await shop.app.call("createSession", url=f"{shop.site_url}/pay")).data["sessionId"]
    await shop.app.call("clickElement", sessionId=session, selector="#news")
    await shop.app.call("clickElement", sessionId=session, selector="#open")
    await shop.app.call("inputText", sessionId=session, selector="#sum", text="12")
    await shop.app.call("selectOption", sessionId=session, selector="[name=speed]", options=["fast"])
    await shop.app.call("clickElement", sessionId=session, selector="button=Pay now")
    await shop.app.call("saveFlow", sessionId=session, name="pay")
    ended = {}
    for case, old, new in (
        ("as it was", "", ""),
        ("of a field that the flow sets", "<option>slow<option>fast", "<option>slow<option>soon<option>fast"),
        ("a count beside the heading", "<h1>Pay", "<h1>Pay <small>5</small>"),
        ("another currency", "<option>EUR<option>USD", "<option>EUR<option selected>USD"),
        ("ticked", "id=fast", "id=fast checked"),
        ("on already", "aria-checked=false", "aria-checked=true"),
    ):
        pages["/pay"] = PAYMENT.replace(old, new)
        ended[case] = (await shop.app.call("runFlow", name="pay")).text.partition("\n")[0]

    right = [ended.pop(case).partition(" in ")[0] for case in list(ended)[:3]]
    assert right == ["pay succeeded: 6 steps"] * 3
    assert [each.partition(": ")[2].partition(": ")[2] for each in ended.values()] == [
        "<button> \"Pay now\": 'money' was 'EUR' and is 'USD' now, and the flow does not set it",
        "<button> \"Pay now\": 'fast' was 'false' and is 'true' now, and the flow does not set it",
        '<button#news> "News": it was false and is true now, so pressing it would do the opposite',
    ]


DELIVERY = """<!doctype html><html lang=en><title>Delivery</title><h1>Delivery</h1>
<label>Speed <select id=speed name=speed onchange="said.textContent = this.selectedOptions[0].label">
<option value="">Choose</option><option value=1>Standard</option><option value=2>Express</option></select></label>
<label>Shop <select id=shop name=shop onchange="said.textContent = `Shop ${this.value}`">
<option value="">Choose</option><option value=a>Main Street</option><option value=b>Main Street</option></select>
</label><p id=said role=status></p>"""
LATER = "<script>setTimeout(() => speed.add(new Option('Express', '2')), 700)</script>"


@pytest.mark.nightly
async def test_an_option_is_chosen_by_its_label_as_a_person_would(bank: tuple[LoopbackApp, dict[str, str]]):
    shop, pages = bank
    pages["/delivery"] = DELIVERY
    session = (await shop.app.call("createSession", url=f"{shop.site_url}/delivery")).data["sessionId"]
    await shop.app.call("selectOption", sessionId=session, selector="#shop", options=["b"])
    await shop.app.call("selectOption", sessionId=session, selector="#speed", options=["2"])
    await shop.app.call("saveFlow", sessionId=session, name="delivery")
    parameters = (await shop.app.call("showFlow", name="delivery")).text
    express = "<option value=2>Express</option>"
    ended = {}
    for case, changed in (
        ("as it was", DELIVERY),
        ("values moved", DELIVERY.replace("value=1", "value=9").replace("value=2", "value=1")),
        ("another label", DELIVERY.replace(express, "<option value=2>Overnight, 30 €</option>")),
        ("the value is a label now", DELIVERY.replace(express, "<option value=Express>By bicycle</option>")),
        ("filled later", DELIVERY.replace(express, "") + LATER),
    ):
        pages["/delivery"] = changed
        ran = await shop.app.call("runFlow", name="delivery", waitSeconds=2, keepOpen=False)
        ended[case] = ran.data.get("reason", "right"), ran.text.partition("\n")[0].partition(" in ")[0]
    assert "default: Express" in parameters
    assert {case: reason for case, (reason, _) in ended.items()} == {
        "as it was": "right",
        "values moved": "right",
        "another label": "changed",
        "the value is a label now": "changed",
        "filled later": "right",
    }, ended
    assert "no option" in ended["another label"][1]
