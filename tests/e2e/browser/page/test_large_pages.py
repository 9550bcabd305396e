"""Outlines of pages with tens of thousands of elements or many frames arrive, and name the missing parts."""

import re

import anyio
import pytest

from failures.failure_site import OpenFailurePage
from outrider.browser.page.navigate import navigate_page
from outrider.browser.protocol.values import ScriptError
from support.timeouts import SCENARIO_TIMEOUT_S

ADD_ROWS = """document.body.innerHTML = '<table>' + Array.from({ length: 34000 },
  (_, n) => `<tr><td>${n}<td><a href="#${n}">Person ${n}</a>`).join('') + '</table>', 1"""
FRAMES = "".join(f'<iframe srcdoc="<button>Inner {n}</button>"></iframe>' for n in range(80))


@pytest.mark.nightly
async def test_a_table_of_many_rows_is_read_in_slices(visit: OpenFailurePage) -> None:
    on = await visit("<p>Rows</p>")
    with anyio.fail_after(240):
        await on.evaluate_js(ADD_ROWS)
        shown = await on.snapshotter.take_snapshot("full")
        read = re.search(r"incomplete: only ([\d,]+) of [\d,]+ elements were read in time; read on with", str(shown))
        if read is None:  # a fast machine reads it all
            assert shown.piece.total > 34_000
        else:
            lines = shown.piece.total
            assert lines < int(read[1].replace(",", ""))
            further = await on.snapshotter.take_snapshot("full", offset=lines)
            assert further.piece.total >= lines
        assert await on.evaluate_js("document.title") is not None
        assert "Person 3" in str(await on.snapshotter.take_snapshot("viewport"))


async def test_elements_not_read_in_time_are_counted(visit: OpenFailurePage) -> None:
    on = await visit("<h1>List</h1>" + "<p>One <b>word</b></p>" * 3_000)
    stopped = await on.snapshotter.capture_outline("full", budget_s=0)
    assert 0 < stopped.stopped < 600
    assert "elements were read in time" in stopped.explain_gaps()
    whole = await on.snapshotter.capture_outline("full", budget_s=60)
    assert (whole.stopped, len(whole.lines), whole.explain_gaps()) == (0, 3_001, "")


@pytest.mark.nightly
async def test_many_frames_are_opened_and_read_or_counted(visit: OpenFailurePage) -> None:
    on = await visit("<button id=b onclick='log.push(1)'>Outer</button><script>log = []</script>" + FRAMES)
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        arrival = await navigate_page(on.page, on.page.url)
        assert arrival.status == 200
        for mode in ("viewport", "full"):
            capture = await on.snapshotter.capture_outline(mode)
            assert capture.frames == 80
            assert bool(capture.unread_frames) == ("did not answer in time" in capture.explain_gaps())
        refs = re.findall(r'button "Inner \d+" (f\w+)', "\n".join(capture.lines))
        assert len(set(refs)) + capture.unread_frames == 80
        await on.pointer.click(refs[-1])
        await on.pointer.click("#b")
        assert await on.read_log() == [1]


async def test_a_search_of_a_large_page_is_stopped(visit: OpenFailurePage) -> None:
    on = await visit("<p>" + "<b>word</b>" * 2_000)
    scripts, main = on.snapshotter.scripts, on.page.main
    await scripts.ensure_installed(main)
    with pytest.raises(ScriptError, match="too large to be searched"):
        await main.evaluate(
            "outrider", "() => { let at = 0; performance.now = () => (at += 1e6); outrider.queryAll('text=gone') }"
        )
