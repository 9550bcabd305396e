"""Actions report their effect on the page in few words, and never too early."""

import asyncio
import re
from pathlib import Path

import anyio
import pytest

from failures.failure_site import FailurePage, OpenFailurePage
from outrider.browser.actions.pointer import SettleMode
from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused
from support.fakes import http_servers
from support.timeouts import EVENT_TIMEOUT_S


async def ref_of(on: FailurePage, name: str) -> str:
    """Return the reference of the element with that line in the snapshot."""
    found = re.search(
        rf'"{re.escape(name)}" ((?:e|f)[a-z]*\d+)|\[{re.escape(name)} (e\d+)',
        str(await on.snapshotter.take_snapshot("full")),
    )
    assert found, name
    return found[1] or found[2]


async def test_a_click_without_effect_reports_only_what_was_clicked(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    outcome = await on.pointer.click("#nothing")
    assert re.fullmatch(r'clicked e\d+ <button#nothing> "Nothing"', str(outcome))
    assert outcome.to_dict()["ok"] is True


async def test_a_click_reports_new_and_changed_content_with_references(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    outcome = await on.pointer.click("#toggle")
    assert re.search(r'~ .*button "Panel" e\d+ expanded', outcome.changes)
    assert re.search(r'\+ The panel\'s text button "In the panel" e\d+', outcome.changes)


async def test_a_second_click_reports_removed_content(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    await on.pointer.click("#toggle")
    outcome = await on.pointer.click("#toggle")
    assert "collapsed" in outcome.changes
    assert "- The panel's text" in outcome.changes


async def test_a_click_waits_for_its_requests(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    outcome = await on.pointer.click("#fetches")
    assert "+ fetched" in outcome.changes


async def test_one_click_is_one_trusted_click(visit: OpenFailurePage) -> None:
    on = await visit(
        "<button id=b>B</button><script>log = []; b.onclick = (e) => log.push([e.isTrusted, e.detail])</script>"
    )
    await on.pointer.click("#b")
    assert await on.read_log() == [[True, 1]]


async def test_double_clicks_and_right_clicks_reach_the_page(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    await on.pointer.click("#twice", count=2)
    await on.pointer.click("#menu", button="right")
    log = await on.read_log()
    assert log.count("dblclick twice") == log.count("double") == 1
    assert "menu" in log


async def test_modifiers_are_held_during_a_click(visit: OpenFailurePage) -> None:
    on = await visit(
        "<button id=b>B</button><script>log = []; b.onclick = (e) => log.push([e.shiftKey, e.ctrlKey])</script>"
    )
    await on.pointer.click("#b", modifiers=("Shift",))
    assert await on.read_log() == [[True, False]]


async def test_a_link_opens_the_next_page_and_shows_it(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    outcome = await on.pointer.click("#link")
    assert outcome.navigated
    assert outcome.url.endswith("/selectors.html")
    assert "# Selectors" in outcome.changes


async def test_references_are_not_reused_on_the_next_page(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    before = set(re.findall(r"\be[a-z]*\d+", str(await on.snapshotter.take_snapshot("full"))))
    outcome = await on.pointer.click("#link")
    after = set(re.findall(r"\be[a-z]*\d+", outcome.changes))
    assert after
    assert not before & after


async def test_an_address_that_changes_within_the_page_is_reported(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    outcome = await on.pointer.click("#hash")
    assert not outcome.navigated
    assert "the address is now" in str(outcome)
    assert outcome.url.endswith("#part")


async def test_a_new_window_is_reported_by_its_address(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    outcome = await on.pointer.click("#blank")
    assert outcome.new_pages == [f"{on.base_url}/modal.html"]
    assert not outcome.navigated


@pytest.mark.parametrize(
    ("button", "kind", "message"), [("#alert", "alert", "Hello"), ("#confirm", "confirm", "Sure?")]
)
async def test_a_dialog_is_reported_although_it_blocks_the_page(
    visit: OpenFailurePage, button: str, kind: str, message: str
) -> None:
    on = await visit("effects.html")
    with anyio.fail_after(EVENT_TIMEOUT_S):
        outcome = await on.pointer.click(button)
    assert [(each["type"], each["message"]) for each in outcome.dialogs] == [(kind, message)]
    await on.page.send("Page.handleJavaScriptDialog", {"accept": True})


async def test_hovering_opens_hover_menus(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    assert "+ The tip" in (await on.pointer.hover("#tip-box")).changes


async def test_html_drag_and_drop_carries_its_data(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    outcome = await on.pointer.drag("#drag", "#goal")
    assert await on.evaluate_js("goal.textContent") == "got dragged"
    assert "<got dragged " in outcome.changes


async def test_a_mouse_drag_moves_the_element(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    await on.pointer.drag("#thumb", "#stop")
    assert int((await on.evaluate_js("thumb.style.left")).removesuffix("px")) > 120


async def test_a_drag_onto_an_adjacent_item_goes_past_its_middle(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    for here, there, farther in (("#drag", "#goal", 1), ("#goal", "#drag", -1)):
        await on.evaluate_js(
            "(window.ups = [], document.addEventListener('mouseup', e => ups.push([e.clientX, e.clientY])))"
        )
        await on.evaluate_js("(drag.draggable = false, 1)")
        middle = await on.evaluate_js(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])"
            f"(document.querySelector('{there}').getBoundingClientRect())"
        )
        await on.pointer.drag(here, there)
        x, y = await on.evaluate_js("ups.at(-1)")
        past = max(x - middle[0], y - middle[1], key=abs)
        assert 0 < past * farther <= 5


@pytest.mark.parametrize("here", ["#above", "#below"])
async def test_a_drop_on_a_tree_item_lands_on_it_and_not_beside_it(here: str, visit: OpenFailurePage) -> None:
    on = await visit(
        "<style>div { height: 24px }</style>"
        "<div id=above onmousedown='1'>Songs</div><div id=folder>Music</div><div id=below onmousedown='1'>Letters</div>"
        "<script>onmouseup = ({clientY}) => third = "
        "Math.floor((clientY - folder.getBoundingClientRect().y) / 8)</script>"
    )
    await on.pointer.drag(here, "#folder")
    assert await on.evaluate_js("third") == 1


async def test_a_drop_into_an_unfilled_outline_lands_in_its_middle(visit: OpenFailurePage) -> None:
    on = await visit(
        "<p id=thing draggable=false onmousedown='1'>thing</p>"
        "<svg width=300 height=200><rect id=box x=50 y=50 width=100 height=80 fill=none stroke=black /></svg>"
        "<script>ups = []; onmouseup = event => ups.push(event.target.localName)</script>"
    )
    assert "to" in str(await on.pointer.drag("#thing", "#box"))
    assert await on.evaluate_js("ups") == ["svg"]


async def test_a_covered_drop_target_is_hit_in_the_middle(visit: OpenFailurePage) -> None:
    on = await visit(
        "<style>div { position: absolute }</style>"
        "<div id=goal style='left:100px; top:100px; width:90px; height:90px; background:#eee'></div>"
        "<div id=thing onmousedown='1' style='left:130px; top:120px; width:40px; height:40px; background:#999'></div>"
        "<script>ups = []; onmouseup = event => ups.push([event.clientX, event.clientY])</script>"
    )
    await on.pointer.drag("#thing", "#goal")
    [[x, y]] = await on.evaluate_js("ups")
    assert abs(x - 145) <= 4
    assert abs(y - 145) <= 4


@pytest.mark.parametrize(
    "html",
    [
        "<select id=it size=3><option>Ada<option>Bob</select>",
        "<div id=it contenteditable>Once upon a time</div>",
        f"<div id=it onclick='1'>{'many words ' * 40}</div>",
        f"<div id=it onclick='1'><b>{'many words ' * 40}</b><button>Inner</button></div>",
        "<a id=it href='#' title='Add a book'>➕</a>",
        "<div id=it aria-label=Log style='height:60px; overflow:auto'><p style='height:200px'>Started</div>",
    ],
)
@pytest.mark.nightly
async def test_an_unchanged_reference_is_not_refused(html: str, visit: OpenFailurePage) -> None:
    on = await visit(html)
    await on.snapshotter.take_snapshot("full")
    ref = await on.snapshotter.scripts.invoke(on.page.main, "locate", {"selector": "#it"}, "click", {"arm": False})
    assert (await on.pointer.click(ref["ref"])).to_dict()["ok"]


async def test_without_settling_the_press_is_verified_but_no_changes_are_reported(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    outcome = await on.pointer.click("#toggle", settle="none")
    assert outcome.changes == ""
    assert await on.evaluate_js("panel.hidden") is False


# Starts to navigate after the arrival timeout, while the page is still changing.
LATE_SCRIPT = "onclick='setInterval(() => { this.append(1) }, 5); setTimeout(() => { location = `URL` }, 60)'"


@pytest.mark.parametrize(
    ("action", "settle"),
    [("href='URL'", "auto"), ("href='URL'", "none"), (LATE_SCRIPT, "auto")],
    ids=["link", "link without settling", "script"],
)
async def test_a_click_to_a_silent_server_ends_and_names_the_pending_request(
    visit: OpenFailurePage, action: str, settle: SettleMode
) -> None:
    asked, enough = anyio.Event(), anyio.Event()

    async def says_nothing(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await enough.wait()
        writer.close()

    async with http_servers.serve_raw_tcp(says_nothing) as base:
        on = await visit(f"<a id=away {action.replace('URL', base)}>Away</a>")
        on.page.arrival_timeout_s = 0.5 if "href" in action else 0.01
        with anyio.fail_after(EVENT_TIMEOUT_S):
            outcome = await on.pointer.click("#away", settle=settle)
            await asked.wait()
        enough.set()
    pending = f"the page is loading {base}/, which has not answered yet"
    assert outcome.note.startswith(pending) or settle == "none"  # the press may be confirmed before the page unloads
    assert not outcome.navigated


async def test_typing_sends_key_and_input_events(visit: OpenFailurePage) -> None:
    on = await visit("effects.html")
    outcome = await on.forms.type("#name", "Anna")
    log = await on.read_log()
    assert "key a" in log
    assert "input name" in log
    assert '= "Anna"' in outcome.changes


async def test_typing_replaces_or_appends_and_submits(visit: OpenFailurePage) -> None:
    on = await visit("fields.html")
    await on.forms.type("#text", "one")
    await on.forms.type("#text", " two", append=True)
    assert await on.evaluate_js("document.getElementById('text').value") == "one two"
    await on.forms.type("#text", "three", submit=True)
    assert "submit form" in await on.read_log()


async def test_typing_an_empty_text_clears_a_field(visit: OpenFailurePage) -> None:
    on = await visit("fields.html")
    await on.forms.type("#text", "")
    assert await on.evaluate_js("document.getElementById('text').value") == ""


async def test_typing_key_by_key_sends_every_character(visit: OpenFailurePage) -> None:
    on = await visit("fields.html")
    await on.forms.type("#text", "Aé +1", delay=0.001)
    assert await on.evaluate_js("document.getElementById('text').value") == "Aé +1"


@pytest.mark.parametrize("selector", ["#notes", "#editor"])
async def test_several_lines_are_typed_into_multiline_fields(visit: OpenFailurePage, selector: str) -> None:
    on = await visit("fields.html")
    await on.forms.type(selector, "one\ntwo")
    assert (
        await on.evaluate_js(f"(e => e.value ?? e.innerText)(document.querySelector('{selector}')).trim()")
        == "one\ntwo"
    )


async def test_a_field_that_a_framework_controls_keeps_the_text(visit: OpenFailurePage) -> None:
    on = await visit(
        """<input id=f><p id=p></p><script>
        const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value'); let tracked = '';
        const set = function (value) { tracked = value; own.set.call(this, value) };
        Object.defineProperty(f, 'value', { get: own.get, set });
        f.oninput = () => { if (f.value !== tracked) { tracked = f.value; p.textContent = 'state ' + tracked } };
        </script>"""
    )
    outcome = await on.forms.type("#f", "React")
    assert "+ state React" in outcome.changes


async def test_changes_that_the_page_makes_to_typed_text_are_reported(visit: OpenFailurePage) -> None:
    on = await visit("fields.html")
    outcome = await on.forms.type("#shouts", "quiet")
    assert outcome.value == "QUIET"
    assert "changed the text" in outcome.note


async def test_a_fields_validation_message_is_reported(visit: OpenFailurePage) -> None:
    on = await visit("fields.html")
    assert "the field says" in (await on.forms.type("#mail", "nobody")).note
    assert "the field says" in (await on.forms.type("#number", "99")).note


@pytest.mark.parametrize("selector", ["#password", "#code"])
async def test_a_secret_is_never_repeated(visit: OpenFailurePage, selector: str) -> None:
    on = await visit("fields.html")
    outcome = await on.forms.type(selector, "s3cr3t-w0rd")
    told = f"{outcome} {outcome.to_dict()} {await on.snapshotter.take_snapshot('full')}"
    assert "s3cr3t" not in told
    assert "hunter2" not in told
    assert "11 characters" in str(outcome)
    assert await on.evaluate_js(f"document.querySelector('{selector}').value") == "s3cr3t-w0rd"


async def test_selecting_reports_the_chosen_option(visit: OpenFailurePage) -> None:
    on = await visit("fields.html")
    outcome = await on.forms.select("#letter", "beta")
    assert outcome.value == "Beta"
    assert (await on.forms.select("#letter", "Beta")).note == "it was already selected"


async def test_files_are_also_uploaded_to_a_hidden_field(visit: OpenFailurePage, tmp_path: Path) -> None:
    on = await visit("fields.html")
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path in paths:
        path.write_text("x")
    assert (await on.forms.upload("#hidden-file", *paths)).value == "a.txt, b.txt"
    with pytest.raises(InvalidInput, match="one file only"):
        await on.forms.upload("#file", *paths)
    assert await on.evaluate_js("[...document.getElementById('hidden-file').files].map(f => f.name)") == [
        "a.txt",
        "b.txt",
    ]


async def test_files_are_uploaded_to_the_element_that_opens_a_chooser(visit: OpenFailurePage, tmp_path: Path) -> None:
    file = tmp_path / "note.txt"
    file.write_text("hello")
    on = await visit(
        """<p><button id=shows class="u-reset" onclick="field.click()">Upload</button>
        <input type=file id=field hidden></p>
        <button id=makes onclick="Object.assign(document.createElement('input'), { type: 'file',
          onchange: (event) => { out.textContent = event.target.files[0].name } }).click()">Import</button>
        <button id=asks onclick="showOpenFilePicker().catch(() => 0)">Pick</button><button id=idle>Idle</button>
        <input type=file id=empties hidden onchange="out.textContent = files[0].name + '!'; value = ''">
        <a href="#" id=empty onclick="empties.click()">Again</a><p id=out></p>"""
    )
    assert (await on.forms.upload("#shows", file)).value == "note.txt"
    assert await on.evaluate_js("field.files[0].name") == "note.txt"
    assert "note.txt" in (await on.forms.upload("#makes", file)).changes
    assert "note.txt!" in (await on.forms.upload("#empty", file)).changes
    for selector, message in (("#idle", "opened no file chooser"), ("#asks", "showOpenFilePicker")):
        with pytest.raises(InvalidInput, match=message):
            await on.forms.upload(selector, file)


@pytest.mark.parametrize(
    "control",
    [
        '<a id=it href="javascript:undefined" data-dz-remove onclick="pressed()">Datei entfernen</a>',
        '<button id=it class=clearButton onclick="pressed()">×</button>',
        '<button id=it class=btn-clear onclick="pressed()">×</button>',
        '<button id=it class="clear button" onclick="pressed()">Löschen</button><button class=button>Wählen</button>',
        '<p><input type=file><button id=it onclick="pressed()">Effacer</button></p>',
        '<button id=it onclick="pressed()">Remove file</button>',
        '<a id=it href="/elsewhere">Elsewhere</a>',
        '<form onsubmit="pressed(); return false"><button id=it type=submit>Upload</button></form>',
        '<div id=it role=checkbox tabindex=0 onclick="pressed()">Public</div>',
    ],
)
@pytest.mark.nightly
async def test_a_control_that_clearly_opens_no_chooser_is_not_pressed_to_upload(
    visit: OpenFailurePage, tmp_path: Path, control: str
) -> None:
    (file := tmp_path / "note.txt").write_text("hello")
    on = await visit(f"<script>pressed = () => (globalThis.isPressed = true)</script>{control}<input type=file hidden>")
    with pytest.raises(InvalidInput, match="it was not pressed") as refused:
        await on.forms.upload("#it", file)
    assert re.match(r"give the files to e\w+ <input>", refused.value.hint)
    assert not await on.evaluate_js("globalThis.isPressed || location.pathname === '/elsewhere'")


async def test_a_reference_whose_element_means_something_else_is_refused_once(visit: OpenFailurePage) -> None:
    on = await visit("selectors.html")
    ref = await ref_of(on, "Preview order")
    await on.evaluate_js("order.textContent = 'Confirm purchase'")
    with pytest.raises(
        Refused, match='was button "Preview order" in the snapshot and is now button "Confirm purchase"'
    ):
        await on.pointer.click(ref)
    assert await on.read_log() == []
    await on.pointer.click(ref)
    assert await on.read_log() == ["click order"]


async def test_a_reference_to_a_countdown_is_refused_only_once(visit: OpenFailurePage) -> None:
    on = await visit("selectors.html")
    ref = await ref_of(on, "Resend (30s)")
    await on.evaluate_js("timer.textContent = 'Resend (29s)'")
    with pytest.raises(Refused):
        await on.pointer.click(ref)
    await on.evaluate_js("timer.textContent = 'Resend (28s)'")
    await on.pointer.click(ref)
    assert await on.read_log() == ["click timer"]


async def test_a_lost_reference_names_its_replacement(visit: OpenFailurePage) -> None:
    on = await visit("selectors.html")
    ref = await ref_of(on, "Redrawn")
    await on.evaluate_js("redrawn.outerHTML = redrawn.outerHTML")
    with pytest.raises(NotFound) as caught:
        await on.pointer.click(ref)
    found = re.match(r'(e\d+) is now button "Redrawn"', caught.value.hint)
    assert found
    assert found[1] != ref
    await on.pointer.click(found[1])
    assert await on.read_log() == ["click redrawn"]


async def test_a_lost_reference_is_never_taken_for_an_equal_looking_element(visit: OpenFailurePage) -> None:
    on = await visit("selectors.html")
    ref = await ref_of(on, "Save")
    await on.evaluate_js("first.remove()")
    with pytest.raises(NotFound) as caught:
        await on.pointer.click(ref)
    assert "is another button" in caught.value.hint


async def test_elements_in_frames_are_reached_by_reference(visit: OpenFailurePage) -> None:
    on = await visit("selectors.html")
    ref = await ref_of(on, "In the frame")
    assert ref.startswith("f")
    await on.pointer.click(ref)
    assert await on.read_log() == ["frame"]


async def test_failures_carry_the_evidence_of_the_contract(visit: OpenFailurePage) -> None:
    on = await visit("covered.html")
    with pytest.raises(OutriderError) as caught:
        await on.pointer.click("#under")
    details = caught.value.details
    assert set(details) >= {"ok", "reason", "selector", "element", "rect", "viewport", "diagnostics", "suggestions"}
    assert details["covered_by"] == "div#cover"
    assert set(details["rect"]) == {"x", "y", "width", "height"}
    assert re.search(r'maybe first click e\d+ "Dismiss"', caught.value.hint)


async def test_following_the_remedy_for_a_cover_works(visit: OpenFailurePage) -> None:
    on = await visit("modal.html")
    with pytest.raises(OutriderError) as caught:
        await on.pointer.click("#behind")
    found = re.search(r"click (e\d+)", caught.value.hint)
    assert found
    await on.pointer.click(found[1])
    await on.pointer.click("#behind")
    assert (await on.read_log())[-1] == "click behind"


async def test_a_press_that_would_land_elsewhere_is_stopped(visit: OpenFailurePage) -> None:
    on = await visit(
        """<style>button { position: fixed; left: 10px; top: 10px } #t { z-index: -1 }</style><button id=b>B</button>
        <button id=t>T</button><script>log = []; t.onclick = () => log.push('trap')
        b.onpointerover = () => { b.style.left = Math.random() * 500 + 200 + 'px' }</script>"""
    )
    with anyio.fail_after(EVENT_TIMEOUT_S):
        try:
            await on.pointer.click("#b")
        except OutriderError as error:
            assert error.code in ("covered", "no_effect", "timeout")  # noqa: PT017 - or it was caught after all
    assert "trap" not in await on.read_log()


async def test_keys_are_sent_to_the_focused_element(visit: OpenFailurePage) -> None:
    on = await visit("fields.html")
    await on.forms.type("#text", "abc")
    await on.pointer.press_keys("Control+a")
    await on.pointer.press_keys("Delete")
    assert await on.evaluate_js("document.getElementById('text').value") == ""


async def test_a_canvas_is_pressed_at_the_given_point(visit: OpenFailurePage) -> None:
    drawing = (
        "<canvas id=c width=200 height=100 style='border:5px solid; margin-top:2000px'></canvas><output id=o></output>"
    )
    script = "<script>c.onclick = e => { o.textContent = `at ${e.offsetX + 5} ${e.offsetY + 5}` }</script>"
    on = await visit(drawing + script)
    outcome = await on.pointer.click("#c", at=(30, 40))
    assert "at 30 40" in outcome.changes


async def test_a_point_outside_of_an_element_is_refused(visit: OpenFailurePage) -> None:
    on = await visit("<button id=b style='width:100px;height:30px'>Press</button>")
    with pytest.raises(OutriderError, match="outside its 100×30 pixels"):
        await on.pointer.click("#b", at=(100, 10))


async def test_a_covered_point_of_an_element_is_refused(visit: OpenFailurePage) -> None:
    over = "<div id=over style='position:fixed;left:50px;top:0;width:200px;height:200px;background:red'></div>"
    on = await visit(f"<body style='margin:0'><button id=b style='width:100px;height:30px'>Press</button>{over}")
    with pytest.raises(OutriderError, match="covered there by <div#over>"):
        await on.pointer.click("#b", at=(70, 10))
    assert (await on.pointer.click("#b", at=(20, 10))).to_dict()["ok"] is True


async def test_keys_are_answered_once_the_page_has_settled(visit: OpenFailurePage) -> None:
    page = "<input id=i><output id=o></output><script>i.onkeydown = () => { let n = 0; const go = () => {"
    on = await visit(page + " o.textContent = `step ${++n}`; if (n < 5) setTimeout(go, 30) }; go() }</script>")
    await on.pointer.click("#i")
    assert "step 5" in (await on.pointer.press_keys("a")).changes


async def test_typing_without_a_focus_is_reported_unless_it_has_an_effect(visit: OpenFailurePage) -> None:
    on = await visit("<input id=i><p id=p></p><script>onkeydown = (e) => { if (e.key === 'x') p.append('!') }</script>")
    assert str(await on.pointer.press_keys("d")) == "pressed d: no element has the focus"
    assert not (await on.pointer.press_keys("x")).note
    assert not (await on.pointer.press_keys("ArrowDown")).note
    await on.pointer.click("#i")
    assert not (await on.pointer.press_keys("d")).note


async def test_elements_are_found_by_their_text_or_by_role_and_name(visit: OpenFailurePage) -> None:
    on = await visit(
        """<p id=p>Save <b>all</b></p><button id=b>Save</button><button id=c aria-label="Save as">…</button>
        <input type=submit id=s value="Send off"><ul><li id=l><span id=n>Buy milk</span></ul><p hidden>Buy bread</p>
        <label>Street <input id=i></label><div id=host></div>
        <style>#g::before { content: "Clear completed" } #h::after { content: " it" }</style>
        <div id=g></div><button id=h>Print</button>
        <script>host.attachShadow({mode: "open"}).innerHTML = "<a href=/x id=x>Within</a>"; log = [];
        for (const each of document.querySelectorAll("[id]")) each.addEventListener("click", (event) => {
          event.preventDefault(); log.push(event.target.id); event.stopPropagation() })</script>"""
    )
    for selector, clicked in (
        ("text=Save all", "p"),
        ('text="Save"', "b"),
        ("button=Save", "b"),
        ('role=button[name="Save as"]', "c"),
        ("role=button Save as", "c"),
        ("text=send off", "s"),
        ("text=milk", "n"),
        ("textbox=Street", "i"),
        ("link=Within", "host"),
        ("button:has-text('Save as')", "c"),
        ("getByText('Buy milk')", "n"),
        ("getByRole('button', { name: 'Save as' })", "c"),
        ('text="Clear completed"', "g"),
        ('text="Print it"', "h"),
        ("text=Print", "h"),
        ("//ul/li[1]", "l"),
        ("`#b`", "b"),
        ("Street", "i"),
        ("save as", "c"),
    ):
        await on.pointer.click(selector)
        assert (await on.read_log())[-1] == clicked, selector
    with pytest.raises(NotFound):
        await on.pointer.click("text=Buy bread")
    with pytest.raises(InvalidInput, match="matches 3 elements"):
        await on.pointer.click("button=S")
    with pytest.raises(InvalidInput, match="not a valid CSS selector"):
        await on.pointer.click("width=3")
