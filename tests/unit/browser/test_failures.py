"""What goes wrong in the browser reaches a model in one shape, whatever it was."""

import pytest

from outrider.browser.cdp import BrowserGone, ContextGone, Hung, PageGone, ProtocolError
from outrider.core.errors import OutriderError
from outrider.toolsets.browser_use import in_words

pytestmark = pytest.mark.anyio
CASES = [
    (ContextGone("Runtime.callFunctionOn", -32000, "gone"), "execution_error", "execution_error", "take a snapshot"),
    (ProtocolError("DOM.focus", -32000, "Element is not focusable"), "execution_error", "execution_error", ""),
    (PageGone("the page has been closed", code="page_gone"), "page_gone", "execution_error", "navigateToUrl"),
    (PageGone("the page has crashed", code="page_crashed"), "page_crashed", "page_crashed", "navigateToUrl"),
    (BrowserGone("it ended", code="browser_gone"), "browser_gone", "browser_gone", "navigateToUrl"),
    (Hung("no answer", code="hung"), "hung", "timeout", "try once more"),
    (TimeoutError(), "timeout", "timeout", ""),
]


@pytest.mark.parametrize(("failure", "code", "reason", "hint"), CASES)
async def test_every_failure_has_a_code_a_reason_and_names_what_was_asked_for(
    failure: Exception, code: str, reason: str, hint: str
):
    with pytest.raises(OutriderError) as told:
        async with in_words("#save"):
            raise failure
    assert told.value.code == code
    assert told.value.details | {"ok": False, "reason": reason, "selector": "#save"} == told.value.details
    assert hint in told.value.hint


async def test_a_failure_that_is_about_no_element_names_none():
    with pytest.raises(OutriderError) as told:
        async with in_words():
            raise Hung("no answer", code="hung")
    assert "selector" not in told.value.details
