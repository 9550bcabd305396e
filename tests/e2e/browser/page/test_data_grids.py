"""Data grids whose cells hold values, controls and handles, and which redraw their rows."""

import re

import pytest

from failures.failure_site import FailurePage, OpenFailurePage
from outrider.core.errors import NotFound, Refused

ROW_STYLE = (
    "<style>[role=row] { display: flex } [role=gridcell] { width: 120px; height: 30px; position: relative }</style>"
)

REDRAWN_LIST = """<table id=list></table><script>log = [];
    const draw = (names) => list.innerHTML = names.map((name) => `<tr><td>${name}<td><button>Pick</button>`).join("");
    draw(["Ann", "Bob"]); list.onclick = ({ target: each }) => log.push(each.closest("tr").innerText);"""


async def read_outline(on: FailurePage) -> str:
    return (await on.snapshotter.take_snapshot("full")).piece.text


async def find_ref(on: FailurePage, pattern: str) -> str:
    found = re.search(pattern.replace("REF", r"(e\d+)"), outline := await read_outline(on))
    assert found, f"{pattern} is not in\n{outline}"
    return found[1]


async def test_cells_beside_a_column_of_buttons_keep_references_and_states(visit: OpenFailurePage) -> None:
    on = await visit(
        f"""{ROW_STYLE}<div role=grid id=grid><div role=row><div role=gridcell>Ann</div>
        <div role=gridcell aria-checked=false class=paid><svg width=9 height=9></svg></div>
        <div role=gridcell><button>Edit</button><button>Delete</button></div>
        <div role=gridcell><input type=checkbox></div>
        <div role=gridcell style="display: contents">Boxless</div></div></div>
        <script>log = []; grid.onclick = ({{ target: each }}) => {{
          log.push(each.textContent || each.className);
          if (each.ariaChecked) each.ariaChecked = "true";
        }}</script>"""
    )
    await on.forms.check(await find_ref(on, r"<Ann e\d+> \| <\.paid REF> \| button"))
    assert await on.read_log() == ["paid"]
    await find_ref(
        on, r'<\.paid REF checked> \| button "Edit" e\d+ button "Delete" e\d+ \| checkbox input e\d+ \| Boxless\b'
    )


async def test_a_press_on_a_cell_or_row_misses_what_else_acts_in_it(visit: OpenFailurePage) -> None:
    on = await visit(
        f"""{ROW_STYLE}<div role=grid id=grid><div role=row tabindex=0><div role=gridcell>Ann</div>
        <span style="width: 6px; margin: 0 -3px; z-index: 1" class=handle></span>
        <div role=gridcell class=cell>Actions<button style="position: absolute; inset: 5px 20px">Delete</button></div>
        <div role=gridcell class=ship style="width: 360px"><button style="width: 20px">Ship</button></div>
        </div></div><script>log = []; document.querySelector(".handle").onmousedown = () => log.push("resize");
        document.querySelector("[role=row]").onmousedown = () => log.push("row");
        document.querySelector("button").onclick = () => log.push("delete");
        grid.onclick = ({{ target: each }}) => each.className === "ship" && log.push("ship")</script>"""
    )
    row = await find_ref(on, r"<REF> <Ann")
    await on.pointer.click(row)
    await on.pointer.click(await find_ref(on, r"\| <REF> Actions"))
    assert await on.read_log() == ["row", "row"]


async def test_a_row_that_is_drawn_anew_once_it_is_in_sight_is_the_one_that_is_pressed(visit: OpenFailurePage) -> None:
    on = await visit(
        f"""<p style="height: 3000px">Long</p>{REDRAWN_LIST}
        const redraw = ([{{ isIntersecting }}]) => isIntersecting && draw(["New", "Ann", "Bob"]);
        new IntersectionObserver(redraw).observe(list)</script>"""
    )
    await on.pointer.click(await find_ref(on, r'Bob \| button "Pick" REF'))
    assert await on.read_log() == ["Bob\tPick"]


async def test_a_press_on_a_row_that_is_replaced_under_the_pointer_reaches_no_other_row(visit: OpenFailurePage) -> None:
    on = await visit(
        f"""{REDRAWN_LIST}
        list.addEventListener("pointerover", () => draw(["New", "Ann", "Bob"]), {{ once: true }})</script>"""
    )
    with pytest.raises(NotFound, match='button "Pick" in the row "Bob" has left the page') as gone:
        await on.pointer.click(await find_ref(on, r'Bob \| button "Pick" REF'))
    assert await on.read_log() == []
    now = re.match(r'(e\d+) is now button "Pick" in the row "Bob"', gone.value.hint)
    assert now
    await on.pointer.click(now[1])
    assert await on.read_log() == ["Bob\tPick"]


