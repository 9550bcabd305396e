"""Pages that move, redraw, cover elements and throw errors during actions."""

import re

import pytest

from failures.failure_site import FailurePage, OpenFailurePage
from outrider.browser.actions.page_tools import get_page_tools
from outrider.browser.actions.wait import WaitCondition, wait_for
from outrider.browser.snapshot.interactable import list_interactable
from outrider.core.errors import NotFound, Refused

ROWS = """<table id=people></table><script>
log = []; show = (...names) => { people.innerHTML = '';
  for (const name of names) people.insertAdjacentHTML('beforeend', `<tr><td>${name}</td>
  <td><button onclick="log.push('${name}')">Delete</button>`) };
rename = (at, name) => { people.rows[at].cells[0].textContent = name }; show('Ann', 'Bob', 'Cid')</script>"""


async def find_refs(on: FailurePage, name: str) -> list[str]:
    return re.findall(rf'"{name}" (e[a-z]*\d+)', str(await on.snapshotter.take_snapshot("full")))


@pytest.mark.nightly
async def test_an_action_waits_for_a_temporary_cover(visit: OpenFailurePage) -> None:
    cases = {
        "covered for a moment": """<button id=b>B</button><i id=veil style="position: fixed; inset: 0"></i>
            <script>setTimeout(() => veil.remove(), 200)</script>""",
        "moving slowly": """<button id=b style="position: absolute; width: 90px">B</button><script>
            (function move() { b.style.left = `${(performance.now() / 20) % 400}px`;
              requestAnimationFrame(move) })()</script>""",
        "moving for a second": """<style>@keyframes go { to { transform: translateX(600px) } }</style>
            <button id=b style="animation: go 1.2s forwards linear">B</button>""",
        "redrawn all the time": """<p id=box></p><script>
            setInterval(() => { box.innerHTML = '<button id=b>B</button>' }, 40)</script>""",
    }
    for name, html in cases.items():
        on = await visit(
            f"<script>log = []; document.addEventListener('pointerdown', (e) => log.push(e.target.id))</script>{html}"
        )
        await on.pointer.click("#b")
        assert await on.read_log() == ["b"], name


async def test_a_constantly_redrawn_field_is_found_again(visit: OpenFailurePage) -> None:
    on = await visit(
        """<p id=box></p><script>let held = ''; const draw = () => { if (held) return;
        box.innerHTML = '<input id=f aria-label=F oninput="held = this.value">' }; draw();
        setInterval(draw, 80)</script>"""
    )
    await on.forms.type("#f", "Ada")
    assert await on.evaluate_js("f.value") == "Ada"


async def test_errors_that_an_action_causes_are_in_its_answer(visit: OpenFailurePage) -> None:
    on = await visit(
        """<button id=throws onclick="missing.call()">T</button>
        <button id=asks onclick="fetch('/gone?key=1')">A</button>
        <button id=fine onclick="1">F</button><iframe srcdoc="<button id=inner>I</button>"></iframe>"""
    )
    assert "exception: ReferenceError: missing is not defined" in str(await on.pointer.click("#throws"))
    assert re.search(r"request failed: GET http://\S+/gone \S*404", str(await on.pointer.click("#asks")))
    assert (await on.pointer.click("#fine")).errors == []
    inner = await on.pointer.click("#inner")
    assert (inner.moved, "address" in str(inner)) == (False, False)


async def test_a_labelled_canvas_is_clicked_at_once(visit: OpenFailurePage) -> None:
    on = await visit(
        "<canvas id=a aria-label=Map></canvas><canvas id=b title=Chart>Sales of <b>2024</b></canvas>"
        "<div role=img tabindex=0 aria-label=Logo style='width: 50px; height: 50px'><p>x</p></div>"
    )
    refs = re.findall(r"\b(e\d+)\b", str(await on.snapshotter.take_snapshot("full")))
    assert len(refs) >= 3
    for ref in refs:
        await on.pointer.click(ref)


async def test_a_button_is_identified_by_its_row(visit: OpenFailurePage) -> None:
    on = await visit(ROWS)
    ann, bob, cid = await find_refs(on, "Delete")
    await on.evaluate_js("rename(1, 'Bea')")
    with pytest.raises(
        Refused, match=r'was button "Delete" in the row "Bob".* is now button "Delete" in the row "Bea"'
    ):
        await on.pointer.click(bob)
    await on.pointer.click(bob)  # reported once
    await on.pointer.click(ann)
    await on.evaluate_js("show('Cid')")
    with pytest.raises(NotFound, match='button "Delete" in the row "Cid" has left the page') as gone:
        await on.pointer.click(cid)
    assert re.fullmatch(r'e\d+ is now button "Delete" in the row "Cid"', gone.value.hint)
    with pytest.raises(NotFound) as gone:
        await on.pointer.click(ann)
    assert "is now" not in gone.value.hint
    assert await on.read_log() == ["Bob", "Ann"]


async def test_one_of_many_equal_buttons_is_chosen_by_its_row(visit: OpenFailurePage) -> None:
    on = await visit(ROWS)
    await on.pointer.click("button=Delete", within="bob")
    await on.pointer.click("table button", within="Cid")
    ann, *_ = await find_refs(on, "Delete")
    with pytest.raises(NotFound, match='in a row or card with "Bob"'):
        await on.pointer.click(ann, within="Bob")
    await on.evaluate_js("show('Ann')")
    with pytest.raises(NotFound, match='in a row or card with "Bob"'):
        await on.pointer.click("button=Delete", within="Bob")
    assert await on.read_log() == ["Bob", "Cid"]


async def test_text_and_role_selectors_also_work_for_reading(visit: OpenFailurePage) -> None:
    on = await visit(
        """<section aria-label=Basket><button>Pay</button></section><button>Other</button><p id=late hidden>Done now</p>
        <script>setTimeout(() => { late.hidden = false }, 150)</script>"""
    )
    for selector, gone in (("text=done now", False), ("role=button[name=Pay]", False), ("button=Nowhere", True)):
        await wait_for(get_page_tools(on.page), WaitCondition(selector=selector, gone=gone), 5)
    listing = await list_interactable(on.snapshotter, selector="region=Basket")
    assert [each["name"] for each in listing.elements] == ["Pay"]


async def test_a_storm_of_windows_is_reported_briefly(visit: OpenFailurePage) -> None:
    on = await visit("<button id=b>B</button>")
    await on.evaluate_js(
        "b.onclick = () => { for (let n = 0; n < 30; n++) window.open('/modal.html?' + 'x'.repeat(900) + n) }"
    )
    told = str(await on.pointer.click("#b"))
    assert len(told) < 2_000
    assert "… and " in told or told.count("opened a new page") < 5


async def test_the_caption_of_an_input_button_is_waited_for_like_any_text(visit: OpenFailurePage) -> None:
    hidden = "<input type=submit value='Delete all' style='display:none'>"
    on = await visit(f"<form><input type=submit value='Create ticket'>{hidden}<input value='Typed'></form>")
    tools = get_page_tools(on.page)
    await wait_for(tools, WaitCondition(text="create ticket"), 5)
    for words in ("Delete all", "Typed"):
        await wait_for(tools, WaitCondition(text=words, gone=True), 5)
