"""Impossible actions are refused with the cause and a remedy, and have no effect.

An empty `Case.reason` means that the action must succeed; `log` lists the events that must reach the page.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

from failures.failure_site import FailurePage, OpenFailurePage
from outrider.core.errors import OutriderError

Act = Callable[[FailurePage], Awaitable[object]]


@dataclass(frozen=True)
class Case:
    name: str
    page: str
    act: Act
    reason: str = ""
    says: str = ""
    log: tuple[str, ...] | None = ()


def click(page: str, selector: str, reason: str = "", says: str = "", log: tuple[str, ...] | None = ()) -> Case:
    return Case(f"click {page} {selector}", page, lambda on: on.pointer.click(selector), reason, says, log)


def type_(selector: str, text: str, reason: str = "", says: str = "", log: tuple[str, ...] | None = ()) -> Case:
    return Case(f"type {selector} {text}", "fields.html", lambda on: on.forms.type(selector, text), reason, says, log)


def select(selector: str, *options: str, reason: str = "", says: str = "", log: tuple[str, ...] | None = ()) -> Case:
    name = f"select {selector} {' '.join(options)}"
    return Case(name, "fields.html", lambda on: on.forms.select(selector, *options), reason, says, log)


def check(selector: str, wanted: bool, reason: str = "", says: str = "", log: tuple[str, ...] | None = ()) -> Case:
    name = f"check {selector} {wanted}"
    return Case(name, "fields.html", lambda on: on.forms.check(selector, checked=wanted), reason, says, log)


OFF, GONE, OVER = "disabled.html", "hidden.html", "covered.html"
FAILURE_CASES = [
    click(OFF, "#plain", "disabled", "has the attribute disabled"),
    click(OFF, "#inside-disabled", "disabled"),
    click(OFF, "#in-fieldset", "disabled", "<fieldset#group>"),
    click(OFF, "#in-legend", log=("click in-legend",)),
    click(OFF, "#aria", "disabled", "aria-disabled"),
    click(OFF, "#in-aria", "disabled", "<div#aria-group>"),
    click(OFF, "#role-off", "disabled", "aria-disabled"),
    click(OFF, "#in-inert", "disabled", "inert"),
    click(OFF, "#untouchable", "pointer_events_none", "it has pointer-events: none"),
    click(OFF, "#in-off", "pointer_events_none", "<div#off-box>"),
    click(OFF, "#tick-off", "disabled"),
    click(OFF, "#label-off", "disabled"),
    click(OFF, "#waits", "disabled", "first fill e"),
    click(OFF, "#works", log=("click works",)),
    Case("type into a disabled field", OFF, lambda on: on.forms.type("#field-off", "x"), "disabled"),
    Case("type into a disabled group", OFF, lambda on: on.forms.type("#field-in-fieldset", "x"), "disabled"),
    Case("type into an inert field", OFF, lambda on: on.forms.type("#field-in-inert", "x"), "disabled", "inert"),
    Case("select in a disabled list", OFF, lambda on: on.forms.select("#list-off", "B"), "disabled"),
    Case("check a disabled box", OFF, lambda on: on.forms.check("#tick-off"), "disabled"),
    click(GONE, "#none", "hidden", "display: none"),
    click(GONE, "#in-none", "hidden", "maybe first click e"),
    click(GONE, "#invisible", "hidden", "visibility: hidden"),
    click(GONE, "#in-invisible", "hidden", "<div#invisible-box>"),
    click(GONE, "#visible-again", log=("click visible-again",)),
    click(GONE, "#see-through", "hidden", "opacity: 0"),
    click(GONE, "#in-see-through", "hidden", "<div#see-through-box>"),
    click(GONE, "#zero", "zero_size", "0 × 0"),
    click(GONE, "#hair", "zero_size", "too small"),
    click(GONE, "#off", "off_screen"),
    click(GONE, "#above", "off_screen"),
    click(GONE, "#right", "off_screen"),
    click(GONE, "#below", "off_screen"),
    click(GONE, "#clipped", "off_screen", "clipped"),
    click(GONE, "#in-details", "hidden", "click its summary e"),
    click(GONE, "#in-until", "hidden"),
    click(GONE, "#token", "hidden"),
    click(GONE, "#in-template", "not_found"),
    click(GONE, "#shown-on-hover", log=("click shown-on-hover",)),
    click(GONE, "#in-scroller", log=("click in-scroller",)),
    click(GONE, "#option", "hidden", 'select "One" in e'),
    click(GONE, "#far", log=("click far",)),
    click(OVER, "#under", "covered", "maybe first click e"),
    click(OVER, "#under-plain", "covered", "<div#plain-cover>"),
    click(OVER, "#under-glass", log=("click under-glass",)),
    click(OVER, "#under-half", log=("click under-half",)),
    click(OVER, "#at-end", log=("click at-end",)),
    click("modal.html", "#behind", "covered", "<dialog#ask>"),
    click("modal.html", "#sure", log=("click sure",)),
    Case("type under a cover", OVER, lambda on: on.forms.type("#field-under", "x"), "covered", "<div#field-cover>"),
    Case("type behind a modal", "modal.html", lambda on: on.forms.type("#field-behind", "x"), "covered"),
    click("moving.html", "#arrives", log=("click arrives",)),
    click("moving.html", "#pulsing", log=("click pulsing",)),
    click("moving.html", "#wanders", "timeout", "does not stop moving"),
    click("moving.html", "#by-script", log=("click by-script",)),
    click("moving.html", "#flees", log=("click flees",)),
    click("selectors.html", "#nowhere", "not_found"),
    click("selectors.html", "#submitorder-btn", "not_found", "Submit order"),
    click("selectors.html", ".twice", "ambiguous", "matches 2 elements"),
    click("selectors.html", ".once-seen", log=("click seen",)),
    click("selectors.html", "button[", "invalid_selector"),
    click("selectors.html", "button:contains('Save')", "ambiguous", "matches 2 elements"),
    click("selectors.html", "p button:contains('Save')", "invalid_selector", "text=Save"),
    click("selectors.html", "//button[@id=", "invalid_selector", "XPath"),
    click("selectors.html", "#9lives", "invalid_selector", '[id="9lives"]'),
    click("selectors.html", "e99", "not_found", "no e99"),
    click("selectors.html", "#in-shadow", log=None),
    click("selectors.html", "#in-frame", log=("frame",)),
    click("selectors.html", "#in-veiled", "covered", "<div#veil>"),
    type_("#text", "new", log=("input text", "input text")),
    type_("#fixed", "x", "read_only"),
    type_("#fixed-aria", "x", "read_only"),
    type_("#short", "too long", "bad_value", "at most 5 characters"),
    type_("#number", "abc", "bad_value", "not a number"),
    type_("#date", "31.12.2024", "bad_value", "use YYYY-MM-DD"),
    type_("#date", "2019-12-31", "bad_value", "2020-01-01"),
    type_("#date", "2024-02-30", "bad_value", "use YYYY-MM-DD"),
    type_("#date", "2024-02-29", log=("input date", "change date")),
    type_("#time", "quarter past", "bad_value", "use HH:MM"),
    type_("#month", "May", "bad_value", "use YYYY-MM"),
    type_("#week", "20", "bad_value", "use YYYY-Www"),
    type_("#moment", "tomorrow", "bad_value", "use YYYY-MM-DDTHH:MM"),
    type_("#range", "11", "bad_value", "from 0 to 10"),
    type_("#colour", "red", "bad_value", "#RRGGBB"),
    type_("#tick", "x", "not_editable", "use check"),
    type_("#file", "x", "not_editable", "use upload"),
    type_("#letter", "Beta", "not_editable", "use select"),
    type_("#button", "x", "not_editable", "use click"),
    type_("#refuses", "x", "no_effect", log=None),
    type_("#reverts", "x", "no_effect", log=None),
    select("#letter", "Beta", log=("input letter", "change letter")),
    select("#letter", "b", log=("input letter", "change letter")),
    select("#letter", "Betta", reason="no_option", says="closest: Beta"),
    select("#letter", "Gamma", reason="disabled", says="Gamma"),
    select("#letter", "Alpha", "Beta", reason="bad_value", says="one option only"),
    select("#many", "One", "Three", log=("input many", "change many")),
    select("#stubborn", "Second", reason="no_effect", log=None),
    select("#fake-list", "x", reason="not_editable", says="not a <select>"),
    check("#tick", True, log=("click tick", "input tick", "change tick")),
    check("#tick", False),
    check("#stuck", True, "no_effect", log=("click stuck",)),
    check("#radio", False, "bad_value", "cannot be unchecked"),
    check("#other", True, log=("click other", "input other", "change other")),
    check("#switch", True, log=("click switch",)),
    check("#dead", True, "no_effect", log=None),
    check("#drawn", True, log=("click drawn-label", "click drawn", "input drawn", "change drawn")),
    check("#text", True, "not_editable"),
]


@pytest.mark.parametrize("case", FAILURE_CASES, ids=lambda case: case.name)
async def test_every_case_succeeds_or_is_refused_with_cause_and_remedy(case: Case, revisit: OpenFailurePage) -> None:
    on = await revisit(case.page)
    if not case.reason:
        await case.act(on)
    else:
        with pytest.raises(OutriderError) as caught:
            await case.act(on)
        error = caught.value
        assert error.code == case.reason, str(error)
        assert case.says in f"{error} {error.hint}"
        assert error.hint
        assert error.details["ok"] is False
        assert error.details["reason"] == case.reason
    if case.log is not None:
        assert tuple(await on.read_log()) == case.log


def test_the_failure_pages_have_at_least_sixty_cases() -> None:
    assert len(FAILURE_CASES) >= 60