async def test_a_tick_that_only_opens_an_editor_says_what_to_tick(visit: OpenFailurePage) -> None:
    on = await visit(
        f"""{ROW_STYLE}<div role=grid id=grid><div role=row><div role=gridcell aria-checked=false></div></div></div>
        <script>log = []; const cell = grid.querySelector("[role=gridcell]");
        cell.onclick = () => {{
          if (cell.firstChild) return;
          cell.innerHTML = "<input type=checkbox>"; cell.firstChild.focus();
          cell.firstChild.onchange = () => {{ cell.textContent = "yes"; log.push("ticked") }};
        }}; grid.onclick = () => 0</script>"""
    )
    with pytest.raises(Refused, match="still not checked") as refused:
        await on.forms.check(await find_ref(on, r"<\S* ?REF>"))
    editor = re.fullmatch(r"the click has opened (e\d+) <input>: check that", refused.value.hint)
    assert editor
    assert "the page has replaced it" in (await on.forms.check(editor[1])).note
    assert await on.read_log() == ["ticked"]


async def test_rows_that_are_taken_up_after_a_moment_are_dragged(visit: OpenFailurePage) -> None:
    on = await visit(
        """<ul id=list style="width: 600px"><li><i>First</i></li><li><i>Second</i></li></ul><script>log = [];
        let held = null, timer = 0; onmouseup = () => { clearTimeout(timer); held = null };
        list.onmousedown = ({ target }) => timer = setTimeout(() => held = target.closest("li"), 100);
        list.onmousemove = ({ target, clientY }) => {
          const row = target.closest("li"), { top, height } = row.getBoundingClientRect();
          if (held === null || row === held || clientY <= top + height / 2) return;
          row.after(held);
          log.push(list.innerText);
        }</script>"""
    )
    await on.pointer.drag(await find_ref(on, "<First REF>"), "text=Second")
    assert await on.read_log() == ["Second\nFirst"]


async def test_rows_out_of_sight_in_a_box_that_listens_are_announced(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div style="height: 90px; overflow: auto" onclick="1"><button style="height: 900px">Edit</button></div>
        <div style="height: 90px; overflow: auto" onclick="1"><div><button>Fits</button></div></div>"""
    )
    await find_ref(on, r'<REF scrollable>\s*button "Edit"')
    assert "scrollable" not in (await read_outline(on)).partition("Edit")[2]


async def test_a_drag_that_moves_nothing_says_so(visit: OpenFailurePage) -> None:
    on = await visit("<ul><li><i onmousedown='1'>Alpha</i></li><li><i onmousedown='1'>Beta</i></li></ul>")
    outcome = await on.pointer.drag(await find_ref(on, "<Alpha REF>"), await find_ref(on, "<Beta REF>"))
    assert outcome.note == "no element of the page has changed"


async def test_cells_of_a_plain_table_whose_text_cannot_be_selected_have_references(visit: OpenFailurePage) -> None:
    table = "<table style='user-select: {0}'><tr><td>{1}</td><td></td></tr></table>"
    on = await visit(
        f"""<div id=listens>{table.format("none", "Jane")}</div>
        <div tabindex=0>{table.format("none", "Jazz")}</div>
        <div id=prose>{table.format("text", "Words")}</div>{table.format("none", "Free")}<script>log = [];
        for (const box of [listens, prose]) box.onclick = (event) => log.push(event.target.innerText)</script>"""
    )
    assert re.findall(r"<(\w+) e\d+>", await read_outline(on)) == ["Jane", "Jazz"]
    await on.pointer.click(await find_ref(on, "<Jane REF>"))
    assert await on.read_log() == ["Jane"]


async def test_items_of_a_calendar_that_can_be_selected_have_references(visit: OpenFailurePage) -> None:
    on = await visit(
        """<div id=calendar aria-label="13 April"><div><div class=event aria-label=Standup aria-selected=false>
        <div>09:00</div><div>Standup</div></div></div></div><div aria-selected=false>Far away</div>
        <script>log = []; calendar.onclick = (event) => log.push(event.target.closest(".event").ariaLabel)</script>"""
    )
    assert "\nFar away" in await read_outline(on)
    await on.pointer.click(await find_ref(on, "<Standup REF> 09:00"))
    assert await on.read_log() == ["Standup"]


async def test_items_without_roles_that_light_up_under_the_pointer_have_references(visit: OpenFailurePage) -> None:
    menu = "<div id={0} class={0}><b>Title</b><div class=item>Alpha</div><div class=item>Beta</div></div>"
    on = await visit(
        f"""<style>.menu {{ user-select: none }} .item:hover {{ background: silver }} .other:hover b {{ color: red }}
        </style>{menu.format("menu")}{menu.format("prose")}<script>log = [];
        for (const box of [menu, prose]) box.onclick = (event) => log.push(event.target.innerText)</script>"""
    )
    assert re.findall(r"<(\w+) e\d+>", await read_outline(on)) == ["Alpha", "Beta"]
    await on.pointer.click(await find_ref(on, "<Beta REF>"))
    assert await on.read_log() == ["Beta"]
