"""Failures of the browser reach a model in one format."""

import pytest

from outrider.browser.protocol.action_errors import build_action_error
from outrider.browser.protocol.cdp import BrowserGone, CommandTimeout, ContextGone, PageGone, ProtocolError
from outrider.core.errors import OutriderError
from outrider.toolsets.browser.results import translate_errors

pytestmark = pytest.mark.anyio
BROWSER_FAILURES = [
    (ContextGone("Runtime.callFunctionOn", -32000, "gone"), "execution_error", "execution_error", "call snapshotPage"),
    (ProtocolError("DOM.focus", -32000, "Element is not focusable"), "execution_error", "execution_error", ""),
    (PageGone("the page has been closed", code="page_gone"), "page_gone", "execution_error", "navigateToUrl"),
    (PageGone("the page has crashed", code="page_crashed"), "page_crashed", "page_crashed", "navigateToUrl"),
    (BrowserGone("it ended", code="browser_gone"), "browser_gone", "browser_gone", "navigateToUrl"),
    (CommandTimeout("no answer", code="hung"), "hung", "timeout", "try once more"),
    (TimeoutError(), "timeout", "timeout", ""),
]


@pytest.mark.parametrize(("failure", "code", "reason", "hint"), BROWSER_FAILURES)
async def test_every_failure_has_a_code_a_reason_and_names_what_was_asked_for(
    failure: Exception, code: str, reason: str, hint: str
):
    with pytest.raises(OutriderError) as told:
        async with translate_errors("#save"):
            raise failure
    assert told.value.code == code
    assert told.value.details | {"ok": False, "reason": reason, "selector": "#save"} == told.value.details
    assert hint in told.value.hint


async def test_a_failure_without_an_element_names_no_selector():
    with pytest.raises(OutriderError) as told:
        async with translate_errors():
            raise CommandTimeout("no answer", code="hung")
    assert "selector" not in told.value.details


@pytest.mark.parametrize(
    ("advice", "told"),
    [
        ("use check or uncheck", "use selectOption with checked"),
        ("use check", "use selectOption with checked"),
        ("use select", "use selectOption"),
        ("use upload", "use uploadFiles"),
        ("use click", "use clickElement"),
        ("take a snapshot to see what is there", "call snapshotPage to see what is there"),
        ("use digits", "use digits"),
    ],
)
async def test_remedies_use_the_names_of_tools(advice: str, told: str):
    with pytest.raises(OutriderError) as raised:
        async with translate_errors("#letter"):
            raise build_action_error(
                "type",
                "#letter",
                {"reason": "not_editable", "message": "takes no text", "hint": advice, "suggestions": [advice]},
            )
    assert raised.value.hint == told
    assert raised.value.details["suggestions"] == [told]
