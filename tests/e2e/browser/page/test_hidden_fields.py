"""Fields that libraries hide under custom controls are operated like the visible control."""

import re

import pytest

from failures.failure_site import OpenFailurePage
from outrider.core.errors import OutriderError

LIBRARIES = """<script>log = []</script><style>div { margin: 4px } .wide { width: 300px; border: 1px solid }
  #track { width: 300px; position: relative; height: 20px }
  #mui { position: absolute; left: 30%; width: 20px; height: 20px; background: blue }
  #clipped { position: absolute; width: 100%; height: 100%; clip: rect(0 0 0 0); overflow: hidden }
  #sizeless { width: 0; height: 0; padding: 0; border: 0; opacity: 0 }
  #native { position: absolute; clip: rect(0 0 0 0); width: 1px; height: 1px; overflow: hidden }</style>
<div class=wide id=antd onmousedown="log.push('antd')"><span>
  <input id=transparent role=combobox readonly style="opacity: 0; width: 100%"></span><span>Apple</span></div>
<div id=track><span id=mui onmousedown="log.push('mui')"><input id=clipped type=range max=100 value=30
  oninput="mui.style.left = `${value}%`; log.push(`mui ${value}`)"></span></div>
<div class=wide id=xterm onmousedown="log.push('xterm')"><div style="position: absolute; left: -9999em">
  <textarea id=sizeless oninput="screen1.textContent += value; value = ''"></textarea></div>
  <div id=screen1>$ </div></div>
<div class=wide style="position: relative" id=row onclick="log.push('row')">Row
  <button id=destroy style="opacity: 0; pointer-events: none">x</button></div>
<select id=native><option>A</select><span id=drawn role=combobox tabindex=0 style="border: 1px solid">A</span>"""


async def test_a_hidden_field_is_reached_through_its_visible_drawing(visit: OpenFailurePage) -> None:
    on = await visit(LIBRARIES)
    for selector, event in (("#transparent", "antd"), ("#clipped", "mui"), ("#sizeless", "xterm")):
        outcome = await on.pointer.click(selector)
        assert (await on.read_log())[-1] == event
        assert " drawn as <" in outcome.element, selector
    await on.forms.type("#clipped", "70")
    typed = await on.forms.type("#sizeless", "ls")
    assert (await on.read_log())[-1] == "mui 70"
    assert await on.evaluate_js("screen1.textContent") == "$ ls"
    assert "$ ls" in typed.changes


async def test_a_permanently_hidden_field_is_refused_and_its_visible_control_named(visit: OpenFailurePage) -> None:
    on = await visit(LIBRARIES)
    for selector, hint in (("#destroy", "."), ("#native", r"it is drawn as e\d+ <span#drawn> \"A\": act on that")):
        with pytest.raises(OutriderError) as refused:
            await on.pointer.click(selector)
        assert re.match(hint, refused.value.hint), selector
    with pytest.raises(OutriderError, match="read-only") as refused:
        await on.forms.type("#transparent", "Pear")
    assert refused.value.hint == "click it, then click the option that appears"
    assert "row" not in await on.read_log()


async def test_a_hidden_field_next_to_remove_buttons_is_pressed_where_its_box_is_free(
    visit: OpenFailurePage,
) -> None:
    on = await visit(
        """<script>log = []</script><div onmousedown="log.push(event.target.id)" style="width: 300px; border: solid">
        <span id=wide style="display: inline-block; width: 160px">Alpha
          <button id=remove style="width: 120px">x</button></span>
        <input id=search role=combobox aria-label=Fruits style="opacity: 0; width: 20px"></div>"""
    )
    await on.pointer.click("#search")
    assert (await on.read_log())[-1] not in ("", "remove")


async def test_typed_text_replaces_or_follows_the_content_of_a_drawn_editor(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=editor style="width: 300px; border: 1px solid" onmousedown="field.focus()"><pre id=drawn></pre>
        <textarea id=field style="position: absolute; width: 1px; height: 1px; opacity: 0"></textarea></div>
        <script>let text = "first\\nsecond", all = false; const draw = () => { drawn.textContent = text };
        const put = (more) => { text = all ? more : text + more; all = false; field.value = ""; draw() }; draw();
        field.onkeydown = (event) => { if (event.ctrlKey && event.key === "a") all = true; };
        field.oninput = () => put(field.value.replace(/\\n/g, "\\n    "));
        field.onpaste = (event) => { event.preventDefault(); put(event.clipboardData.getData("text/plain")) };
        </script>"""
    )
    await on.forms.type("#field", "if (x) {\n  y()\n}")
    assert await on.evaluate_js("text") == "if (x) {\n  y()\n}"
    await on.forms.type("#field", "!", append=True)
    assert await on.evaluate_js("text") == "if (x) {\n  y()\n}!"


async def test_text_is_added_to_an_editable_region(visit: OpenFailurePage) -> None:
    on = await visit("<div id=note contenteditable>Hello</div>")
    await on.forms.type("#note", " there", append=True)
    assert await on.evaluate_js("note.innerText") == "Hello there"


async def test_a_custom_slider_accepts_a_number_within_its_range(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=level role=slider tabindex=0 aria-label=Level aria-valuemin=0 aria-valuemax=60 aria-valuenow=20
        style="width: 90px; height: 20px; background: silver"></div><script>
        level.onkeydown = ({ key }) => { const step = { ArrowRight: 5, ArrowLeft: -5 }[key] || 0;
          const write = () => level.setAttribute("aria-valuenow", Number(level.ariaValueNow) + step);
          requestAnimationFrame(write) };</script>"""
    )
    cases = (("45", "45", ""), ("10", "10", ""), ("33", "30|35", "the page has changed the text"))
    for wanted, shown, note in cases:
        outcome = await on.forms.type("#level", wanted)
        assert re.fullmatch(shown, outcome.value or ""), wanted
        assert outcome.note == note, wanted
    with pytest.raises(OutriderError, match="outside 0 to 60"):
        await on.forms.type("#level", "61")
