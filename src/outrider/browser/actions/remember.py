"""Add an action that succeeded to the session's log, with what it has changed."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.browser.actions.action_log import ActionLog, PageMilestones
from outrider.browser.protocol.cdp import ContextGone, ProtocolError
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.redact import is_secret_name
from outrider.browser.protocol.scripts import PageScripts
from outrider.browser.protocol.values import ScriptError
from outrider.core.errors import OutriderError

if TYPE_CHECKING:
    from outrider.browser.actions.locate import ElementLocation
    from outrider.browser.actions.outcome import ActionOutcome


def get_action_log(page: BrowserPage) -> ActionLog | None:
    """Return the log of the page's session; None for pages without one."""
    return page.action_log if isinstance(page.action_log, ActionLog) else None


async def remember_action(
    scripts: PageScripts,
    outcome: "ActionOutcome",
    kind: str,
    location: "ElementLocation | None",
    values: Mapping[str, Any],
    *,
    goal: "ElementLocation | None" = None,
    looks: bool = True,
) -> None:
    """Remember an action.

    Args:
        scripts: The scripts of its page.
        outcome: Its outcome.
        kind: See `PerformedAction`.
        location: Its element, located before the action; None for keys and scrolling.
        values: Its arguments; `text` is replaced by `secret` where it may be one.
        goal: The element that something was dragged onto.
        looks: Whether to look at what the page shows now.
    """
    log = get_action_log(scripts.page)
    if log is None:
        return
    report = location.report if location else {}
    element = dict(report.get("evidence") or {}) or None
    before = PageMilestones.from_report(report.get("milestones") or {"url": scripts.page.url})
    is_blocked = any(dialog.get("open", True) for dialog in outcome.dialogs)
    after = await read_milestones(scripts) if looks and not is_blocked else None
    text = str(values.get("text", ""))
    if text and (is_secret_field(element or {}) or log.is_secret(text)):
        values = {name: value for name, value in values.items() if name != "text"} | {"secret": True}
        after = _hide_secret(after, text)
    kinds = [each["type"] for each in outcome.dialogs]
    more = {name: value for name, value in {"dialogs": kinds, "new_pages": len(outcome.new_pages)}.items() if value}
    aim = goal.report.get("evidence") if goal else None
    log.add(kind, {**values, **more}, element=element, goal=aim, before=before, after=after)


async def read_milestones(scripts: PageScripts) -> PageMilestones | None:
    """Read what the page shows now; None while it cannot answer."""
    timeout_s = 2.0
    with anyio.move_on_after(timeout_s):
        try:
            return PageMilestones.from_report(await scripts.invoke(scripts.page.main, "readMilestones"))
        except (OutriderError, ProtocolError, ContextGone, ScriptError):
            return None
    return None


def is_secret_field(element: Mapping[str, Any]) -> bool:
    """Return whether what is typed into an element must not be stored."""
    attributes = element.get("attributes") or {}
    names = (element.get("name", ""), attributes.get("name", ""), attributes.get("id", ""))
    return bool(element.get("secret")) or any(is_secret_name(str(name)) for name in names)


def _hide_secret(page: PageMilestones | None, text: str) -> PageMilestones | None:
    """Leave out the messages of a page that repeat a secret."""
    if page is None:
        return None
    messages, headings = ([each for each in lines if text not in each] for lines in (page.messages, page.headings))
    title = "" if text in page.title else page.title
    return replace(page, title=title, messages=tuple(messages), headings=tuple(headings))
