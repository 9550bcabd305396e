"""The browser tool that fills a whole form."""

from typing import Annotated

from pydantic import BaseModel, Field

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.parameter_names import OtherNames
from outrider.core.result import Result
from outrider.toolsets.browser.results import build_action_result, use_page
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.options import ToolOptions


class FormField(BaseModel):
    """A field and its new value."""

    selector: Annotated[str, OtherNames(("name", "label", "field"))]
    value: str | bool | float | list[str]


@browser.tool(
    effect="act",
    stake="low",
    title="Fill a form",
    open_world=True,
    untrusted=True,
    timeout=120,
    private=frozenset({"fields"}),
)
async def fillForm(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    fields: list[FormField],
    submit: Annotated[str | None, Field(description="Button to click at the end")] = None,
) -> Result:
    """Fill several fields at once: texts, option labels, true or false."""
    from outrider.browser.actions.forms import fill_form

    if not fields:
        raise InvalidInput("fields: is empty", hint="send [{selector, value}, …]")
    async with use_page(browsers, call, sessionId, submit or None) as active:
        values = [(field.selector, field.value) for field in fields]
        outcome = await fill_form(active.tools.forms, values, submit or "")
        return build_action_result(tool_options, active.session, outcome)
