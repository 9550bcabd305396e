"""Mouse and keys as a person uses them: points, paths, holding, the wheel."""

import re

import pytest

from failures.failure_site import OpenFailurePage
from outrider.browser.actions.mouse import MouseGesture, use_mouse
from outrider.browser.actions.page_tools import get_page_tools
from outrider.browser.actions.scroll import scroll_page
from outrider.core.errors import InvalidInput

PAD = """<style>body { margin: 0 } #pad { position: absolute; left: 100px; top: 50px; background: #cde }</style>
<canvas id=pad width=300 height=200 aria-label=Pad></canvas><script>
log = [];
for (const kind of ['mousedown', 'mouseup', 'click', 'dblclick', 'contextmenu', 'wheel', 'keydown', 'keyup'])
  addEventListener(kind, (event) => {
    const held = ['shiftKey', 'ctrlKey'].filter((each) => event[each]).join();
    log.push([kind, event.clientX ?? event.key, event.clientY ?? '', held].join(' ').trim());
  });
pad.onmousemove = (event) => event.buttons && log.push(`line ${event.offsetX} ${event.offsetY}`);
</script>"""


async def test_mouse_gestures_happen_at_the_given_points(visit: OpenFailurePage) -> None:
    cases: list[tuple[MouseGesture, str, list[str]]] = [
        (MouseGesture("click", [(120, 80)]), "", ["mousedown 120 80", "mouseup 120 80", "click 120 80"]),
        (MouseGesture("click", [(20, 30)]), "#pad", ["mousedown 120 80", "mouseup 120 80", "click 120 80"]),
        (MouseGesture("click", [(120, 80)], modifiers=("Shift",)), "", ["click 120 80 shiftKey"]),
        (MouseGesture("click", [(120, 80)], count=2), "", ["dblclick 120 80"]),
        (MouseGesture("click", [(120, 80)], button="right"), "", ["contextmenu 120 80"]),
        (MouseGesture("click", [(120, 80), (200, 90)]), "", ["click 120 80", "click 200 90"]),
        (MouseGesture("drag", [(10, 10), (60, 10), (60, 70)]), "#pad", ["line 60 10", "line 60 70", "mouseup 160 120"]),
        (MouseGesture("down", [(120, 80)]), "", ["mousedown 120 80"]),
        (MouseGesture("move", [(130, 90)]), "", ["line 30 40"]),
        (MouseGesture("up", [(140, 90)]), "", ["mouseup 140 90"]),
        (MouseGesture("wheel", [(120, 80)], delta=(0, 100)), "", ["wheel 120 80"]),
    ]
    on = await visit(PAD)
    for gesture, selector, expected in cases:
        await on.evaluate_js("log = []")
        outcome = await use_mouse(on.pointer, gesture, selector)
        log = await on.read_log()
        assert [each for each in log if each in expected] == expected, (gesture, log)
        assert re.search(r'on e\d+ <canvas#pad> "Pad"', str(outcome)), gesture
    with pytest.raises(InvalidInput, match=r"points: \[1000, 5\] is outside the viewport \(1000×700\)"):
        await use_mouse(on.pointer, MouseGesture("click", [(1000, 5)]))
    with pytest.raises(InvalidInput, match="drag needs at least two points"):
        await use_mouse(on.pointer, MouseGesture("drag", [(1, 5)]))


async def test_a_path_is_slow_enough_for_lagging_pages(visit: OpenFailurePage) -> None:
    # The box follows the mouse with a delay, and stays where the button is released.
    spring = """<script>let goal = 10; box = 10; moves = 0; held = false;
      addEventListener('mousedown', () => held = true); addEventListener('mouseup', () => held = false);
      addEventListener('mousemove', (event) => { if (held) { goal = event.clientX; moves++; } });
      setInterval(() => { if (held) box += (goal - box) / 5; }, 10);
      </script>"""
    on = await visit(spring + "<p>Box</p>")
    drag = [(10.0, 50.0), (310.0, 50.0), (310.0, 50.0)]
    await use_mouse(on.pointer, MouseGesture("drag", drag, times_s=(0, 0.4, 0.4)))
    assert await on.evaluate_js("Math.round(box)") == 310
    assert await on.evaluate_js("moves > 6")
    await use_mouse(on.pointer, MouseGesture("move", [(20, 50)], times_s=(0.05,)))
    assert on.page.mouse_at == (20, 50)


async def test_keys_and_buttons_stay_down_until_they_are_released(visit: OpenFailurePage) -> None:
    on = await visit(PAD + "<button id=b>B</button>")
    await on.pointer.press_keys("Shift", "down")
    await on.pointer.click("#b")
    await on.pointer.press_keys("a")
    await on.pointer.press_keys("Shift", "up")
    await on.pointer.press_keys("b")
    log = await on.read_log()
    assert [each for each in log if each.startswith("key")] == [
        *("keydown Shift  shiftKey", "keydown a  shiftKey", "keyup a  shiftKey", "keyup Shift", "keydown b", "keyup b")
    ]
    assert any(each.startswith("click") and each.endswith("shiftKey") for each in log)


async def test_a_hold_to_confirm_button_is_held(visit: OpenFailurePage) -> None:
    on = await visit(
        """<button id=b>Delete</button><script>let since;
        b.onpointerdown = () => { since = performance.now() };
        b.onpointerup = () => { b.textContent = performance.now() - since >= 300 ? 'Deleted' : 'Hold longer' };
        </script>"""
    )
    assert "Hold longer" in (await on.pointer.click("#b")).changes
    assert "Deleted" in (await on.pointer.click("#b", hold_s=0.35)).changes


@pytest.mark.nightly
async def test_scrolling_uses_the_wheel_where_it_affects_only_the_target(visit: OpenFailurePage) -> None:
    inner_box = (
        "<div style='height: 3000px'><div style='height: 690px; width: 900px; overflow: auto; margin: auto'>"
        "<p style='height: 900px'>In</div></div>"
    )
    cases = [
        ("a page", "<div style='height: 3000px'>Long</div>", "", (0, 300, True, False)),
        ("a map", "<div id=map style='height: 600px'>0</div>", "", (0, 0, False, True)),
        ("a box", "<div id=box style='height: 90px; overflow: auto'><p style='height: 900px'>In</div>", "#box p", None),
        ("a page around a box in its middle", inner_box, "", None),
        ("a page behind a cover", "<p style='height: 3000px'><i style='position: fixed; inset: 0'>", "", None),
    ]
    script = """<script>wheels = 0; addEventListener('wheel', () => wheels++);
      const map = document.querySelector('#map');
      map?.addEventListener('wheel', (event) => { event.preventDefault(); map.textContent = event.deltaY; });
      </script>"""
    for name, html, selector, expected in cases:
        on = await visit(html + script)
        position, outcome = await scroll_page(get_page_tools(on.page), "down", 300, selector)
        found = (position["x"], position["y"], position["moved"], position["handled"])
        assert found == (expected or (0, 300, True, False)), name
        assert await on.evaluate_js("wheels") == 1, name
        if name == "a map":
            assert "300" in outcome.changes
