"""Small replicas of widgets from component libraries, each operated by its outline."""

import re

import pytest

from failures.failure_site import FailurePage, OpenFailurePage
from outrider.browser.actions.outcome import ActionLog
from outrider.core.errors import OutriderError, Refused

CLIPPED = "position: absolute; width: 1px; height: 1px; clip-path: inset(50%); overflow: hidden"


async def find_ref(on: FailurePage, pattern: str) -> str:
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    found = re.search(pattern.replace("REF", r"(e\d+)"), outline)
    assert found, f"{pattern} is not in\n{outline}"
    return found[1]


async def test_a_slider_whose_field_is_clipped_is_shown_and_set(visit: OpenFailurePage) -> None:
    on = await visit(
        f"""<div role=group aria-label=Opacity style="width: 200px; height: 20px; position: relative">
        <div style="{CLIPPED}">
        <input type=range aria-label=Thumb min=0 max=100 value=30 oninput="log.push(value)"></div></div>
        <div style="{CLIPPED}"><input type=range tabindex=-1 aria-label=Copy></div><script>log = []</script>"""
    )
    await on.forms.type(await find_ref(on, 'slider "Thumb" REF = "30"'), "40")
    assert await on.read_log() == ["40"]
    assert "Copy" not in (await on.snapshotter.take_snapshot("full")).piece.text


async def test_a_list_whose_field_is_clipped_is_shown_and_opened(visit: OpenFailurePage) -> None:
    on = await visit(
        f"""<div style="width: 200px; height: 30px; position: relative" onclick="log.push('opened')">
        <div style="{CLIPPED}"><input role=combobox aria-label=Cities aria-expanded=false readonly></div>
        <div style="height: 30px">2 chosen</div></div><script>log = []</script>"""
    )
    await on.pointer.click(await find_ref(on, 'combobox "Cities" REF collapsed'))
    assert await on.read_log() == ["opened"]


async def test_a_field_without_pointer_events_is_pressed_through_its_own_box(visit: OpenFailurePage) -> None:
    field = "<input role=combobox aria-label={0} aria-expanded=false readonly style='pointer-events: none'>"
    on = await visit(
        f"""<div onmousedown="log.push('opened')">{field.format("Pick")}<button>×</button></div>
        <div style="pointer-events: none" onmousedown="log.push('busy')">{field.format("Busy")}</div>
        <script>log = []</script>"""
    )
    await on.pointer.click(await find_ref(on, 'combobox "Pick" REF'))
    with pytest.raises(Refused, match="pointer-events"):
        await on.pointer.click(await find_ref(on, 'combobox "Busy" REF'))
    assert await on.read_log() == ["opened"]


async def test_a_switch_of_zero_size_is_pressed_where_it_is_drawn(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=switch style="position: relative; width: 40px; height: 20px; background: grey"
        onclick="box.checked = !box.checked; log.push(box.checked)"><input id=box type=checkbox role=switch
        aria-label=Mode style="opacity: 0; width: 0; height: 0; position: absolute; margin: 0"
        onclick="event.stopPropagation()"><span></span></div><script>log = []</script>"""
    )
    await on.forms.check(await find_ref(on, 'switch "Mode" REF'))
    assert await on.read_log() == [True]


async def test_a_hidden_check_box_is_pressed_only_through_its_own_drawing(visit: OpenFailurePage) -> None:
    hidden = "position: absolute; opacity: 0"
    row = f"<li><input type=checkbox aria-label=Row style='{hidden}'><label for=none>row</label></li>"
    on = await visit(
        f"""<main style="width: 300px; position: relative">
        <input id=whole type=checkbox aria-label=All style="{hidden}; left: -99px">
        <label id=drawn for=none>mark all</label><ul>{row * 2}</ul></main><script>log = [];
        drawn.onclick = () => {{ whole.click(); log.push(whole.checked); }}</script>"""
    )
    await on.forms.check(await find_ref(on, 'checkbox "All" REF'))
    assert await on.read_log() == [True]
    await on.page.evaluate_in("", "() => { drawn.onclick = null; drawn.replaceWith(drawn.cloneNode(true)); }")
    with pytest.raises(Refused, match="hidden"):
        await on.pointer.click(await find_ref(on, 'checkbox "All" REF'))


async def test_a_radio_card_is_named_by_its_visible_text(visit: OpenFailurePage) -> None:
    card = """<label><input type=radio name=x value={0} style="{1}" onchange="log.push(value)">
        <div aria-hidden=true>{0} card</div></label>"""
    cards = "".join(card.format(name, CLIPPED) for name in ("react", "vue"))
    on = await visit(f"<div role=radiogroup>{cards}</div><script>log = []</script>")
    await on.pointer.click(await find_ref(on, 'radio "vue card" REF'))
    assert await on.read_log() == ["vue"]


async def test_an_empty_focus_helper_does_not_change_names(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div role=listbox><div role=option tabindex=0 onclick="log.push('b')"><div class=helper tabindex=-1></div>
        <div><span>Facebook</span></div></div></div><script>log = []</script>"""
    )
    await on.pointer.click(await find_ref(on, 'option "Facebook" REF'))
    assert await on.read_log() == ["b"]


