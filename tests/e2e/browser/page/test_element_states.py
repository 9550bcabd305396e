"""The states of native controls and ARIA widgets in the lines of an outline."""

import re

import pytest

from failures.failure_site import OpenFailurePage

pytestmark = pytest.mark.anyio

STATES = {
    # Checked, pressed, expanded, selected, current.
    "<input type=checkbox checked aria-checked=false aria-label=A>": 'checkbox "A" checked',
    "<b role=checkbox tabindex=0 aria-checked=mixed>A</b>": 'checkbox "A" mixed',
    "<b role=switch tabindex=0 aria-checked=mixed>A</b>": 'switch "A"',
    "<button aria-pressed=mixed>A</button>": 'button "A" half-pressed',
    "<button aria-expanded=false aria-haspopup=menu>A</button>": 'button "A" collapsed',
    "<button aria-haspopup=true>A</button>": 'button "A" opens menu',
    "<button aria-haspopup=dialog>A</button>": 'button "A" opens dialog',
    "<button popovertarget=pop>A</button><div id=pop popover>x</div>": 'button "A" collapsed',
    "<b role=tab tabindex=0 aria-selected=true>A</b>": 'tab "A" selected',
    "<a href=/ aria-current=page>A</a>": "[A current]",
    # The meaning of an icon.
    "<button title=Copy>⧉</button>": 'button "⧉" title "Copy"',
    "<a href=/ title='Add a book'><img src=data:, alt=➕></a>": '[➕ title "Add a book"]',
    "<button title=Save>OK</button>": 'button "OK"',
    # Sorting, trees, busy parts.
    "<table><tr><th aria-sort=descending><button>A</button><th>B<tr><td>1<td>2</table>": 'button "A" sorted descending',
    "<b role=treeitem tabindex=0 aria-level=3>A</b>": 'treeitem "A" level 3',
    "<button aria-busy=true>A</button>": 'button "A" busy',
    # Disabled by itself, by its group, by an element around it.
    "<button disabled>A</button>": 'button "A" disabled',
    "<fieldset disabled><button>A</button></fieldset>": 'button "A" disabled',
    "<fieldset disabled><legend><button>A</button></legend></fieldset>": 'button "A"',
    "<div aria-disabled=true><button>A</button></div>": 'button "A" disabled',
    "<div inert><button>A</button></div>": 'button "A" disabled',
    # Fields.
    "<input aria-label=A required>": 'textbox "A" required',
    "<b role=textbox tabindex=0 aria-label=A aria-required=true aria-readonly=true></b>": (
        'textbox "A" required read-only'
    ),
    "<input aria-label=A readonly>": 'textbox "A" read-only',
    "<input aria-label=A aria-invalid=grammar>": 'textbox "A" invalid',
    "<input type=file multiple aria-label=A>": 'file "A" multiple',
    "<select multiple aria-label=A><option selected>x</select>": 'listbox "A" = "x" (x) multiple',
    # Values with their bounds.
    "<b role=slider tabindex=0 aria-label=A aria-valuenow=4 aria-valuetext=Thu aria-valuemin=1 aria-valuemax=7></b>": (
        'slider "A" = "Thu" (1–7)'
    ),
    "<b role=slider tabindex=0 aria-label=A aria-valuenow=4 aria-orientation=vertical></b>": (
        'slider "A" = "4" vertical'
    ),
    "<input type=date aria-label=A value=2026-01-05 min=2026-01-01>": 'date "A" = "2026-01-05" (2026-01-01–)',
}


async def test_each_state_is_reported_as_the_specifications_define(visit: OpenFailurePage) -> None:
    rows = [f"<section>start {n} {html} end</section>" for n, html in enumerate(STATES)]
    on = await visit(f"<!doctype html><body>{''.join(rows)}")
    outline = re.sub(r" e\d+", "", str(await on.snapshotter.take_snapshot("full", limit=1_000_000)))
    parts = dict(re.findall(r"start (\d+)\b(.*?)\bend", outline, re.DOTALL))
    missing = {html: parts[str(n)] for n, html in enumerate(STATES) if not _shows_exactly(parts[str(n)], STATES[html])}
    assert missing == {}


def _shows_exactly(part: str, expected: str) -> bool:
    """Whether a part of the outline has the expected state, and no other after it."""
    return re.search(re.escape(expected) + r"\s*($|\n|\||[a-z]$)", part) is not None


async def test_a_field_that_the_browser_refuses_reports_why(visit: OpenFailurePage) -> None:
    on = await visit("<form><input id=f aria-label=Name required><button id=b>Send</button></form>")
    await on.pointer.click("#b")
    outline = str(await on.snapshotter.take_snapshot("full"))
    assert re.search(r'textbox "Name" e\d+ required invalid "[^"]+"', outline)