async def test_cells_of_a_grid_with_a_delegated_listener_have_references(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=sheet><table role=grid><tr><th role=columnheader>Name</th></tr>
        <tr><td role=gridcell>Tagcat</td></tr></table></div><table><tr><td>Plain</td></tr></table>
        <table role=grid><tr><td role=gridcell>Deaf</td></tr></table>
        <table id=days role=grid><tr><td role=gridcell><button>14</button></td><td role=gridcell><!----></table>
        <script>log = []; days.onmousedown = () => 1;
        sheet.addEventListener('mousedown', (e) => log.push(e.target.textContent))</script>"""
    )
    for name in ("Tagcat", "Name"):
        await on.pointer.click(await find_ref(on, f"<{name} REF>"))
    assert await on.read_log() == ["Tagcat", "Name"]
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert not re.search(r"<(Plain|Deaf)", outline)
    assert re.search(r'^ button "14" e\d+ \|$', outline, re.MULTILINE)  # its cell needs no additional reference


async def test_a_transparent_button_is_pressed_by_its_label(visit: OpenFailurePage) -> None:
    on = await visit(
        """<label style="display: block; width: 200px; height: 30px; position: relative">Fruit <b>Apple</b>
        <button aria-label="Fruit, Apple" onclick="log.push('opened')"
        style="position: absolute; inset: 0; opacity: 0; clip: rect(0 0 0 0)"></button></label>
        <script>log = []</script>"""
    )
    await on.pointer.click(await find_ref(on, 'button "Fruit, Apple" REF'))
    assert await on.read_log() == ["opened"]


async def test_a_component_that_leaves_presses_to_its_host_is_pressed_there(visit: OpenFailurePage) -> None:
    on = await visit(
        """<my-tab onclick="log.push('other')" style="display: inline-block">Other</my-tab><script>log = [];
        customElements.define('my-tab', class extends HTMLElement { connectedCallback() {
          this.attachShadow({ mode: 'open' }).innerHTML =
            '<button role=tab style="pointer-events: none"><slot></slot></button>' } })</script>"""
    )
    await on.pointer.click(await find_ref(on, 'tab "Other" REF'))
    assert await on.read_log() == ["other"]


async def test_pressing_a_box_avoids_the_controls_inside(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=box style="width: 200px; border: 1px solid"><div style="text-align: center; line-height: 40px">Rome
        <svg tabindex=0 width=160 height=14 aria-label=Remove onclick="log.push('removed'); event.stopPropagation()">
        <path d="M0 0h160v14z"></path></svg></div></div>
        <script>log = []; box.addEventListener('click', () => log.push('opened'))</script>"""
    )
    await on.pointer.click("#box")
    assert await on.read_log() == ["opened"]


async def test_a_drawn_toggle_is_pressed_through_the_check_box_above_it(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div style="position: relative; width: 100px"><input type=checkbox onchange="log.push(checked)"
        style="position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0; z-index: 1; margin: 0">
        <div style="cursor: pointer">Confirm</div></div><script>log = []</script>"""
    )
    await on.pointer.click("text=Confirm")
    assert await on.read_log() == [True]


async def test_lines_and_appended_text_arrive_in_order_in_editors(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=lazy contenteditable role=textbox aria-multiline=true aria-label=Lazy><p>first</p></div><script>
        log = []; lazy.addEventListener('keydown', (e) => log.push(e.key)); </script>"""
    )
    field = await find_ref(on, 'textbox "Lazy" REF')
    await on.forms.type(field, " end", append=True)
    assert await on.evaluate_js("lazy.innerText") == "first end"
    assert "End" in await on.read_log()
    await on.forms.type(field, "one\ntwo")
    assert (await on.evaluate_js("lazy.innerText")).split() == ["one", "two"]


async def test_listening_boxes_around_a_button_have_no_references_of_their_own(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=item style="display: inline-block"><my-button aria-label="New Folder"><svg width=16 height=16></svg>
        </my-button></div><div id=still style="display: inline-block"><button disabled>Move up</button></div>
        <div id=card style="width: 300px; padding: 40px"><button>Buy</button></div><script>log = [];
        customElements.define('my-button', class extends HTMLElement { connectedCallback() {
          this.attachShadow({ mode: 'open', delegatesFocus: true }).innerHTML =
            '<button aria-label="New Folder"><span class=content><slot></slot></span></button>';
          this.shadowRoot.querySelector('span').addEventListener('click', () => log.push('content'));
          this.addEventListener('click', () => log.push('component')) } });
        for (const each of [item, still, card]) each.addEventListener('click', () => log.push(each.id))</script>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert re.search(r'^button "New Folder" e\d+ <e\d+> button "Move up"', outline), outline
    assert outline.count("<") == 2, f"the boxes around Move up and Buy hear presses of their own:\n{outline}"
    await on.pointer.click(await find_ref(on, 'button "New Folder" REF'))
    assert await on.read_log() == ["content", "component", "item"]


async def test_a_press_lands_on_a_page_with_many_hidden_fields(visit: OpenFailurePage) -> None:
    select = """<div class=select style="width: 200px; height: 30px; position: relative" onmousedown="log.push('{0}')">
        <span style="position: absolute">Pick</span><input role=combobox aria-label="{0}" style="opacity: 0; border: 0">
        </div>"""
    near, far = (f"<div>{''.join(select.format(f'{place} {n}') for n in range(3))}</div>" for place in ("Near", "Far"))
    on = await visit(f"{near}<p style='height: 3000px'></p>{far}<script>log = []</script>")
    on.page.action_log = ActionLog()  # as in every session, so that elements like the pressed one are compared, too
    await on.pointer.click(await find_ref(on, 'combobox "Near 1" REF'))
    assert await on.read_log() == ["Near 1"]
    assert await on.evaluate_js("scrollY") == 0


async def test_labels_around_web_components_name_the_control_in_them(visit: OpenFailurePage) -> None:
    on = await visit(
        """<label><my-box></my-box> Remember me</label><label for=other>Wi-Fi</label><my-box id=other></my-box>
        <label><my-pane></my-pane> Only text</label><script>log = [];
        const define = (name, html) => customElements.define(name, class extends HTMLElement {
          static formAssociated = true;
          connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = html;
            this.shadowRoot.querySelector('input')?.addEventListener('change', () => log.push(this.id || 'box')) } });
        define('my-box', '<input type=checkbox>'); define('my-pane', '<b>◆</b>')</script>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert outline.count("Remember me") == 1
    assert "Only text" in outline
    await on.forms.check(await find_ref(on, 'checkbox "Remember me" REF'))
    await on.forms.check(await find_ref(on, 'checkbox "Wi-Fi" REF'))
    assert await on.read_log() == ["box", "other"]


async def test_items_of_lists_with_a_delegated_listener_have_references(visit: OpenFailurePage) -> None:
    on = await visit(
        """<ul id=choice><li>Tea</li><li>Coffee</li></ul>
        <ol id=order><li>One <button>x</button></li><li>Two <button>x</button></li></ol>
        <div id=cards><div class=card>Red</div><div class=card>Blue</div></div><ul id=single><li>Only</li></ul>
        <ul id=links><li><a href="#a">A link</a></li></ul><ul><li>Plain</li></ul>
        <div class=ui-droppable style="height: 60px">Basket</div><script>log = [];
        const name = (event) => event.target.firstChild.data.trim();
        choice.addEventListener('click', (event) => log.push(`chosen ${name(event)}`));
        const hold = (event) => log.push(`held ${name(event)}`);
        for (const each of [order, cards, single]) each.addEventListener('mousedown', hold);
        links.addEventListener('click', () => {})</script>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    for bare in ("Plain", "A link"):
        assert re.search(rf"<[^>]*{bare}", outline) is None, f"{bare} is not an item of such a list:\n{outline}"
    for pattern in ("<Tea REF>", "<Blue REF>", "<REF> One", "<Only REF>"):
        await on.pointer.click(await find_ref(on, pattern))
    await on.pointer.drag(await find_ref(on, "<Red REF>"), await find_ref(on, "<Basket REF>"))
    assert await on.read_log() == ["chosen Tea", "held Blue", "held One", "held Only", "held Red"]


async def test_options_and_items_filled_by_a_listener_are_named(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div role=listbox><div role=option><span class=ripple></span><div class=content>Foo</div></div></div>
        <ul role=tree><li role=treeitem aria-expanded=false><div class=content>Data</div></li></ul>
        <div role=tab style="width: 300px">Notes <span class=content>×</span></div><script>log = [];
        for (const each of document.querySelectorAll('.content, .ripple'))
          each.addEventListener('click', () => log.push(each.textContent))</script>"""
    )
    await on.pointer.click(await find_ref(on, 'option "Foo" REF'))
    await on.pointer.click(await find_ref(on, 'treeitem "Data" REF collapsed'))
    await on.pointer.click(await find_ref(on, "<× REF>"))
    assert await on.read_log() == ["Foo", "Data", "×"]


async def test_a_control_in_nested_components_is_pressed_at_the_outer_host(visit: OpenFailurePage) -> None:
    on = await visit(
        """<my-item></my-item><button role=listitem onclick="log.push('fruits')">Fruits</button><script>log = [];
        const define = (name, html, listen) => customElements.define(name, class extends HTMLElement {
          connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = html;
            if (listen) this.addEventListener('click', () => log.push(name)) } });
        define('my-box', '<label><input type=checkbox></label>');
        define('my-item', '<my-box style="pointer-events: none"></my-box> Conifers', true)</script>"""
    )
    await on.pointer.click(await find_ref(on, "checkbox input REF"))
    await on.pointer.click(await find_ref(on, 'listitem "Fruits" REF'))
    assert await on.read_log() == ["my-item", "fruits"]


async def test_separators_and_boxes_around_a_check_box_have_no_references(visit: OpenFailurePage) -> None:
    on = await visit(
        """<ul role=menu><li role=menuitem tabindex=0>Cut</li>
        <li role=separator tabindex=0 style="height: 4px"></li></ul>
        <div role=separator tabindex=0 aria-label=Split aria-valuenow=30 style="height: 9px"></div>
        <label><span id=box style="display: inline-block; position: relative; width: 20px; height: 20px">
        <input type=checkbox style="opacity: 0; position: absolute; width: 20px; height: 20px; margin: 0">
        <i></i></span> Watch</label><script>log = [];
        box.addEventListener('click', () => log.push('box'))</script>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert len(re.findall(r"\be\d+\b", outline)) == 3, f"Cut, Split and Watch are enough:\n{outline}"
    await on.forms.check(await find_ref(on, 'checkbox "Watch" REF'))
    assert await on.read_log() == ["box"]
    assert await on.evaluate_js("document.querySelector('input').checked") is True


async def test_roles_in_element_internals_are_shown_and_set(visit: OpenFailurePage) -> None:
    on = await visit(
        """<label for=sw>Dark mode</label> <x-switch id=sw></x-switch> <x-slider></x-slider> <x-slider></x-slider>
        <x-plain>plain text</x-plain><script>log = [];
        class Control extends HTMLElement {
          static formAssociated = true;
          constructor() { super(); this.own = this.attachInternals(); this.tabIndex = 0; }
        }
        customElements.define("x-switch", class extends Control {
          constructor() {
            super(); const own = this.own; own.role = "switch"; own.ariaChecked = "false"; this.textContent = "⬭";
            this.onclick = () => { own.ariaChecked = String(own.ariaChecked === "false"); log.push(own.ariaChecked); };
          }
        });
        customElements.define("x-slider", class extends Control {
          constructor() {
            super(); const own = this.own; own.role = "slider"; own.ariaLabel = "e7 Level"; own.ariaValueNow = "4";
            this.textContent = "–•–";
            this.onkeydown = ({ key }) => { own.ariaValueNow = +own.ariaValueNow + (key === "ArrowUp" ? 1 : -1); };
          }
        });
        customElements.define("x-plain", class extends HTMLElement {});</script>"""
    )
    switch = await find_ref(on, '^switch "Dark mode" REF slider')
    outcome = await on.forms.check(switch)
    assert outcome.changes == f"~ switch {switch} checked"
    assert await on.read_log() == ["true"]
    slider = await find_ref(on, r'slider "e\\7 Level" REF = "4" ')
    assert f'~ slider {slider} = "7"' in (await on.forms.type(slider, "7")).changes


async def test_clipped_buttons_handles_and_drawn_editors_are_reached(visit: OpenFailurePage) -> None:
    clipped = "position: absolute; left: -1px; width: 1px; height: 1px; overflow: hidden; padding: 0; border: 0"
    on = await visit(
        f"""<div style="position: relative"><button id=b role=switch aria-checked=false style="{clipped}"
        onclick="ariaChecked = true; log.push('on')"></button><label for=b>Wifi <i>Off</i></label></div>
        <ul id=list><li draggable=true><span class=handle style="cursor: grab">☰</span> First</li>
        <li style="height: 30px" onmouseup="log.push('dropped')">Second</li></ul>
        <div style="width: 300px; height: 60px; position: relative; overflow: hidden" onmousedown="setTimeout(() =>
        editor.focus())"><div id=editor role=textbox tabindex=0 aria-multiline=true aria-label=Code
        style="width: 0; height: 20px"></div><textarea tabindex=-1 readonly style="width: 20px"></textarea>
        <p id=drawn></p></div>
        <script>log = [];
        editor.editContext = new EditContext();
        editor.editContext.addEventListener("textupdate", () => {{ drawn.textContent = editor.editContext.text; }});
        list.addEventListener("mousedown", ({{ target }}) => log.push(target.className));
        document.querySelector("li").draggable = false;</script>"""
    )
    await on.forms.check(await find_ref(on, 'switch "Wifi[^"]*" REF'))
    await on.pointer.drag("text=First", "text=Second")
    await on.forms.type(await find_ref(on, 'textbox "Code" REF'), "x = 1")
    assert await on.read_log() == ["on", "handle", "dropped"]
    assert "x = 1" in (await on.snapshotter.take_snapshot("full")).piece.text


async def test_editors_around_a_clipped_field_and_command_lists_accept_input(
    visit: OpenFailurePage,
) -> None:
    on = await visit(
        """<div style="border: 1px solid; width: 300px" onmousedown="code.focus()"><div style="position: relative;
        overflow: hidden; width: 3px; height: 0"><textarea id=code style="position: absolute; bottom: -1em; width: 99px"
        oninput="drawn.textContent += value; value = ''"></textarea></div><pre id=drawn> </pre></div>
        <form><div style="overflow: hidden; width: 1px; height: 0"><textarea id=trap>Leave empty</textarea></div></form>
        <select aria-label="Add filter" onchange="filters.append(value); value = ''"><option value=""></option>
        <option>Status</option></select><p id=filters></p>
        <select aria-label=Stubborn onchange="value = ''"><option value=""></option><option>Kiel</option></select>
        <label for=sent>Recipients</label><textarea id=sent tabindex=-1
        style="position: absolute; left: -5000px; opacity: 0"></textarea><input>
        <div style="visibility: hidden"><input id=line type=checkbox><label for=line>Line numbers</label></div>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert "#trap" not in outline
    assert "Recipients" in outline
    assert "Line numbers" not in outline
    typed = await on.forms.type(await find_ref(on, "textbox #code REF"), "select 1")
    assert "select 1" in typed.changes
    chosen = await on.forms.select(await find_ref(on, 'combobox "Add filter" REF'), "Status")
    assert "Status" in chosen.changes
    assert chosen.note == "the page has taken the choice and set the list back to ''"
    with pytest.raises(OutriderError, match="Nothing happened"):
        await on.forms.select(await find_ref(on, 'combobox "Stubborn" REF'), "Kiel")
    await on.evaluate_js(
        """document.querySelector('form').inert = true,
        document.body.insertAdjacentHTML('beforeend', '<div role=dialog aria-label=Hi><button>Got it</button></div>')"""
    )
    with pytest.raises(OutriderError) as refused:
        await on.forms.type("#trap", "x")
    assert re.fullmatch(r'<div> "Hi.*" is open: maybe first click e\d+ "Got it"', refused.value.hint)


async def test_controls_drawn_around_hidden_fields_are_named_and_shown_once(visit: OpenFailurePage) -> None:
    on = await visit(
        f"""<label><span role=switch tabindex=0 aria-checked=false style="display: inline-block; width: 40px;
          height: 20px" onclick="this.ariaChecked = 'true'; log.push('on')"></span><input type=checkbox tabindex=-1
          aria-hidden=true style="{CLIPPED}">Alerts</label>
        <span role=checkbox tabindex=0 id=terms aria-label="Accept terms" aria-checked=true>x</span>
        <button id=terms2 aria-label="Accept all">v</button><label for=terms2>Accept all</label>
        <div role=combobox tabindex=0 class=cities aria-expanded=false>Rome <button aria-label=Clear>x</button></div>
        <div role=combobox tabindex=0 aria-label=Fruit aria-expanded=false><i>Fruit</i> <b>Apple</b></div>
        <div role=listbox tabindex=0 class=friends aria-expanded=false>Elliot <p role=option hidden>Jo</p></div>
        <div role=menuitem tabindex=0>Share <p role=menuitem hidden>By link</p></div>
        <table role=grid><tr><td role=gridcell aria-selected=true><div role=button tabindex=0>10</div></table>
        <input type=checkbox readonly aria-label=Visible> <input type=number aria-label=Pay min=-9007199254740991>
        <div class=chip onclick=1>Vue <svg class=chip-close width=12 height=12 style="cursor: pointer"><path fill=red
          d="M0 0h9v9z"></path></svg></div><script>log = [];
        document.querySelector(".chip-close").onclick = () => log.push("closed")</script>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    shown = " ".join(re.sub(r"\be\d+\b", "REF", outline).split())
    assert 'switch "Alerts" REF checkbox "Accept terms" REF checked x button "Accept all" REF v combobox' in shown
    assert "combobox .cities REF collapsed Rome button" in shown
    assert 'combobox "Fruit" REF = "Apple" collapsed listbox .friends REF = "Elliot" collapsed' in shown
    assert 'menuitem "Share" REF' in shown
    assert 'button "10" REF selected' in shown
    assert 'checkbox "Visible" REF spinbutton "Pay" REF <' in shown
    assert shown.endswith("Vue <.chip-close REF>")
    await on.pointer.click(await find_ref(on, 'switch "Alerts" REF'))
    await on.pointer.click(await find_ref(on, "<.chip-close REF>"))
    assert await on.read_log() == ["on", "closed"]


async def test_days_lists_and_slides_recognisable_only_by_style_are_operated(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=days style="width: 210px"><p class=day style="cursor: pointer">15</p><p class=day
          style="cursor: pointer">16</p></div>
        <div style="position: relative; width: 120px; height: 30px"><button tabindex=-1>One</button><select
          aria-label=Size style="position: absolute; inset: 0; width: 100%; height: 100%; opacity: 0"><option>One
          <option>Two</select></div>
        <div role=slider tabindex=0 aria-label=Wind aria-valuenow=90 aria-valuemax=360>~</div>
        <div style="width: 300px; overflow: hidden"><ul style="display: flex; padding: 0; list-style: none;
          transform: translateX(-600px)"><li style="flex: 0 0 100%" aria-hidden=true>Slide 8<li style="flex: 0 0 100%"
          aria-hidden=true>Slide 9<li style="flex: 0 0 100%">Slide 1</ul></div><script>log = [];
        days.onclick = (event) => log.push(event.target.textContent);
        document.querySelector("select").onchange = (event) => log.push(event.target.value);
        const wind = document.querySelector("[role=slider]");
        const steps = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1 };
        wind.onkeydown = (event) => { wind.ariaValueNow = Number(wind.ariaValueNow) + (steps[event.key] ?? 0) };
        </script>"""
    )
    await on.pointer.click(await find_ref(on, "<16 REF>"))
    await on.forms.select(await find_ref(on, 'combobox "Size" REF'), "Two")
    assert await on.read_log() == ["16", "Two"]
    assert (await on.forms.type(await find_ref(on, 'slider "Wind" REF'), "95")).value == "95"
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert "Slide 1" in outline
    assert "Slide 8" not in outline


async def test_asynchronous_effects_of_a_move_or_focus_are_waited_for(visit: OpenFailurePage) -> None:
    on = await visit(
        """<p id=stars style="width: 90px" onclick="log.push(over)" onmousemove="port2.postMessage(4)">****</p>
        <input aria-label=Number oninput="if (!moved) { moved = true; setSelectionRange(0, 0) }"><script>
        log = []; over = 0; moved = false; const { port1, port2 } = new MessageChannel();
        port1.onmessage = (event) => over = event.data;</script>"""
    )
    await on.pointer.click(await find_ref(on, r"<\*\*\*\* REF>"))
    assert await on.read_log() == [4]
    assert (await on.forms.type(await find_ref(on, 'textbox "Number" REF'), "12345")).value == "12345"


async def test_nested_style_rules_paint_text_and_open_menus(visit: OpenFailurePage) -> None:
    on = await visit(
        """<style>.drop { & > ul { display: none } &:not(details, .open, :hover) ul { opacity: .9 }
        &.by-hover { &:hover > ul, &:focus-within > ul { display: block } } }
        .step, .stage { &::before { content: "Step " } } .tip { :hover > & { visibility: visible } }</style>
        <div class="drop by-hover"><button>Products</button><ul><li>Chairs</ul></div>
        <p class=step>one</p><p class=stage>two</p>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert re.search(r'button "Products" e\d+ opens on hover', outline)
    assert re.findall(r"Step \w+", outline) == ["Step one", "Step two"]
    assert "Chairs" in (await on.pointer.hover(await find_ref(on, 'button "Products" REF'))).changes


async def test_items_with_a_hand_pointer_on_hover_have_references(visit: OpenFailurePage) -> None:
    on = await visit(
        """<style>@media (hover: hover) { .item:hover { cursor: pointer } }</style>
        <div onclick="log.push(event.target.textContent)"><p class=item><b>Move up</b></p><p class=item>Delete</p>
        <p>Nothing else</p></div><script>log = []</script>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert re.findall(r"<([\w ]+) e\d+>", outline) == ["Move up", "Delete"]
    await on.pointer.click(await find_ref(on, "<Delete REF>"))
    assert await on.read_log() == ["Delete"]


async def test_a_dialog_opened_by_a_check_box_is_closed_by_its_inner_label(visit: OpenFailurePage) -> None:
    on = await visit(
        """<style>#shown { position: fixed; opacity: 0 } .dialog { display: none; position: fixed; inset: 0;
        background: white } #shown:checked ~ .dialog { display: block } </style><label for=shown>Open</label>
        <input type=checkbox id=shown onchange="log.push(checked)">
        <div class=dialog><label for=shown>Close</label></div>
        <script>log = []</script>"""
    )
    await on.pointer.click(await find_ref(on, 'checkbox "Open.*" REF'))
    await on.pointer.click(await find_ref(on, 'checkbox ".*Close" REF checked'))
    assert await on.read_log() == [True, False]


async def test_controls_in_editable_text_have_references_and_its_links_do_not(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div contenteditable role=textbox aria-label=Tasks><ul><li><label contenteditable=false><input type=checkbox
        aria-label="Buy milk" onchange="log.push(checked)"></label> Buy milk, <a href="#shop">see</a></li></ul></div>
        <script>log = []</script>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert re.search(r'textbox "Tasks" e\d+ = "Buy milk, see"\n checkbox "Buy milk" e\d+$', outline, re.MULTILINE), (
        outline
    )
    await on.forms.check(await find_ref(on, 'checkbox "Buy milk" REF'))
    assert await on.read_log() == [True]


async def test_a_transparent_file_field_keeps_the_text_of_its_label(visit: OpenFailurePage) -> None:
    on = await visit(
        """<label style="position: relative"><span>Attachment</span>
        <input type=file style="position: absolute; inset: 0; opacity: 0"></label>"""
    )
    await find_ref(on, '^file "Attachment" REF hidden$')


async def test_a_transparent_file_field_has_the_name_of_the_label_beside_it(visit: OpenFailurePage) -> None:
    on = await visit("""<label for=papers>Papers</label><input id=papers type=file style="opacity: 0">""")
    await find_ref(on, '^file "Papers" REF hidden$')


async def test_a_transparent_file_field_over_its_drop_area_keeps_its_name(visit: OpenFailurePage) -> None:
    field = "<input type=file aria-label={0} style='position: absolute; inset: 0; opacity: 0{1}'>"
    on = await visit(
        f"""<div style="position: relative; height: 60px">{field.format("Photos", "")}Drop files here</div>
        <div style="position: relative; height: 60px">{field.format("Spy", "; width: 0; height: 0")}</div>"""
    )
    await find_ref(on, '^file "Photos" REF hidden')
    assert "Spy" not in (await on.snapshotter.take_snapshot("full")).piece.text


async def test_stars_over_clipped_radio_buttons_have_one_reference_each(visit: OpenFailurePage) -> None:
    star = f"""<div class=star style="display: inline-block; width: 20px; height: 20px"><span style="{CLIPPED}">
        <input type=radio name=stars aria-label="{{0}}"></span><svg width=20 height=20></svg></div>"""
    on = await visit(
        f"""<div>{star.format("1 star")}{star.format("2 stars")}</div><script>log = [];
        for (const each of document.querySelectorAll('.star'))
          each.addEventListener('click', () => log.push(each.querySelector('input').ariaLabel))</script>"""
    )
    await on.pointer.click(await find_ref(on, '^radio "1 star" e\\d+ radio "2 stars" REF$'))
    assert await on.read_log() == ["2 stars"]


async def test_a_control_is_pressed_through_the_empty_box_that_enlarges_it(visit: OpenFailurePage) -> None:
    on = await visit(
        """<style>.box { position: relative; width: 84px; height: 48px; margin: 20px } .box > * { position: absolute }
        .over { inset: 0 } .under { inset: 12px 16px }</style>
        <div class=box><div class=under role=combobox tabindex=0 aria-label=Size>10</div>
        <div class=over id=touch></div></div>
        <div class=box><button class=under>Pay</button><div class=over style="inset: -40px" id=curtain></div></div>
        <script>log = []; for (const each of [touch, curtain]) each.addEventListener('click', () => log.push(each.id))
        </script>"""
    )
    await on.pointer.click(await find_ref(on, 'combobox "Size" REF'))
    with pytest.raises(OutriderError, match="covered"):
        await on.pointer.click(await find_ref(on, 'button "Pay" REF'))
    assert await on.read_log() == ["touch"]


async def test_listening_boxes_around_one_text_share_its_reference(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=head><div id=label><span id=text>Make</span></div></div>
        <table role=grid><tr><td role=gridcell aria-label="April 23"><span id=day>23</span></table>
        <div id=row><span id=name>Ann</span> <span>is here</span></div><script>log = [];
        for (const each of document.querySelectorAll('[id]')) each.addEventListener('click', () => log.push(each.id));
        document.querySelector('table').addEventListener('click', () => log.push('grid'))</script>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert re.match(r"<Make e\d+>\n", outline.split("\n", 1)[1] if outline.startswith("(") else outline), outline
    assert len(re.findall(r"<[^<>]*\b(?:23|April 23)\b[^<>]*>", outline)) == 1, outline
    assert re.search(r"<e\d+> <Ann e\d+> is here", outline), outline
    await on.pointer.click(await find_ref(on, "<Make REF>"))
    assert await on.read_log() == ["text", "label", "head"]


async def test_a_hidden_field_points_to_the_visible_field_and_not_to_a_button(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div><input aria-label=Words style="opacity: 0" value="one"><span>one
        <button aria-label="Remove one">×</button></span><input type=search aria-label=Word></div>"""
    )
    with pytest.raises(OutriderError) as refused:
        await on.forms.type(await find_ref(on, 'textbox "Words" REF'), "two")
    assert re.match(r'it is drawn as e\d+ <input> "Word"', refused.value.hint), refused.value.hint


async def test_an_abbreviated_editor_text_shows_its_length_and_how_to_read_it(visit: OpenFailurePage) -> None:
    on = await visit(f"<div contenteditable role=textbox aria-label=Story>{'word ' * 100}end</div>")
    ref = await find_ref(on, r'textbox "Story" e\d+ = "word .*…" \(503 characters: root=REF\)')
    assert 'end"' in (await on.snapshotter.take_snapshot("full", root=ref)).piece.text


async def test_a_slider_without_key_support_is_dragged_along_its_track(visit: OpenFailurePage) -> None:
    on = await visit(
        """<style>#track { width: 300px; height: 20px } #bar { width: 40%; height: 20px; position: relative }
        #thumb { position: absolute; right: -10px; width: 20px; height: 20px; background: red }</style>
        <div id=track><div id=bar><div id=thumb role=slider tabindex=0 aria-label=Volume aria-valuemin=0
        aria-valuemax=50 aria-valuenow=20></div></div></div>
        <script>const show = (value) => { thumb.ariaValueNow = value; bar.style.width = value * 2 + "%" };
        thumb.onpointerdown = (event) => { thumb.setPointerCapture(event.pointerId);
          thumb.onpointermove = ({ clientX }) => show(Math.round((clientX - track.getBoundingClientRect().left) / 6));
          thumb.onpointerup = () => { thumb.onpointermove = null } };</script>"""
    )
    assert (await on.forms.type(await find_ref(on, 'slider "Volume" REF = "20"'), "37")).value == "37"


async def test_a_slider_with_a_painted_thumb_is_shown(visit: OpenFailurePage) -> None:
    on = await visit(
        """<style>#track { position: relative; width: 300px; height: 6px; background: #ddd }
        #thumb { position: absolute }
        #thumb::before { content: ""; position: absolute; width: 12px; height: 12px; background: red }
        input { position: absolute; width: 100%; height: 100%; clip: rect(0, 0, 0, 0) }</style>
        <div id=track><div id=thumb tabindex=0>
        <input type=range tabindex=-1 readonly aria-label=Volume value=40></div></div>
        <script>const [field] = thumb.children;
        const show = (now) => { field.value = now; thumb.style.left = now * 3 + "px" }; show(40);
        thumb.onkeydown = ({ key }) => show(+field.value + (key === "ArrowRight" ? 1 : -1))</script>"""
    )
    slider = await find_ref(on, 'slider "Volume" REF = "40"')
    assert (await on.forms.type(slider, "55")).value == "55"
    assert await on.evaluate_js("thumb.style.left") == "165px"


async def test_parts_of_a_label_share_the_reference_of_its_control(visit: OpenFailurePage) -> None:
    on = await visit(
        """<label><input type=checkbox role=switch aria-labelledby=wifi>
        <i style="cursor: pointer; display: inline-block; width: 9px; height: 9px"></i>
        <span id=wifi style="cursor: pointer">Wifi</span></label>"""
    )
    await find_ref(on, '^switch "Wifi" REF$')


async def test_a_picker_and_its_listening_box_share_a_reference(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=box><div role=combobox tabindex=0 aria-expanded=false id=_r_1_ class=picker>Select person</div></div>
        <script>log = []; box.onclick = () => log.push("opened")</script>"""
    )
    await on.pointer.click(await find_ref(on, '^combobox .picker REF = "Select person" collapsed$'))
    assert await on.read_log() == ["opened"]


async def test_column_resize_handles_are_shown_in_the_header_alone(visit: OpenFailurePage) -> None:
    handle = '<i onmousedown="1"></i>'
    on = await visit(
        f"""<style>i {{ display: inline-block; width: 6px; height: 20px }}</style>
        <div role=grid><div role=row><b role=columnheader>Name</b>{handle}</div>
        <div role=row><b role=gridcell>Ann</b>{handle}</div></div>"""
    )
    await find_ref(on, "^grid\n Name <i REF>\n Ann$")


async def test_an_item_is_named_by_its_script_focused_content(visit: OpenFailurePage) -> None:
    on = await visit("""<ul role=menu><li role=menuitem tabindex=0><a role=none tabindex=-1>Share</a></li></ul>""")
    await find_ref(on, '^menu\n menuitem "Share" REF$')


async def test_a_button_that_fades_in_late_under_the_pointer_is_pressed(visit: OpenFailurePage) -> None:
    on = await visit(
        """<style>.file b { opacity: 0; transition: opacity .1s .2s } .file:hover b { opacity: 1 }</style>
        <div class=file>a.txt <b><button aria-label=Remove onclick="log.push('removed')">×</button></b></div>
        <script>log = []</script>"""
    )
    await on.pointer.click("button=Remove")
    assert await on.read_log() == ["removed"]


async def test_a_field_that_is_read_only_until_it_has_the_focus_is_written(visit: OpenFailurePage) -> None:
    on = await visit(
        """<input aria-label=Mail readonly onfocus="readOnly = false"><input aria-label=Fixed readonly value=1>"""
    )
    assert (await on.forms.type(await find_ref(on, 'textbox "Mail" REF read-only'), "a@b.example")).value
    with pytest.raises(Refused, match="read-only"):
        await on.forms.type(await find_ref(on, 'textbox "Fixed" REF'), "2")
    assert await on.evaluate_js("document.activeElement.tagName") == "BODY"


async def test_a_sign_that_opens_a_list_is_pressed_as_a_key(visit: OpenFailurePage) -> None:
    on = await visit("""<input aria-label=Comment onkeyup="log.push(event.key)"><script>log = []</script>""")
    await on.forms.type(await find_ref(on, 'textbox "Comment" REF'), "hi @")
    assert await on.read_log() == ["@"]


async def test_an_item_is_pressed_through_the_transparent_button_that_fills_it(visit: OpenFailurePage) -> None:
    item = """<div class=item onclick="log.push('{0}')"><button aria-label="View {0}"></button>
        <div class=content><input type=checkbox aria-label="Select {0}"
        onclick="event.stopPropagation(); log.push('ticked')"> {0}</div></div>"""
    on = await visit(
        f"""<style>.item {{ position: relative; width: 300px }}
        .content {{ position: relative; z-index: 2; height: 40px }}
        .item button {{ position: absolute; inset: 0; width: 100%; opacity: 0 }}</style>
        {item.format("Ann")}{item.format("Bob")}
        <div onclick="log.push('row')" style="width: 300px">Row
        <button aria-label=Erase style="opacity: 0">x</button></div>
        <script>log = []</script>"""
    )
    outcome = await on.pointer.click(await find_ref(on, 'button "View Bob" REF'))
    assert " drawn as <div.item>" in outcome.element
    with pytest.raises(OutriderError, match="opacity: 0"):
        await on.pointer.click("button=Erase")
    assert await on.read_log() == ["Bob"]


COMPONENTS = """<script>
    const define = (tag, html) => customElements.define(tag, class extends HTMLElement {
      constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = html; } });
    define("x-panels", "<div tabindex=0><slot></slot></div>");
    define("x-item", "<slot></slot><div style='display: none'><slot name=submenu></slot></div>");
    </script>"""


async def test_a_focusable_box_around_a_named_panel_shows_the_text_of_the_panel(visit: OpenFailurePage) -> None:
    panel = "<div role=tabpanel aria-labelledby=tab>{0}</div>"
    on = await visit(
        f"""<b id=tab>Payment</b><x-panels>{panel.format("Slotted text")}</x-panels>
        <div tabindex=0>{panel.format("Plain text")}</div>{COMPONENTS}"""
    )
    text = (await on.snapshotter.take_snapshot("full")).piece.text
    assert "Slotted text" in text
    assert "Plain text" in text


async def test_an_item_with_a_closed_submenu_in_a_slot_keeps_its_name(visit: OpenFailurePage) -> None:
    on = await visit(
        f"""<x-item role=menuitem tabindex=0>Share<div slot=submenu><x-item role=menuitem tabindex=0>By mail</x-item>
        </div></x-item>{COMPONENTS}"""
    )
    await find_ref(on, '^menuitem "Share" REF$')


async def test_parts_of_an_edited_text_that_listen_have_references(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div contenteditable role=textbox aria-label=Notes><p><span class=tick contenteditable=false
        onpointerdown="log.push('ticked')">☐</span> Buy milk</p></div>
        <script>log = []; document.querySelector(".tick").addEventListener("click", () => {})</script>"""
    )
    await on.pointer.click(await find_ref(on, r"span \.tick REF"))
    assert await on.read_log() == ["ticked"]


async def test_a_check_box_that_lets_presses_through_is_ticked_through_its_item(visit: OpenFailurePage) -> None:
    box = "<span style='pointer-events: none'><input type=checkbox aria-label={0}></span>"
    on = await visit(
        f"""<div style="height: 300px"></div><div role=listbox id=list><div role=option tabindex=-1
        onclick="this.querySelector('input').checked = true; log.push('option')">{box.format("Tag")}</div></div>
        <div onclick="log.push('card')">{box.format("Fixed")}</div><div style="height: 3000px"></div><script>log = [];
        onscroll = () => list.remove()</script>"""
    )
    await on.forms.check(await find_ref(on, 'checkbox "Tag" REF'))
    with pytest.raises(Refused, match="pointer-events"):
        await on.pointer.click("checkbox=Fixed")
    assert await on.read_log() == ["option"]


async def test_a_control_whose_only_text_is_transparent_is_called_by_it(visit: OpenFailurePage) -> None:
    on = await visit(
        """<a href=#title class=minimap-item style="display: flex; width: 90px; height: 20px; border: 1px solid">
        <span style="opacity: 0">Title</span></a><button class=star><svg width=16 height=16></svg>
        <span style="display: none">Loading</span></button>"""
    )
    outline = (await on.snapshotter.take_snapshot("full")).piece.text
    assert re.search(r'\["Title" e\d+\]\s+button \.star e\d+', outline), outline
